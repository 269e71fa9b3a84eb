//! A table of vectors, looked up by number.

use autograd::Var;
use tensor::Tensor;

use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// Rows of a `weight` `[n, d]` by number: ids `[..]` of i64 give `[.., d]`.
#[derive(Debug)]
pub struct Embedding {
    weight: Parameter,
}

impl Embedding {
    /// A table started from the standard normal distribution, as PyTorch starts it.
    ///
    /// # Errors
    /// A size that is too large for the memory, or a type that has no gradients.
    pub fn new(init: &Init, n: usize, d: usize) -> Result<Self> {
        Ok(Embedding::from_weight(init.normal("weight", &[n, d], 1.0)?))
    }

    /// A table that was started in another way; `weight` is `[n, d]`.
    pub fn from_weight(weight: Parameter) -> Self {
        Embedding { weight }
    }

    /// The rows of `ids`, i64 of any shape.
    ///
    /// # Errors
    /// Ids of another type or outside the table.
    pub fn rows(&self, cx: &Context, ids: &Tensor) -> Result<Var> {
        Ok(cx.var(&self.weight).embedding(ids)?)
    }
}

impl Module for Embedding {
    fn describe(&self) -> String {
        let [n, d] = [0, 1].map(|axis| self.weight.value().shape()[axis]);
        format!("Embedding({n} x {d})")
    }

    fn forward(&self, cx: &Context, ids: &Var) -> Result<Var> {
        self.rows(cx, ids.value())
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        visitor(&self.weight);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        visitor(&mut self.weight);
    }
}
