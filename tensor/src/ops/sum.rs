//! `y = Σ x` along one axis, or over all elements.

use kernels::DType;
use kernels::reduce::{Axis, sum};

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "sum";

impl Tensor {
    /// The sum along `axis`, which is dropped, or kept with length 1. An empty sum is +0.
    ///
    /// The order of the additions is the kernel's and depends on the shape alone.
    ///
    /// # Errors
    /// An axis that does not exist, or elements that are not f32 or f64.
    pub fn sum(&self, axis: usize, keep_axis: bool) -> Result<Tensor> {
        self.shape().check_axis(OP, axis)?;
        let shape =
            if keep_axis { self.shape().with_len(axis, 1) } else { self.shape().without(axis) };
        self.sum_along(along(self.shape(), axis), shape)
    }

    /// The sum of all elements, as a scalar.
    ///
    /// # Errors
    /// Elements that are not f32 or f64.
    pub fn sum_all(&self) -> Result<Tensor> {
        self.sum_along(Axis { outer: 1, len: self.numel(), inner: 1 }, Shape::SCALAR)
    }

    /// [`Tensor::sum`] along axis 0, which is dropped, written into `out`: how the gradient of a
    /// bias reaches its bucket.
    ///
    /// # Errors
    /// As [`Tensor::sum`], and a destination of another shape or type.
    pub fn sum_rows_into(&self, out: &mut TensorMut<'_>) -> Result<()> {
        self.shape().check_axis(OP, 0)?;
        let (axis, shape) = (along(self.shape(), 0), self.shape().without(0));
        match self.dtype() {
            DType::F32 => reduced::<f32>(self, axis, out.typed(OP, &shape)?),
            DType::F64 => reduced::<f64>(self, axis, out.typed(OP, &shape)?),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }

    /// `axis` describes this tensor and `shape` the result: the caller ensures both.
    pub(super) fn sum_along(&self, axis: Axis, shape: Shape) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => allocated::<f32>(self, axis, shape),
            DType::F64 => allocated::<f64>(self, axis, shape),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }
}

fn along(shape: &Shape, axis: usize) -> Axis {
    Axis {
        outer: shape[..axis].iter().product(),
        len: shape[axis],
        inner: shape[axis + 1..].iter().product(),
    }
}

fn allocated<T: Differentiable>(x: &Tensor, axis: Axis, shape: Shape) -> Result<Tensor> {
    let mut done = Ok(());
    let out = Tensor::filled(x.device(), shape, |out| done = reduced::<T>(x, axis, out));
    done.map(|()| out)
}

fn reduced<T: Differentiable>(x: &Tensor, axis: Axis, out: &mut [T]) -> Result<()> {
    let x = x.contiguous();
    sum(x.device().threads(), x.typed::<T>(OP)?, axis, out);
    Ok(())
}
