//! A recipe that is being put together: the rule's settings, and what stands beside them.

use kernels::update::{Clip, Group, Recipe, Schedule, UpdateRule};

/// A rule with settings `R`, its schedule, clipping and groups. It becomes a [`Recipe`] where one
/// is taken; settings are checked there.
///
/// ```
/// use ringgrad_nn::optim::{self, Group, Recipe, Schedule};
/// let recipe: Recipe = optim::adamw(1e-3)
///     .weight_decay(0.1)
///     .schedule(Schedule::Cosine { steps: 900, min_lr: 0.0 }.after_warmup(100, 0.01))
///     .clip_norm(1.0)
///     .groups([Group::ending("bias").weight_decay(0.0)])
///     .into();
/// assert_eq!(recipe.lr(100), 1e-3);
/// ```
#[derive(Clone, Debug)]
pub struct Builder<R> {
    pub(super) rule: R,
    schedule: Schedule,
    clip: Option<Clip>,
    groups: Vec<Group>,
}

impl<R> Builder<R> {
    pub(super) fn new(rule: R) -> Self {
        Builder { rule, schedule: Schedule::Constant, clip: None, groups: Vec::new() }
    }

    /// With the learning rate of each step by this schedule.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// With the norm of the mean gradient, over all parameters together, clipped to `max`.
    pub fn clip_norm(mut self, max: f64) -> Self {
        self.clip = Some(Clip::Norm(max));
        self
    }

    /// With every element of the mean gradient clipped to ±`max`, in place of a clipped norm.
    pub fn clip_value(mut self, max: f64) -> Self {
        self.clip = Some(Clip::Value(max));
        self
    }

    /// With settings of their own for some parameters; the first group that has a name decides.
    pub fn groups(mut self, groups: impl IntoIterator<Item = Group>) -> Self {
        self.groups = groups.into_iter().collect();
        self
    }
}

impl<R: Into<UpdateRule>> From<Builder<R>> for Recipe {
    fn from(builder: Builder<R>) -> Self {
        let Builder { rule, schedule, clip, groups } = builder;
        Recipe { rule: rule.into(), schedule, clip, groups }
    }
}
