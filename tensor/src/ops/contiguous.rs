//! `y = x` in row-major order.

use half::{bf16, f16};
use kernels::DType;

use crate::error::Result;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// The same elements in row-major order without gaps: this tensor when it is so already, a
    /// copy otherwise.
    ///
    /// # Errors
    /// When a copy does not fit in memory.
    pub fn contiguous(&self) -> Result<Tensor> {
        self.contiguous_for("contiguous")
    }

    /// [`Tensor::contiguous`] as a part of the operation `op`, which an error names.
    pub(crate) fn contiguous_for(&self, op: &'static str) -> Result<Tensor> {
        if self.layout().is_contiguous() {
            return Ok(self.clone());
        }
        match self.dtype() {
            DType::F16 => copied::<f16>(op, self),
            DType::BF16 => copied::<bf16>(op, self),
            DType::F32 => copied::<f32>(op, self),
            DType::F64 => copied::<f64>(op, self),
            DType::I64 => copied::<i64>(op, self),
            DType::U8 => copied::<u8>(op, self),
        }
    }
}

fn copied<T: Stored>(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let view = x.strided::<T>(op)?;
    let threads = x.device().threads();
    Tensor::computed(op, x.device(), *x.shape(), |out| kernels::copy::copy(threads, view, out))
}
