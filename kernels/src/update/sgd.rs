//! Stochastic gradient descent.

use super::pass::{Out, pass, penalised, unless_zero};
use super::rule::{Check, RuleError};
use super::{Update, UpdateRule};
use crate::Float;

/// Settings of stochastic gradient descent, with PyTorch's meaning.
///
/// With p the parameter, g the mean gradient and b the momentum buffer, in this order and each
/// operation rounded by itself:
///
/// ```text
/// d = g + weight_decay · p                 (weight_decay ≠ 0; else d = g)
/// b = d                                    in the first step, undamped
/// b = momentum · b + (1 − dampening) · d   in later ones
/// d = b                                    (momentum ≠ 0)
/// d = d + momentum · b                     in its place, with nesterov
/// p = p − lr · d
/// ```
///
/// The look-ahead is that of Sutskever et al. 2013, "On the importance of initialization and
/// momentum in deep learning", with the learning rate outside the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// The learning rate, finite also as f32 and not negative.
    pub lr: f64,
    /// In `[0, 1)`; 0 keeps no buffer.
    pub momentum: f64,
    /// The share of a gradient that stays out of the buffer; finite also as f32.
    pub dampening: f64,
    /// Look ahead along the buffer; needs momentum and no dampening.
    pub nesterov: bool,
    /// The factor of the L2 penalty's gradient, finite also as f32 and not negative.
    pub weight_decay: f64,
}

impl From<Sgd> for UpdateRule {
    fn from(sgd: Sgd) -> Self {
        UpdateRule::Sgd(sgd)
    }
}

impl Sgd {
    /// 1 for momentum, else 0.
    pub(super) fn state_buffers(&self) -> usize {
        usize::from(self.momentum != 0.0)
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        vec![
            Check::not_negative("lr", self.lr),
            Check::share("momentum", self.momentum),
            Check::finite("dampening", self.dampening),
            Check::not_negative("weight_decay", self.weight_decay),
        ]
    }

    /// Refuses settings that are fine by themselves, but not with each other.
    pub(super) fn check_together(&self) -> Result<(), RuleError> {
        let Sgd { momentum, dampening, .. } = *self;
        if self.nesterov && (momentum == 0.0 || dampening != 0.0) {
            return Err(RuleError::Nesterov { momentum, dampening });
        }
        Ok(())
    }

    /// Steps the elements of `out`.
    pub(super) fn update<T: Float>(&self, u: &Update<'_, T>, out: &mut Out<'_, T>) {
        let lr = T::from_f64(self.lr);
        let penalty = unless_zero(self.weight_decay);
        if self.momentum == 0.0 {
            return pass(
                u,
                out,
                T::ZERO,
                #[inline(always)]
                |p, g, []| (p - lr * penalised(p, g, penalty), []),
            );
        }
        let (momentum, fresh) = (T::from_f64(self.momentum), T::from_f64(1.0 - self.dampening));
        let (first, nesterov) = (u.step == 0, self.nesterov);
        pass(
            u,
            out,
            T::ZERO,
            #[inline(always)]
            |p, g, [b]| {
                let d = penalised(p, g, penalty);
                let b = if first { d } else { momentum * b + fresh * d };
                let d = if nesterov { d + momentum * b } else { b };
                (p - lr * d, [b])
            },
        );
    }
}
