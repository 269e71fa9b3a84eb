//! `y = Σ x`, along one axis or over all elements.
//!
//! Every summed element has slope 1, so `dx` is `dy` repeated along what was summed. Only the
//! shape is kept.

use tensor::{Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
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

    fn vjp_var(&self, dy: &Var, _: &crate::Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.reshape(&self.kept)?.broadcast_to(&self.x_shape)?])
    }
}

impl Var {
    /// The sum along `axis`; see [`Tensor::sum`].
    ///
    /// # Errors
    /// As there.
    pub fn sum(&self, axis: usize, keep_axis: bool) -> Result<Var> {
        let kept = self.value().sum(axis, true)?;
        let saved = Sum { x_shape: *self.value().shape(), kept: *kept.shape() };
        let y = if keep_axis {
            kept
        } else {
            let mut lens = kept.shape().to_vec();
            lens.remove(axis);
            kept.reshape(&lens)?
        };
        Ok(Var::from_op(y, &[self], saved))
    }

    /// The sum of all elements, a scalar; see [`Tensor::sum_all`].
    ///
    /// # Errors
    /// As there.
    pub fn sum_all(&self) -> Result<Var> {
        let saved = Sum { x_shape: *self.value().shape(), kept: Shape::SCALAR };
        Ok(Var::from_op(self.value().sum_all()?, &[self], saved))
    }
}
