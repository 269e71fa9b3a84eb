//! Running sums and products along one axis.
//!
//! An element of a running sum counts in all that follow, so `dx` is the sum of dy from there to
//! the end. In a running product it is multiplied by the others up to each: the recurrence stands
//! in `kernels::scan`. For products x is kept.

use tensor::Tensor;

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct CumSum {
    axis: usize,
    /// Whether this is the derivative of the sum: added from the end.
    backward: bool,
}

impl CumSum {
    fn turned(&self, dy: &Tensor) -> tensor::Result<Tensor> {
        if self.backward { dy.cumsum(self.axis) } else { dy.cumsum_vjp(self.axis) }
    }
}

impl Op for CumSum {
    fn name(&self) -> &'static str {
        if self.backward { "cumsum_vjp" } else { "cumsum" }
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.turned(dy)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let saved = CumSum { axis: self.axis, backward: !self.backward };
        Ok(vec![Var::from_op(self.turned(dy.value())?, &[dy], saved)])
    }
}

struct CumProd {
    x: Tensor,
    axis: usize,
}

impl Op for CumProd {
    fn name(&self) -> &'static str {
        "cumprod"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.cumprod_vjp(self.axis, dy)?)
    }
}

impl Var {
    /// Running sums along `axis`; see [`Tensor::cumsum`].
    ///
    /// # Errors
    /// As there.
    pub fn cumsum(&self, axis: usize) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.cumsum(axis));
        }
        let saved = CumSum { axis, backward: false };
        Ok(Var::from_op(self.value().cumsum(axis)?, &[self], saved))
    }

    /// Running products along `axis`; see [`Tensor::cumprod`].
    ///
    /// # Errors
    /// As there.
    pub fn cumprod(&self, axis: usize) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.cumprod(axis));
        }
        let saved = CumProd { x: self.value().clone(), axis };
        Ok(Var::from_op(self.value().cumprod(axis)?, &[self], saved))
    }
}
