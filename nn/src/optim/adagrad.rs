//! Adagrad with PyTorch's defaults.

use kernels::update;

use super::Builder;

/// Adagrad with its settings; the formula stands at [`update::Adagrad`].
pub type Adagrad = Builder<update::Adagrad>;

/// Adagrad with this learning rate, eps 1e-10, sums that start at 0, and no decay of any kind.
pub fn adagrad(lr: f64) -> Adagrad {
    let (lr_decay, initial, eps, weight_decay) = (0.0, 0.0, 1e-10, 0.0);
    Builder::new(update::Adagrad { lr, lr_decay, initial, eps, weight_decay })
}

impl Adagrad {
    /// With a learning rate that is divided by `1 + k · lr_decay` in step k.
    pub fn lr_decay(mut self, lr_decay: f64) -> Self {
        self.rule.lr_decay = lr_decay;
        self
    }

    /// With sums of squares that start at this value.
    pub fn initial_accumulator_value(mut self, initial: f64) -> Self {
        self.rule.initial = initial;
        self
    }

    /// With this addend of the divisor.
    pub fn eps(mut self, eps: f64) -> Self {
        self.rule.eps = eps;
        self
    }

    /// With an L2 penalty whose gradient is `weight_decay · p`.
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        self.rule.weight_decay = weight_decay;
        self
    }
}
