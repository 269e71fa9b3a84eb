//! Normalization by the root mean square.

use autograd::Var;

use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// Divides the last axis by its root mean square, then scales each element: `weight` starts at 1
/// (Zhang and Sennrich 2019, "Root mean square layer normalization").
#[derive(Debug)]
pub struct RmsNorm {
    weight: Parameter,
    eps: f64,
}

impl RmsNorm {
    /// Over the last axis, of `features` elements, with eps = 1e-6.
    ///
    /// # Errors
    /// A size that is too large for the memory, or a type that has no gradients.
    pub fn new(init: &Init, features: usize) -> Result<Self> {
        Ok(RmsNorm { weight: init.full("weight", &[features], 1.0)?, eps: 1e-6 })
    }

    /// The same with another number added to the mean of the squares.
    pub fn with_eps(self, eps: f64) -> Self {
        RmsNorm { eps, ..self }
    }
}

impl Module for RmsNorm {
    fn describe(&self) -> String {
        format!("RmsNorm({})", self.weight.value().numel())
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        Ok(x.rms_norm(1, Some(&cx.var(&self.weight)), self.eps)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        visitor(&self.weight);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        visitor(&mut self.weight);
    }
}
