//! The largest and the smallest element along some axes, and where it lies along one.

use kernels::reduce::{Axis, Extreme, arg_extreme, extreme, extreme_vjp};
use kernels::{DType, Threads};

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const VJP: &str = "extreme_vjp";

impl Tensor {
    /// The largest element along `axes`, which are dropped, or kept with length 1; NaN where one
    /// is among them. The result has this tensor's type.
    ///
    /// # Errors
    /// Axes as in [`Tensor::sum`], or reduced axes without elements.
    pub fn amax(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        self.extreme("amax", Extreme::Max, axes.into(), keep_axes)
    }

    /// The smallest element along `axes`; see [`Tensor::amax`].
    ///
    /// # Errors
    /// As there.
    pub fn amin(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        self.extreme("amin", Extreme::Min, axes.into(), keep_axes)
    }

    /// Where the largest element along `axis` lies, in i64: the first of equals, and the first
    /// NaN before every number. The axis is dropped, or kept with length 1.
    ///
    /// # Errors
    /// An axis that does not exist or has no elements.
    pub fn argmax(&self, axis: usize, keep_axis: bool) -> Result<Tensor> {
        self.arg_extreme("argmax", Extreme::Max, axis, keep_axis)
    }

    /// Where the smallest element along `axis` lies; see [`Tensor::argmax`].
    ///
    /// # Errors
    /// As there.
    pub fn argmin(&self, axis: usize, keep_axis: bool) -> Result<Tensor> {
        self.arg_extreme("argmin", Extreme::Min, axis, keep_axis)
    }

    fn extreme(&self, op: &'static str, which: Extreme, axes: Axes, keep: bool) -> Result<Tensor> {
        let along = Along::new(op, self.shape(), axes)?;
        along.check_some(op)?;
        match self.dtype() {
            DType::F32 => along.reduce(op, self, keep, values::<f32>(which)),
            DType::F64 => along.reduce(op, self, keep, values::<f64>(which)),
            DType::I64 => along.reduce(op, self, keep, values::<i64>(which)),
            DType::U8 => along.reduce(op, self, keep, values::<u8>(which)),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.extreme(op, which, axes, keep)),
        }
    }

    fn arg_extreme(
        &self,
        op: &'static str,
        which: Extreme,
        axis: usize,
        keep: bool,
    ) -> Result<Tensor> {
        let along = Along::one(op, self.shape(), axis)?;
        along.check_some(op)?;
        match self.dtype() {
            DType::F32 => along.reduce(op, self, keep, places::<f32>(which)),
            DType::F64 => along.reduce(op, self, keep, places::<f64>(which)),
            DType::I64 => along.reduce(op, self, keep, places::<i64>(which)),
            DType::U8 => along.reduce(op, self, keep, places::<u8>(which)),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.arg_extreme(op, which, axis, keep)),
        }
    }

    /// The derivative of [`Tensor::amax`] or [`Tensor::amin`] at this tensor, times `dy`, where
    /// `y` is the result: the elements that equal it share `dy` evenly.
    ///
    /// # Errors
    /// Axes as there, a `y` or `dy` that has not its shape, or types that are not all f32 or all
    /// f64.
    pub fn extreme_vjp(&self, axes: impl Into<Axes>, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
        let along = Along::new(VJP, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, along, y, dy),
            DType::F64 => backward::<f64>(self, along, y, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn values<T: Stored + PartialOrd>(which: Extreme) -> impl FnOnce(&Threads, &[T], Axis, &mut [T]) {
    move |threads, x, axis, out| extreme(threads, which, x, axis, out)
}

fn places<T: Stored + PartialOrd>(which: Extreme) -> impl FnOnce(&Threads, &[T], Axis, &mut [i64]) {
    move |threads, x, axis, out| arg_extreme(threads, which, x, axis, out)
}

fn backward<T: Differentiable>(
    x: &Tensor,
    along: Along,
    y: &Tensor,
    dy: &Tensor,
) -> Result<Tensor> {
    along.spread::<T, 2>(VJP, x, [y, dy], |threads, x, [y, dy], dx| {
        extreme_vjp(threads, [x, y, dy], along.axis, dx);
    })
}
