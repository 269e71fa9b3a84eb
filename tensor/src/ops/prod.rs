//! `y = Π x` along some axes.

use kernels::DType;
use kernels::reduce::{prod, wrapping_prod};
use kernels::scan::prod_vjp;

use super::cast::in_f32;
use crate::axes::{Along, Axes};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "prod";
const VJP: &str = "prod_vjp";

impl Tensor {
    /// The product along `axes`, which are dropped, or kept with length 1; 1 of no element.
    /// Halves are multiplied in f32; integers and masks in i64, modulo 2⁶⁴.
    ///
    /// # Errors
    /// As [`Tensor::sum`].
    pub fn prod(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let axes = axes.into();
        let along = Along::new(OP, self.shape(), axes)?;
        match self.dtype() {
            DType::F32 => along.reduce(OP, self, keep_axes, prod::<f32>),
            DType::F64 => along.reduce(OP, self, keep_axes, prod::<f64>),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.prod(axes, keep_axes)),
            DType::I64 => along.reduce(OP, self, keep_axes, wrapping_prod::<i64>),
            DType::U8 => along.reduce(OP, self, keep_axes, wrapping_prod::<u8>),
        }
    }

    /// The derivative of [`Tensor::prod`] at this tensor, times `dy`: the products of the other
    /// elements, also where some are zero.
    ///
    /// # Errors
    /// Axes as there, a `dy` that has not its shape, or two types that are not one of f32 and
    /// f64.
    pub fn prod_vjp(&self, axes: impl Into<Axes>, dy: &Tensor) -> Result<Tensor> {
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
        prod_vjp(threads, [x, dy], along.axis, dx);
    })
}
