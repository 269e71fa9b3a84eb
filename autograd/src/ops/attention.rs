//! `softmax(q · kᵀ / √d) · v` over heads.
//!
//! With `p` the softmax: `dv = pᵀ · dout`, `dp = dout · vᵀ`, `ds = p · (dp − Σ p dp) / √d` over
//! rows, `dq = ds · k`, `dk = dsᵀ · q`. q, k, v and p are kept.

use tensor::{Attention, AttentionSettings, DType, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

/// What a query scores where it sees nothing, for a softmax that has a value in every row. Its
/// exponential is 0 beside that of any score in use.
const UNSEEN: f64 = -1e30;

struct Of(Attention);

impl Op for Of {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let gradients = self.0.vjp(dy, [0, 1, 2].map(|input| grads.wanted(input)))?;
        for (input, gradient) in gradients.into_iter().enumerate() {
            if let Some(gradient) = gradient {
                grads.give(input, gradient)?;
            }
        }
        Ok(())
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let [q, k, v] = self.0.operands();
        let operands = [inputs.var(0, q), inputs.var(1, k), inputs.var(2, v)];
        Ok(gradients(&operands, self.0.settings(), dy)?.into())
    }
}

/// Attention whose operands lie side by side in one tensor `[b, l, 3·h·d]`.
struct Within {
    x: Tensor,
    saved: Attention,
}

impl Op for Within {
    fn name(&self) -> &'static str {
        "self_attention"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.saved.within_vjp(dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let shape = self.saved.operands()[0].shape();
        let [b, heads, l, d] = [0, 1, 2, 3].map(|axis| shape[axis]);
        let x = inputs.var(0, &self.x).reshape(&[b, l, 3, heads, d])?;
        let parts = x.permute(&[2, 0, 3, 1, 4])?;
        let operands = [parts.select(0, 0)?, parts.select(0, 1)?, parts.select(0, 2)?];
        let dy = dy.reshape(&[b, l, heads, d])?.permute(&[0, 2, 1, 3])?;
        let all = gradients(&operands, self.saved.settings(), &dy)?;
        let dx = Var::stack(&all.each_ref(), 0)?.permute(&[1, 3, 0, 2, 4])?;
        Ok(vec![dx.reshape(self.x.shape())?])
    }
}

/// The gradients of q, k and v as a computation that can be differentiated again.
fn gradients([q, k, v]: &[Var; 3], settings: &AttentionSettings, dy: &Var) -> Result<[Var; 3]> {
    let (shape, keys) = (q.value().shape(), k.value().shape()[2]);
    let [b, heads, queries, d] = [0, 1, 2, 3].map(|axis| shape[axis]);
    let scale = 1.0 / (d as f64).sqrt();
    let device = q.value().device();
    let mut seen = Tensor::full(device, 1u8, &[b, heads, queries, keys])?;
    if settings.causal {
        seen = seen.tril(0)?;
    }
    if let Some(mask) = &settings.key_mask {
        let mask = mask.reshape(&[b, 1, 1, keys])?.broadcast_to(seen.shape())?;
        seen = seen.where_mask(&mask, &Tensor::zeros(device, DType::U8, seen.shape())?)?;
    }
    let hidden = seen.eq(&Tensor::zeros(device, DType::U8, &[])?)?;
    let scores = (&q.matmul(&k.transpose(2, 3)?)? * scale)?.masked_fill(&hidden, UNSEEN)?;
    let p = scores.softmax(3)?.masked_fill(&hidden, 0.0)?;
    let dp = dy.matmul(&v.transpose(2, 3)?)?;
    let centred = (&dp - &(&p * &dp)?.sum(3, true)?)?;
    let ds = (&(&p * &centred)? * scale)?;
    let dq = ds.matmul(k)?;
    let dk = ds.transpose(2, 3)?.matmul(q)?;
    Ok([dq, dk, p.transpose(2, 3)?.matmul(dy)?])
}

impl Var {
    /// Attention of these queries over keys and values; see [`Tensor::attention`].
    ///
    /// # Errors
    /// As there.
    pub fn attention(&self, k: &Var, v: &Var, settings: &AttentionSettings) -> Result<Var> {
        if [self, k, v].iter().any(|x| x.value().dtype().is_half()) {
            return in_f32([self, k, v], |[q, k, v]| q.attention(k, v, settings));
        }
        let (y, saved) = Attention::of([self.value(), k.value(), v.value()], settings)?;
        Ok(Var::from_op(y, &[self, k, v], Of(saved)))
    }

    /// Attention within a sequence; see [`Tensor::self_attention`].
    ///
    /// # Errors
    /// As there.
    pub fn self_attention(&self, heads: usize, settings: &AttentionSettings) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.self_attention(heads, settings));
        }
        let (y, saved) = Attention::within(self.value(), heads, settings)?;
        let x = self.value().clone();
        Ok(Var::from_op(y, &[self], Within { x, saved }))
    }
}
