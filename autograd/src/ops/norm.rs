//! `y = √(Σ x²)` along some axes.
//!
//! `dx = x · dy / y`. At 0 the norm has no derivative; the gradient there is 0. x and y are kept.

use tensor::{Axes, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Norm {
    x: Tensor,
    y: Tensor,
    axes: Axes,
}

impl Op for Norm {
    fn name(&self) -> &'static str {
        "norm"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.norm_vjp(self.axes, &self.y, dy)?)
    }

    /// NaN where the norm is 0.
    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let x = inputs.var(0, &self.x);
        let y = x.norm(self.axes, true)?;
        let dy = dy.reshape(y.value().shape())?;
        Ok(vec![(&x * &(&dy / &y)?)?])
    }
}

impl Var {
    /// The Euclidean norm along `axes`, with gradient 0 where it is 0; see [`Tensor::norm`].
    ///
    /// # Errors
    /// As there.
    pub fn norm(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.norm(axes, keep_axes));
        }
        let y = self.value().norm(axes, keep_axes)?;
        Ok(Var::from_op(y.clone(), &[self], Norm { x: self.value().clone(), y, axes }))
    }
}
