//! `y = x · Wᵀ + b`.
//!
//! With rows flattened to `[rows, features]`: `dW = dyᵀ · x`, `db = Σ rows of dy`, and
//! `dx = dy · W`. x and W are kept. The gradients of the parameters come first, so that they are
//! on their way to the other ranks while dx is computed.

use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Linear {
    x: Tensor,
    weight: Tensor,
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
}

impl Var {
    /// A linear layer in one pass; see [`Tensor::linear`].
    ///
    /// # Errors
    /// As there.
    pub fn linear(&self, weight: &Var, bias: Option<&Var>) -> Result<Var> {
        let y = self.value().linear(weight.value(), bias.map(Var::value))?;
        let saved = Linear { x: self.value().clone(), weight: weight.value().clone() };
        Ok(match bias {
            Some(bias) => Var::from_op(y, &[self, weight, bias], saved),
            None => Var::from_op(y, &[self, weight], saved),
        })
    }
}
