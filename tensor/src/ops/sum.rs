//! `y = Σ x` along some axes, or over all elements.

use kernels::DType;
use kernels::reduce::{Axis, sum, wrapping_sum};

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "sum";

impl Tensor {
    /// The sum along `axes`, which are dropped, or kept with length 1. An empty sum is +0.
    ///
    /// The order of the additions is the kernel's and depends on the shape alone; axes that are
    /// no neighbours are moved together to the place of the last one. Halves are added in f32 and
    /// rounded once. Integers and masks are added to an i64, modulo 2⁶⁴.
    ///
    /// # Errors
    /// An axis that does not exist or is named twice, or no memory for the result or for the
    /// row-major copy of a view.
    pub fn sum(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        self.sum_axes(OP, axes.into(), keep_axes)
    }

    /// [`Tensor::sum`] as a part of the operation `op`, which an error names.
    pub(super) fn sum_axes(&self, op: &'static str, axes: Axes, keep_axes: bool) -> Result<Tensor> {
        let along = Along::new(op, self.shape(), axes)?;
        match self.dtype() {
            DType::F32 => along.reduce(op, self, keep_axes, sum::<f32>),
            DType::F64 => along.reduce(op, self, keep_axes, sum::<f64>),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.sum_axes(op, axes, keep_axes)),
            DType::I64 => along.reduce(op, self, keep_axes, wrapping_sum::<i64>),
            DType::U8 => along.reduce(op, self, keep_axes, wrapping_sum::<u8>),
        }
    }

    /// The sum of all elements, as a scalar: [`Tensor::sum`] along `..`.
    ///
    /// # Errors
    /// No memory for the row-major copy of a view.
    pub fn sum_all(&self) -> Result<Tensor> {
        self.sum_axes("sum_all", (..).into(), false)
    }

    /// [`Tensor::sum`] along axis 0, which is dropped, written into `out`: how the gradient of a
    /// bias reaches its bucket.
    ///
    /// # Errors
    /// As [`Tensor::sum`], elements that are not f32 or f64, and a destination of another shape
    /// or type.
    pub fn sum_rows_into(&self, out: &mut TensorMut<'_>) -> Result<()> {
        let op = "sum_rows_into";
        let along = Along::new(op, self.shape(), 0.into())?;
        let (axis, shape) = (along.axis, along.result(false));
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
