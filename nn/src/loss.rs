//! Losses that know their count.
//!
//! A mean of means is wrong as soon as shards differ in size or targets are ignored. Here a loss
//! is a sum and a count; backward differentiates the sum, and the one division, by the count over
//! all shards, happens in the step.

use autograd::{Gradients, Sink, Var};

use crate::error::{Error, Result};

/// A summed loss and what it was summed over.
#[derive(Clone, Debug)]
pub struct Loss {
    sum: Var,
    count: f64,
}

impl Loss {
    /// The loss `sum / count`. The count of a shard may be 0; the global count of a step may not.
    ///
    /// # Errors
    /// A count that is negative, infinite or NaN.
    pub fn new(sum: Var, count: f64) -> Result<Self> {
        if !(count >= 0.0 && count.is_finite()) {
            return Err(Error::Count { count });
        }
        Ok(Loss { sum, count })
    }

    /// The sum.
    pub fn sum(&self) -> &Var {
        &self.sum
    }

    /// What the sum was taken over: samples, or a sum of weights.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The sum as a number.
    ///
    /// # Errors
    /// A sum that is not one element.
    pub fn sum_value(&self) -> Result<f64> {
        Ok(self.sum.value().cast(tensor::DType::F64)?.item()?)
    }

    /// The loss of this shard alone, `sum / count`.
    ///
    /// # Errors
    /// A count of 0, or a sum that is not one element.
    pub fn mean(&self) -> Result<f64> {
        if self.count == 0.0 {
            return Err(Error::Count { count: self.count });
        }
        Ok(self.sum_value()? / self.count)
    }

    /// The gradients of the *sum*.
    ///
    /// # Errors
    /// A refused operation in a vjp.
    pub fn backward(&self) -> Result<Gradients> {
        Ok(self.sum.backward()?)
    }

    /// The gradients of the *sum*, each emitted into `sink` when it is final.
    ///
    /// # Errors
    /// A refused operation in a vjp, or a refusal of the sink.
    pub fn backward_into(&self, sink: &mut dyn Sink) -> autograd::Result<()> {
        self.sum.backward_into(sink)
    }
}
