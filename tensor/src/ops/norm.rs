//! `y = √(Σ x²)` along some axes.

use kernels::DType;
use kernels::reduce::{norm, norm_vjp};

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "norm";
const VJP: &str = "norm_vjp";

impl Tensor {
    /// The Euclidean norm along `axes`, which are dropped, or kept with length 1; 0 of no
    /// element. It overflows where the sum of the squares does.
    ///
    /// # Errors
    /// As [`Tensor::sum`], or elements that are not floats.
    pub fn norm(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let axes = axes.into();
        let along = Along::new(OP, self.shape(), axes)?;
        match self.dtype() {
            DType::F32 => along.reduce(OP, self, keep_axes, norm::<f32>),
            DType::F64 => along.reduce(OP, self, keep_axes, norm::<f64>),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.norm(axes, keep_axes)),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// The derivative of [`Tensor::norm`] at this tensor, times `dy`, where `y` is the result: 0
    /// where that is 0.
    ///
    /// # Errors
    /// Axes as there, a `y` or `dy` that has not its shape, or types that are not all f32 or all
    /// f64.
    pub fn norm_vjp(&self, axes: impl Into<Axes>, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
        let along = Along::new(VJP, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F32 => backward::<f32>(self, along, y, dy),
            DType::F64 => backward::<f64>(self, along, y, dy),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn backward<T: Differentiable>(
    x: &Tensor,
    along: Along,
    y: &Tensor,
    dy: &Tensor,
) -> Result<Tensor> {
    along.spread::<T, 2>(VJP, x, [y, dy], |threads, x, [y, dy], dx| {
        norm_vjp(threads, [x, y, dy], along.axis, dx);
    })
}
