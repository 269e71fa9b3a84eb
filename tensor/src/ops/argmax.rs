//! The position of the largest element along the last axis.

use kernels::DType;
use kernels::reduce::argmax;

use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "argmax";

impl Tensor {
    /// `[.., n] -> [..]` of i64: where the largest element lies, the first of equals. NaN counts
    /// as larger than every number.
    ///
    /// # Errors
    /// No axes, a last axis of length 0, or elements that are not f32 or f64.
    pub fn argmax(&self) -> Result<Tensor> {
        if self.shape().last().is_none_or(|&len| len == 0) {
            let rule = "the last axis must exist and not be empty";
            return Err(Error::Shape { op: OP, shape: *self.shape(), rule });
        }
        match self.dtype() {
            DType::F32 => forward::<f32>(self),
            DType::F64 => forward::<f64>(self),
            found => Err(Error::DType { op: OP, found, wanted: "f32 or f64" }),
        }
    }
}

fn forward<T: Differentiable>(x: &Tensor) -> Result<Tensor> {
    let x = x.contiguous_for(OP)?;
    let last = x.ndim() - 1;
    let view = x.typed::<T>(OP)?;
    let shape = x.shape().without(last);
    Tensor::computed(OP, x.device(), shape, |out| argmax(view, x.shape()[last], out))
}
