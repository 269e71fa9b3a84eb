//! What a layer or model is: a function of its input, and a fixed list of parameters.

use autograd::Var;

use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::Result;
use crate::parameter::Parameter;

/// A layer or model.
///
/// `visit` and `visit_mut` show the same parameters in the same order each time, on every rank:
/// buckets, checkpoints and the comparison of replicas rely on it.
pub trait Module: Send + Sync {
    /// What a summary calls it, with its settings: `Linear(64 -> 48)`.
    fn describe(&self) -> String;

    /// The output for `x`.
    ///
    /// # Errors
    /// An input that does not fit.
    fn forward(&self, cx: &Context, x: &Var) -> Result<Var>;

    /// Shows every parameter, in the order of the forward.
    fn visit(&self, visitor: &mut dyn FnMut(&Parameter));

    /// Shows every parameter for changing, in the order of [`Module::visit`].
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter));

    /// Shows every buffer, in the order of the forward. A module that is made of others shows
    /// theirs; the default shows none.
    fn visit_buffers(&self, visitor: &mut dyn FnMut(&Buffer)) {
        let _ = visitor;
    }

    /// Shows every buffer for changing, in the order of [`Module::visit_buffers`].
    fn visit_buffers_mut(&mut self, visitor: &mut dyn FnMut(&mut Buffer)) {
        let _ = visitor;
    }
}

impl<M: Module + ?Sized> Module for Box<M> {
    fn describe(&self) -> String {
        (**self).describe()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        (**self).forward(cx, x)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        (**self).visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        (**self).visit_mut(visitor);
    }

    fn visit_buffers(&self, visitor: &mut dyn FnMut(&Buffer)) {
        (**self).visit_buffers(visitor);
    }

    fn visit_buffers_mut(&mut self, visitor: &mut dyn FnMut(&mut Buffer)) {
        (**self).visit_buffers_mut(visitor);
    }
}

/// Number of parameter elements.
pub fn numel(model: &dyn Module) -> usize {
    let mut sum = 0;
    model.visit(&mut |parameter| sum += parameter.value().numel());
    sum
}
