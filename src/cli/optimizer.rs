//! The options of the update: rule, learning rates, clipping.

use std::str::FromStr;

use clap::ValueEnum;
use nn::optim::{Clip, Recipe, Schedule, adagrad, adam, adamw, rmsprop, sgd};

use super::network::Family;
use super::values;

/// The options that make a recipe.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OptimOptions {
    /// The rule that updates the parameters. [default: sgd; adamw for a gpt]
    #[arg(long, value_enum)]
    optim: Option<OptimName>,
    /// Learning rate. [default: 0.2 for sgd, 0.1 on a cnn or gpt; 0.003 for adam, adamw and
    /// rmsprop; 0.05 for adagrad]
    #[arg(long, value_parser = values::lr, allow_hyphen_values = true)]
    lr: Option<f64>,
    /// Momentum of sgd and rmsprop, 0 for none. [default: 0.9 for sgd, 0 for rmsprop]
    #[arg(long, value_parser = values::momentum, allow_hyphen_values = true)]
    momentum: Option<f64>,
    /// Weight decay: decoupled for adamw, the gradient of an L2 penalty for the others. [default:
    /// 0.01 for adamw, 0.001 for sgd on a cnn, else 0]
    #[arg(long, value_name = "FACTOR", value_parser = values::weight_decay)]
    #[arg(allow_hyphen_values = true)]
    weight_decay: Option<f64>,
    /// The learning rate over the steps of the run: constant; step:EVERY,FACTOR, a drop by the
    /// factor every so many steps; exponential:FACTOR, one every step; linear or cosine, down to 0
    /// at the end of the run. warmup:STEPS before it, as in warmup:100,cosine, climbs to it from
    /// nearly 0; alone it climbs and stays. [default: constant; warmup:50,cosine for a cnn or gpt]
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<ScheduleSpec>,
    /// Clip the norm of the mean gradient, over all parameters together, to this.
    #[arg(long, value_name = "NORM", value_parser = values::clip, allow_hyphen_values = true)]
    clip: Option<f64>,
}

/// The same with nothing left open.
#[derive(Clone, Debug)]
pub(crate) struct OptimSettings {
    optim: OptimName,
    lr: f64,
    momentum: f64,
    weight_decay: f64,
    schedule: ScheduleSpec,
    clip: Option<f64>,
}

/// The value of `--optim`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OptimName {
    /// Stochastic gradient descent with momentum.
    Sgd,
    /// Adam.
    Adam,
    /// Adam with decoupled weight decay.
    Adamw,
    /// RMSprop.
    Rmsprop,
    /// Adagrad.
    Adagrad,
}

impl OptimOptions {
    /// What was chosen, and for the rest what is usual for such networks.
    ///
    /// # Errors
    /// Options that are fine by themselves, but not with each other.
    pub(crate) fn settled(&self, family: Family) -> Result<OptimSettings, String> {
        let usual = if family == Family::Gpt { OptimName::Adamw } else { OptimName::Sgd };
        let optim = self.optim.unwrap_or(usual);
        let momentum = match (optim, self.momentum) {
            (OptimName::Sgd, momentum) => momentum.unwrap_or(0.9),
            (OptimName::Rmsprop, momentum) => momentum.unwrap_or(0.0),
            (_, None) => 0.0,
            (_, Some(momentum)) => {
                return Err(format!(
                    "--momentum {momentum} with --optim {}; only sgd and rmsprop have momentum: \
                     leave it out or use one of these",
                    optim.name()
                ));
            }
        };
        let lr = match (optim, family) {
            (OptimName::Sgd, Family::Mlp) => 0.2,
            (OptimName::Sgd, _) => 0.1,
            (OptimName::Adam | OptimName::Adamw | OptimName::Rmsprop, _) => 0.003,
            (OptimName::Adagrad, _) => 0.05,
        };
        let weight_decay = match (optim, family) {
            (OptimName::Adamw, _) => 0.01,
            (OptimName::Sgd, Family::Cnn) => 0.001,
            _ => 0.0,
        };
        let schedule = match family {
            Family::Mlp => ScheduleSpec { warmup: 0, kind: Kind::Constant },
            Family::Cnn | Family::Gpt => ScheduleSpec { warmup: 50, kind: Kind::Cosine },
        };
        Ok(OptimSettings {
            optim,
            lr: self.lr.unwrap_or(lr),
            momentum,
            weight_decay: self.weight_decay.unwrap_or(weight_decay),
            schedule: self.schedule.unwrap_or(schedule),
            clip: self.clip,
        })
    }
}

impl OptimName {
    fn name(self) -> &'static str {
        match self {
            OptimName::Sgd => "sgd",
            OptimName::Adam => "adam",
            OptimName::Adamw => "adamw",
            OptimName::Rmsprop => "rmsprop",
            OptimName::Adagrad => "adagrad",
        }
    }
}

