//! `y = x̂ · w + b` with `x̂ = (x − μ) · r`, over groups of channels.
//!
//! The derivative is that of layer normalization, with a group of channels and their planes as the
//! row, and a weight and a bias for each channel: `dw = Σ dy · x̂` and `db = Σ dy` over samples
//! and planes. x, μ, r and w are kept.

use tensor::Tensor;

use super::affine::{affine_in_f32, any_half, inputs, values};
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct GroupNorm {
    x: Tensor,
    moments: Tensor,
    weight: Option<Tensor>,
    has_bias: bool,
}

const X: usize = 0;
const WEIGHT: usize = 1;

impl Op for GroupNorm {
    fn name(&self) -> &'static str {
        "group_norm"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let dy = dy.contiguous()?;
        let bias = WEIGHT + usize::from(self.weight.is_some());
        let affine =
            [self.weight.is_some() && grads.wanted(WEIGHT), self.has_bias && grads.wanted(bias)];
        if affine != [false; 2] {
            let [dw, db] = self.x.group_norm_affine_vjp(&self.moments, &dy)?;
            if affine[1] {
                grads.write(bias, |out| out.copy_from(&db))?;
            }
            if affine[0] {
                grads.write(WEIGHT, |out| out.copy_from(&dw))?;
            }
        }
        if grads.wanted(X) {
            grads.give(X, self.x.group_norm_vjp(&self.moments, self.weight.as_ref(), &dy)?)?;
        }
        Ok(())
    }
}

impl Var {
    /// Group normalization of `[samples, channels, ..]`; see [`Tensor::group_norm`].
    ///
    /// # Errors
    /// As there.
    pub fn group_norm(
        &self,
        groups: usize,
        weight: Option<&Var>,
        bias: Option<&Var>,
        eps: f64,
    ) -> Result<Var> {
        let affine = [weight, bias];
        if any_half(self, affine) {
            return affine_in_f32(self, affine, |x, [w, b]| x.group_norm(groups, w, b, eps));
        }
        let (x, [w, b]) = (self.value(), values(affine));
        let (y, moments) = x.group_norm_with_moments(groups, w, b, eps)?;
        let (x, weight) = (x.clone(), w.cloned());
        let saved = GroupNorm { x, moments, weight, has_bias: b.is_some() };
        Ok(Var::from_op(y, &inputs(self, affine), saved))
    }
}
