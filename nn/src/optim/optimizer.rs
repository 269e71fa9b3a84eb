//! Training on one device, without ranks: the arena and the rule in one hand.

use autograd::{Gradients, LeafArena};
use kernels::update::UpdateRule;
use tensor::{DType, Differentiable};

use crate::binding::{arena_of, bind, check_bound};
use crate::error::{Error, Result};
use crate::module::Module;

/// Steps a model by an update rule. A data-parallel run uses a trainer instead; both launch the
/// same kernel over the same memory, so one rank with one shard has the same bits.
pub struct Optimizer {
    arena: LeafArena,
    rule: UpdateRule,
}

impl Optimizer {
    /// Binds the parameters of `model` to an arena of this optimizer.
    ///
    /// # Errors
    /// Impossible settings, no parameters, two of one name, or mixed element types.
    pub fn new(model: &mut dyn Module, rule: impl Into<UpdateRule>) -> Result<Self> {
        let rule = rule.into();
        rule.validate()?;
        let arena = arena_of(model, rule.state_buffers())?;
        bind(model, &arena)?;
        Ok(Optimizer { arena, rule })
    }

    /// One step by the gradients of a summed loss over `count`. `model` is the one that the
    /// optimizer was made for; drop its graph before.
    ///
    /// # Errors
    /// Another model, a count that is not positive, a parameter without gradient (all are named),
    /// or a graph or view that still holds parameters. The parameters are then unchanged.
    pub fn step(&mut self, model: &mut dyn Module, grads: &Gradients, count: f64) -> Result<()> {
        if !(count > 0.0 && count.is_finite()) {
            return Err(Error::Count { count });
        }
        check_bound(model, &self.arena)?;
        match self.arena.dtype() {
            DType::F64 => self.write::<f64>(grads, count)?,
            _ => self.write::<f32>(grads, count)?,
        }
        bind(model, &self.arena)
    }

    fn write<T: Differentiable>(&mut self, grads: &Gradients, count: f64) -> Result<()> {
        let mut next = self.arena.next_step(&self.rule, count)?;
        let ids =
            (0..next.arena().len()).map(|leaf| (next.arena().id(leaf), next.arena().name(leaf)));
        let gradients = grads.of(ids)?;
        for (leaf, gradient) in gradients.into_iter().enumerate() {
            let range = next.arena().range(leaf);
            let gradient = gradient.contiguous()?;
            let gradient = gradient.as_slice::<T>().unwrap_or_default();
            next.write(range, gradient)?;
        }
        next.finish()?.flip();
        Ok(())
    }
}
