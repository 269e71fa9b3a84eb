//! One step of an arena: the next parameters are written range by range, and become the live
//! ones when every element was written exactly once.

use std::ops::Range;

use kernels::update::{Update, UpdateRule, update};
use tensor::{Differentiable, Tensor};

use crate::arena::LeafArena;
use crate::error::{Error, Result};

/// A step that is being written. Dropping it abandons the step: nothing live has changed.
pub struct NextStep<'a> {
    arena: &'a mut LeafArena,
    rule: &'a UpdateRule,
    count: f64,
}

/// A step whose every element was written, to be taken or dropped.
#[must_use = "a step that is not flipped is not taken"]
pub struct Written<'a>(&'a mut LeafArena);

impl LeafArena {
    /// Opens the next step: `rule`, with gradients that were summed over `count`. What an
    /// abandoned step has written is forgotten.
    ///
    /// # Errors
    /// Impossible settings of the rule, one that keeps another number of buffers than the arena
    /// has, a `count` that is not positive and finite, or what [`LeafArena::check_released`]
    /// refuses.
    pub fn next_step<'a>(&'a mut self, rule: &'a UpdateRule, count: f64) -> Result<NextStep<'a>> {
        rule.validate()?;
        let (wanted, have) = (rule.state_buffers(), self.live.state.len());
        if wanted != have {
            return Err(Error::StateBuffers { wanted, have });
        }
        if !(count > 0.0 && count.is_finite()) {
            return Err(Error::Count { count });
        }
        self.check_released()?;
        self.coverage.clear();
        Ok(NextStep { arena: self, rule, count })
    }
}

impl<'a> NextStep<'a> {
    /// The arena whose step this is.
    pub fn arena(&self) -> &LeafArena {
        self.arena
    }

    /// Writes one range of the next set by the rule; `grad_sum` holds the summed gradients of
    /// `range`. Nothing live changes.
    ///
    /// # Errors
    /// A range that the arena does not have, that is not as long as `grad_sum`, or of which a part
    /// was written before in this step; another element type; or a view that still sees the next
    /// set, whose values were live two steps ago.
    pub fn write<T: Differentiable>(&mut self, range: Range<usize>, grad_sum: &[T]) -> Result<()> {
        let (numel, len) = (self.arena.numel(), grad_sum.len());
        let arena = &mut *self.arena;
        if arena.dtype() != T::DTYPE {
            return Err(arena.mismatch::<T>(len)?);
        }
        let Range { start, end } = range;
        if start > end || end > numel || end - start != len {
            return Err(Error::UpdateRange { start, end, len, numel });
        }
        let views = arena.next.params.views() - 1;
        if views > 0 {
            return Err(arena.still_held(views));
        }
        if !arena.coverage.add(&range) {
            return Err(Error::WrittenTwice { start, end });
        }
        let device = arena.device().clone();
        let LeafArena { live, next, steps, .. } = arena;
        let state = live.state.iter().map(|flat| part::<T>(flat, &range)).collect::<Vec<_>>();
        let outs = next.state.iter_mut().map(|flat| part_mut::<T>(flat, &range));
        let (param, count) = (part(&live.params, &range), self.count);
        let job = Update { rule: self.rule, step: *steps, count, param, grad_sum, state: &state };
        let param_out = part_mut(&mut next.params, &range);
        update(device.threads(), &job, param_out, &mut outs.collect::<Vec<_>>());
        Ok(())
    }

    /// Ends the writing.
    ///
    /// # Errors
    /// When some elements were not written.
    pub fn finish(self) -> Result<Written<'a>> {
        let numel = self.arena.numel();
        match self.arena.coverage.missing(numel) {
            None => Ok(Written(self.arena)),
            Some((first, missing)) => {
                let name = self.arena.name_at(first).to_owned();
                Err(Error::Unwritten { missing, numel, name })
            }
        }
    }
}

impl Written<'_> {
    /// Makes the next set the live one. Whoever calls has made sure that every rank does.
    pub fn flip(self) {
        std::mem::swap(&mut self.0.live, &mut self.0.next);
        self.0.steps += 1;
    }
}

/// Elements `range` of a flat tensor of type `T`. An arena's own tensors are contiguous and have
/// its type, so the empty slice is never taken.
fn part<'a, T: Differentiable>(flat: &'a Tensor, range: &Range<usize>) -> &'a [T] {
    flat.as_slice().map_or(&[], |flat| &flat[range.clone()])
}

/// [`part`] of the next set, which nothing else sees: the caller has checked it.
fn part_mut<'a, T: Differentiable>(flat: &'a mut Tensor, range: &Range<usize>) -> &'a mut [T] {
    flat.as_mut_slice().map_or(&mut [], |flat| &mut flat[range.clone()])
}
