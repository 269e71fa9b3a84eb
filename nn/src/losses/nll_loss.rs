//! Negative log-likelihood of log-probabilities.

use autograd::Var;
use tensor::{DType, Tensor};

use crate::error::Result;
use crate::loss::Loss;

/// Negative log-likelihood of log-probabilities `[.., classes]` at the class of each row `[..]`,
/// counted over the rows: with [`Var::log_softmax`] before it, the cross-entropy.
///
/// # Errors
/// Shapes that do not fit, or a target outside `0..classes`.
pub fn nll_loss(log_probs: &Var, targets: &Tensor) -> Result<Loss> {
    let ones = Tensor::full(targets.device(), 1.0f64, targets.shape())?;
    let wide = if log_probs.value().dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let losses = log_probs.nll_loss(targets, &ones.cast(wide)?)?;
    Loss::new(losses.sum_all()?, targets.numel() as f64)
}
