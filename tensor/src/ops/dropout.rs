//! `y = x / (1 − p)`, or 0 where the element is dropped.

use kernels::DType;
use kernels::dropout::dropout;
use kernels::random::Stream;

use super::cast::in_f32;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "dropout";

impl Tensor {
    /// Dropout (Srivastava et al. 2014, "Dropout"): each element is 0 with probability `p`, else
    /// divided by `1 − p`. Element i, in row-major order, has the number `first + i` in `stream`,
    /// which decides; so equal numbers are dropped alike, also from the gradient.
    ///
    /// # Errors
    /// A `p` outside `[0, 1]`, integers, or no memory for the result.
    pub fn dropout(&self, p: f64, stream: &Stream, first: u64) -> Result<Tensor> {
        if !(0.0..=1.0).contains(&p) {
            let rule = "a probability lies within 0 and 1: bring one that does";
            return Err(Error::Setting { op: OP, name: "p", value: p, rule });
        }
        match self.dtype() {
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.dropout(p, stream, first)),
            DType::F32 => masked::<f32>(self, p, stream, first),
            DType::F64 => masked::<f64>(self, p, stream, first),
            found => Err(Error::DType { op: OP, found, wanted: "a float" }),
        }
    }
}

fn masked<T: Differentiable>(x: &Tensor, p: f64, stream: &Stream, first: u64) -> Result<Tensor> {
    let x = x.contiguous_for(OP)?;
    let view = x.typed::<T>(OP)?;
    Tensor::computed(OP, x.device(), *x.shape(), |y| {
        dropout(x.device().threads(), p, (stream, first), view, y);
    })
}
