//! Data sets, and the stream of samples that a run is made of.
//!
//! A [`Dataset`] holds all its samples in memory. [`Batches`] puts them in the order in which a run
//! sees them: a pure function of seed and step, so that every rank derives the same global batch
//! on its own, and [`Step::shard`] cuts that batch by position, without knowing who computes what.
//!
//! Files are not trusted: lengths are checked against what is there before anything is allocated,
//! and whatever is refused is refused with the file and the line or byte.

mod batches;
mod csv;
mod dataset;
mod digits;
mod error;
mod idx;
mod source;
mod text;

pub use batches::{Batches, Step, Steps};
pub use csv::csv;
pub use dataset::{Dataset, Split};
pub use digits::digits;
pub use error::{CsvFault, Error, IdxFault, Result};
pub use idx::idx;
pub use text::{Text, Vocabulary, text};
