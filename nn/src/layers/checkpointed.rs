//! A part of a model that is computed twice and kept once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use autograd::{Var, checkpoint};

use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::parameter::Parameter;

/// A module whose forward keeps its input only: backward computes the rest again (Chen et al.
/// 2016, "Training Deep Nets with Sublinear Memory Cost"). One more forward buys the memory of all
/// that the module's operations would have kept.
///
/// Values and gradients have the bits of the plain module: masks of dropout are keyed by the
/// context, which both forwards share, and running statistics are noted by the first alone. A
/// parameter that is stepped between forward and backward is an error in backward.
pub struct Checkpointed<M> {
    /// Shared with the graphs that compute it again, which are gone when a step is taken.
    module: Arc<RwLock<M>>,
}

impl<M: Module + 'static> Checkpointed<M> {
    /// `module`, checkpointed.
    pub fn new(module: M) -> Self {
        Checkpointed { module: Arc::new(RwLock::new(module)) }
    }
}

impl<M: Module + 'static> Module for Checkpointed<M> {
    fn describe(&self) -> String {
        "Checkpointed".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let (cx, module) = (cx.clone(), Arc::clone(&self.module));
        let first = AtomicBool::new(true);
        let y = checkpoint(&[x], move |x| {
            let module = module.read().unwrap_or_else(PoisonError::into_inner);
            let y = match first.swap(false, Ordering::Relaxed) {
                true => cx.run(&*module, &x[0]),
                false => module.forward(&cx.again(), &x[0]),
            };
            y.map_err(|error| match error {
                Error::Autograd(error) => error,
                error => autograd::Error::Function(Box::new(error)),
            })
        })?;
        Ok(y)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.module.read().unwrap_or_else(PoisonError::into_inner).visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.module.write().unwrap_or_else(PoisonError::into_inner).visit_mut(visitor);
    }

    fn visit_buffers(&self, visitor: &mut dyn FnMut(&Buffer)) {
        self.module.read().unwrap_or_else(PoisonError::into_inner).visit_buffers(visitor);
    }

    fn visit_buffers_mut(&mut self, visitor: &mut dyn FnMut(&mut Buffer)) {
        self.module.write().unwrap_or_else(PoisonError::into_inner).visit_buffers_mut(visitor);
    }
}
