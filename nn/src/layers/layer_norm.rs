//! Layer normalization.

use autograd::Var;

use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// Normalizes the last axes, then scales and shifts each of their elements: `weight` starts at 1,
/// `bias` at 0 (Ba, Kiros and Hinton 2016, "Layer normalization").
#[derive(Debug)]
pub struct LayerNorm {
    weight: Parameter,
    bias: Parameter,
    eps: f64,
}

impl LayerNorm {
    /// Over the last axis, of `features` elements, with eps = 1e-5.
    ///
    /// # Errors
    /// A size that is too large for the memory, or a type that has no gradients.
    pub fn new(init: &Init, features: usize) -> Result<Self> {
        LayerNorm::over(init, &[features])
    }

    /// Over the last axes, of the lengths `shape`, with eps = 1e-5.
    ///
    /// # Errors
    /// As [`LayerNorm::new`].
    pub fn over(init: &Init, shape: &[usize]) -> Result<Self> {
        let weight = init.full("weight", shape, 1.0)?;
        Ok(LayerNorm { weight, bias: init.full("bias", shape, 0.0)?, eps: 1e-5 })
    }

    /// The same with another number added to the variance.
    pub fn with_eps(self, eps: f64) -> Self {
        LayerNorm { eps, ..self }
    }
}

impl Module for LayerNorm {
    fn describe(&self) -> String {
        format!("LayerNorm({})", self.weight.value().shape())
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let (weight, bias) = (cx.var(&self.weight), cx.var(&self.bias));
        Ok(x.layer_norm(weight.value().ndim(), Some(&weight), Some(&bias), self.eps)?)
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
