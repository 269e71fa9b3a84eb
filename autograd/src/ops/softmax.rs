//! The softmax along one axis, and its logarithm.
//!
//! With `y = softmax x`, `dyᵢ/dxⱼ = yᵢ ([i = j] − yⱼ)`, so `dx = y (dy − Σ dy·y)`; with
//! `y = log_softmax x`, `dx = dy − exp(y) Σ dy`. y is kept; x, which costs nothing while another
//! operation keeps it, for derivatives of derivatives.

use tensor::Tensor;

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Softmax {
    x: Tensor,
    y: Tensor,
    axis: usize,
}

impl Op for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.y.softmax_vjp(self.axis, dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let y = inputs.var(0, &self.x).softmax(self.axis)?;
        let dot = (dy * &y)?.sum(self.axis, true)?;
        Ok(vec![(&y * &(dy - &dot)?)?])
    }
}

struct LogSoftmax {
    x: Tensor,
    y: Tensor,
    axis: usize,
}

impl Op for LogSoftmax {
    fn name(&self) -> &'static str {
        "log_softmax"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.y.log_softmax_vjp(self.axis, dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let p = inputs.var(0, &self.x).softmax(self.axis)?;
        Ok(vec![(dy - &(&p * &dy.sum(self.axis, true)?)?)?])
    }
}

impl Var {
    /// The softmax along `axis`; see [`Tensor::softmax`].
    ///
    /// # Errors
    /// As there.
    pub fn softmax(&self, axis: usize) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.softmax(axis));
        }
        let y = self.value().softmax(axis)?;
        Ok(Var::from_op(y.clone(), &[self], Softmax { x: self.value().clone(), y, axis }))
    }

    /// The logarithm of the softmax along `axis`; see [`Tensor::log_softmax`].
    ///
    /// # Errors
    /// As there.
    pub fn log_softmax(&self, axis: usize) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.log_softmax(axis));
        }
        let y = self.value().log_softmax(axis)?;
        Ok(Var::from_op(y.clone(), &[self], LogSoftmax { x: self.value().clone(), y, axis }))
    }
}
