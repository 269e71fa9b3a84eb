//! Stochastic gradient descent as PyTorch defines it.

use kernels::update;

use super::Builder;

/// SGD with its settings.
///
/// With `g` the mean gradient: `d = g + weight_decay · p`; with momentum the buffer is
/// `b = d` in the first step and `b = momentum · b + (1 − dampening) · d` in later ones, and `d`
/// becomes `b`, or `d + momentum · b` with Nesterov's look-ahead; then `p = p − lr · d`.
pub type Sgd = Builder<update::Sgd>;

/// Plain gradient descent with this learning rate.
pub fn sgd(lr: f64) -> Sgd {
    let (momentum, dampening, weight_decay) = (0.0, 0.0, 0.0);
    Builder::new(update::Sgd { lr, momentum, dampening, nesterov: false, weight_decay })
}

impl Sgd {
    /// With this momentum, 0 for none.
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.rule.momentum = momentum;
        self
    }

    /// With this share of each gradient kept out of the momentum buffer.
    pub fn dampening(mut self, dampening: f64) -> Self {
        self.rule.dampening = dampening;
        self
    }

    /// With Nesterov's look-ahead; needs momentum and no dampening.
    pub fn nesterov(mut self) -> Self {
        self.rule.nesterov = true;
        self
    }

    /// With an L2 penalty whose gradient is `weight_decay · p`.
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        self.rule.weight_decay = weight_decay;
        self
    }
}
