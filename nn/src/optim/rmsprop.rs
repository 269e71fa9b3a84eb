//! RMSprop with PyTorch's defaults.

use kernels::update;

use super::Builder;

/// RMSprop with its settings; the formula stands at [`update::RmsProp`].
pub type RmsProp = Builder<update::RmsProp>;

/// RMSprop with this learning rate, alpha 0.99, eps 1e-8, without momentum and weight decay.
pub fn rmsprop(lr: f64) -> RmsProp {
    let (alpha, eps, momentum, weight_decay) = (0.99, 1e-8, 0.0, 0.0);
    Builder::new(update::RmsProp { lr, alpha, eps, momentum, centered: false, weight_decay })
}

impl RmsProp {
    /// With this share of the averages that a step keeps.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.rule.alpha = alpha;
        self
    }

    /// With this addend of the divisor.
    pub fn eps(mut self, eps: f64) -> Self {
        self.rule.eps = eps;
        self
    }

    /// With this momentum, 0 for none.
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.rule.momentum = momentum;
        self
    }

    /// Divides by an estimate of the standard deviation.
    pub fn centered(mut self) -> Self {
        self.rule.centered = true;
        self
    }

    /// With an L2 penalty whose gradient is `weight_decay · p`.
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        self.rule.weight_decay = weight_decay;
        self
    }
}
