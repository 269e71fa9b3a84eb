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

/// A setting that a rule cannot have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A setting outside its range.
    #[error("sgd: {setting} is {value:?}; it must be {range}; choose a value in that range")]
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
        // Parameters of f32 are updated in f32: what overflows there would make every one of them
        // infinite.
        let finite = |value: f64| (value as f32).is_finite();
        let not_negative = |value: f64| finite(value) && value >= 0.0;
        let checks = [
            ("lr", sgd.lr, not_negative(sgd.lr), "finite as f32 and not negative"),
            ("momentum", sgd.momentum, (0.0..1.0).contains(&sgd.momentum), "in [0, 1)"),
            ("dampening", sgd.dampening, finite(sgd.dampening), "finite as f32"),
            (
                "weight_decay",
                sgd.weight_decay,
                not_negative(sgd.weight_decay),
                "finite as f32 and not negative",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_overflow_in_f32_are_refused_with_their_name() {
        let sgd =
            Sgd { lr: 0.1, momentum: 0.9, dampening: 0.0, nesterov: false, weight_decay: 0.0 };
        let most = f64::from(f32::MAX);
        assert_eq!(UpdateRule::Sgd(Sgd { lr: most, ..sgd }).validate(), Ok(()));
        for huge in [1e300, -1e300, most * 1.001, f64::INFINITY, f64::NAN] {
            for (name, sgd) in [
                ("lr", Sgd { lr: huge, ..sgd }),
                ("momentum", Sgd { momentum: huge, ..sgd }),
                ("dampening", Sgd { dampening: huge, ..sgd }),
                ("weight_decay", Sgd { weight_decay: huge, ..sgd }),
            ] {
                let refused = UpdateRule::Sgd(sgd).validate();
                assert!(
                    matches!(refused, Err(RuleError::Range { setting, .. }) if setting == name),
                    "{name} {huge}"
                );
            }
        }
    }
}
