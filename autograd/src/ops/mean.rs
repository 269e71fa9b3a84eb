//! `y = (Σ x) / n` along some axes.
//!
//! Every element has the slope 1/n, so `dx` is `dy / n` repeated along what was reduced. Only the
//! shape is kept.

use tensor::{Axes, Shape, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

const OP: &str = "mean";

struct Mean {
    x_shape: Shape,
    /// The shape of y with the reduced axes kept, of length 1.
    kept: Shape,
    count: usize,
}

impl Op for Mean {
    fn name(&self) -> &'static str {
        OP
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let share = (dy / &number(dy, self.count as f64)?)?;
        grads.give(0, share.reshape(&self.kept)?.broadcast_to(&self.x_shape)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let count = Var::constant(number(dy.value(), self.count as f64)?);
        Ok(vec![(dy / &count)?.reshape(&self.kept)?.broadcast_to(&self.x_shape)?])
    }
}

/// `value` as a scalar of the type of `like`.
pub(super) fn number(like: &Tensor, value: f64) -> tensor::Result<Tensor> {
    Tensor::scalar(like.device(), value).cast(like.dtype())
}

impl Var {
    /// The mean along `axes`; see [`Tensor::mean`].
    ///
    /// # Errors
    /// As there.
    pub fn mean(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.mean(axes, keep_axes));
        }
        let y = self.value().mean(axes, keep_axes)?;
        let x_shape = *self.value().shape();
        let (kept, count) = (axes.reduced(OP, &x_shape, true)?, axes.count(OP, &x_shape)?);
        Ok(Var::from_op(y, &[self], Mean { x_shape, kept, count }))
    }
}
