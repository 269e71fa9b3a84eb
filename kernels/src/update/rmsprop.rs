//! RMSprop: settings and formula.

use super::pass::{Out, pass, penalised, unless_zero};
use super::rule::Check;
use super::{Update, UpdateRule};
use crate::Float;

/// Settings of RMSprop (Tieleman and Hinton 2012, lecture 6.5 of "Neural networks for machine
/// learning"; centered: Graves 2013, "Generating sequences with recurrent neural networks",
/// eqs. 38-45), with PyTorch's meaning.
///
/// With p the parameter, g the mean gradient, and v, a and b starting at 0, in this order and each
/// operation rounded by itself:
///
/// ```text
/// g = g + weight_decay · p           (weight_decay ≠ 0)
/// v = α · v + (1 − α) · (g · g)
/// a = α · a + (1 − α) · g            with centered
/// r = √v + eps                       or, with centered, √max(v − a · a, 0) + eps
/// d = g / r
/// b = momentum · b + d,  d = b       (momentum ≠ 0)
/// p = p − lr · d
/// ```
///
/// A variance that rounding makes negative counts as 0, where PyTorch has the root of a negative
/// number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsProp {
    /// The learning rate, finite also as f32 and not negative.
    pub lr: f64,
    /// How much of the averages a step keeps, in `[0, 1)`.
    pub alpha: f64,
    /// What keeps the quotient finite, at least 1e-30.
    pub eps: f64,
    /// In `[0, 1)`; 0 keeps no buffer.
    pub momentum: f64,
    /// Divide by an estimate of the standard deviation: one more buffer.
    pub centered: bool,
    /// The factor of the L2 penalty's gradient, finite also as f32 and not negative.
    pub weight_decay: f64,
}

impl From<RmsProp> for UpdateRule {
    fn from(rule: RmsProp) -> Self {
        UpdateRule::RmsProp(rule)
    }
}

impl RmsProp {
    /// The mean square; the mean, if centered; the momentum, if any.
    pub(super) fn state_buffers(&self) -> usize {
        1 + usize::from(self.centered) + usize::from(self.momentum != 0.0)
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        vec![
            Check::not_negative("lr", self.lr),
            Check::share("alpha", self.alpha),
            Check::epsilon("eps", self.eps),
            Check::share("momentum", self.momentum),
            Check::not_negative("weight_decay", self.weight_decay),
        ]
    }

    /// Steps the elements of `out`.
    pub(super) fn update<T: Float>(&self, u: &Update<'_, T>, out: &mut Out<'_, T>) {
        let penalty = unless_zero(self.weight_decay);
        let (lr, momentum) = (T::from_f64(self.lr), T::from_f64(self.momentum));
        let average = [self.alpha, 1.0 - self.alpha].map(T::from_f64);
        let eps = T::from_f64(self.eps);
        match (self.centered, self.momentum != 0.0) {
            (false, false) => pass(
                u,
                out,
                T::ZERO,
                #[inline(always)]
                |p, g, [v]| {
                    let g = penalised(p, g, penalty);
                    let v = mean(average, v, g * g);
                    (p - lr * (g / (v.sqrt() + eps)), [v])
                },
            ),
            (false, true) => pass(
                u,
                out,
                T::ZERO,
                #[inline(always)]
                |p, g, [v, b]| {
                    let g = penalised(p, g, penalty);
                    let v = mean(average, v, g * g);
                    let b = momentum * b + g / (v.sqrt() + eps);
                    (p - lr * b, [v, b])
                },
            ),
            (true, false) => pass(
                u,
                out,
                T::ZERO,
                #[inline(always)]
                |p, g, [v, a]| {
                    let g = penalised(p, g, penalty);
                    let (v, a) = (mean(average, v, g * g), mean(average, a, g));
                    (p - lr * (g / (deviation(v, a) + eps)), [v, a])
                },
            ),
            (true, true) => pass(
                u,
                out,
                T::ZERO,
                #[inline(always)]
                |p, g, [v, a, b]| {
                    let g = penalised(p, g, penalty);
                    let (v, a) = (mean(average, v, g * g), mean(average, a, g));
                    let b = momentum * b + g / (deviation(v, a) + eps);
                    (p - lr * b, [v, a, b])
                },
            ),
        }
    }
}

#[inline(always)]
fn mean<T: Float>([keep, take]: [T; 2], old: T, new: T) -> T {
    keep * old + take * new
}

/// The root of the mean square v without the square of the mean a.
#[inline(always)]
fn deviation<T: Float>(v: T, a: T) -> T {
    let variance = v - a * a;
    if variance < T::ZERO { T::ZERO } else { variance.sqrt() }
}