impl OptimSettings {
    /// The recipe of a run of `steps` steps.
    pub(crate) fn recipe(&self, steps: u64) -> Recipe {
        let &OptimSettings { lr, momentum, weight_decay, .. } = self;
        let recipe: Recipe = match self.optim {
            OptimName::Sgd => sgd(lr).momentum(momentum).weight_decay(weight_decay).into(),
            OptimName::Adam => adam(lr).weight_decay(weight_decay).into(),
            OptimName::Adamw => adamw(lr).weight_decay(weight_decay).into(),
            OptimName::Rmsprop => rmsprop(lr).momentum(momentum).weight_decay(weight_decay).into(),
            OptimName::Adagrad => adagrad(lr).weight_decay(weight_decay).into(),
        };
        Recipe { schedule: self.schedule.over(steps), clip: self.clip.map(Clip::Norm), ..recipe }
    }
}

/// The value of `--schedule`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ScheduleSpec {
    /// Steps of the climb before it.
    warmup: u64,
    kind: Kind,
}

/// A schedule whose length is not known yet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Constant,
    Step { every: u64, gamma: f64 },
    Exponential { gamma: f64 },
    Linear,
    Cosine,
}

impl ScheduleSpec {
    /// The schedule of a run of `steps` steps.
    fn over(self, steps: u64) -> Schedule {
        let left = steps.saturating_sub(self.warmup).max(1);
        let schedule = match self.kind {
            Kind::Constant => Schedule::Constant,
            Kind::Step { every, gamma } => Schedule::Step { every, gamma },
            Kind::Exponential { gamma } => Schedule::Exponential { gamma },
            Kind::Linear => Schedule::Linear { start: 1.0, end: 0.0, steps: left },
            Kind::Cosine => Schedule::Cosine { steps: left, min_lr: 0.0 },
        };
        match self.warmup {
            0 => schedule,
            // The first step is 1 / (warmup + 1) of the way up: none is wasted on a rate of 0.
            warmup => schedule.after_warmup(warmup, 1.0 / (warmup as f64 + 1.0)),
        }
    }
}

const SCHEDULES: &str = "known are constant, step:EVERY,FACTOR, exponential:FACTOR, linear and \
                         cosine, each also behind warmup:STEPS, as in warmup:100,cosine";

impl FromStr for ScheduleSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text:?} is no schedule; {SCHEDULES}");
        let (warmup, rest) = match text.strip_prefix("warmup:") {
            None => (0, text),
            Some(warmup) => {
                let (steps, rest) = warmup.split_once(',').unwrap_or((warmup, "constant"));
                (steps.parse().map_err(|_| unknown())?, rest)
            }
        };
        let (kind, numbers) = rest.split_once(':').unwrap_or((rest, ""));
        let numbers: Vec<&str> = numbers.split(',').filter(|number| !number.is_empty()).collect();
        let gamma = |text: &str| text.parse::<f64>().map_err(|_| unknown());
        let kind = match (kind, &numbers[..]) {
            ("constant", []) => Kind::Constant,
            ("linear", []) => Kind::Linear,
            ("cosine", []) => Kind::Cosine,
            ("exponential", [factor]) => Kind::Exponential { gamma: gamma(factor)? },
            ("step", [every, factor]) => {
                Kind::Step { every: every.parse().map_err(|_| unknown())?, gamma: gamma(factor)? }
            }
            _ => return Err(unknown()),
        };
        let spec = ScheduleSpec { warmup, kind };
        spec.over(1).validate().map_err(|error| error.to_string())?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read_or_refused_with_the_rule() {
        let read = |text: &str| text.parse::<ScheduleSpec>().map(|spec| spec.over(110));
        let cosine = |steps| Schedule::Cosine { steps, min_lr: 0.0 };
        assert_eq!(read("constant"), Ok(Schedule::Constant));
        assert_eq!(read("cosine"), Ok(cosine(110)));
        assert_eq!(read("step:30,0.1"), Ok(Schedule::Step { every: 30, gamma: 0.1 }));
        assert_eq!(read("exponential:0.99"), Ok(Schedule::Exponential { gamma: 0.99 }));
        assert_eq!(read("linear"), Ok(Schedule::Linear { start: 1.0, end: 0.0, steps: 110 }));
        let start = 1.0 / 11.0;
        assert_eq!(read("warmup:10"), Ok(Schedule::Constant.after_warmup(10, start)));
        assert_eq!(read("warmup:10,cosine"), Ok(cosine(100).after_warmup(10, start)));
        let step = Schedule::Step { every: 5, gamma: 0.5 }.after_warmup(10, start);
        assert_eq!(read("warmup:10,step:5,0.5"), Ok(step));
        for bad in ["", "cos", "step", "step:5", "step:x,1", "cosine:3", "warmup:", "warmup:x"] {
            assert!(read(bad).unwrap_err().contains("known are constant"), "{bad}");
        }
        for bad in ["step:0,0.5", "exponential:-1", "exponential:nan", "step:5,inf"] {
            assert!(read(bad).unwrap_err().contains("it must be"), "{bad}");
        }
    }
}
