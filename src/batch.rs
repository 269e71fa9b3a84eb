//! One shard of a global batch, as tensors.

use std::ops::Range;

use autograd::Var;
use nn::data::Step;
use tensor::{DType, Device, Shape, Tensor};

use crate::error::Result;

/// Samples and their targets.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Features: `[samples, ..sample shape]`, f32 as gathered, in a trainer of the type of the
    /// model's parameters. Of a text tokens, i64: `[samples, context]`.
    pub x: Var,
    /// Classes, i64: `[samples]`, or `[samples, context]` of a text.
    pub y: Tensor,
}

impl Batch {
    /// The samples at `positions` of the batch of `step`, on `device`.
    ///
    /// # Errors
    /// Positions beyond the end of the batch.
    pub fn gather(step: &Step, positions: Range<usize>, device: &Device) -> Result<Self> {
        if positions.start > positions.end || positions.end > step.len() {
            let index = i64::try_from(positions.end).unwrap_or(i64::MAX);
            let (op, axis, len) = ("batch", 0, step.len());
            return Err(tensor::Error::Index { op, index, axis, len }.into());
        }
        let data = step.dataset();
        let mut lens = vec![positions.len()];
        lens.extend_from_slice(data.sample_shape());
        let shape = Shape::new("batch", &lens)?;
        let mut y = vec![0i64; positions.len() * data.labels_per_sample()];
        let (x, y_shape) = if data.is_text() {
            let x = Tensor::filled::<i64>("batch", device, shape, |x| {
                step.gather_tokens(positions.clone(), x, &mut y);
            })?;
            (x, &lens[..])
        } else {
            let x = Tensor::filled::<f32>("batch", device, shape, |x| {
                step.gather(positions.clone(), x, &mut y);
            })?;
            (x, &lens[..1])
        };
        Ok(Batch { x: Var::constant(x), y: Tensor::from_vec(device, y, y_shape)? })
    }

    /// The same with features of type `dtype`; tokens stay as they are.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    pub fn cast(self, dtype: DType) -> Result<Self> {
        if self.x.value().dtype() == dtype || !self.x.value().dtype().is_float() {
            return Ok(self);
        }
        Ok(Batch { x: Var::constant(self.x.value().cast(dtype)?), y: self.y })
    }
}
