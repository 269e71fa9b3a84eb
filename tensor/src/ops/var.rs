//! Variance and standard deviation along some axes.

use kernels::reduce::{Axis, std_vjp, var, var_vjp};
use kernels::{DType, Threads};

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "var";
const STD_VJP: &str = "std_vjp";
const VJP: &str = "var_vjp";

impl Tensor {
    /// `Σ (x − mean)² / (n − correction)` along `axes`, which are dropped, or kept with length 1.
    ///
    /// The correction 0 is the variance of the elements, 1 the unbiased estimate from a sample;
    /// with n ≤ correction the result is NaN. The mean comes first, so a large one costs no
    /// digits.
    ///
    /// # Errors
    /// As [`Tensor::sum`], or elements that are not floats.
    pub fn var(&self, axes: impl Into<Axes>, correction: usize, keep_axes: bool) -> Result<Tensor> {
        let axes = axes.into();
        let along = Along::new(OP, self.shape(), axes)?;
        match self.dtype() {
            DType::F32 => along.reduce(OP, self, keep_axes, forward::<f32>(correction)),
            DType::F64 => along.reduce(OP, self, keep_axes, forward::<f64>(correction)),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.var(axes, correction, keep_axes)),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// The square root of [`Tensor::var`].
    ///
    /// # Errors
    /// As there.
    pub fn std(&self, axes: impl Into<Axes>, correction: usize, keep_axes: bool) -> Result<Tensor> {
        let axes = axes.into();
        in_f32([self], |[x]| x.var(axes, correction, keep_axes)?.unary(crate::UnaryOp::Sqrt))
    }

    /// The derivative of [`Tensor::std`] at this tensor, times `dy`, where `y` is the result: 0
    /// where that is 0.
    ///
    /// # Errors
    /// Axes as there, a `y` or `dy` that has not its shape, or types that are not all f32 or all
    /// f64.
    pub fn std_vjp(
        &self,
        axes: impl Into<Axes>,
        correction: usize,
        y: &Tensor,
        dy: &Tensor,
    ) -> Result<Tensor> {
        let along = Along::new(STD_VJP, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F32 => root_backward::<f32>(self, along, correction, [y, dy]),
            DType::F64 => root_backward::<f64>(self, along, correction, [y, dy]),
            found => Err(Error::DType { op: STD_VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Tensor::var`] at this tensor, times `dy`.
    ///
    /// # Errors
    /// Axes as there, a `dy` that has not its shape, or two types that are not one of f32 and
    /// f64.
    pub fn var_vjp(&self, axes: impl Into<Axes>, correction: usize, dy: &Tensor) -> Result<Tensor> {
        let along = Along::new(VJP, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, along, correction, dy),
            DType::F64 => backward::<f64>(self, along, correction, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

/// See [`Tensor::std_vjp`].
fn root_backward<T: Differentiable>(
    x: &Tensor,
    along: Along,
    correction: usize,
    [y, dy]: [&Tensor; 2],
) -> Result<Tensor> {
    along.spread::<T, 2>(STD_VJP, x, [y, dy], |threads, x, [y, dy], dx| {
        std_vjp(threads, [x, y, dy], (along.axis, correction), dx);
    })
}

fn forward<T: Differentiable>(correction: usize) -> impl FnOnce(&Threads, &[T], Axis, &mut [T]) {
    move |threads, x, axis, out| var(threads, x, (axis, correction), out)
}

fn backward<T: Differentiable>(
    x: &Tensor,
    along: Along,
    correction: usize,
    dy: &Tensor,
) -> Result<Tensor> {
    along.spread::<T, 1>(VJP, x, [dy], |threads, x, [dy], dx| {
        var_vjp(threads, [x, dy], (along.axis, correction), dx);
    })
}
