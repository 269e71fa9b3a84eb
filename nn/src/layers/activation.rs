//! `y = f(x)` elementwise, as a layer.

use autograd::Var;
use tensor::UnaryOp;

use crate::context::Context;
use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;

/// An elementwise function between layers, any of [`UnaryOp`]:
///
/// ```
/// use ringgrad_nn::{Activation, Init, Linear, Sequential};
/// use tensor::{Device, UnaryOp};
/// # fn main() -> Result<(), ringgrad_nn::Error> {
/// let init = Init::new(&Device::cpu(), 1);
/// let model = Sequential::new()
///     .then(Linear::new(&init.at("up"), 8, 32)?)
///     .then(Activation(UnaryOp::Gelu))
///     .then(Linear::new(&init.at("down"), 32, 8)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Activation(pub UnaryOp);

impl Module for Activation {
    fn describe(&self) -> String {
        self.0.name().to_owned()
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        Ok(x.unary(self.0)?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}
