//! One module after the other.

use autograd::Var;

use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;

/// Modules in a row, each fed with the output of the one before. Empty: the identity.
#[derive(Default)]
pub struct Sequential {
    modules: Vec<Box<dyn Module>>,
}

impl Sequential {
    /// An empty row.
    pub fn new() -> Self {
        Sequential::default()
    }

    /// The row with `module` at its end.
    pub fn then(mut self, module: impl Module + 'static) -> Self {
        self.modules.push(Box::new(module));
        self
    }
}

impl Module for Sequential {
    fn describe(&self) -> String {
        "Sequential".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        self.modules.iter().try_fold(x.clone(), |x, module| cx.run(module, &x))
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.modules.iter().for_each(|module| module.visit(visitor));
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.modules.iter_mut().for_each(|module| module.visit_mut(visitor));
    }
    fn visit_buffers(&self, visitor: &mut dyn FnMut(&Buffer)) {
        self.modules.iter().for_each(|module| module.visit_buffers(visitor));
    }

    fn visit_buffers_mut(&mut self, visitor: &mut dyn FnMut(&mut Buffer)) {
        self.modules.iter_mut().for_each(|module| module.visit_buffers_mut(visitor));
    }
}
