//! `y = max(x, 0)`.

use autograd::Var;

use crate::context::Context;
use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;

/// The rectifier; its slope at 0 is 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relu;

impl Module for Relu {
    fn describe(&self) -> String {
        "Relu".to_owned()
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        Ok(x.relu()?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}
