//! A block of a transformer that reads from left to right.

use autograd::Var;
use tensor::UnaryOp;

use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::layers::{Activation, LayerNorm, Linear, MultiHeadAttention};
use crate::module::Module;
use crate::parameter::Parameter;

/// Standard deviation of a weight at the start (Radford et al. 2019, "Language models are
/// unsupervised multitask learners", the models' published start).
pub(super) const START: f64 = 0.02;

/// `[b, l, dim] -> [b, l, dim]`: `x + attention(ln1(x))`, then `x + down(gelu(up(ln2(x))))` with
/// 4·dim hidden features: norms before the layers, as GPT-2 has them (Radford et al. 2019,
/// section 2.3). The parameters are `ln1`, `qkv`, `proj`, `ln2`, `up` and `down`.
#[derive(Debug)]
pub struct TransformerBlock {
    ln1: LayerNorm,
    attention: MultiHeadAttention,
    ln2: LayerNorm,
    up: Linear,
    down: Linear,
}

impl TransformerBlock {
    /// A block among `depth` in a row. Weights start normal with the standard deviation 0.02,
    /// those that end in the residual sum divided by `√(2 · depth)`; biases start at 0.
    ///
    /// # Errors
    /// A `dim` of 0 or one that `heads` does not divide, or sizes beyond the memory.
    pub fn new(init: &Init, dim: usize, heads: usize, depth: usize) -> Result<Self> {
        let residual = START / (2.0 * depth.max(1) as f64).sqrt();
        let linear = |name: &str, [inputs, outputs]: [usize; 2], std| {
            Linear::normal(&init.at(name), inputs, outputs, std)
        };
        let [triple, hidden] = [dim.saturating_mul(3), dim.saturating_mul(4)];
        let linears = [linear("qkv", [dim, triple], START)?, linear("proj", [dim, dim], residual)?];
        Ok(TransformerBlock {
            ln1: LayerNorm::new(&init.at("ln1"), dim)?,
            attention: MultiHeadAttention::from_linears(linears, heads)?.causal(),
            ln2: LayerNorm::new(&init.at("ln2"), dim)?,
            up: linear("up", [dim, hidden], START)?,
            down: linear("down", [hidden, dim], residual)?,
        })
    }
}

impl Module for TransformerBlock {
    fn describe(&self) -> String {
        "TransformerBlock".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let x = (x + &cx.run(&self.attention, &cx.run(&self.ln1, x)?)?)?;
        let hidden = cx.run(&self.up, &cx.run(&self.ln2, &x)?)?;
        let hidden = cx.run(&Activation(UnaryOp::Gelu), &hidden)?;
        Ok((&x + &cx.run(&self.down, &hidden)?)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.ln1.visit(visitor);
        self.attention.visit(visitor);
        self.ln2.visit(visitor);
        self.up.visit(visitor);
        self.down.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.ln1.visit_mut(visitor);
        self.attention.visit_mut(visitor);
        self.ln2.visit_mut(visitor);
        self.up.visit_mut(visitor);
        self.down.visit_mut(visitor);
    }
}
