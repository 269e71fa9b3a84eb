//! Multi-head attention within a sequence.

use autograd::Var;
use tensor::{AttentionSettings, Tensor};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::init::Init;
use crate::layers::Linear;
use crate::module::Module;
use crate::parameter::Parameter;

/// `[b, l, dim] -> [b, l, dim]`: queries, keys and values of all heads by one linear layer `qkv`,
/// attention in each head, and a linear layer `proj` over the heads side by side (Vaswani et al.
/// 2017, "Attention is all you need", section 3.2.2). Row `i` of `qkv` belongs to the queries for
/// `i < dim`, then to the keys, then to the values; within each, heads follow one another.
#[derive(Debug)]
pub struct MultiHeadAttention {
    qkv: Linear,
    proj: Linear,
    heads: usize,
    causal: bool,
}

impl MultiHeadAttention {
    /// Attention in which every position sees every other.
    ///
    /// # Errors
    /// A `dim` of 0 or one that `heads` does not divide, or sizes beyond the memory.
    pub fn new(init: &Init, dim: usize, heads: usize) -> Result<Self> {
        let qkv = Linear::new(&init.at("qkv"), dim, dim.saturating_mul(3))?;
        let proj = Linear::new(&init.at("proj"), dim, dim)?;
        MultiHeadAttention::from_linears([qkv, proj], heads)
    }

    /// The same from a `qkv` `[3·dim, dim]` and a `proj` `[dim, dim]` that were started in
    /// another way.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::new`].
    pub fn from_linears([qkv, proj]: [Linear; 2], heads: usize) -> Result<Self> {
        let dim = proj.outputs();
        if dim == 0 || heads == 0 || !dim.is_multiple_of(heads) {
            return Err(Error::Heads { dim, heads });
        }
        Ok(MultiHeadAttention { qkv, proj, heads, causal: false })
    }

    /// The same with positions that see only themselves and those before.
    pub fn causal(self) -> Self {
        MultiHeadAttention { causal: true, ..self }
    }

    /// The output where no position sees those whose `key_mask` `[b, l]`, of u8, is 0: padding.
    /// A position that sees nothing takes part with zeros.
    ///
    /// # Errors
    /// An input or a mask of another shape.
    pub fn masked(&self, cx: &Context, x: &Var, key_mask: Option<&Tensor>) -> Result<Var> {
        let settings = AttentionSettings { causal: self.causal, key_mask: key_mask.cloned() };
        let heads = cx.run(&self.qkv, x)?.self_attention(self.heads, &settings)?;
        cx.run(&self.proj, &heads)
    }
}

impl Module for MultiHeadAttention {
    fn describe(&self) -> String {
        let causal = if self.causal { ", causal" } else { "" };
        format!("MultiHeadAttention({}, {} heads{causal})", self.proj.outputs(), self.heads)
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        self.masked(cx, x, None)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.qkv.visit(visitor);
        self.proj.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.qkv.visit_mut(visitor);
        self.proj.visit_mut(visitor);
    }
}
