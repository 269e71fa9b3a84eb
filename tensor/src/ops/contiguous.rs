//! `y = x` in row-major order.

use half::{bf16, f16};
use kernels::DType;

use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// The same elements in row-major order without gaps: this tensor when it is so already, a
    /// copy otherwise.
    pub fn contiguous(&self) -> Tensor {
        if self.layout().is_contiguous() {
            return self.clone();
        }
        match self.dtype() {
            DType::F16 => copied::<f16>(self),
            DType::BF16 => copied::<bf16>(self),
            DType::F32 => copied::<f32>(self),
            DType::F64 => copied::<f64>(self),
            DType::I64 => copied::<i64>(self),
            DType::U8 => copied::<u8>(self),
        }
    }
}

/// `x` has elements of type `T`: the caller matched on it.
fn copied<T: Stored>(x: &Tensor) -> Tensor {
    Tensor::filled::<T>(x.device(), *x.shape(), |out| {
        if let Ok(view) = x.strided::<T>("contiguous") {
            kernels::copy::copy(x.device().threads(), view, out);
        }
    })
}
