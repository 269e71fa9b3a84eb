//! `y = x̂ · w + b` with `x̂ = (x − μ) · r` and `r = 1 / √(σ² + eps)`, over the last axes.
//!
//! μ and r depend on the whole row. With `g = dy · w` and means over the row,
//! `dx = r · ((g − mean g) − x̂ · mean (g · x̂))`; over the rows, `dw = Σ dy · x̂` and `db = Σ dy`.
//! x, μ, r and w are kept; x̂ is computed again. The gradients of the parameters come first.

use tensor::{Tensor, UnaryOp};

use super::affine::{affine_in_f32, any_half, constant, inputs, row_means, values};
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct LayerNorm {
    x: Tensor,
    moments: Tensor,
    weight: Option<Tensor>,
    has_bias: bool,
    /// Axes of a row.
    dims: usize,
    eps: f64,
}

const X: usize = 0;
const WEIGHT: usize = 1;

impl LayerNorm {
    fn bias(&self) -> Option<usize> {
        self.has_bias.then_some(if self.weight.is_some() { WEIGHT + 1 } else { WEIGHT })
    }

    /// The lengths of the normalized axes.
    fn row_shape(&self) -> &[usize] {
        let shape = self.x.shape();
        &shape[shape.ndim() - self.dims..]
    }

    /// Number of rows and their length; nothing is summed over the rows of an empty x.
    fn rows(&self) -> [usize; 2] {
        let len = self.row_shape().iter().product();
        [self.x.numel().checked_div(len).unwrap_or(0), len]
    }
}

impl Op for LayerNorm {
    fn name(&self) -> &'static str {
        "layer_norm"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let dy = dy.contiguous()?;
        if let Some(bias) = self.bias()
            && grads.wanted(bias)
        {
            grads.write(bias, |out| {
                let shape = [&self.rows()[..1], self.row_shape()].concat();
                dy.reshape(&shape)?.sum_rows_into(out)
            })?;
        }
        if self.weight.is_some() {
            let (x, moments) = (&self.x, &self.moments);
            grads.write(WEIGHT, |out| x.layer_norm_weight_vjp_into(moments, &dy, out))?;
        }
        if grads.wanted(X) {
            grads.give(X, self.x.layer_norm_vjp(&self.moments, self.weight.as_ref(), &dy)?)?;
        }
        Ok(())
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let rows @ [_, len] = self.rows();
        let (x, dy) = (inputs.var(X, &self.x).reshape(&rows)?, dy.reshape(&rows)?);
        let centred = (&x - &row_means(&x, len)?)?;
        let variance = row_means(&(&centred * &centred)?, len)?;
        let r = (&variance + &constant(&x, self.eps)?)?;
        let r = r.unary(UnaryOp::Sqrt)?.unary(UnaryOp::Recip)?;
        let hat = (&centred * &r)?;
        let weight = self.weight.as_ref().map(|weight| inputs.var(WEIGHT, weight));
        let g = match &weight {
            Some(weight) => (&dy * &weight.reshape(&[len])?)?,
            None => dy.clone(),
        };
        let along = (&hat * &row_means(&(&g * &hat)?, len)?)?;
        let across = (&g - &row_means(&g, len)?)?;
        let dx = (&r * &(&across - &along)?)?;
        let mut all = vec![dx.reshape(self.x.shape())?];
        if weight.is_some() {
            all.push((&dy * &hat)?.sum(0, false)?.reshape(self.row_shape())?);
        }
        if self.has_bias {
            all.push(dy.sum(0, false)?.reshape(self.row_shape())?);
        }
        Ok(all)
    }
}

impl Var {
    /// Layer normalization over the last `dims` axes; see [`Tensor::layer_norm`].
    ///
    /// # Errors
    /// As there.
    pub fn layer_norm(
        &self,
        dims: usize,
        weight: Option<&Var>,
        bias: Option<&Var>,
        eps: f64,
    ) -> Result<Var> {
        let affine = [weight, bias];
        if any_half(self, affine) {
            return affine_in_f32(self, affine, |x, [w, b]| x.layer_norm(dims, w, b, eps));
        }
        let (x, [w, b]) = (self.value(), values(affine));
        let (y, moments) = x.layer_norm_with_moments(dims, w, b, eps)?;
        let saved = LayerNorm {
            x: x.clone(),
            moments,
            weight: w.cloned(),
            has_bias: b.is_some(),
            dims,
            eps,
        };
        Ok(Var::from_op(y, &inputs(self, affine), saved))
    }
}
