//! `y = Σ x`, along some axes or over all elements.
//!
//! Every summed element has slope 1, so `dx` is `dy` repeated along what was summed. Only the
//! shape is kept.

use tensor::{Axes, Shape, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Sum {
    x_shape: Shape,
    /// The shape of y with the summed axes kept, of length 1.
    kept: Shape,
}

impl Op for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.reshape(&self.kept)?.broadcast_to(&self.x_shape)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.reshape(&self.kept)?.broadcast_to(&self.x_shape)?])
    }
}

impl Var {
    /// The sum along `axes`; see [`Tensor::sum`].
    ///
    /// # Errors
    /// As there.
    pub fn sum(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.sum(axes, keep_axes));
        }
        let y = self.value().sum(axes, keep_axes)?;
        let x_shape = *self.value().shape();
        let saved = Sum { x_shape, kept: axes.reduced("sum", &x_shape, true)? };
        Ok(Var::from_op(y, &[self], saved))
    }

    /// The sum of all elements, a scalar; see [`Tensor::sum_all`].
    ///
    /// # Errors
    /// As there.
    pub fn sum_all(&self) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.sum_all());
        }
        let saved = Sum { x_shape: *self.value().shape(), kept: Shape::SCALAR };
        Ok(Var::from_op(self.value().sum_all()?, &[self], saved))
    }

    /// The sum over what broadcasting from `shape` repeated, in that shape: how the gradient of a
    /// broadcast operand is made.
    ///
    /// # Errors
    /// A `shape` that does not broadcast to this one's.
    pub fn sum_to(&self, shape: &Shape) -> Result<Var> {
        let from = *self.value().shape();
        if from == *shape {
            return Ok(self.clone());
        }
        let added = from.ndim().saturating_sub(shape.ndim());
        let repeated = |&axis: &usize| axis < added || shape[axis - added] != from[axis];
        let axes: Vec<usize> = (0..from.ndim()).filter(repeated).collect();
        self.sum(&axes[..], true)?.reshape(shape)
    }
}
