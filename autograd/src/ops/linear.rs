//! `y = x · Wᵀ + b`.
//!
//! With rows flattened to `[rows, features]`: `dW = dyᵀ · x`, `db = Σ rows of dy`, and
//! `dx = dy · W`. x and W are kept. The gradients of the parameters come first, so that they are
//! on their way to the other ranks while dx is computed.

use tensor::Tensor;

use super::affine::{affine_in_f32, any_half};
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Linear {
    x: Tensor,
    weight: Tensor,
    has_bias: bool,
}

const X: usize = 0;
const WEIGHT: usize = 1;
const BIAS: usize = 2;

/// `[.., n] -> [rows, n]`.
fn as_rows(x: &Tensor) -> tensor::Result<Tensor> {
    let (n, rows) = x.shape().split_last().map_or((1, 1), |(&n, lead)| (n, lead.iter().product()));
    x.reshape(&[rows, n])
}

impl Op for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let dy = as_rows(dy)?;
        if grads.wanted(BIAS) {
            grads.write(BIAS, |out| dy.sum_rows_into(out))?;
        }
        if grads.wanted(WEIGHT) {
            let (x, dy_t) = (as_rows(&self.x)?, dy.transpose(0, 1)?);
            grads.write(WEIGHT, |out| dy_t.matmul_into(&x, out))?;
        }
        if grads.wanted(X) {
            grads.give(X, dy.matmul(&self.weight)?.reshape(self.x.shape())?)?;
        }
        Ok(())
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let [outputs, features] = [0, 1].map(|axis| self.weight.shape()[axis]);
        let rows = self.x.shape()[..self.x.ndim() - 1].iter().product();
        let x = inputs.var(X, &self.x).reshape(&[rows, features])?;
        let dy = dy.reshape(&[rows, outputs])?;
        let dx = dy.matmul(&inputs.var(WEIGHT, &self.weight))?.reshape(self.x.shape())?;
        let mut all = vec![dx, dy.transpose(0, 1)?.matmul(&x)?];
        if self.has_bias {
            all.push(dy.sum(0, false)?);
        }
        Ok(all)
    }
}

impl Var {
    /// A linear layer in one pass; see [`Tensor::linear`].
    ///
    /// # Errors
    /// As there.
    pub fn linear(&self, weight: &Var, bias: Option<&Var>) -> Result<Var> {
        if any_half(self, [Some(weight), bias]) {
            let affine = [Some(weight), bias];
            return affine_in_f32(self, affine, |x, [w, b]| x.linear(w.unwrap_or(weight), b));
        }
        let y = self.value().linear(weight.value(), bias.map(Var::value))?;
        let (x, weight_value) = (self.value().clone(), weight.value().clone());
        let saved = Linear { x, weight: weight_value, has_bias: bias.is_some() };
        Ok(match bias {
            Some(bias) => Var::from_op(y, &[self, weight, bias], saved),
            None => Var::from_op(y, &[self, weight], saved),
        })
    }
}
