//! `lossᵢ = −w[tᵢ] · x[i, tᵢ]`, the negative log-likelihood of each row.
//!
//! Linear in x: the slope is `−w` at the target and 0 elsewhere. Targets and weights are kept.

use tensor::{Tensor, UnaryOp};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::wide;
use crate::var::Var;

struct NllLoss {
    classes: usize,
    targets: Tensor,
    row_weights: Tensor,
}

impl Op for NllLoss {
    fn name(&self) -> &'static str {
        "nll_loss"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.nll_loss_vjp(self.classes, &self.targets, &self.row_weights)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let ones = (&self.row_weights.unary(UnaryOp::Scale(0.0))? + 1.0)?;
        let slope = ones.nll_loss_vjp(self.classes, &self.targets, &self.row_weights)?;
        let mut column = dy.value().shape().to_vec();
        column.push(1);
        Ok(vec![(&dy.reshape(&column)? * &Var::constant(slope))?])
    }
}

impl Var {
    /// Log-probabilities `[.., classes]`, targets and weights of rows `[..] -> losses [..]`;
    /// halves give f32. See [`Tensor::nll_loss`].
    ///
    /// # Errors
    /// As there.
    pub fn nll_loss(&self, targets: &Tensor, row_weights: &Tensor) -> Result<Var> {
        let x = wide(self)?;
        let row_weights = row_weights.cast(x.value().dtype())?;
        let losses = x.value().nll_loss(targets, &row_weights)?;
        let classes = x.value().shape().last().copied().unwrap_or(0);
        let saved = NllLoss { classes, targets: targets.clone(), row_weights };
        Ok(Var::from_op(losses, &[&x], saved))
    }
}
