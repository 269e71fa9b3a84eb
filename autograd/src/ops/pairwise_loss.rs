//! Losses of pairs, unreduced: functions of two variables, whose slopes stand beside them in
//! `kernels::binary`. Both sides have gradients.

use tensor::BinaryOp;

use crate::error::Result;
use crate::var::Var;

impl Var {
    /// `(x − t)²`, element by element; see [`BinaryOp::SquaredError`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn mse_loss(&self, t: &Var) -> Result<Var> {
        self.binary(BinaryOp::SquaredError, t)
    }

    /// `|x − t|`, element by element; see [`BinaryOp::AbsoluteError`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn l1_loss(&self, t: &Var) -> Result<Var> {
        self.binary(BinaryOp::AbsoluteError, t)
    }

    /// Binary cross-entropy of probabilities, element by element; see [`BinaryOp::Bce`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn bce_loss(&self, t: &Var) -> Result<Var> {
        self.binary(BinaryOp::Bce, t)
    }

    /// Binary cross-entropy of logits, element by element; see [`BinaryOp::BceWithLogits`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn bce_with_logits(&self, t: &Var) -> Result<Var> {
        self.binary(BinaryOp::BceWithLogits, t)
    }

    /// `t · (ln t − x)` of log-probabilities x, element by element; see [`BinaryOp::KlDiv`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn kl_div(&self, t: &Var) -> Result<Var> {
        self.binary(BinaryOp::KlDiv, t)
    }

    /// Huber's loss, element by element; see [`BinaryOp::Huber`].
    ///
    /// # Errors
    /// As [`Var::binary`], or a `delta` that is not positive and finite.
    pub fn huber_loss(&self, t: &Var, delta: f64) -> Result<Var> {
        if !(delta > 0.0 && delta.is_finite()) {
            let (op, rule) = ("huber_loss", "delta is positive and finite");
            return Err(tensor::Error::Setting { op, name: "delta", value: delta, rule }.into());
        }
        self.binary(BinaryOp::Huber(delta), t)
    }
}
