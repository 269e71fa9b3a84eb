//! Statistics of a step's global batch, for batch normalization in a trainer.

use std::error::Error;
use std::sync::Arc;

use autograd::{BatchReduce, LocalBatch};

/// What a forward of one shard of `shards` adds up its sums with.
pub(crate) fn of_shards(shards: usize) -> Arc<dyn BatchReduce> {
    if shards == 1 { Arc::new(LocalBatch) } else { Arc::new(Unreduced { shards }) }
}

/// Refuses: the statistics of one shard would pass for those of the batch.
#[derive(Debug)]
struct Unreduced {
    shards: usize,
}

impl BatchReduce for Unreduced {
    fn reduce(&self, label: &str, _: &[f64]) -> Result<Vec<f64>, Box<dyn Error + Send + Sync>> {
        let shards = self.shards;
        Err(format!(
            "{label} are wanted of a batch in {shards} shards, and shards cannot meet in the \
             middle of a graph yet; statistics are those of the whole batch: train with one shard"
        )
        .into())
    }
}
