//! The golden files and what runs them: one file a kind of case.

pub(crate) mod bounds;
pub(crate) mod elementwise;
pub(crate) mod files;
pub(crate) mod layers;
pub(crate) mod losses;
pub(crate) mod movement;
pub(crate) mod ops;
pub(crate) mod optim;
pub(crate) mod reductions;
pub(crate) mod second_order;
pub(crate) mod traces;
