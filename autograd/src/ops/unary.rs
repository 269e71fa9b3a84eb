//! `y = f(x)` elementwise.
//!
//! Each output depends on one input, so the Jacobian is diagonal: `dx = dy · f'(x)`. The slopes
//! stand beside the formulas in `kernels::unary`, with their conventions at kinks. Both x and y
//! are kept, since either may make the slope cheaper.

use tensor::{Tensor, UnaryOp};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Unary {
    op: UnaryOp,
    x: Tensor,
    y: Tensor,
}

impl Op for Unary {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.unary_vjp(self.op, &self.y, dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &crate::Inputs<'_>) -> Result<Vec<Var>> {
        let y = inputs.output(&self.y);
        match self.op {
            UnaryOp::Exp => Ok(vec![(dy * &y)?]),
            _ => panic!(),
        }
    }
}

impl Var {
    /// `op` of every element; see [`Tensor::unary`].
    ///
    /// # Errors
    /// As there.
    pub fn unary(&self, op: UnaryOp) -> Result<Var> {
        let y = self.value().unary(op)?;
        let saved = Unary { op, x: self.value().clone(), y: y.clone() };
        Ok(Var::from_op(y, &[self], saved))
    }

    /// `max(x, 0)`, with slope 0 at 0; see [`Tensor::relu`].
    ///
    /// # Errors
    /// As there.
    pub fn relu(&self) -> Result<Var> {
        self.unary(UnaryOp::Relu)
    }

    /// `eˣ`; see [`Tensor::exp`].
    ///
    /// # Errors
    /// As there.
    pub fn exp(&self) -> Result<Var> {
        self.unary(UnaryOp::Exp)
    }

    /// The natural logarithm; see [`Tensor::ln`].
    ///
    /// # Errors
    /// As there.
    pub fn ln(&self) -> Result<Var> {
        self.unary(UnaryOp::Ln)
    }
}
