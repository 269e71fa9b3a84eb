//! Groups of parameters: settings of their own for those with certain names.

use std::fmt;

use super::rule::Check;
use super::{RuleError, UpdateRule};

/// Which parameters, by their paths such as `blocks.0.norm.weight`.
#[derive(Clone, Debug, PartialEq)]
pub enum Names {
    /// Those whose path starts with the text.
    Starting(String),
    /// Those whose path ends with it.
    Ending(String),
    /// Those whose path has it anywhere.
    Containing(String),
}

impl Names {
    /// Whether `name` is one of them.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Names::Starting(text) => name.starts_with(text.as_str()),
            Names::Ending(text) => name.ends_with(text.as_str()),
            Names::Containing(text) => name.contains(text.as_str()),
        }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Names::Starting(text) => write!(f, "{text}…"),
            Names::Ending(text) => write!(f, "…{text}"),
            Names::Containing(text) => write!(f, "…{text}…"),
        }
    }
}

/// Settings of some parameters. A parameter belongs to the first group that has its name, and
/// to none when no group has it.
///
/// ```
/// use ringgrad_kernels::update::Group;
/// let groups = [Group::ending("bias").weight_decay(0.0), Group::starting("head").lr_scale(0.1)];
/// assert!(groups[0].names.has("layers.0.bias"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Which parameters.
    pub names: Names,
    /// The factor of the learning rate that the schedule gives. 0 leaves parameters as they are,
    /// weight decay included.
    pub lr_scale: f64,
    /// In place of the rule's weight decay.
    pub weight_decay: Option<f64>,
}

impl Group {
    /// The parameters whose paths start with `text`.
    pub fn starting(text: impl Into<String>) -> Self {
        Group::of(Names::Starting(text.into()))
    }

    /// The parameters whose paths end with `text`.
    pub fn ending(text: impl Into<String>) -> Self {
        Group::of(Names::Ending(text.into()))
    }

    /// The parameters whose paths have `text` anywhere.
    pub fn containing(text: impl Into<String>) -> Self {
        Group::of(Names::Containing(text.into()))
    }

    fn of(names: Names) -> Self {
        Group { names, lr_scale: 1.0, weight_decay: None }
    }

    /// With this factor of the learning rate.
    pub fn lr_scale(mut self, lr_scale: f64) -> Self {
        self.lr_scale = lr_scale;
        self
    }

    /// With this weight decay in place of the rule's.
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        self.weight_decay = Some(weight_decay);
        self
    }

    /// The rule of the parameter `name`: `rule` with the settings of the first of `groups` that
    /// has the name.
    pub fn rule_of(groups: &[Group], rule: UpdateRule, name: &str) -> UpdateRule {
        match groups.iter().find(|group| group.names.has(name)) {
            Some(group) => rule.with(rule.lr() * group.lr_scale, group.weight_decay),
            None => rule,
        }
    }

    pub(super) fn validate(&self) -> Result<(), RuleError> {
        let decay = self.weight_decay.unwrap_or(0.0);
        let checks = [
            Check::not_negative("lr_scale", self.lr_scale),
            Check::not_negative("weight_decay", decay),
        ];
        Check::all("group", &checks)
    }
}
