//! Buffers: what a model keeps beside its parameters, such as running statistics. They have no
//! gradient; a training forward records what the batch was like, and the recorded values are
//! applied once the step has been taken.

use tensor::{DType, Shape, Tensor};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::module::Module;

/// A value of a model that is saved with its parameters and is not trained. Its name is its path
/// in the model, such as `bn.running_mean`.
#[derive(Clone, Debug)]
pub struct Buffer {
    name: String,
    value: Tensor,
}

impl Buffer {
    /// A buffer with this start.
    pub fn new(name: String, value: Tensor) -> Self {
        Buffer { name, value }
    }

    /// The path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value now.
    pub fn value(&self) -> &Tensor {
        &self.value
    }

    /// Takes another value of the same shape and type.
    ///
    /// # Errors
    /// A value of another shape or type.
    pub fn set(&mut self, value: Tensor) -> Result<()> {
        let (found, shape): (Shape, Shape) = (*value.shape(), *self.value.shape());
        let (found_dtype, dtype): (DType, DType) = (value.dtype(), self.value.dtype());
        if (found, found_dtype) != (shape, dtype) {
            let name = self.name.clone();
            let mismatch = autograd::Error::LeafMismatch { name, found, found_dtype, shape, dtype };
            return Err(mismatch.into());
        }
        self.value = value;
        Ok(())
    }
}

/// What a forward found out for a buffer: `value ← (1 − momentum) · value + momentum · found`.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) found: Vec<f64>,
    pub(crate) momentum: f64,
}

/// Applies what the forward under `cx` recorded, in its order, and forgets it. To be called once
/// for each step, when it has been taken; computed in f64 and rounded once.
///
/// # Errors
/// A record of a buffer that the model does not have, or that is shaped otherwise.
pub fn update_buffers(model: &mut dyn Module, cx: &Context) -> Result<()> {
    let mut done = Ok(());
    let mut records = cx.take_records();
    model.visit_buffers_mut(&mut |buffer| {
        let name = buffer.name().to_owned();
        for record in records.extract_if(.., |record| record.name == name) {
            if done.is_ok() {
                done = apply(buffer, &record);
            }
        }
    });
    done?;
    match records.first() {
        None => Ok(()),
        Some(record) => {
            Err(Error::ForeignModel { found: "none".to_owned(), wanted: record.name.clone() })
        }
    }
}

fn apply(buffer: &mut Buffer, record: &Record) -> Result<()> {
    let old = buffer.value().cast(DType::F64)?.to_vec::<f64>()?;
    let momentum = record.momentum;
    let mixed = old.iter().zip(&record.found);
    let new: Vec<f64> = mixed.map(|(old, x)| (1.0 - momentum) * old + momentum * x).collect();
    let value = Tensor::from_vec(buffer.value().device(), new, buffer.value().shape())?;
    buffer.set(value.cast(buffer.value().dtype())?)
}
