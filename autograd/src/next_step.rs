//! One step of an arena: the next parameters are written range by range, and become the live
//! ones when every element was written exactly once.
//!
//! A recipe's whole step, clipping included, is written here once for every caller: one device or
//! many ranks, with the same bits.

use std::ops::Range;

use kernels::update::{Group, Mean, Recipe, SquareSum, Update, UpdateRule, update};
use tensor::{Differentiable, Tensor};

use crate::arena::LeafArena;
use crate::error::{Error, Result};

/// A step that is being written. Dropping it abandons the step: nothing live has changed.
pub struct NextStep<'a> {
    arena: &'a mut LeafArena,
    /// The rule of parameters that are in no group.
    rule: UpdateRule,
    groups: &'a [Group],
    mean: Mean,
}

/// Numbers of a step by a recipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepFacts {
    /// The learning rate of parameters that are in no group.
    pub lr: f64,
    /// The norm of the mean gradient before clipping, where the recipe bounds it.
    pub grad_norm: Option<f64>,
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
    pub fn next_step<'a>(&'a mut self, rule: &UpdateRule, count: f64) -> Result<NextStep<'a>> {
        self.open(*rule, &[], Mean::over(count))
    }

    /// Writes the whole next step of `recipe` by gradients that were summed over `count`: ranges
    /// of the arena in any order, and their sums. How the arena is cut into ranges cannot change a
    /// bit, also not of the norm.
    ///
    /// # Errors
    /// As [`LeafArena::next_step`], [`NextStep::write`] and [`NextStep::finish`]; with a bound of
    /// the norm [`Error::GradientNotFinite`], which names a parameter. Nothing live has changed.
    pub fn step_by<'a, T: Differentiable>(
        &'a mut self,
        recipe: &'a Recipe,
        count: f64,
        sums: &[(Range<usize>, impl AsRef<[T]>)],
    ) -> Result<(Written<'a>, StepFacts)> {
        let norm = match recipe.clip {
            Some(clip) if clip.needs_norm() => Some(self.grad_norm(count, sums)?),
            _ => None,
        };
        let rule = recipe.rule.with(recipe.lr(self.steps), None);
        let mut next = self.open(rule, &recipe.groups, recipe.mean(count, norm))?;
        for (range, sum) in sums {
            next.write(range.clone(), sum.as_ref())?;
        }
        Ok((next.finish()?, StepFacts { lr: rule.lr(), grad_norm: norm }))
    }

    fn open<'a>(
        &'a mut self,
        rule: UpdateRule,
        groups: &'a [Group],
        mean: Mean,
    ) -> Result<NextStep<'a>> {
        rule.validate()?;
        let (wanted, have) = (rule.state_buffers(), self.live.state.len());
        if wanted != have {
            return Err(Error::StateBuffers { wanted, have });
        }
        let count = mean.count;
        if !(count > 0.0 && count.is_finite()) {
            return Err(Error::Count { count });
        }
        self.check_released()?;
        self.coverage.clear();
        Ok(NextStep { arena: self, rule, groups, mean })
    }

    /// The norm of the mean gradient, over the arena in its order.
    fn grad_norm<T: Differentiable>(
        &self,
        count: f64,
        sums: &[(Range<usize>, impl AsRef<[T]>)],
    ) -> Result<f64> {
        let mut in_order: Vec<_> = sums.iter().map(|(at, sum)| (at.start, sum.as_ref())).collect();
        in_order.sort_by_key(|(start, _)| *start);
        let mut squares = SquareSum::default();
        for (_, sum) in &in_order {
            squares.add(self.device().threads(), sum, count);
        }
        let norm = squares.norm();
        if norm.is_finite() {
            return Ok(norm);
        }
        let beyond = |x: &T| !(x.to_f64() / count).powi(2).is_finite();
        let place =
            in_order.iter().find_map(|(start, sum)| Some(start + sum.iter().position(beyond)?));
        let name = place.map_or("all parameters together", |element| self.name_at(element));
        Err(Error::GradientNotFinite { name: name.to_owned(), norm })
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
        if self.groups.is_empty() {
            self.write_run(self.rule, range, grad_sum);
            return Ok(());
        }
        let (mut from, mut left) = (start, grad_sum);
        while from < end {
            let (name, leaf_end) = self.arena.leaf_at(from);
            let rule = Group::rule_of(self.groups, self.rule, name);
            rule.validate()?;
            let (run, rest) = left.split_at(leaf_end.min(end) - from);
            self.write_run(rule, from..from + run.len(), run);
            (from, left) = (from + run.len(), rest);
        }
        Ok(())
    }

    /// Writes a range, which [`NextStep::write`] has checked, by one rule.
    fn write_run<T: Differentiable>(&mut self, rule: UpdateRule, at: Range<usize>, sum: &[T]) {
        let device = self.arena.device().clone();
        let LeafArena { live, next, steps, .. } = &mut *self.arena;
        let state = live.state.iter().map(|flat| part::<T>(flat, &at)).collect::<Vec<_>>();
        let outs = next.state.iter_mut().map(|flat| part_mut::<T>(flat, &at));
        let job = Update {
            rule: &rule,
            step: *steps,
            mean: self.mean,
            param: part(&live.params, &at),
            grad_sum: sum,
            state: &state,
        };
        let param_out = part_mut(&mut next.params, &at);
        update(device.threads(), &job, param_out, &mut outs.collect::<Vec<_>>());
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
