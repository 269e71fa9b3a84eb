//! Learning rates as functions of the step.

use super::power;
use super::rule::{Check, RuleError};
use crate::Float;
use crate::math::cos_sin_of_turn;

/// The learning rate of every step, as data: a function of the step and of the rule's rate.
///
/// With η the rule's learning rate and t the step, counted from 0. Where a source names epochs, a
/// step stands in its place. Cosines and powers are ringgrad's own, so that their bits are the
/// same on every machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Schedule {
    /// `η`.
    #[default]
    Constant,
    /// `η · gamma^⌊t / every⌋`.
    Step {
        /// Steps between two drops, at least 1.
        every: u64,
        /// The factor of a drop.
        gamma: f64,
    },
    /// `η · gammaᵏ`, with k of the milestones reached: those at or before t.
    MultiStep {
        /// The steps of the drops, growing.
        milestones: Vec<u64>,
        /// The factor of a drop.
        gamma: f64,
    },
    /// `η · gammaᵗ`.
    Exponential {
        /// The factor of every step.
        gamma: f64,
    },
    /// `η · (start + (end − start) · min(t, steps) / steps)`.
    Linear {
        /// The factor of the first step.
        start: f64,
        /// The factor from step `steps` on.
        end: f64,
        /// Steps of the way, at least 1.
        steps: u64,
    },
    /// `η · (1 − min(t, steps) / steps)^power`.
    Polynomial {
        /// Steps of the way to 0, at least 1.
        steps: u64,
        /// 1 for a straight line.
        power: f64,
    },
    /// `min_lr + (η − min_lr) · (1 + cos(π · t / steps)) / 2` (Loshchilov and Hutter 2017, "SGDR:
    /// stochastic gradient descent with warm restarts", eq. 5). Behind `steps` it climbs again, as
    /// the cosine does.
    Cosine {
        /// Steps from η to `min_lr`, at least 1.
        steps: u64,
        /// The least learning rate.
        min_lr: f64,
    },
    /// The half cosine of [`Schedule::Cosine`], which starts again at η after `first` steps, then
    /// after `first · factor`, `first · factor²` … (the same paper).
    CosineRestarts {
        /// Steps of the first way down, at least 1.
        first: u64,
        /// How much longer each is than the one before, at least 1.
        factor: u64,
        /// The least learning rate.
        min_lr: f64,
    },
    /// Up from `max_lr / div` to `max_lr` until step `rise · steps − 1`, down to
    /// `max_lr / div / final_div` at step `steps − 1`, both as half cosines (Smith and Topin 2018,
    /// "Super-convergence"; PyTorch's form, without its momentum cycle). η plays no part.
    OneCycle {
        /// The peak.
        max_lr: f64,
        /// Steps of the whole, at least 1.
        steps: u64,
        /// The share of the steps that climb, in `[0, 1]`.
        rise: f64,
        /// By how much the start lies below the peak.
        div: f64,
        /// By how much the end lies below the start.
        final_div: f64,
    },
    /// `η · (start + (1 − start) · t / steps)` before step `steps`; then `next`, whose steps are
    /// counted from there (Goyal et al. 2017, "Accurate, large minibatch SGD", section 2.2).
    Warmup {
        /// Steps of the climb.
        steps: u64,
        /// The factor of the first step.
        start: f64,
        /// What follows.
        next: Box<Schedule>,
    },
    /// `next` for the learning rate `factor · η`.
    Scaled {
        /// The factor of η.
        factor: f64,
        /// What is scaled.
        next: Box<Schedule>,
    },
}

impl Schedule {
    /// This schedule after a climb of `steps` steps from `start · η`.
    pub fn after_warmup(self, steps: u64, start: f64) -> Self {
        Schedule::Warmup { steps, start, next: Box::new(self) }
    }

    /// This schedule for `factor · η`.
    pub fn scaled(self, factor: f64) -> Self {
        Schedule::Scaled { factor, next: Box::new(self) }
    }

    /// The linear scaling rule: a batch `k` times as large takes `k` times the learning rate, and
    /// climbs to it from η within `warmup` steps (Goyal et al. 2017, sections 2.1 and 2.2). Then
    /// this schedule follows.
    pub fn linear_scaling(self, k: f64, warmup: u64) -> Self {
        self.after_warmup(warmup, 1.0 / k).scaled(k)
    }

    /// The learning rate of step `step` for the rule's rate `base`.
    pub fn lr(&self, base: f64, step: u64) -> f64 {
        match *self {
            Schedule::Constant => base,
            Schedule::Step { every, gamma } => base * power(gamma, step / every.max(1)),
            Schedule::MultiStep { ref milestones, gamma } => {
                let reached = milestones.iter().filter(|&&milestone| milestone <= step).count();
                base * power(gamma, reached as u64)
            }
            Schedule::Exponential { gamma } => base * power(gamma, step),
            Schedule::Linear { start, end, steps } => {
                base * (start + (end - start) * share(step, steps))
            }
            Schedule::Polynomial { steps, power } => {
                base * real_power(1.0 - share(step, steps), power)
            }
            Schedule::Cosine { steps, min_lr } => {
                half_cosine(base, min_lr, turn(step, steps.max(1)))
            }
            Schedule::CosineRestarts { first, factor, min_lr } => {
                let (t, steps) = since_restart(step, first.max(1), factor.max(1));
                half_cosine(base, min_lr, turn(t, steps))
            }
            Schedule::OneCycle { .. } => self.one_cycle(step),
            Schedule::Warmup { steps, start, ref next } => match step.checked_sub(steps) {
                Some(step) => next.lr(base, step),
                None => base * (start + (1.0 - start) * share(step, steps)),
            },
            Schedule::Scaled { factor, ref next } => next.lr(factor * base, step),
        }
    }

