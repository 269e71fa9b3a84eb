//! `lossᵢ = Σⱼ −qᵢⱼ · ln softmax(xᵢ)ⱼ`, the cross-entropy of each row with weights of its classes.
//!
//! With `p = softmax(x)` the slope of a row's loss is `p · Σⱼ qⱼ − q`. p and q are kept; the
//! forward had to compute p. The weights are constants.

use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::wide;
use crate::var::Var;

struct SoftCrossEntropy {
    x: Tensor,
    softmax: Tensor,
    q: Tensor,
}

impl Op for SoftCrossEntropy {
    fn name(&self) -> &'static str {
        "soft_cross_entropy"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.softmax.soft_cross_entropy_vjp(&self.q, dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let axis = self.q.ndim() - 1;
        let p = inputs.var(0, &self.x).softmax(axis)?;
        let mut column = self.q.shape().to_vec();
        column[axis] = 1;
        let (q, whole) = (Var::constant(self.q.clone()), Var::constant(self.q.sum(axis, true)?));
        let slope = (&(&p * &whole)? - &q)?;
        Ok(vec![(&slope * &dy.reshape(&column)?)?])
    }
}

impl Var {
    /// Logits and weights `[.., classes] -> losses [..]`; halves give f32. See
    /// [`Tensor::soft_cross_entropy`], and [`Tensor::soft_targets`] for where weights come from.
    ///
    /// # Errors
    /// As there.
    pub fn soft_cross_entropy(&self, q: &Tensor) -> Result<Var> {
        let x = wide(self)?;
        let q = q.cast(x.value().dtype())?;
        let (losses, softmax) = x.value().soft_cross_entropy(&q)?;
        let saved = SoftCrossEntropy { x: x.value().clone(), softmax, q };
        Ok(Var::from_op(losses, &[&x], saved))
    }
}
