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
    /// Operands that are not matrices, inner lengths that differ, two element types, elements
    /// that are not f32 or f64, or a result that does not fit in memory.
    pub fn matmul(&self, b: &Tensor) -> Result<Tensor> {
        let shape = product_shape(OP, self, b)?;
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
        let op = "matmul_into";
        let shape = product_shape(op, self, b)?;
        match self.dtype() {
            DType::F32 => product::<f32>(op, self, b, out.typed(op, &shape)?),
            DType::F64 => product::<f64>(op, self, b, out.typed(op, &shape)?),
            found => Err(Error::DType { op, found, wanted: "f32 or f64" }),
        }
    }
}

fn product_shape(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Shape> {
    let (left, right) = (*a.shape(), *b.shape());
    let mismatch = |rule| Error::Shapes { op, left, right, rule };
    if left.ndim() != 2 || right.ndim() != 2 {
        return Err(mismatch("both operands must be matrices, [m, k] and [k, n]: reshape first"));
    }
    if left[1] != right[0] {
        return Err(mismatch("axis 1 of the left must be as long as axis 0 of the right"));
    }
    if a.dtype() != b.dtype() {
        return Err(Error::DTypes { op, left: a.dtype(), right: b.dtype() });
    }
    Shape::new(op, &[left[0], right[1]])
}

fn allocated<T: Differentiable>(a: &Tensor, b: &Tensor, shape: Shape) -> Result<Tensor> {
    let mut done = Ok(());
    let out = Tensor::computed(OP, a.device(), shape, |out| done = product::<T>(OP, a, b, out))?;
    done.map(|()| out)
}

fn product<T: Differentiable>(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    out: &mut [T],
) -> Result<()> {
    let (left, right) = (matrix::<T>(op, a)?, matrix::<T>(op, b)?);
    if !out.is_empty() {
        matmul(a.device().threads(), left, right, None, out);
    }
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
