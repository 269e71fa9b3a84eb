//! Hop 7 of a gradient's life: all ranks hold the same sums, and take the same step at one
//! barrier. The next parameters are written into the second buffer set; the barrier decides for
//! all ranks at once whether they become the live ones. So a failure at any point leaves every
//! survivor at step k, or every survivor at step k + 1.

use autograd::{LeafArena, StepFacts};
use kernels::update::Recipe;
use tensor::Differentiable;

use crate::grad_sync::Averaged;
use crate::rank::Rank;
use crate::replica_error::ReplicaResult;

/// One step on every rank, or on none.
///
/// ```
/// use autograd::{LeafArena, StepFacts};
/// use kernels::update::Recipe;
/// use ringgrad_dist::{Averaged, Rank, ReplicaResult, lockstep};
/// fn step(
///     rank: &Rank,
///     arena: &mut LeafArena,
///     recipe: &Recipe,
///     gradients: &Averaged<f32>,
/// ) -> ReplicaResult<StepFacts> {
///     lockstep(rank, arena, recipe, gradients)
/// }
/// ```
///
/// Gradients that were not reduced over the ranks do not type-check:
///
/// ```compile_fail
/// use autograd::{Gradients, LeafArena, StepFacts};
/// use kernels::update::Recipe;
/// use ringgrad_dist::{Rank, ReplicaResult, lockstep};
/// fn step(
///     rank: &Rank,
///     arena: &mut LeafArena,
///     recipe: &Recipe,
///     gradients: &Gradients,
/// ) -> ReplicaResult<StepFacts> {
///     lockstep(rank, arena, recipe, gradients)
/// }
/// ```
///
/// # Errors
/// A graph that still holds parameters, a gradient whose norm cannot be clipped, or a rank that
/// failed before all had arrived: then the live parameters are those of the step before, on every
/// rank.
pub fn lockstep<T: Differentiable>(
    rank: &Rank,
    arena: &mut LeafArena,
    recipe: &Recipe,
    averaged: &Averaged<T>,
) -> ReplicaResult<StepFacts> {
    let (written, facts) = arena.step_by::<T>(recipe, averaged.count, &averaged.sums)?;
    rank.commit()?;
    written.flip();
    tracing::trace!(step = arena.steps(), loss = averaged.loss(), "a step is committed");
    Ok(facts)
}
