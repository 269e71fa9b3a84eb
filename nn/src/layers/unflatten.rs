//! Features as a picture.

use autograd::Var;

use crate::context::Context;
use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;

/// `[samples, ..] -> [samples, ..shape]`, with the same elements.
#[derive(Clone, Debug)]
pub struct Unflatten {
    shape: Vec<usize>,
}

impl Unflatten {
    /// Samples of `shape`.
    pub fn new(shape: &[usize]) -> Self {
        Unflatten { shape: shape.to_vec() }
    }
}

impl Module for Unflatten {
    fn describe(&self) -> String {
        format!("Unflatten({:?})", self.shape)
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        let samples = x.value().shape().first().copied().unwrap_or(1);
        Ok(x.reshape(&[&[samples], &self.shape[..]].concat())?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}
