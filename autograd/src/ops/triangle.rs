//! The lower or upper triangle of matrices.
//!
//! An element is kept or becomes 0, so its gradient is kept or becomes 0.

use tensor::{Tensor, Triangle};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Kept {
    side: Triangle,
    diagonal: i64,
}

impl Op for Kept {
    fn name(&self) -> &'static str {
        match self.side {
            Triangle::Lower => "tril",
            Triangle::Upper => "triu",
        }
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.triangle(self.side, self.diagonal)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.triangle(self.side, self.diagonal)?])
    }
}

impl Var {
    /// The lower triangle of each matrix; see [`Tensor::tril`].
    ///
    /// # Errors
    /// As there.
    pub fn tril(&self, diagonal: i64) -> Result<Var> {
        self.triangle(Triangle::Lower, diagonal)
    }

    /// The upper triangle of each matrix; see [`Tensor::triu`].
    ///
    /// # Errors
    /// As there.
    pub fn triu(&self, diagonal: i64) -> Result<Var> {
        self.triangle(Triangle::Upper, diagonal)
    }

    /// Either triangle; see [`Tensor::triangle`].
    ///
    /// # Errors
    /// As there.
    pub fn triangle(&self, side: Triangle, diagonal: i64) -> Result<Var> {
        let y = self.value().triangle(side, diagonal)?;
        Ok(Var::from_op(y, &[self], Kept { side, diagonal }))
    }
}
