//! Running sums and products along one axis.

use kernels::reduce::Axis;
use kernels::scan::{cumprod, cumprod_vjp, cumsum, wrapping_cumprod, wrapping_cumsum};
use kernels::{DType, Threads};

use super::cast::in_f32;
use crate::axes::Along;
use crate::error::{Error, Result};
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const SUM: &str = "cumsum";
const SUM_VJP: &str = "cumsum_vjp";
const PRODUCT: &str = "cumprod";
const PRODUCT_VJP: &str = "cumprod_vjp";

impl Tensor {
    /// The sums of the elements up to each one along `axis`, in the order of their index. Halves
    /// are added in f32; integers and masks in i64, modulo 2⁶⁴.
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn cumsum(&self, axis: usize) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => scanned(SUM, self, axis, sums::<f32>(false)),
            DType::F64 => scanned(SUM, self, axis, sums::<f64>(false)),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.cumsum(axis)),
            DType::I64 => scanned(SUM, self, axis, wrapping_cumsum::<i64>),
            DType::U8 => scanned(SUM, self, axis, wrapping_cumsum::<u8>),
        }
    }

    /// The derivative of [`Tensor::cumsum`] times this tensor: its sums from each element to the
    /// end, added from there.
    ///
    /// # Errors
    /// An axis that does not exist, or elements that are not f32 or f64.
    pub fn cumsum_vjp(&self, axis: usize) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => scanned(SUM_VJP, self, axis, sums::<f32>(true)),
            DType::F64 => scanned(SUM_VJP, self, axis, sums::<f64>(true)),
            found => Err(Error::DType { op: SUM_VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The products of the elements up to each one along `axis`; see [`Tensor::cumsum`].
    ///
    /// # Errors
    /// As there.
    pub fn cumprod(&self, axis: usize) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => scanned(PRODUCT, self, axis, cumprod::<f32>),
            DType::F64 => scanned(PRODUCT, self, axis, cumprod::<f64>),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.cumprod(axis)),
            DType::I64 => scanned(PRODUCT, self, axis, wrapping_cumprod::<i64>),
            DType::U8 => scanned(PRODUCT, self, axis, wrapping_cumprod::<u8>),
        }
    }

    /// The derivative of [`Tensor::cumprod`] at this tensor, times `dy`, also where elements are
    /// zero.
    ///
    /// # Errors
    /// An axis that does not exist, a `dy` of another shape, or two types that are not one of f32
    /// and f64.
    pub fn cumprod_vjp(&self, axis: usize, dy: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => backward::<f32>(self, axis, dy),
            DType::F64 => backward::<f64>(self, axis, dy),
            found => Err(Error::DType { op: PRODUCT_VJP, found, wanted: "f32 or f64" }),
        }
    }
}

fn sums<T: Differentiable>(backward: bool) -> impl FnOnce(&Threads, &[T], Axis, &mut [T]) {
    move |threads, x, axis, out| cumsum(threads, x, (axis, backward), out)
}

fn scanned<X: Stored, A: Stored>(
    op: &'static str,
    x: &Tensor,
    axis: usize,
    kernel: impl FnOnce(&Threads, &[X], Axis, &mut [A]),
) -> Result<Tensor> {
    let along = Along::one(op, x.shape(), axis)?;
    let x = x.contiguous_for(op)?;
    let (view, threads) = (x.typed::<X>(op)?, x.device().threads());
    Tensor::computed(op, x.device(), *x.shape(), |out| kernel(threads, view, along.axis, out))
}

fn backward<T: Differentiable>(x: &Tensor, axis: usize, dy: &Tensor) -> Result<Tensor> {
    if x.shape() != dy.shape() {
        let (left, right) = (*x.shape(), *dy.shape());
        let rule = "x and dy must have one shape";
        return Err(Error::Shapes { op: PRODUCT_VJP, left, right, rule });
    }
    let dy = dy.contiguous_for(PRODUCT_VJP)?;
    let dys = dy.typed::<T>(PRODUCT_VJP)?;
    scanned(PRODUCT_VJP, x, axis, |threads, x: &[T], axis, dx| {
        cumprod_vjp(threads, [x, dys], axis, dx);
    })
}
