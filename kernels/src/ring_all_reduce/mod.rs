//! The ring all-reduce as data: who sends which chunk in which round, and the sum that results.
//!
//! N ranks stand in a ring; data flows from a rank to its `next`. A buffer is cut into N chunks,
//! and rank r owns chunk r. In the *reduce-scatter* each chunk starts at the rank after its owner,
//! travels once around, and every rank adds its own contribution, the owner last. In the
//! *all-gather* each finished chunk travels once more, and is copied.
//!
//! ```text
//! N = 3        round 0         round 1     |    round 0         round 1
//! rank 0   sends 2, gets 1   1, gets 0*    |  sends 0, gets 2   2, gets 1
//! rank 1   sends 0, gets 2   2, gets 1*    |  sends 1, gets 0   0, gets 2
//! rank 2   sends 1, gets 0   0, gets 2*    |  sends 2, gets 1   1, gets 0
//!                reduce-scatter            |         all-gather          (* finished)
//! ```
//!
//! Patarasuk and Yuan, *Bandwidth optimal all-reduce algorithms for clusters of workstations*
//! (2009), show that no algorithm moves fewer bytes per rank. The order of addition is a function
//! of the chunk and of N alone, so a re-run has the same bits, and so has every rank; another N
//! has another order (`crate::tree` is the sum that does not depend on N).
//!
//! Nothing here moves data. Threads, kernels and simulators all carry out this one schedule.

mod oracle;
mod schedule;

pub use oracle::ring_order_sum;
pub use schedule::{Chunks, GRANULE, Hop, Ring};
