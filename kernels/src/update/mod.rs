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
mod tests {
    use super::*;

    const PLAIN: Sgd =
        Sgd { lr: 0.5, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.0 };

    /// Parameter and buffer after each of two steps with gradient sums 6 and −2 over 2 samples,
    /// from p = 4. All numbers are exact in binary.
    fn two_steps(sgd: Sgd) -> Vec<(f64, f64)> {
        let rule = UpdateRule::Sgd(sgd);
        rule.validate().unwrap();
        let buffers = rule.state_buffers();
        // A first step that read the state would show this NaN.
        let (mut p, mut b) = (4.0, f64::NAN);
        let mut steps = Vec::new();
        for (step, grad) in [(0, 6.0), (1, -2.0)] {
            let (mut next_p, mut next_b) = ([0.0], [0.0]);
            let state: &[&[f64]] = &[&[b]];
            let u = Update {
                rule: &rule,
                step,
                mean: Mean::over(2.0),
                param: &[p],
                grad_sum: &[grad],
                state: &state[..buffers],
            };
            let mut out = [&mut next_b[..]];
            update(&Threads::serial(), &u, &mut next_p, &mut out[..buffers]);
            (p, b) = (next_p[0], next_b[0]);
            steps.push((p, b));
        }
        steps
    }

    #[test]
    fn sgd_takes_the_steps_worked_out_by_hand() {
        // g is 3, then −1.
        assert_eq!(two_steps(PLAIN), [(2.5, 0.0), (3.0, 0.0)]);
        // d = 3 + ¼·4 = 4, then −1 + ¼·2.
        assert_eq!(two_steps(Sgd { weight_decay: 0.25, ..PLAIN }), [(2.0, 0.0), (2.25, 0.0)]);
        let momentum = Sgd { momentum: 0.5, ..PLAIN };
        // b = 3, then ½·3 − 1.
        assert_eq!(two_steps(momentum), [(2.5, 3.0), (2.25, 0.5)]);
        // b = 3 undamped, then ½·3 − ¾·1.
        assert_eq!(two_steps(Sgd { dampening: 0.25, ..momentum }), [(2.5, 3.0), (2.125, 0.75)]);
        // d = 3 + ½·3, then −1 + ½·½.
        assert_eq!(two_steps(Sgd { nesterov: true, ..momentum }), [(1.75, 3.0), (2.125, 0.5)]);
        // g' = 4, then −1 + ¼·1 = −¾; b = 4, then 2 − ¾; d = 6, then −¾ + ½·1¼.
        let all = Sgd { nesterov: true, weight_decay: 0.25, ..momentum };
        assert_eq!(two_steps(all), [(1.0, 4.0), (1.0625, 1.25)]);
    }

    #[test]
    fn a_gradient_is_divided_by_the_count_not_multiplied_by_its_inverse() {
        let rule = UpdateRule::Sgd(Sgd { lr: 1.0, ..PLAIN });
        let grad = [5.0f32];
        assert_ne!((grad[0] / 49.0).to_bits(), (grad[0] * (1.0 / 49.0)).to_bits());
        let u = Update {
            rule: &rule,
            step: 0,
            mean: Mean::over(49.0),
            param: &[0.0],
            grad_sum: &grad,
            state: &[],
        };
        let mut out = [0.0];
        update(&Threads::serial(), &u, &mut out, &mut []);
        assert_eq!(out[0].to_bits(), (-(grad[0] / 49.0)).to_bits());
    }

    #[test]
    fn neither_threads_nor_ranges_change_a_bit() {
        let len = 2 * MIN_PART + 5;
        let wave = |k: f32| (0..len).map(|i| (k * i as f32).sin()).collect::<Vec<f32>>();
        let (param, grad_sum, buffer) = (wave(0.3), wave(0.7), wave(1.1));
        for (momentum, nesterov, step) in [(0.0, false, 3), (0.9, false, 3), (0.9, true, 0)] {
            let (lr, weight_decay) = (0.1, 0.01);
            let rule = UpdateRule::Sgd(Sgd { lr, momentum, nesterov, weight_decay, ..PLAIN });
            let buffers = rule.state_buffers();
            let run = |threads: &Threads, cuts: &[usize]| {
                let (mut p, mut b) = (vec![0.0; len], vec![0.0; len]);
                for range in cuts.windows(2).map(|cut| cut[0]..cut[1]) {
                    let state = [&buffer[range.clone()]];
                    let u = Update {
                        rule: &rule,
                        step,
                        mean: Mean::over(7.0),
                        param: &param[range.clone()],
                        grad_sum: &grad_sum[range.clone()],
                        state: &state[..buffers],
                    };
                    let mut out = [&mut b[range.clone()]];
                    update(threads, &u, &mut p[range], &mut out[..buffers]);
                }
                (p, b)
            };
            let whole = run(&Threads::serial(), &[0, len]);
            assert!(run(&Threads::new(3).unwrap(), &[0, len]) == whole);
            assert!(run(&Threads::serial(), &[0, 1, 1, 18, 1000, len]) == whole);
            assert!(run(&Threads::serial(), &[0, len - 1]) != whole);
        }
    }

    #[test]
    fn impossible_settings_are_refused_by_name() {
        let refused = |sgd| UpdateRule::Sgd(sgd).validate().unwrap_err().to_string();
        assert!(
            refused(Sgd { lr: -0.1, ..PLAIN }).starts_with("sgd: lr is -0.1; it must be finite")
        );
        assert!(refused(Sgd { lr: f64::NAN, ..PLAIN }).contains("lr is NaN"));
        assert!(
            refused(Sgd { momentum: 1.0, ..PLAIN })
                .contains("momentum is 1.0; it must be in [0, 1)")
        );
        assert!(refused(Sgd { dampening: f64::INFINITY, ..PLAIN }).contains("dampening"));
        assert!(refused(Sgd { weight_decay: -1.0, ..PLAIN }).contains("weight_decay"));
        assert!(refused(Sgd { nesterov: true, ..PLAIN }).contains("nesterov with momentum 0"));
        let damped = Sgd { nesterov: true, momentum: 0.9, dampening: 0.1, ..PLAIN };
        assert!(refused(damped).contains("dampening 0.1"));
        assert_eq!(UpdateRule::Sgd(PLAIN).validate(), Ok(()));
    }
}
