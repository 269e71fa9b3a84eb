//! Update rules as data: which there are, how many state buffers they need, and which settings
//! are refused.

use super::{Adagrad, Adam, RmsProp, Sgd};

/// An update rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UpdateRule {
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// Adam and AdamW.
    Adam(Adam),
    /// RMSprop.
    RmsProp(RmsProp),
    /// Adagrad.
    Adagrad(Adagrad),
}

/// A setting that a rule, or what stands beside it in a recipe, cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A setting outside its range.
    #[error("{rule}: {setting} is {value:?}; it must be {range}; choose a value in that range")]
    Range {
        /// The rule, the schedule, or another part of the recipe.
        rule: &'static str,
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
    /// Milestones that do not grow.
    #[error(
        "multi_step: the milestones {milestones:?} do not grow; each must lie behind the one \
         before: sort them and leave out repeated ones"
    )]
    Milestones {
        /// What was brought.
        milestones: Vec<u64>,
    },
    /// A group that no parameter is in.
    #[error(
        "groups: no parameter is called {names}; a group is for at least one of them ({some}): \
         correct the name or leave the group out"
    )]
    EmptyGroup {
        /// Which names the group is for.
        names: String,
        /// Names of some parameters.
        some: String,
    },
}

/// A setting, its value, and whether it may have it.
#[derive(Debug)]
pub(super) struct Check {
    setting: &'static str,
    value: f64,
    accepted: bool,
    range: &'static str,
}

impl Check {
    pub(super) fn new(
        setting: &'static str,
        value: f64,
        accepted: bool,
        range: &'static str,
    ) -> Self {
        Check { setting, value, accepted, range }
    }

    /// Parameters of f32 are updated in f32: what overflows there would make every one of them
    /// infinite.
    pub(super) fn finite(setting: &'static str, value: f64) -> Self {
        Check::new(setting, value, (value as f32).is_finite(), "finite as f32")
    }

    pub(super) fn not_negative(setting: &'static str, value: f64) -> Self {
        let accepted = (value as f32).is_finite() && value >= 0.0;
        Check::new(setting, value, accepted, "finite as f32 and not negative")
    }

    pub(super) fn positive(setting: &'static str, value: f64) -> Self {
        let accepted = (value as f32).is_finite() && value as f32 > 0.0;
        Check::new(setting, value, accepted, "finite as f32 and positive")
    }

    pub(super) fn share(setting: &'static str, value: f64) -> Self {
        Check::new(setting, value, (0.0..1.0).contains(&value), "in [0, 1)")
    }

    /// Times the root of the least `1 − β`, 10⁻⁸, it is still a number of f32.
    pub(super) fn epsilon(setting: &'static str, value: f64) -> Self {
        let accepted = value >= 1e-30 && (value as f32).is_finite();
        Check::new(setting, value, accepted, "at least 1e-30 and finite as f32")
    }

    /// Fails with the first of `checks` that was not accepted.
    pub(super) fn all(rule: &'static str, checks: &[Check]) -> Result<(), RuleError> {
        match checks.iter().find(|check| !check.accepted) {
            Some(&Check { setting, value, range, .. }) => {
                Err(RuleError::Range { rule, setting, value, range })
            }
            None => Ok(()),
        }
    }
}

