//! `L = Σ −ln softmax(x)[t]`, the summed cross-entropy of each row with its class.
//!
//! With `p = softmax(x)`, a row's loss is `ln Σ exp x − x[t]`, whose slope is `p − onehot(t)`:
//! `dx = dL · (p − onehot(t))`. p is kept; the forward had to compute it. x is kept for second
//! derivatives.

use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::wide;
use crate::var::Var;

struct CrossEntropy {
    x: Tensor,
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

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let one = Tensor::scalar(dy.value().device(), 1.0f64).cast(dy.value().dtype())?;
        // p less the slope is what p is compared with: the classes, one-hot.
        let slope = self.softmax.cross_entropy_vjp(&self.targets, &one)?;
        let classes = Var::constant((&self.softmax - &slope)?);
        let last = self.x.shape().len() - 1;
        let softmax = inputs.var(0, &self.x).softmax(last)?;
        Ok(vec![(dy * &(&softmax - &classes)?)?])
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
        let saved = CrossEntropy { x: x.value().clone(), softmax, targets: targets.clone() };
        Ok(Var::from_op(losses.sum_all()?, &[&x], saved))
    }
}
