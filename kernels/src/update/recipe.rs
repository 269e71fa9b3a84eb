//! All that decides a step beside the gradients: rule, learning rates, clipping and groups.

use super::rule::Check;
use super::{Group, Mean, RuleError, Schedule, UpdateRule};

/// What a trainer takes: how parameters are updated in every step.
///
/// In step t a parameter is updated by [`Recipe::rule_of`]: the rule, with the learning rate that
/// the schedule gives, times the factor of the parameter's group. Before that, the mean gradient is
/// clipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The rule; its learning rate is the one that the schedule starts from.
    pub rule: UpdateRule,
    /// The learning rate of each step.
    pub schedule: Schedule,
    /// The bound of the mean gradient, if any.
    pub clip: Option<Clip>,
    /// Parameters with settings of their own; the first that has a name decides.
    pub groups: Vec<Group>,
}

/// A bound of the mean gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// The Euclidean norm over all parameters together is at most this (Pascanu et al. 2013, "On
    /// the difficulty of training recurrent neural networks", algorithm 1): see [`Clip::factor`].
    Norm(f64),
    /// The magnitude of each element is at most this.
    Value(f64),
}

/// What is added to a norm before it divides: PyTorch's.
const NORM_EPS: f64 = 1e-6;

impl Clip {
    /// Whether [`Recipe::mean`] needs the norm.
    pub fn needs_norm(self) -> bool {
        matches!(self, Clip::Norm(_))
    }

    /// What a gradient of norm `norm` is multiplied by: `max / (norm + 10⁻⁶)`, at most 1.
    /// PyTorch's `clip_grad_norm_` has the same.
    pub fn factor(max: f64, norm: f64) -> f64 {
        (max / (norm + NORM_EPS)).min(1.0)
    }
}

impl<R: Into<UpdateRule>> From<R> for Recipe {
    /// The rule alone: a constant learning rate, no clipping, no groups.
    fn from(rule: R) -> Self {
        let (rule, schedule) = (rule.into(), Schedule::Constant);
        Recipe { rule, schedule, clip: None, groups: Vec::new() }
    }
}

impl Recipe {
    /// Buffers of state as long as the parameters.
    pub fn state_buffers(&self) -> usize {
        self.rule.state_buffers()
    }

    /// The learning rate of step `step` outside all groups.
    pub fn lr(&self, step: u64) -> f64 {
        self.schedule.lr(self.rule.lr(), step)
    }

    /// The rule that updates the parameter `name` in step `step`.
    pub fn rule_of(&self, step: u64, name: &str) -> UpdateRule {
        Group::rule_of(&self.groups, self.rule.with(self.lr(step), None), name)
    }

    /// How sums over `count` become clipped gradients. A bound of the norm is kept where `norm`,
    /// that of the mean gradient, is given.
    pub fn mean(&self, count: f64, norm: Option<f64>) -> Mean {
        let mean = Mean::over(count);
        match (self.clip, norm) {
            (Some(Clip::Value(limit)), _) => Mean { limit, ..mean },
            (Some(Clip::Norm(max)), Some(norm)) => Mean { scale: Clip::factor(max, norm), ..mean },
            _ => mean,
        }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), RuleError> {
        self.rule.validate()?;
        self.schedule.validate()?;
        match self.clip {
            None => Ok(()),
            Some(Clip::Norm(max)) => Check::all("clip", &[Check::positive("norm", max)]),
            Some(Clip::Value(max)) => Check::all("clip", &[Check::positive("value", max)]),
        }?;
        self.groups.iter().try_for_each(Group::validate)
    }

    /// Whether each group has at least one of the parameters called `names`.
    ///
    /// # Errors
    /// The first that has none: its name is misspelt, or it is of another model.
    pub fn check_names(&self, names: &[&str]) -> Result<(), RuleError> {
        let empty = |group: &&Group| !names.iter().any(|name| group.names.has(name));
        match self.groups.iter().find(empty) {
            Some(group) => {
                let some = names[..names.len().min(4)].join(", ");
                Err(RuleError::EmptyGroup { names: group.names.to_string(), some })
            }
            None => Ok(()),
        }
    }
}
