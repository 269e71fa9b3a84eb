//! Adam, and Adam with decoupled weight decay.

use super::pass::{Out, pass, penalised, unless_zero};
use super::rule::Check;
use super::{Update, UpdateRule, power};
use crate::Float;

/// Settings of Adam (Kingma and Ba 2015, "Adam: a method for stochastic optimization", algorithm
/// 1 in the order of computation that ends its section 2) and of AdamW (Loshchilov and Hutter 2019,
/// "Decoupled weight decay regularization", algorithm 2), with PyTorch's meaning.
///
/// With p the parameter, g the mean gradient, m and v the moments, which start at 0, and t = 1 in
/// the first step, in this order and each operation rounded by itself:
///
/// ```text
/// g = g + weight_decay · p           Adam, with weight_decay ≠ 0
/// p = p − (lr · weight_decay) · p    AdamW, with weight_decay ≠ 0
/// m = β₁ · m + (1 − β₁) · g
/// v = β₂ · v + (1 − β₂) · (g · g)
/// w = v, or the largest v so far     with amsgrad (Reddi et al. 2018)
/// p = p − α · (m / (√w + ε̂))
/// α = lr · √(1 − β₂ᵗ) / (1 − β₁ᵗ)    ε̂ = eps · √(1 − β₂ᵗ)
/// ```
///
/// Scalars are computed in f64 and rounded once. With PyTorch's `√v / √(1 − β₂ᵗ) + eps` it agrees
/// but for roundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The learning rate, finite also as f32 and not negative.
    pub lr: f64,
    /// How much of the mean gradient m a step keeps, in `[0, 1)`.
    pub beta1: f64,
    /// How much of the mean square v a step keeps, in `[0, 1)`.
    pub beta2: f64,
    /// What keeps the quotient finite, at least 1e-30.
    pub eps: f64,
    /// The factor of the penalty's gradient, or of the decay; finite also as f32, not negative.
    pub weight_decay: f64,
    /// AdamW: the decay acts on the parameter, not on the gradient.
    pub decoupled: bool,
    /// Divide by the largest mean square so far: one more buffer.
    pub amsgrad: bool,
}

impl From<Adam> for UpdateRule {
    fn from(adam: Adam) -> Self {
        UpdateRule::Adam(adam)
    }
}

impl Adam {
    /// The moments, and the largest second one with amsgrad.
    pub(super) fn state_buffers(&self) -> usize {
        2 + usize::from(self.amsgrad)
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        vec![
            Check::not_negative("lr", self.lr),
            Check::share("beta1", self.beta1),
            Check::share("beta2", self.beta2),
            Check::epsilon("eps", self.eps),
            Check::not_negative("weight_decay", self.weight_decay),
        ]
    }

    /// Steps the elements of `out`.
    pub(super) fn update<T: Float>(&self, u: &Update<'_, T>, out: &mut Out<'_, T>) {
        let scalars = Scalars::new(self, u.step);
        let Scalars { alpha, eps, .. } = scalars;
        if self.amsgrad {
            return pass(
                u,
                out,
                T::ZERO,
                #[inline(always)]
                |p, g, [m, v, most]| {
                    let (p, m, v) = scalars.moments(p, g, m, v);
                    // A NaN stays: it is not below.
                    let most = if v < most { most } else { v };
                    (p - alpha * (m / (most.sqrt() + eps)), [m, v, most])
                },
            );
        }
        pass(
            u,
            out,
            T::ZERO,
            #[inline(always)]
            |p, g, [m, v]| {
                let (p, m, v) = scalars.moments(p, g, m, v);
                (p - alpha * (m / (v.sqrt() + eps)), [m, v])
            },
        );
    }
}

/// The settings of one step in the element type.
#[derive(Clone, Copy)]
struct Scalars<T> {
    alpha: T,
    eps: T,
    /// β₁ and 1 − β₁.
    mean: [T; 2],
    /// β₂ and 1 − β₂.
    square: [T; 2],
    penalty: Option<T>,
    decay: Option<T>,
}

impl<T: Float> Scalars<T> {
    fn new(adam: &Adam, step: u64) -> Self {
        let Adam { lr, beta1, beta2, eps, weight_decay, decoupled, .. } = *adam;
        let t = step.saturating_add(1);
        let root = (1.0 - power(beta2, t)).sqrt();
        let (penalty, decay) =
            if decoupled { (0.0, lr * weight_decay) } else { (weight_decay, 0.0) };
        Scalars {
            alpha: T::from_f64(lr * root / (1.0 - power(beta1, t))),
            eps: T::from_f64(eps * root),
            mean: [beta1, 1.0 - beta1].map(T::from_f64),
            square: [beta2, 1.0 - beta2].map(T::from_f64),
            penalty: unless_zero(penalty),
            decay: unless_zero(decay),
        }
    }

    /// The parameter before its step, and the next moments.
    #[inline(always)]
    fn moments(&self, p: T, g: T, m: T, v: T) -> (T, T, T) {
        let g = penalised(p, g, self.penalty);
        let p = match self.decay {
            Some(decay) => p - decay * p,
            None => p,
        };
        let ([keep_m, take_m], [keep_v, take_v]) = (self.mean, self.square);
        (p, keep_m * m + take_m * g, keep_v * v + take_v * (g * g))
    }
}