    fn one_cycle(&self, step: u64) -> f64 {
        let Schedule::OneCycle { max_lr, steps, rise, div, final_div } = *self else {
            return 0.0;
        };
        let start = max_lr / div;
        let (top, end) = (rise * steps as f64 - 1.0, steps.max(1) as f64 - 1.0);
        let t = (step as f64).min(end);
        if t <= top {
            half_cosine(start, max_lr, 0.5 * (t / top.max(f64::MIN_POSITIVE)))
        } else {
            half_cosine(max_lr, start / final_div, 0.5 * ((t - top) / (end - top)))
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), RuleError> {
        let steps = |setting, value: u64| {
            Check::new(setting, value as f64, value >= 1, "a whole number of at least 1")
        };
        let (name, checks) = match *self {
            Schedule::Constant => return Ok(()),
            Schedule::Step { every, gamma } => {
                ("step", vec![steps("every", every), Check::not_negative("gamma", gamma)])
            }
            Schedule::MultiStep { ref milestones, gamma } => {
                if !milestones.is_sorted_by(|left, right| left < right) {
                    return Err(RuleError::Milestones { milestones: milestones.clone() });
                }
                ("multi_step", vec![Check::not_negative("gamma", gamma)])
            }
            Schedule::Exponential { gamma } => {
                ("exponential", vec![Check::not_negative("gamma", gamma)])
            }
            Schedule::Linear { start, end, steps: n } => {
                let [start, end] = [("start", start), ("end", end)];
                let ends = [start, end].map(|(name, value)| Check::not_negative(name, value));
                ("linear", ends.into_iter().chain([steps("steps", n)]).collect())
            }
            Schedule::Polynomial { steps: n, power } => {
                ("polynomial", vec![steps("steps", n), Check::not_negative("power", power)])
            }
            Schedule::Cosine { steps: n, min_lr } => {
                ("cosine", vec![steps("steps", n), Check::not_negative("min_lr", min_lr)])
            }
            Schedule::CosineRestarts { first, factor, min_lr } => {
                let whole = [steps("first", first), steps("factor", factor)];
                let checks = whole.into_iter().chain([Check::not_negative("min_lr", min_lr)]);
                ("cosine_restarts", checks.collect())
            }
            Schedule::OneCycle { max_lr, steps: n, rise, div, final_div } => {
                let in_range = (0.0..=1.0).contains(&rise);
                let checks = vec![
                    Check::not_negative("max_lr", max_lr),
                    steps("steps", n),
                    Check::new("rise", rise, in_range, "in [0, 1]"),
                    Check::positive("div", div),
                    Check::positive("final_div", final_div),
                ];
                ("one_cycle", checks)
            }
            Schedule::Warmup { start, ref next, .. } => {
                next.validate()?;
                ("warmup", vec![Check::not_negative("start", start)])
            }
            Schedule::Scaled { factor, ref next } => {
                next.validate()?;
                ("scaled", vec![Check::not_negative("factor", factor)])
            }
        };
        Check::all(name, &checks)
    }
}

/// `min(t, steps) / steps`.
fn share(t: u64, steps: u64) -> f64 {
    t.min(steps) as f64 / steps.max(1) as f64
}

/// The cosine's angle `π · t / steps` in turns, below 1. Whole turns are taken off in integers.
fn turn(t: u64, steps: u64) -> f64 {
    let turn = u128::from(steps) * 2;
    (u128::from(t) % turn) as f64 / turn as f64
}

/// `to + (from − to) · (1 + cos(2π · turn)) / 2`.
fn half_cosine(from: f64, to: f64, turn: f64) -> f64 {
    to + (from - to) * (1.0 + cos_sin_of_turn(turn).0) / 2.0
}

/// The step within its cycle, and the cycle's steps.
fn since_restart(step: u64, first: u64, factor: u64) -> (u64, u64) {
    if factor == 1 {
        return (step % first, first);
    }
    let (mut t, mut steps) = (step, first);
    while t >= steps {
        t -= steps;
        steps = steps.saturating_mul(factor);
    }
    (t, steps)
}

/// `x^y` for x in `[0, 1]` and y ≥ 0: squarings for whole y, else `exp(y · ln x)`.
fn real_power(x: f64, y: f64) -> f64 {
    if y == y.trunc() && y < 1e9 {
        return power(x, y as u64);
    }
    if x == 0.0 { 0.0 } else { Float::exp(y * Float::ln(x)) }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
