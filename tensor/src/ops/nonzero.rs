//! What is not zero along some axes: how many, whether any, whether all.

use half::{bf16, f16};
use kernels::DType;
use kernels::reduce::{all, any, count_nonzero};

use crate::axes::{Along, Axes};
use crate::error::Result;
use crate::tensor::Tensor;

impl Tensor {
    /// How many elements along `axes` are not zero, in i64; the axes are dropped, or kept with
    /// length 1. −0 is zero, a NaN is not.
    ///
    /// # Errors
    /// Axes as in [`Tensor::sum`].
    pub fn count_nonzero(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let op = "count_nonzero";
        let along = Along::new(op, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F16 => along.reduce(op, self, keep_axes, count_nonzero::<f16>),
            DType::BF16 => along.reduce(op, self, keep_axes, count_nonzero::<bf16>),
            DType::F32 => along.reduce(op, self, keep_axes, count_nonzero::<f32>),
            DType::F64 => along.reduce(op, self, keep_axes, count_nonzero::<f64>),
            DType::I64 => along.reduce(op, self, keep_axes, count_nonzero::<i64>),
            DType::U8 => along.reduce(op, self, keep_axes, count_nonzero::<u8>),
        }
    }

    /// A mask of u8: 1 where some element along `axes` is not zero; 0 of no element. See
    /// [`Tensor::count_nonzero`].
    ///
    /// # Errors
    /// As there.
    pub fn any(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let op = "any";
        let along = Along::new(op, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F16 => along.reduce(op, self, keep_axes, any::<f16>),
            DType::BF16 => along.reduce(op, self, keep_axes, any::<bf16>),
            DType::F32 => along.reduce(op, self, keep_axes, any::<f32>),
            DType::F64 => along.reduce(op, self, keep_axes, any::<f64>),
            DType::I64 => along.reduce(op, self, keep_axes, any::<i64>),
            DType::U8 => along.reduce(op, self, keep_axes, any::<u8>),
        }
    }

    /// A mask of u8: 1 where no element along `axes` is zero; 1 of no element. See
    /// [`Tensor::count_nonzero`].
    ///
    /// # Errors
    /// As there.
    pub fn all(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Tensor> {
        let op = "all";
        let along = Along::new(op, self.shape(), axes.into())?;
        match self.dtype() {
            DType::F16 => along.reduce(op, self, keep_axes, all::<f16>),
            DType::BF16 => along.reduce(op, self, keep_axes, all::<bf16>),
            DType::F32 => along.reduce(op, self, keep_axes, all::<f32>),
            DType::F64 => along.reduce(op, self, keep_axes, all::<f64>),
            DType::I64 => along.reduce(op, self, keep_axes, all::<i64>),
            DType::U8 => along.reduce(op, self, keep_axes, all::<u8>),
        }
    }
}
