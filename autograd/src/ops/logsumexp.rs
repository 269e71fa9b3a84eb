//! `y = ln Σ exp x` along some axes.
//!
//! `dx = softmax(x) · dy`, computed from x alone, since y would bring its rounding into the
//! exponents; 0 where all elements are −∞. x is kept.

use tensor::{Axes, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct LogSumExp {
    x: Tensor,
    axes: Axes,
}

impl Op for LogSumExp {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.logsumexp_vjp(self.axes, dy)?)
    }

    /// NaN where all elements are −∞, and an error where there are none.
    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        // The softmax does not change with the number that is subtracted.
        let max = Var::constant(self.x.amax(self.axes, true)?);
        let exp = (&inputs.var(0, &self.x) - &max)?.exp()?;
        let sum = exp.sum(self.axes, true)?;
        let dy = dy.reshape(sum.value().shape())?;
        Ok(vec![(&(&exp / &sum)? * &dy)?])
    }
}

impl Var {
    /// `ln Σ exp x` along `axes`; see [`Tensor::logsumexp`].
    ///
    /// # Errors
    /// As there.
    pub fn logsumexp(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.logsumexp(axes, keep_axes));
        }
        let y = self.value().logsumexp(axes, keep_axes)?;
        Ok(Var::from_op(y, &[self], LogSumExp { x: self.value().clone(), axes }))
    }
}
