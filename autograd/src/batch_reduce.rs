//! A reduction over the whole global batch in the middle of a graph: what batch normalization
//! needs from the other shards of a step.

use std::fmt;

/// Adds up small quantities over all shards of a step's global batch.
///
/// The shards of a step are logical ranks, each of which runs the same program on its own part of
/// the batch. Every shard calls [`BatchReduce::reduce`] at the same places in the same order, in
/// the forward and again in the backward, also when its part is empty; a call returns once all
/// have arrived. So it may block, and whoever hosts several shards runs them in turn up to each
/// call. Alone, a shard is the whole batch: [`LocalBatch`].
pub trait BatchReduce: fmt::Debug + Send + Sync {
    /// The sums of `partial` over all shards, folded in f64 in the order of the shards: the same
    /// bits on every shard. `label` says what is summed; shards that meet with different labels or
    /// lengths have not run the same program.
    ///
    /// # Errors
    /// A shard that did not arrive or brought something else, or a world that cannot reduce in the
    /// middle of a graph.
    fn reduce(
        &self,
        label: &str,
        partial: &[f64],
    ) -> Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>>;
}

/// The batch of this shard is the whole batch: sums are what they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalBatch;

impl BatchReduce for LocalBatch {
    fn reduce(
        &self,
        _: &str,
        partial: &[f64],
    ) -> Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(partial.to_vec())
    }
}
