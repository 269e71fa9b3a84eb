//! Adagrad: settings and formula.

use super::pass::{Out, pass, penalised, unless_zero};
use super::rule::Check;
use super::{Update, UpdateRule};
use crate::Float;

/// Settings of Adagrad (Duchi, Hazan and Singer 2011, "Adaptive subgradient methods for online
/// learning and stochastic optimization", its diagonal form), with PyTorch's meaning.
///
/// With p the parameter, g the mean gradient, s a sum that starts at `initial`, and k = 0 in the
/// first step, in this order and each operation rounded by itself:
///
/// ```text
/// g = g + weight_decay · p           (weight_decay ≠ 0)
/// s = s + g · g
/// p = p − (lr / (1 + k · lr_decay)) · (g / (√s + eps))
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adagrad {
    /// The learning rate, finite also as f32 and not negative.
    pub lr: f64,
    /// By how much the divisor of the learning rate grows a step; finite also as f32, not negative.
    pub lr_decay: f64,
    /// Where the sums start; finite also as f32 and not negative.
    pub initial: f64,
    /// What keeps the quotient finite, at least 1e-30.
    pub eps: f64,
    /// The factor of the L2 penalty's gradient, finite also as f32 and not negative.
    pub weight_decay: f64,
}

impl From<Adagrad> for UpdateRule {
    fn from(rule: Adagrad) -> Self {
        UpdateRule::Adagrad(rule)
    }
}

impl Adagrad {
    pub(super) fn checks(&self) -> Vec<Check> {
        vec![
            Check::not_negative("lr", self.lr),
            Check::not_negative("lr_decay", self.lr_decay),
            Check::not_negative("initial", self.initial),
            Check::epsilon("eps", self.eps),
            Check::not_negative("weight_decay", self.weight_decay),
        ]
    }

    /// Steps the elements of `out`.
    pub(super) fn update<T: Float>(&self, u: &Update<'_, T>, out: &mut Out<'_, T>) {
        let penalty = unless_zero(self.weight_decay);
        let lr = self.lr / (1.0 + u.step as f64 * self.lr_decay);
        let [lr, eps, initial] = [lr, self.eps, self.initial].map(T::from_f64);
        pass(
            u,
            out,
            initial,
            #[inline(always)]
            |p, g, [s]| {
                let g = penalised(p, g, penalty);
                let s = s + g * g;
                (p - lr * (g / (s.sqrt() + eps)), [s])
            },
        );
    }
}
