//! The softmax along one axis, and its logarithm.

use kernels::reduce::Axis;
use kernels::softmax::{log_softmax, log_softmax_vjp, softmax, softmax_vjp};
use kernels::{DType, Threads};

use super::cast::in_f32;
use crate::axes::Along;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "softmax";
const VJP: &str = "softmax_vjp";
const LOG: &str = "log_softmax";
const LOG_VJP: &str = "log_softmax_vjp";

impl Tensor {
    /// `exp x / Σ exp x` along `axis`, without overflow. A −∞ has the softmax 0 exactly; a row of
    /// nothing but −∞, or with a NaN or +∞, is NaN.
    ///
    /// # Errors
    /// An axis that does not exist, or elements that are not floats.
    pub fn softmax(&self, axis: usize) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => forward::<f32>(OP, self, axis, softmax),
            DType::F64 => forward::<f64>(OP, self, axis, softmax),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.softmax(axis)),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// The derivative of [`Tensor::softmax`], times `dy`; this tensor is its result.
    ///
    /// # Errors
    /// An axis that does not exist, a `dy` of another shape, or two types that are not one of f32
    /// and f64.
    pub fn softmax_vjp(&self, axis: usize, dy: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => backward::<f32>(VJP, [self, dy], axis, softmax_vjp),
            DType::F64 => backward::<f64>(VJP, [self, dy], axis, softmax_vjp),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// `x − ln Σ exp x` along `axis`: the logarithm of [`Tensor::softmax`], finite also where that
    /// underflows.
    ///
    /// # Errors
    /// As there.
    pub fn log_softmax(&self, axis: usize) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => forward::<f32>(LOG, self, axis, log_softmax),
            DType::F64 => forward::<f64>(LOG, self, axis, log_softmax),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.log_softmax(axis)),
            found => Err(Error::DType { op: LOG, found, wanted: "floats" }),
        }
    }

    /// The derivative of [`Tensor::log_softmax`], times `dy`; this tensor is its result.
    ///
    /// # Errors
    /// As [`Tensor::softmax_vjp`].
    pub fn log_softmax_vjp(&self, axis: usize, dy: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => backward::<f32>(LOG_VJP, [self, dy], axis, log_softmax_vjp),
            DType::F64 => backward::<f64>(LOG_VJP, [self, dy], axis, log_softmax_vjp),
            found => Err(Error::DType { op: LOG_VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn forward<T: Differentiable>(
    op: &'static str,
    x: &Tensor,
    axis: usize,
    kernel: impl FnOnce(&Threads, &[T], Axis, &mut [T]),
) -> Result<Tensor> {
    let along = Along::one(op, x.shape(), axis)?;
    let x = x.contiguous_for(op)?;
    let (view, threads) = (x.typed::<T>(op)?, x.device().threads());
    Tensor::computed(op, x.device(), *x.shape(), |y| kernel(threads, view, along.axis, y))
}

fn backward<T: Differentiable>(
    op: &'static str,
    [y, dy]: [&Tensor; 2],
    axis: usize,
    kernel: impl FnOnce(&Threads, [&[T]; 2], Axis, &mut [T]),
) -> Result<Tensor> {
    if y.shape() != dy.shape() {
        let rule = "y and dy must have one shape";
        return Err(Error::Shapes { op, left: *y.shape(), right: *dy.shape(), rule });
    }
    let dy = dy.contiguous_for(op)?;
    let dys = dy.typed::<T>(op)?;
    forward(op, y, axis, |threads, y, axis, dx| kernel(threads, [y, dys], axis, dx))
}
