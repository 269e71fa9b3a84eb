//! `y = ln Σ exp x` along some axes.
//!
//! `dx = exp(x − y) · dy`, the softmax times dy: 0 where y is −∞. x and y are kept.

use tensor::{Axes, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct LogSumExp {
    x: Tensor,
    y: Tensor,
    axes: Axes,
}

impl Op for LogSumExp {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.logsumexp_vjp(self.axes, &self.y, dy)?)
    }

    /// NaN where y is −∞.
    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let x = inputs.var(0, &self.x);
        let y = x.logsumexp(self.axes, true)?;
        let dy = dy.reshape(y.value().shape())?;
        Ok(vec![(&(&x - &y)?.exp()? * &dy)?])
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
        Ok(Var::from_op(y.clone(), &[self], LogSumExp { x: self.value().clone(), y, axes }))
    }
}
