//! `L = Σ −ln softmax(x)[t]`, the summed cross-entropy of each row with its class.
//!
//! With `p = softmax(x)`, a row's loss is `ln Σ exp x − x[t]`, whose slope is `p − onehot(t)`:
//! `dx = dL · (p − onehot(t))`. p is kept; the forward had to compute it.

use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::ops::cast::wide;
use crate::var::Var;

struct CrossEntropy {
    softmax: Tensor,
    targets: Tensor,
}

impl Op for CrossEntropy {
    fn name(&self) -> &'static str {
        "cross_entropy"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.softmax.cross_entropy_vjp(&self.targets, dy)?)
    }
}

impl Var {
    /// Logits `[.., classes]` and targets `[..]` of i64 `->` the sum of the losses, a scalar;
    /// halves give f32. See [`Tensor::cross_entropy`].
    ///
    /// # Errors
    /// As there.
    pub fn cross_entropy(&self, targets: &Tensor) -> Result<Var> {
        let x = wide(self)?;
        let (losses, softmax) = x.value().cross_entropy(targets)?;
        let saved = CrossEntropy { softmax, targets: targets.clone() };
        Ok(Var::from_op(losses.sum_all()?, &[&x], saved))
    }
}