impl UpdateRule {
    /// What messages call it.
    pub fn name(&self) -> &'static str {
        match self {
            UpdateRule::Sgd(_) => "sgd",
            UpdateRule::Adam(Adam { decoupled: true, .. }) => "adamw",
            UpdateRule::Adam(_) => "adam",
            UpdateRule::RmsProp(_) => "rmsprop",
            UpdateRule::Adagrad(_) => "adagrad",
        }
    }

    /// Buffers of state as long as the parameters.
    ///
    /// In their order: SGD's momentum, if any; Adam's m, v, and the largest v with amsgrad;
    /// RMSprop's mean square, mean if centered, momentum if any; Adagrad's sum.
    pub fn state_buffers(&self) -> usize {
        match self {
            UpdateRule::Sgd(sgd) => sgd.state_buffers(),
            UpdateRule::Adam(adam) => adam.state_buffers(),
            UpdateRule::RmsProp(rmsprop) => rmsprop.state_buffers(),
            UpdateRule::Adagrad(_) => 1,
        }
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        let mut rule = *self;
        *rule.lr_and_decay().0
    }

    /// The same rule with another learning rate, and with another weight decay where one is given.
    pub fn with(mut self, lr: f64, weight_decay: Option<f64>) -> Self {
        let settings = self.lr_and_decay();
        *settings.0 = lr;
        *settings.1 = weight_decay.unwrap_or(*settings.1);
        self
    }

    fn lr_and_decay(&mut self) -> (&mut f64, &mut f64) {
        match self {
            UpdateRule::Sgd(rule) => (&mut rule.lr, &mut rule.weight_decay),
            UpdateRule::Adam(rule) => (&mut rule.lr, &mut rule.weight_decay),
            UpdateRule::RmsProp(rule) => (&mut rule.lr, &mut rule.weight_decay),
            UpdateRule::Adagrad(rule) => (&mut rule.lr, &mut rule.weight_decay),
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), RuleError> {
        let checks = match self {
            UpdateRule::Sgd(rule) => rule.checks(),
            UpdateRule::Adam(rule) => rule.checks(),
            UpdateRule::RmsProp(rule) => rule.checks(),
            UpdateRule::Adagrad(rule) => rule.checks(),
        };
        Check::all(self.name(), &checks)?;
        match self {
            UpdateRule::Sgd(sgd) => sgd.check_together(),
            _ => Ok(()),
        }
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

    #[test]
    fn the_settings_of_every_rule_are_checked_under_its_name() {
        let eps = 1e-8;
        let (beta1, beta2, weight_decay, amsgrad) = (0.9, 0.99, 0.0, false);
        let adam = Adam { lr: 0.1, beta1, beta2, eps, weight_decay, decoupled: false, amsgrad };
        let adamw = Adam { decoupled: true, ..adam };
        let rms =
            RmsProp { lr: 0.1, alpha: 0.9, eps, momentum: 0.0, centered: false, weight_decay: 0.0 };
        let ada = Adagrad { lr: 0.1, lr_decay: 0.0, initial: 0.0, eps, weight_decay: 0.0 };
        for (rule, text) in [
            (UpdateRule::from(Adam { lr: -1.0, ..adam }), "adam: lr is -1.0; it must be finite"),
            (Adam { beta1: 1.0, ..adamw }.into(), "adamw: beta1 is 1.0; it must be in"),
            (Adam { beta2: -0.1, ..adamw }.into(), "adamw: beta2 is -0.1; it must be"),
            (Adam { eps: 0.0, ..adam }.into(), "adam: eps is 0.0; it must be at least"),
            (Adam { weight_decay: 1e40, ..adam }.into(), "adam: weight_decay is 1e40"),
            (RmsProp { alpha: f64::NAN, ..rms }.into(), "rmsprop: alpha is NaN; it must be in"),
            (RmsProp { momentum: 1.5, ..rms }.into(), "rmsprop: momentum is 1.5"),
            (Adagrad { lr_decay: -1.0, ..ada }.into(), "adagrad: lr_decay is -1.0"),
            (Adagrad { initial: -1.0, ..ada }.into(), "adagrad: initial is -1.0"),
        ] {
            let refused = rule.validate().unwrap_err().to_string();
            assert!(refused.starts_with(text), "{refused}");
        }
        for rule in [UpdateRule::Adam(adam), adamw.into(), rms.into(), ada.into()] {
            assert_eq!(rule.validate(), Ok(()));
            assert_eq!(rule.with(0.5, Some(0.25)).lr(), 0.5);
            assert_eq!(rule.with(0.1, None), rule);
        }
        let buffers = [
            UpdateRule::Adam(adam),
            Adam { amsgrad: true, ..adamw }.into(),
            rms.into(),
            RmsProp { momentum: 0.5, ..rms }.into(),
            RmsProp { momentum: 0.5, centered: true, ..rms }.into(),
            ada.into(),
        ];
        assert_eq!(buffers.map(|rule| rule.state_buffers()), [2, 3, 1, 2, 3, 1]);
    }
}
