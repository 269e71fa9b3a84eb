//! Hop 7 of a gradient's life: all ranks hold the same sums, and take the same step at one
//! barrier. The next parameters are written into the second buffer set; the barrier decides for
//! all ranks at once whether they become the live ones. So a failure at any point leaves every
//! survivor at step k, or every survivor at step k + 1.

use autograd::LeafArena;
use kernels::update::UpdateRule;
use tensor::Differentiable;

use crate::grad_sync::Averaged;
use crate::rank::Rank;
use crate::replica_error::ReplicaResult;

/// One step on every rank, or on none.
///
/// ```
/// use autograd::LeafArena;
/// use kernels::update::UpdateRule;
/// use ringgrad_dist::{Averaged, Rank, ReplicaResult, lockstep};
/// fn step(
///     rank: &Rank,
///     arena: &mut LeafArena,
///     rule: &UpdateRule,
///     gradients: &Averaged<f32>,
/// ) -> ReplicaResult<()> {
///     lockstep(rank, arena, rule, gradients)
/// }
/// ```
///
/// Gradients that were not reduced over the ranks do not type-check:
///
/// ```compile_fail
/// use autograd::{Gradients, LeafArena};
/// use kernels::update::UpdateRule;
/// use ringgrad_dist::{Rank, ReplicaResult, lockstep};
/// fn step(
///     rank: &Rank,
///     arena: &mut LeafArena,
///     rule: &UpdateRule,
///     gradients: &Gradients,
/// ) -> ReplicaResult<()> {
///     lockstep(rank, arena, rule, gradients)
/// }
/// ```
///
/// # Errors
/// A graph that still holds parameters, or a rank that failed before all had arrived: then the
/// live parameters are those of the step before, on every rank.
pub fn lockstep<T: Differentiable>(
    rank: &Rank,
    arena: &mut LeafArena,
    rule: &UpdateRule,
    averaged: &Averaged<T>,
) -> ReplicaResult<()> {
    let mut next = arena.next_step(rule, averaged.count)?;
    for (range, sum) in &averaged.sums {
        next.write(range.clone(), sum)?;
    }
    let written = next.finish()?;
    rank.commit()?;
    written.flip();
    tracing::trace!(step = arena.steps(), loss = averaged.loss(), "a step is committed");
    Ok(())
}
