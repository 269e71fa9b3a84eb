//! `y = (Σ x) / n` along some axes.

use kernels::DType;
use kernels::reduce::mean;

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::tensor::Tensor;

const OP: &str = "mean";

impl Tensor {
    /// The mean along `axes`, which are dropped, or kept with length 1: [`Tensor::sum`] divided
    /// by the number of elements, so NaN of none. Halves are added and divided in f32.
    ///
    /// # Errors
    /// As [`Tensor::sum`], or elements that are not floats.
    pub fn mean(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let axes = axes.into();
        let along = Along::new(OP, self.shape(), axes)?;
        match self.dtype() {
            DType::F32 => along.reduce(OP, self, keep_axes, mean::<f32>),
            DType::F64 => along.reduce(OP, self, keep_axes, mean::<f64>),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.mean(axes, keep_axes)),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }
}
