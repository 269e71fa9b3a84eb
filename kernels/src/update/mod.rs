//! Hop 8 of a gradient's life, the numbers: an update rule as data, and the one pass over flat
//! memory that applies it.
//!
//! `nn` builds a rule and `dist` launches it; neither knows the other. A pass reads the live
//! parameters and state and writes the next ones, so that a step that fails changes nothing.
//! Each element depends on its own inputs only: in which ranges, chunks or threads the memory is
//! covered cannot change a bit.

mod cpu;
mod rule;

use crate::{Float, Threads};

pub use rule::{RuleError, Sgd, UpdateRule};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// What one pass reads.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a, T> {
    /// The rule; [`UpdateRule::validate`] has accepted it.
    pub rule: &'a UpdateRule,
    /// Number of the step in the run, 0 for the first.
    pub step: u64,
    /// What the summed gradients are divided by, a positive number: `g = grad_sum / count`,
    /// never a product with `1 / count`.
    pub count: f64,
    /// The live parameters.
    pub param: &'a [T],
    /// The sum of the gradients over all samples of the step.
    pub grad_sum: &'a [T],
    /// The live state: [`UpdateRule::state_buffers`] buffers. The first step reads none of it.
    pub state: &'a [&'a [T]],
}

/// One step: writes the next parameters and the next state.
///
/// Settings are f64 and are rounded to the element type once; the formulas stand at the rules.
///
/// # Panics
/// When the lengths or the number of state buffers differ.
pub fn update<T: Float>(
    threads: &Threads,
    u: &Update<'_, T>,
    param_out: &mut [T],
    state_out: &mut [&mut [T]],
) {
    let len = u.param.len();
    assert_eq!((u.grad_sum.len(), param_out.len()), (len, len), "one gradient a parameter");
    let buffers = u.rule.state_buffers();
    assert_eq!((u.state.len(), state_out.len()), (buffers, buffers), "the rule's state buffers");
    assert!(u.state.iter().all(|s| s.len() == len), "one state a parameter");
    assert!(state_out.iter().all(|s| s.len() == len), "one next state a parameter");
    let UpdateRule::Sgd(sgd) = u.rule;
    let out = (param_out, state_out.first_mut().map(|buffer| &mut **buffer));
    let parts = threads.parts(len, MIN_PART);
    if parts == 1 {
        return cpu::sgd(sgd, u, 0, out);
    }
    let per_part = len.div_ceil(parts);
    let (param_out, buffer_out) = out;
    let mut buffers = buffer_out.into_iter().flat_map(|buffer| buffer.chunks_mut(per_part));
    let params = param_out.chunks_mut(per_part);
    let mut jobs: Vec<_> = params.map(|param| (param, buffers.next())).collect();
    let parts = jobs.len();
    threads.split_mut(&mut jobs, 1, parts, |first, jobs| {
        for (i, (param, buffer)) in (first..).zip(jobs) {
            cpu::sgd(sgd, u, i * per_part, (param, buffer.as_deref_mut()));
        }
    });
}
