//! `y = x · Wᵀ + b`.

use autograd::Var;

use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// A linear layer: `[.., in] -> [.., out]`, with a weight `[out, in]` and a bias `[out]`.
#[derive(Debug)]
pub struct Linear {
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Linear {
    /// A layer with bias, started as PyTorch starts it: both uniform within `±1/√inputs`.
    ///
    /// # Errors
    /// An impossible size.
    pub fn new(init: &Init, inputs: usize, outputs: usize) -> Result<Self> {
        let bias = init.kaiming_uniform("bias", &[outputs], inputs)?;
        Ok(Linear { bias: Some(bias), ..Linear::without_bias(init, inputs, outputs)? })
    }

    /// A layer without bias.
    ///
    /// # Errors
    /// An impossible size.
    pub fn without_bias(init: &Init, inputs: usize, outputs: usize) -> Result<Self> {
        let weight = init.kaiming_uniform("weight", &[outputs, inputs], inputs)?;
        Ok(Linear { weight, bias: None })
    }

    /// A layer whose weight starts normal, with the standard deviation `std`, and its bias at 0.
    ///
    /// # Errors
    /// An impossible size.
    pub fn normal(init: &Init, inputs: usize, outputs: usize, std: f64) -> Result<Self> {
        let weight = init.normal("weight", &[outputs, inputs], std)?;
        Ok(Linear { weight, bias: Some(init.full("bias", &[outputs], 0.0)?) })
    }

    /// A layer without bias whose weight, `[out, in]`, was started in another way.
    pub fn from_weight(weight: Parameter) -> Self {
        Linear { weight, bias: None }
    }

    /// The length of the last axis of its outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.weight.value().shape()[0]
    }
}

impl Module for Linear {
    fn describe(&self) -> String {
        let [outputs, inputs] = [0, 1].map(|axis| self.weight.value().shape()[axis]);
        format!("Linear({inputs} -> {outputs})")
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let bias = self.bias.as_ref().map(|bias| cx.var(bias));
        Ok(x.linear(&cx.var(&self.weight), bias.as_ref())?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        visitor(&self.weight);
        self.bias.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        visitor(&mut self.weight);
        self.bias.iter_mut().for_each(visitor);
    }
}
