//! Losses of pairs, unreduced: a prediction and a target, broadcast and promoted as any pair is.

use kernels::binary::BinaryOp;

use crate::error::{Error, Result};
use crate::tensor::Tensor;

impl Tensor {
    /// `(x − t)²`, element by element; see [`BinaryOp::SquaredError`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn mse_loss(&self, t: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::SquaredError, t)
    }

    /// `|x − t|`, element by element; see [`BinaryOp::AbsoluteError`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn l1_loss(&self, t: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::AbsoluteError, t)
    }

    /// Binary cross-entropy of probabilities, element by element; see [`BinaryOp::Bce`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn bce_loss(&self, t: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Bce, t)
    }

    /// Binary cross-entropy of logits, element by element; see [`BinaryOp::BceWithLogits`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn bce_with_logits(&self, t: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::BceWithLogits, t)
    }

    /// `t · (ln t − x)` of log-probabilities x, element by element; see [`BinaryOp::KlDiv`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn kl_div(&self, t: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::KlDiv, t)
    }

    /// Huber's loss, element by element; see [`BinaryOp::Huber`].
    ///
    /// # Errors
    /// As [`Tensor::binary`], or a `delta` that is not positive and finite.
    pub fn huber_loss(&self, t: &Tensor, delta: f64) -> Result<Tensor> {
        if !(delta > 0.0 && delta.is_finite()) {
            let (op, rule) = ("huber_loss", "delta is positive and finite");
            return Err(Error::Setting { op, name: "delta", value: delta, rule });
        }
        self.binary(BinaryOp::Huber(delta), t)
    }
}
