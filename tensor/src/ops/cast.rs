//! `y = x` in another element type.

use half::{bf16, f16};
use kernels::DType;

use crate::error::Result;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// The elements converted to `dtype`: to nearest, ties to even, between floats; truncated
    /// and saturated, with NaN as 0, from a float to an integer. Of the same type: this tensor.
    ///
    /// # Errors
    /// None today; a device that cannot hold `dtype` will say so here.
    pub fn cast(&self, dtype: DType) -> Result<Tensor> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        match self.dtype() {
            DType::F16 => from::<f16>(self, dtype),
            DType::BF16 => from::<bf16>(self, dtype),
            DType::F32 => from::<f32>(self, dtype),
            DType::F64 => from::<f64>(self, dtype),
            DType::I64 => from::<i64>(self, dtype),
            DType::U8 => from::<u8>(self, dtype),
        }
    }
}

fn from<A: Stored>(x: &Tensor, dtype: DType) -> Result<Tensor> {
    match dtype {
        DType::F16 => converted::<A, f16>(x),
        DType::BF16 => converted::<A, bf16>(x),
        DType::F32 => converted::<A, f32>(x),
        DType::F64 => converted::<A, f64>(x),
        DType::I64 => converted::<A, i64>(x),
        DType::U8 => converted::<A, u8>(x),
    }
}

fn converted<A: Stored, B: Stored>(x: &Tensor) -> Result<Tensor> {
    let x = x.contiguous();
    let view = x.typed::<A>("cast")?;
    Ok(Tensor::filled::<B>(x.device(), *x.shape(), |out| kernels::copy::cast(view, out)))
}
