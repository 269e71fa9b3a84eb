//! Ranks, collectives, buckets and the lockstep step: synchronous data parallelism over threads.
//!
//! A [`World`] runs a closure on every [`Rank`]; the ranks call collectives in the same order.
//! Nothing waits without a bound, and every failure names its rank. This crate never sees a layer.

#![forbid(unsafe_code)]

mod barrier;
mod board;
mod bucket;
mod collective;
mod error;
mod fabric;
mod grad_sync;
mod header;
mod lockstep;
mod mailbox;
mod port;
mod rank;
mod replica;
mod replica_error;
mod roll;
mod supervise;
mod sync;
mod wait;
mod wire;
mod world;

pub use bucket::{Bucket, buckets};
pub use error::{Error, Result};
pub use grad_sync::{Averaged, GradSync};
pub use header::{Algorithm, ReduceOp};
pub use lockstep::lockstep;
pub use rank::{Rank, Ticket, Times, Wire};
pub use replica::{BreakSync, Replica, ReplicaSettings, ShardSink, Stepped};
pub use replica_error::{ReplicaError, ReplicaResult};
pub use world::{Outcome, World};
