//! Update rules as data: settings, how many state buffers they need, and which are refused.

/// An update rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UpdateRule {
    /// Stochastic gradient descent.
    Sgd(Sgd),
}

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// The learning rate, finite and not negative.
    pub lr: f64,
    /// In `[0, 1)`; 0 keeps no buffer.
    pub momentum: f64,
    /// The share of a gradient that stays out of the buffer; finite.
    pub dampening: f64,
    /// Look ahead along the buffer; needs momentum and no dampening.
    pub nesterov: bool,
    /// The factor of the L2 penalty's gradient, finite and not negative.
    pub weight_decay: f64,
}

/// A setting that a rule cannot have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A setting outside its range.
    #[error("sgd: {setting} is {value}; it must be {range}; choose a value in that range")]
    Range {
        /// The name of the setting.
        setting: &'static str,
        /// The value that was brought.
        value: f64,
        /// The values that are possible.
        range: &'static str,
    },
    /// Nesterov's look-ahead with settings that leave nothing to look along.
    #[error(
        "sgd: nesterov with momentum {momentum} and dampening {dampening}; it needs momentum \
         above 0 and dampening 0; set these or leave nesterov out"
    )]
    Nesterov {
        /// The momentum that was brought.
        momentum: f64,
        /// The dampening that was brought.
        dampening: f64,
    },
}

impl UpdateRule {
    /// Buffers of state as long as the parameters: 1 for momentum, else 0.
    pub fn state_buffers(&self) -> usize {
        let UpdateRule::Sgd(sgd) = self;
        usize::from(sgd.momentum != 0.0)
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), RuleError> {
        let UpdateRule::Sgd(sgd) = *self;
        let not_negative = |value: f64| value.is_finite() && value >= 0.0;
        let checks = [
            ("lr", sgd.lr, not_negative(sgd.lr), "finite and not negative"),
            ("momentum", sgd.momentum, (0.0..1.0).contains(&sgd.momentum), "in [0, 1)"),
            ("dampening", sgd.dampening, sgd.dampening.is_finite(), "finite"),
            (
                "weight_decay",
                sgd.weight_decay,
                not_negative(sgd.weight_decay),
                "finite and not negative",
            ),
        ];
        if let Some(&(setting, value, _, range)) = checks.iter().find(|check| !check.2) {
            return Err(RuleError::Range { setting, value, range });
        }
        if sgd.nesterov && (sgd.momentum == 0.0 || sgd.dampening != 0.0) {
            let (momentum, dampening) = (sgd.momentum, sgd.dampening);
            return Err(RuleError::Nesterov { momentum, dampening });
        }
        Ok(())
    }
}
