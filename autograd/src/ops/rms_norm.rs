//! `y = x̂ · w` with `x̂ = x · r` and `r = 1 / √(mean x² + eps)`, over the last axes.
//!
//! r depends on the whole row. With `g = dy · w` and the mean over the row,
//! `dx = r · (g − x̂ · mean (g · x̂))`; over the rows, `dw = Σ dy · x̂`. x, r and w are kept.

use tensor::{Tensor, UnaryOp};

use super::affine::{affine_in_f32, any_half, constant, inputs, row_means};
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct RmsNorm {
    x: Tensor,
    factors: Tensor,
    weight: Option<Tensor>,
    /// Axes of a row.
    dims: usize,
    eps: f64,
}

const X: usize = 0;
const WEIGHT: usize = 1;

impl Op for RmsNorm {
    fn name(&self) -> &'static str {
        "rms_norm"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let dy = dy.contiguous()?;
        if self.weight.is_some() {
            let (x, factors) = (&self.x, &self.factors);
            grads.write(WEIGHT, |out| x.rms_norm_weight_vjp_into(factors, &dy, out))?;
        }
        if grads.wanted(X) {
            grads.give(X, self.x.rms_norm_vjp(&self.factors, self.weight.as_ref(), &dy)?)?;
        }
        Ok(())
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let shape = self.x.shape();
        let row = &shape[shape.ndim() - self.dims..];
        let len = row.iter().product();
        let rows = [self.x.numel().checked_div(len).unwrap_or(0), len];
        let (x, dy) = (inputs.var(X, &self.x).reshape(&rows)?, dy.reshape(&rows)?);
        let squares = (&row_means(&(&x * &x)?, len)? + &constant(&x, self.eps)?)?;
        let r = squares.unary(UnaryOp::Sqrt)?.unary(UnaryOp::Recip)?;
        let hat = (&x * &r)?;
        let weight = self.weight.as_ref().map(|weight| inputs.var(WEIGHT, weight));
        let g = match &weight {
            Some(weight) => (&dy * &weight.reshape(&[len])?)?,
            None => dy.clone(),
        };
        let along = (&hat * &row_means(&(&g * &hat)?, len)?)?;
        let mut all = vec![(&r * &(&g - &along)?)?.reshape(shape)?];
        if weight.is_some() {
            all.push((&dy * &hat)?.sum(0, false)?.reshape(row)?);
        }
        Ok(all)
    }
}

impl Var {
    /// Normalization by the root mean square over the last `dims` axes; see
    /// [`Tensor::rms_norm`].
    ///
    /// # Errors
    /// As there.
    pub fn rms_norm(&self, dims: usize, weight: Option<&Var>, eps: f64) -> Result<Var> {
        if any_half(self, [weight, None]) {
            return affine_in_f32(self, [weight, None], |x, [w, _]| x.rms_norm(dims, w, eps));
        }
        let (x, w) = (self.value(), weight.map(Var::value));
        let (y, factors) = x.rms_norm_with_factors(dims, w, eps)?;
        let saved = RmsNorm { x: x.clone(), factors, weight: w.cloned(), dims, eps };
        Ok(Var::from_op(y, &inputs(self, [weight, None]), saved))
    }
}
