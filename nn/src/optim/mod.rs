//! Hop 8 of a gradient's life: update rules, built here and launched by whoever holds the arena.

mod optimizer;
mod sgd;

pub use kernels::update::UpdateRule;
pub use optimizer::Optimizer;
pub use sgd::{Sgd, sgd};
