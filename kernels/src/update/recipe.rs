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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;
    use crate::update::{Sgd, SquareSum};

    fn recipe() -> Recipe {
        let (momentum, dampening, nesterov) = (0.0, 0.0, false);
        Sgd { lr: 0.5, momentum, dampening, nesterov, weight_decay: 0.25 }.into()
    }

    #[test]
    fn a_norm_is_that_of_all_parameters_together() {
        // A norm of each parameter by itself would leave [1, 0] and [0, 1].
        let mut squares = SquareSum::default();
        for part in [[6.0f64, 0.0], [0.0, 8.0]] {
            squares.add(&Threads::serial(), &part, 2.0);
        }
        let clipped = Recipe { clip: Some(Clip::Norm(1.0)), ..recipe() };
        let Mean { count, limit, scale } = clipped.mean(2.0, Some(squares.norm()));
        assert_eq!((squares.norm(), count, limit), (5.0, 2.0, f64::INFINITY));
        assert!((3.0 * scale - 0.6).abs() < 1e-6 && (4.0 * scale - 0.8).abs() < 1e-6, "{scale}");
        assert_eq!(clipped.mean(2.0, Some(0.5)), Mean::over(2.0));
        let limited = Recipe { clip: Some(Clip::Value(3.0)), ..recipe() };
        assert_eq!(limited.mean(2.0, None), Mean { limit: 3.0, ..Mean::over(2.0) });
    }

    #[test]
    fn the_first_group_that_has_a_name_decides() {
        let groups = vec![
            Group::ending("bias").weight_decay(0.0),
            Group::starting("head.").lr_scale(0.5),
            Group::containing("norm").lr_scale(0.0).weight_decay(1.0),
        ];
        let schedule = Schedule::Exponential { gamma: 0.5 };
        let recipe = Recipe { groups, schedule, ..recipe() };
        assert_eq!(recipe.validate(), Ok(()));
        let rule = |lr, decay| recipe.rule.with(lr, Some(decay));
        assert_eq!(recipe.rule_of(1, "body.weight"), rule(0.25, 0.25));
        assert_eq!(recipe.rule_of(1, "head.bias"), rule(0.25, 0.0));
        assert_eq!(recipe.rule_of(2, "head.weight"), rule(0.0625, 0.25));
        assert_eq!(recipe.rule_of(2, "body.norm.weight"), rule(0.0, 1.0));
    }

    #[test]
    fn parts_that_cannot_be_are_refused_by_name() {
        let refused = |recipe: Recipe| recipe.validate().unwrap_err().to_string();
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let clip = Some(Clip::Norm(bad));
            assert!(refused(Recipe { clip, ..recipe() }).starts_with("clip: norm is"));
            let clip = Some(Clip::Value(bad));
            assert!(refused(Recipe { clip, ..recipe() }).starts_with("clip: value is"));
        }
        let groups = vec![Group::ending("bias").lr_scale(-1.0)];
        assert!(refused(Recipe { groups, ..recipe() }).starts_with("group: lr_scale is -1.0"));
        let groups = vec![Group::ending("bais")];
        let names = ["layers.0.weight", "layers.0.bias"];
        let misspelt = Recipe { groups, ..recipe() }.check_names(&names).unwrap_err().to_string();
        assert!(misspelt.contains("called …bais") && misspelt.contains("layers.0.bias"));
    }
}
