//! Reverse-mode differentiation: a graph of values, one vjp an operation, and a backward that
//! emits each leaf's gradient into a [`Sink`] the moment it is final.
//!
//! There is no tape and no other global state: a graph lives in the values that were computed,
//! and is gone with them. This crate knows no layers and no ranks.

#![forbid(unsafe_code)]

mod anomaly;
mod arena;
mod backward;
mod batch_reduce;
mod checkpoint;
mod coverage;
mod dot;
mod error;
mod gradcheck;
mod gradients;
mod hook;
mod input_grads;
mod inputs;
mod next_step;
mod node;
mod ops;
mod order;
mod second_order;
mod sink;
mod var;

pub use arena::LeafArena;
pub use batch_reduce::{BatchReduce, LocalBatch};
pub use checkpoint::checkpoint;
pub use error::{Error, Result};
pub use gradcheck::{Mismatch, gradcheck, gradcheck_twice};
pub use gradients::Gradients;
pub use input_grads::InputGrads;
pub use inputs::Inputs;
pub use next_step::{NextStep, StepFacts, Written};
pub use node::Op;
pub use ops::BatchStatistics;
pub use sink::{Gradient, Sink};
pub use var::{LeafId, Var};

/// A graph may be built on one thread and walked on another.
const _: () = {
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<Var>();
    crosses_threads::<Error>();
    crosses_threads::<Gradients>();
};
