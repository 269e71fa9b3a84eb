//! A perceptron with batch normalization.

use autograd::Var;

use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::Result;
use crate::init::Init;
use crate::layers::{BatchNorm1d, Linear, Relu};
use crate::module::Module;
use crate::parameter::Parameter;

/// `[batch, inputs] -> [batch, classes]`; see [`bn_mlp`].
pub struct BnMlp {
    fc1: Linear,
    bn: BatchNorm1d,
    fc2: Linear,
}

/// Linear, batch normalization, rectifier, linear: `fc1`, `bn` and `fc2`.
///
/// # Errors
/// An impossible size.
pub fn bn_mlp(init: &Init, inputs: usize, hidden: usize, classes: usize) -> Result<BnMlp> {
    Ok(BnMlp {
        fc1: Linear::new(&init.at("fc1"), inputs, hidden)?,
        bn: BatchNorm1d::new(&init.at("bn"), hidden)?,
        fc2: Linear::new(&init.at("fc2"), hidden, classes)?,
    })
}

impl Module for BnMlp {
    fn describe(&self) -> String {
        "BnMlp".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let hidden = cx.run(&self.bn, &cx.run(&self.fc1, x)?)?;
        cx.run(&self.fc2, &cx.run(&Relu, &hidden)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.fc1.visit(visitor);
        self.bn.visit(visitor);
        self.fc2.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.fc1.visit_mut(visitor);
        self.bn.visit_mut(visitor);
        self.fc2.visit_mut(visitor);
    }

    fn visit_buffers(&self, visitor: &mut dyn FnMut(&Buffer)) {
        self.bn.visit_buffers(visitor);
    }

    fn visit_buffers_mut(&mut self, visitor: &mut dyn FnMut(&mut Buffer)) {
        self.bn.visit_buffers_mut(visitor);
    }
}
