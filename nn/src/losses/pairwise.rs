//! Losses of pairs: a prediction and a target of one shape.

use autograd::Var;

use crate::error::Result;
use crate::loss::Loss;

fn over_elements(losses: &Var) -> Result<Loss> {
    Loss::new(losses.sum_all()?, losses.value().numel() as f64)
}

/// `Σ (x − t)²`, counted over the elements.
///
/// # Errors
/// Shapes that do not fit.
pub fn mse_loss(x: &Var, t: &Var) -> Result<Loss> {
    over_elements(&x.mse_loss(t)?)
}

/// `Σ |x − t|`, counted over the elements; the slope at 0 is 0.
///
/// # Errors
/// Shapes that do not fit.
pub fn l1_loss(x: &Var, t: &Var) -> Result<Loss> {
    over_elements(&x.l1_loss(t)?)
}

/// `Σ ½ d²` where `|d| ≤ δ` and `Σ δ · (|d| − ½ δ)` elsewhere, d being `x − t`, counted over the
/// elements (Huber 1964, "Robust estimation of a location parameter").
///
/// # Errors
/// Shapes that do not fit, or a δ that is not positive and finite.
pub fn huber_loss(x: &Var, t: &Var, delta: f64) -> Result<Loss> {
    over_elements(&x.huber_loss(t, delta)?)
}

/// `Σ −(t · ln p + (1 − t) · ln(1 − p))` of probabilities, each logarithm at least −100 as in
/// PyTorch, counted over the elements. Prefer [`bce_with_logits`], which needs no such bound.
///
/// # Errors
/// Shapes that do not fit.
pub fn bce_loss(p: &Var, t: &Var) -> Result<Loss> {
    over_elements(&p.bce_loss(t)?)
}

/// [`bce_loss`] of `sigmoid(x)`, as `max(x, 0) − x · t + ln(1 + exp(−|x|))`: right for logits of
/// any size.
///
/// # Errors
/// Shapes that do not fit.
pub fn bce_with_logits(x: &Var, t: &Var) -> Result<Loss> {
    over_elements(&x.bce_with_logits(t)?)
}

/// `Σ t · (ln t − x)` of log-probabilities x and probabilities t, counted over the rows of axis 0:
/// PyTorch's `batchmean` is the mean. A term with `t = 0` is 0.
///
/// # Errors
/// Shapes that do not fit.
pub fn kl_div(x: &Var, t: &Var) -> Result<Loss> {
    let losses = x.kl_div(t)?;
    let rows = losses.value().shape().first().copied().unwrap_or(1);
    Loss::new(losses.sum_all()?, rows as f64)
}
