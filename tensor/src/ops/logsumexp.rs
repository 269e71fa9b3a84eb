//! `y = ln Σ exp x` along some axes.

use kernels::DType;
use kernels::reduce::{logsumexp, logsumexp_vjp};

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "logsumexp";
const VJP: &str = "logsumexp_vjp";

impl Tensor {
    /// `ln Σ exp x` along `axes`, which are dropped, or kept with length 1, without overflow:
    /// −∞ of nothing but −∞ and of no element, +∞ where one is.
    ///
    /// # Errors
    /// As [`Tensor::sum`], or elements that are not floats.
    pub fn logsumexp(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let axes = axes.into();
        let along = Along::new(OP, self.shape(), axes)?;
        match self.dtype() {
            DType::F32 => along.reduce(OP, self, keep_axes, logsumexp::<f32>),
            DType::F64 => along.reduce(OP, self, keep_axes, logsumexp::<f64>),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.logsumexp(axes, keep_axes)),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// The derivative of [`Tensor::logsumexp`] at this tensor, times `dy`: 0 where all elements
    /// are −∞, NaN at an element +∞.
    ///
    /// # Errors
    /// Axes as there, a `dy` that has not its shape, or two types that are not one of f32 and
    /// f64.
    pub fn logsumexp_vjp(&self, axes: impl Into<Axes>, dy: &Tensor) -> Result<Tensor> {
        let along = Along::new(VJP, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, along, dy),
            DType::F64 => backward::<f64>(self, along, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn backward<T: Differentiable>(x: &Tensor, along: Along, dy: &Tensor) -> Result<Tensor> {
    along.spread::<T, 1>(VJP, x, [dy], |threads, x, [dy], dx| {
        logsumexp_vjp(threads, [x, dy], along.axis, dx);
    })
}
