//! `y = x · mask / (1 − p)`.
//!
//! The mask is constant, so `dx = dy · mask / (1 − p)`: the same function of dy. Only its key is
//! kept, and the mask is drawn again.

use kernels::random::Stream;
use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::in_f32;
use crate::var::Var;

struct Dropout {
    p: f64,
    stream: Stream,
    first: u64,
}

impl Op for Dropout {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.dropout(self.p, &self.stream, self.first)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.dropout(self.p, &self.stream, self.first)?])
    }
}

impl Var {
    /// Dropout with the mask that `stream` has from element number `first` on; see
    /// [`Tensor::dropout`]. With `p = 0` this value itself.
    ///
    /// # Errors
    /// As there.
    pub fn dropout(&self, p: f64, stream: &Stream, first: u64) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.dropout(p, stream, first));
        }
        if p == 0.0 {
            return Ok(self.clone());
        }
        let y = self.value().dropout(p, stream, first)?;
        Ok(Var::from_op(y, &[self], Dropout { p, stream: *stream, first }))
    }
}
