//! Adam and AdamW with PyTorch's defaults.

use kernels::update;

use super::Builder;

/// Adam or AdamW with its settings; the formula stands at [`update::Adam`].
pub type Adam = Builder<update::Adam>;

/// Adam with this learning rate, betas 0.9 and 0.999, eps 1e-8 and no weight decay. Its weight
/// decay is the gradient of an L2 penalty.
pub fn adam(lr: f64) -> Adam {
    let (beta1, beta2, eps, weight_decay) = (0.9, 0.999, 1e-8, 0.0);
    let (decoupled, amsgrad) = (false, false);
    Builder::new(update::Adam { lr, beta1, beta2, eps, weight_decay, decoupled, amsgrad })
}

/// AdamW with this learning rate, betas 0.9 and 0.999, eps 1e-8 and weight decay 0.01, which is
/// decoupled from the gradient.
pub fn adamw(lr: f64) -> Adam {
    let mut adamw = adam(lr).weight_decay(0.01);
    adamw.rule.decoupled = true;
    adamw
}

impl Adam {
    /// With these shares of the mean gradient and of the mean square that a step keeps.
    pub fn betas(mut self, beta1: f64, beta2: f64) -> Self {
        (self.rule.beta1, self.rule.beta2) = (beta1, beta2);
        self
    }

    /// With this addend of the divisor.
    pub fn eps(mut self, eps: f64) -> Self {
        self.rule.eps = eps;
        self
    }

    /// With this weight decay, 0 for none.
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        self.rule.weight_decay = weight_decay;
        self
    }

    /// Divides by the largest mean square so far.
    pub fn amsgrad(mut self) -> Self {
        self.rule.amsgrad = true;
        self
    }
}
