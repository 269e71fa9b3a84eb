//! Group normalization.

use autograd::Var;

use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// Normalizes groups of channels of `[samples, channels, ..]`, then scales and shifts each channel:
/// `weight` starts at 1, `bias` at 0 (Wu and He 2018, "Group normalization").
#[derive(Debug)]
pub struct GroupNorm {
    weight: Parameter,
    bias: Parameter,
    groups: usize,
    eps: f64,
}

impl GroupNorm {
    /// `groups` groups of `channels` channels, with eps = 1e-5.
    ///
    /// # Errors
    /// Sizes that are too large for the memory, or a type that has no gradients. Groups that do
    /// not divide the channels are refused by the forward.
    pub fn new(init: &Init, groups: usize, channels: usize) -> Result<Self> {
        let weight = init.full("weight", &[channels], 1.0)?;
        Ok(GroupNorm { weight, bias: init.full("bias", &[channels], 0.0)?, groups, eps: 1e-5 })
    }

    /// The same with another number added to the variance.
    pub fn with_eps(self, eps: f64) -> Self {
        GroupNorm { eps, ..self }
    }
}

impl Module for GroupNorm {
    fn describe(&self) -> String {
        format!("GroupNorm({} groups, {} channels)", self.groups, self.weight.value().numel())
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let (weight, bias) = (cx.var(&self.weight), cx.var(&self.bias));
        Ok(x.group_norm(self.groups, Some(&weight), Some(&bias), self.eps)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        visitor(&self.weight);
        visitor(&self.bias);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        visitor(&mut self.weight);
        visitor(&mut self.bias);
    }
}
