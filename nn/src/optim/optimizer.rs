//! Training on one device, without ranks: the arena and the recipe in one hand.

use autograd::{Gradients, LeafArena, StepFacts};
use kernels::update::Recipe;
use tensor::{DType, Differentiable, Tensor};

use crate::binding::{arena_of, bind, check_bound};
use crate::error::{Error, Result};
use crate::module::Module;

/// Steps a model by a recipe. A data-parallel run uses a trainer instead; both launch the
/// same kernel over the same memory, so one rank with one shard has the same bits.
pub struct Optimizer {
    arena: LeafArena,
    recipe: Recipe,
}

impl Optimizer {
    /// Binds the parameters of `model` to an arena of this optimizer.
    ///
    /// # Errors
    /// Impossible settings, a group without parameters, no parameters, two of one name, or mixed
    /// element types.
    pub fn new(model: &mut dyn Module, recipe: impl Into<Recipe>) -> Result<Self> {
        let recipe = recipe.into();
        recipe.validate()?;
        let arena = arena_of(model, recipe.state_buffers())?;
        arena.check_groups(&recipe)?;
        bind(model, &arena)?;
        Ok(Optimizer { arena, recipe })
    }

    /// Committed steps.
    pub fn steps(&self) -> u64 {
        self.arena.steps()
    }

    /// One step by the gradients of a summed loss over `count`. `model` is the one that the
    /// optimizer was made for; drop its graph before.
    ///
    /// # Errors
    /// Another model, a count that is not positive, a parameter without gradient (all are named),
    /// a gradient whose norm cannot be clipped, or a graph or view that still holds parameters. The
    /// parameters are then unchanged.
    pub fn step(
        &mut self,
        model: &mut dyn Module,
        grads: &Gradients,
        count: f64,
    ) -> Result<StepFacts> {
        if !(count > 0.0 && count.is_finite()) {
            return Err(Error::Count { count });
        }
        check_bound(model, &self.arena)?;
        let facts = match self.arena.dtype() {
            DType::F64 => self.write::<f64>(grads, count)?,
            _ => self.write::<f32>(grads, count)?,
        };
        bind(model, &self.arena)?;
        Ok(facts)
    }

    fn write<T: Differentiable>(&mut self, grads: &Gradients, count: f64) -> Result<StepFacts> {
        let arena = &self.arena;
        let ids = (0..arena.len()).map(|leaf| (arena.id(leaf), arena.name(leaf)));
        let gradients = grads.of(ids)?.into_iter().map(Tensor::contiguous);
        let gradients = gradients.collect::<tensor::Result<Vec<_>>>()?;
        let ranges = (0..arena.len()).map(|leaf| arena.range(leaf));
        let flat = gradients.iter().map(|g| g.as_slice::<T>().unwrap_or_default());
        let sums: Vec<_> = ranges.zip(flat).collect();
        let (written, facts) = self.arena.step_by::<T>(&self.recipe, count, &sums)?;
        written.flip();
        Ok(facts)
    }
}
