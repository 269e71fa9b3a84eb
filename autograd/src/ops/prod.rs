//! `y = Π x` along some axes.
//!
//! The slope with respect to an element is the product of the others, which is multiplied out
//! and not divided: zeros are ordinary elements. x is kept.

use tensor::{Axes, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Prod {
    x: Tensor,
    axes: Axes,
}

impl Op for Prod {
    fn name(&self) -> &'static str {
        "prod"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.prod_vjp(self.axes, dy)?)
    }
}

impl Var {
    /// The product along `axes`; see [`Tensor::prod`].
    ///
    /// # Errors
    /// As there.
    pub fn prod(&self, axes: impl Into<Axes>, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.prod(axes, keep_axes));
        }
        let y = self.value().prod(axes, keep_axes)?;
        Ok(Var::from_op(y, &[self], Prod { x: self.value().clone(), axes }))
    }
}
