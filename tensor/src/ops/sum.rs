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
    /// An axis that does not exist, elements that are not f32 or f64, or no memory for the result
    /// or for the row-major copy of a view.
    pub fn sum(&self, axis: usize, keep_axis: bool) -> Result<Tensor> {
        self.sum_axis(OP, axis, keep_axis)
    }

    /// [`Tensor::sum`] as a part of the operation `op`, which an error names.
    pub(super) fn sum_axis(
        &self,
        op: &'static str,
        axis: usize,
        keep_axis: bool,
    ) -> Result<Tensor> {
        self.shape().check_axis(op, axis)?;
        let shape =
            if keep_axis { self.shape().with_len(axis, 1) } else { self.shape().without(axis) };
        self.sum_along(op, along(self.shape(), axis), shape)
    }

    /// The sum of all elements, as a scalar.
    ///
    /// # Errors
    /// Elements that are not f32 or f64.
    pub fn sum_all(&self) -> Result<Tensor> {
        self.sum_along("sum_all", Axis { outer: 1, len: self.numel(), inner: 1 }, Shape::SCALAR)
    }

    /// [`Tensor::sum`] along axis 0, which is dropped, written into `out`: how the gradient of a
    /// bias reaches its bucket.
    ///
    /// # Errors
    /// As [`Tensor::sum`], and a destination of another shape or type.
    pub fn sum_rows_into(&self, out: &mut TensorMut<'_>) -> Result<()> {
        let op = "sum_rows_into";
        self.shape().check_axis(op, 0)?;
        let (axis, shape) = (along(self.shape(), 0), self.shape().without(0));
        // The copy first: a destination counts as written once its elements were asked for.
        let x = self.contiguous_for(op)?;
        match self.dtype() {
            DType::F32 => reduced::<f32>(op, &x, axis, out.typed(op, &shape)?),
            DType::F64 => reduced::<f64>(op, &x, axis, out.typed(op, &shape)?),
            found => Err(Error::DType { op, found, wanted: "f32 or f64" }),
        }
    }

    /// `axis` describes this tensor and `shape` the result: the caller ensures both.
    pub(super) fn sum_along(&self, op: &'static str, axis: Axis, shape: Shape) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => allocated::<f32>(op, self, axis, shape),
            DType::F64 => allocated::<f64>(op, self, axis, shape),
            found => Err(Error::DType { op, found, wanted: "f32 or f64" }),
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

fn allocated<T: Differentiable>(
    op: &'static str,
    x: &Tensor,
    axis: Axis,
    shape: Shape,
) -> Result<Tensor> {
    let x = x.contiguous_for(op)?;
    let view = x.typed::<T>(op)?;
    Tensor::computed(op, x.device(), shape, |out| sum(x.device().threads(), view, axis, out))
}

/// `x` is contiguous.
fn reduced<T: Differentiable>(
    op: &'static str,
    x: &Tensor,
    axis: Axis,
    out: &mut [T],
) -> Result<()> {
    let view = x.typed::<T>(op)?;
    if !out.is_empty() {
        sum(x.device().threads(), view, axis, out);
    }
    Ok(())
}
