//! `y = max x` over windows.
//!
//! Each output is one of its inputs, and its gradient goes there whole: of equals to the first.
//! Where each output lay is kept, not x.

use tensor::{MaxPlaces, Tensor, Window};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct MaxPool {
    name: &'static str,
    places: MaxPlaces,
}

impl Op for MaxPool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.places.vjp(dy)?)
    }
}

impl Var {
    /// The largest element of each window; see [`Tensor::max_pool1d`]. The gradient goes to the
    /// first of equals.
    ///
    /// # Errors
    /// As there.
    pub fn max_pool1d(&self, window: Window<1>) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.max_pool1d(window));
        }
        let (y, places) = self.value().max_pool1d_places(window)?;
        Ok(Var::from_op(y, &[self], MaxPool { name: "max_pool1d", places }))
    }

    /// The largest element of each window; see [`Tensor::max_pool2d`]. The gradient goes to the
    /// first of equals in row-major order of the window.
    ///
    /// # Errors
    /// As there.
    pub fn max_pool2d(&self, window: Window<2>) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.max_pool2d(window));
        }
        let (y, places) = self.value().max_pool2d_places(window)?;
        Ok(Var::from_op(y, &[self], MaxPool { name: "max_pool2d", places }))
    }
}
