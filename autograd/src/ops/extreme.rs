//! The largest and the smallest element along some axes.
//!
//! The elements that equal the result share its gradient evenly, so the total is preserved; all
//! others have none. x and y are kept.

use tensor::{Axes, Tensor};

use super::cast::in_f32;
use super::mean::number;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Extreme {
    name: &'static str,
    x: Tensor,
    y: Tensor,
    axes: Axes,
}

impl Op for Extreme {
    fn name(&self) -> &'static str {
        self.name
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.extreme_vjp(self.axes, &self.y, dy)?)
    }

    /// Which elements share the gradient does not change with x.
    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let one = number(&self.x, 1.0)?.broadcast_to(self.y.shape())?;
        let shares = Var::constant(self.x.extreme_vjp(self.axes, &self.y, &one)?);
        let kept = self.axes.reduced(self.name, self.x.shape(), true)?;
        Ok(vec![(&shares * &dy.reshape(&kept)?)?])
    }
}

impl Var {
    /// The largest element along `axes`; equal ones share the gradient. See [`Tensor::amax`].
    ///
    /// # Errors
    /// As there.
    pub fn amax(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.amax(axes, keep_axes));
        }
        let y = self.value().amax(axes, keep_axes)?;
        let saved = Extreme { name: "amax", x: self.value().clone(), y: y.clone(), axes };
        Ok(Var::from_op(y, &[self], saved))
    }

    /// The smallest element along `axes`; equal ones share the gradient. See [`Tensor::amin`].
    ///
    /// # Errors
    /// As there.
    pub fn amin(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.amin(axes, keep_axes));
        }
        let y = self.value().amin(axes, keep_axes)?;
        let saved = Extreme { name: "amin", x: self.value().clone(), y: y.clone(), axes };
        Ok(Var::from_op(y, &[self], saved))
    }
}
