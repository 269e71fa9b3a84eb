//! Hop 8 of a gradient's life: recipes, built here and carried out by whoever holds the arena.

mod adagrad;
mod adam;
mod builder;
mod optimizer;
mod rmsprop;
mod sgd;

pub use adagrad::{Adagrad, adagrad};
pub use adam::{Adam, adam, adamw};
pub use autograd::StepFacts;
pub use builder::Builder;
pub use kernels::update::{Clip, Group, Recipe, Schedule, UpdateRule};
pub use optimizer::Optimizer;
pub use rmsprop::{RmsProp, rmsprop};
pub use sgd::{Sgd, sgd};
