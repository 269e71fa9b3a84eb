//! `z = f(x, y)` elementwise with broadcasting, and the operators `+ − × ÷`.
//!
//! Per element `dx = dz · ∂f/∂x` and `dy = dz · ∂f/∂y`. An element that broadcasting repeated
//! took part in several outputs, so its gradient is the sum over them: `sum_to` its shape.

use std::ops::{Add, Div, Mul, Sub};

use tensor::{BinaryOp, Side, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Binary {
    op: BinaryOp,
    x: Tensor,
    y: Tensor,
}

impl Op for Binary {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn vjp(&self, dz: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        for (input, side, operand) in [(0, Side::Left, &self.x), (1, Side::Right, &self.y)] {
            if grads.wanted(input) {
                let full = self.x.binary_vjp(self.op, side, &self.y, dz)?;
                grads.give(input, full.sum_to(operand.shape())?)?;
            }
        }
        Ok(())
    }

    fn vjp_var(&self, dz: &Var, inputs: &crate::Inputs<'_>) -> Result<Vec<Var>> {
        let (x, y) = (inputs.var(0, &self.x), inputs.var(1, &self.y));
        let (dx, dy) = match self.op {
            BinaryOp::Add => (dz.clone(), dz.clone()),
            BinaryOp::Mul => ((dz * &y)?, (dz * &x)?),
            _ => panic!(),
        };
        let fit = |d: Var, like: &Tensor| -> Result<Var> {
            if d.value().shape() == like.shape() {
                Ok(d)
            } else {
                d.sum_all()?.reshape(like.shape())
            }
        };
        Ok(vec![fit(dx, &self.x)?, fit(dy, &self.y)?])
    }
}

impl Var {
    /// `op` of each pair of elements, after broadcasting; see [`Tensor::binary`].
    ///
    /// # Errors
    /// As there.
    pub fn binary(&self, op: BinaryOp, y: &Var) -> Result<Var> {
        let z = self.value().binary(op, y.value())?;
        let saved = Binary { op, x: self.value().clone(), y: y.value().clone() };
        Ok(Var::from_op(z, &[self, y], saved))
    }
}

impl Add for &Var {
    type Output = Result<Var>;
    fn add(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Add, y)
    }
}

impl Sub for &Var {
    type Output = Result<Var>;
    fn sub(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Sub, y)
    }
}

impl Mul for &Var {
    type Output = Result<Var>;
    fn mul(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Mul, y)
    }
}

impl Div for &Var {
    type Output = Result<Var>;
    fn div(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Div, y)
    }
}
