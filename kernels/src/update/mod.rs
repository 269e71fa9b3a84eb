//! Hop 8 of a gradient's life, the numbers: an update rule as data, and the one pass over flat
//! memory that applies it. A recipe says which rule, with which learning rate in which step, for
//! which parameters, after which clipping.
//!
//! `nn` builds a recipe and `dist` carries it out; neither knows the other. A pass reads the live
//! parameters and state and writes the next ones, so that a step that fails changes nothing.
//! Each element depends on its own inputs only: in which ranges, chunks or threads the memory is
//! covered cannot change a bit.

mod adagrad;
mod adam;
mod group;
mod norm;
mod pass;
mod recipe;
mod rmsprop;
mod rule;
mod schedule;
mod sgd;

use crate::{Float, Threads};

pub use adagrad::Adagrad;
pub use adam::Adam;
pub use group::{Group, Names};
pub use norm::SquareSum;
pub use recipe::{Clip, Recipe};
pub use rmsprop::RmsProp;
pub use rule::{RuleError, UpdateRule};
pub use schedule::Schedule;
pub use sgd::Sgd;

use pass::Out;

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// How a summed gradient becomes the one that a rule takes:
///
/// ```text
/// g = sum / count       never a product with 1 / count
/// g = −limit, limit     where g lies beyond them
/// g = g · scale
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// What the sums were taken over, a positive number.
    pub count: f64,
    /// The largest magnitude of an element; +∞ for none.
    pub limit: f64,
    /// The factor of clipping by the norm; exactly 1 changes no bit.
    pub scale: f64,
}

impl Mean {
    /// Without clipping.
    pub fn over(count: f64) -> Self {
        Mean { count, limit: f64::INFINITY, scale: 1.0 }
    }
}

/// What one pass reads.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a, T> {
    /// The rule; [`UpdateRule::validate`] has accepted it.
    pub rule: &'a UpdateRule,
    /// Number of the step in the run, 0 for the first.
    pub step: u64,
    /// How sums become gradients.
    pub mean: Mean,
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
    let parts = threads.parts(len, MIN_PART);
    let per_part = len.div_ceil(parts).max(1);
    let mut buffers: Vec<_> = state_out.iter_mut().map(|s| s.chunks_mut(per_part)).collect();
    let params = param_out.chunks_mut(per_part).enumerate();
    let mut jobs: Vec<_> = params
        .map(|(part, param)| Out {
            first: part * per_part,
            param,
            state: buffers.iter_mut().filter_map(Iterator::next).collect(),
        })
        .collect();
    let parts = jobs.len();
    threads.split_mut(&mut jobs, 1, parts, |_, jobs| {
        for out in jobs {
            match u.rule {
                UpdateRule::Sgd(sgd) => sgd.update(u, out),
                UpdateRule::Adam(adam) => adam.update(u, out),
                UpdateRule::RmsProp(rmsprop) => rmsprop.update(u, out),
                UpdateRule::Adagrad(adagrad) => adagrad.update(u, out),
            }
        }
    });
}

/// `xⁿ` by repeated squaring, the lowest bit of n first: the same bits on every machine, and within
/// 64 roundings.
fn power(x: f64, n: u64) -> f64 {
    let (mut square, mut left, mut product) = (x, n, 1.0);
    while left > 0 {
        if left % 2 == 1 {
            product *= square;
        }
        square *= square;
        left /= 2;
    }
    product
}

#[cfg(test)]
mod tests;
