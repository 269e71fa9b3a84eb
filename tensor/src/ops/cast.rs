//! `y = x` in another element type.

use half::{bf16, f16};
use kernels::DType;

use crate::error::Result;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// The elements converted to `dtype`. Of the same type: this tensor.
    ///
    /// | from | to | element |
    /// | --- | --- | --- |
    /// | float | float | the nearest, ties to even |
    /// | float | i64, u8 | truncated, saturated; NaN is 0 |
    /// | i64 | u8 | saturated: 300 is 255, −1 is 0 |
    /// | u8 | any | exact |
    /// | i64 | f64 | the nearest, ties to even |
    /// | i64 | f32, f16, bf16 | that f64, rounded again: above 2⁵³ perhaps not the nearest |
    ///
    /// # Errors
    /// When the result does not fit in memory.
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

/// What `compute` makes of the operands when halves are widened to f32 and the result is rounded
/// once, to the halves' type; left in f32 when they are of both types, or stand beside f32. The
/// rule for every operation on halves.
pub(super) fn in_f32<const N: usize>(
    operands: [&Tensor; N],
    compute: impl FnOnce([&Tensor; N]) -> Result<Tensor>,
) -> Result<Tensor> {
    let mut wide = operands.map(Tensor::clone);
    let mut halves = None;
    for x in &mut wide {
        let dtype = x.dtype();
        if dtype == DType::F32 {
            halves = Some(dtype);
        } else if dtype.is_half() {
            let mixed = halves.is_some_and(|half| half != dtype);
            halves = Some(if mixed { DType::F32 } else { dtype });
            *x = x.cast(DType::F32)?;
        }
    }
    let y = compute(wide.each_ref())?;
    match halves {
        Some(dtype) if y.dtype() == DType::F32 => y.cast(dtype),
        _ => Ok(y),
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
    let op = "cast";
    let x = x.contiguous_for(op)?;
    let view = x.typed::<A>(op)?;
    Tensor::computed::<B>(op, x.device(), *x.shape(), |out| kernels::copy::cast(view, out))
}
