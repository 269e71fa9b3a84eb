//! `C = A · B`, the matrix product.

use kernels::matmul::{MatRef, matmul};
use kernels::{DType, Float};

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "matmul";

impl Tensor {
    /// The matrix product `[m, k] · [k, n] -> [m, n]`. Views (transposed, narrowed, repeated)
    /// are read in place.
    ///
    /// Each element is the chain of fused multiply-adds over `k` in index order, so a row of the
    /// result does not depend on the rows beside it.
    ///
    /// # Errors
    /// Operands that are not matrices, inner lengths that differ, two element types, or elements
    /// that are not f32 or f64.
    pub fn matmul(&self, b: &Tensor) -> Result<Tensor> {
        let shape = product_shape(self, b)?;
        match self.dtype() {
            DType::F32 => allocated::<f32>(self, b, shape),
            DType::F64 => allocated::<f64>(self, b, shape),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }

    /// [`Tensor::matmul`], written into `out`.
    ///
    /// # Errors
    /// As [`Tensor::matmul`], and a destination of another shape or type.
    pub fn matmul_into(&self, b: &Tensor, out: &mut TensorMut<'_>) -> Result<()> {
        let shape = product_shape(self, b)?;
        match self.dtype() {
            DType::F32 => product::<f32>(self, b, out.typed(OP, &shape)?),
            DType::F64 => product::<f64>(self, b, out.typed(OP, &shape)?),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }
}

fn product_shape(a: &Tensor, b: &Tensor) -> Result<Shape> {
    let (left, right) = (*a.shape(), *b.shape());
    let mismatch = |rule| Error::Shapes { op: OP, left, right, rule };
    if left.ndim() != 2 || right.ndim() != 2 {
        return Err(mismatch("both operands must be matrices, [m, k] and [k, n]: reshape first"));
    }
    if left[1] != right[0] {
        return Err(mismatch("axis 1 of the left must be as long as axis 0 of the right"));
    }
    if a.dtype() != b.dtype() {
        return Err(Error::DTypes { op: OP, left: a.dtype(), right: b.dtype() });
    }
    Shape::new(OP, &[left[0], right[1]])
}

fn allocated<T: Differentiable>(a: &Tensor, b: &Tensor, shape: Shape) -> Result<Tensor> {
    let mut done = Ok(());
    let out = Tensor::filled(a.device(), shape, |out| done = product::<T>(a, b, out));
    done.map(|()| out)
}

fn product<T: Differentiable>(a: &Tensor, b: &Tensor, out: &mut [T]) -> Result<()> {
    let (left, right) = (matrix::<T>(OP, a)?, matrix::<T>(OP, b)?);
    matmul(a.device().threads(), left, right, None, out);
    Ok(())
}

/// A two-dimensional tensor as a kernel's operand.
pub(super) fn matrix<'a, T: Stored + Float>(
    op: &'static str,
    x: &'a Tensor,
) -> Result<MatRef<'a, T>> {
    let view = x.strided::<T>(op)?;
    let (shape, strides) = (x.shape(), x.layout().strides());
    // An empty matrix may lie behind the end of its storage.
    let data = if x.numel() == 0 { &[] } else { &view.data()[view.offset()..] };
    Ok(MatRef::new(data, shape[0], shape[1], strides[0], strides[1]))
}
