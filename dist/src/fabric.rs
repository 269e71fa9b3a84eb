//! What the ranks of one world share, and how the world ends.

use kernels::tree::{TreeOp, program, roots, shard_range};

use crate::barrier::Barrier;
use crate::board::Board;
use crate::error::{Error, Result};
use crate::header::Algorithm;
use crate::roll::Roll;
use crate::sync::{Arc, Duration};
use crate::wait::{Beds, Patience, Waiter};

/// What a world was asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) world_size: usize,
    pub(crate) shards: usize,
    pub(crate) algorithm: Algorithm,
    pub(crate) granule: usize,
    pub(crate) deadline: Duration,
    /// Kernel threads of each rank.
    pub(crate) threads: usize,
    /// Cores that the ranks run on.
    pub(crate) cores: usize,
}

/// Everything between the ranks of a world.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) settings: Settings,
    pub(crate) barrier: Barrier,
    pub(crate) beds: Beds,
    pub(crate) roll: Roll,
    /// One board for each element type that travels.
    pub(crate) f32: Arc<Board<f32>>,
    pub(crate) f64: Arc<Board<f64>>,
    pub(crate) i64: Arc<Board<i64>>,
    /// From the roots of all ranks' shards, in rank order, to the sum over all shards.
    pub(crate) over_shards: Vec<TreeOp>,
    /// By rank: how many roots it has.
    root_counts: Vec<usize>,
    /// From one contribution a rank to the reduction over the ranks.
    pub(crate) over_ranks: Vec<TreeOp>,
}

impl Fabric {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings { world_size, shards, .. } = settings;
        let by_rank: Vec<_> = (0..world_size)
            .map(|rank| roots(shard_range(rank, world_size, shards), shards))
            .collect();
        let leaves: Vec<_> = (0..world_size).map(|rank| rank..rank + 1).collect();
        Fabric {
            settings,
            barrier: Barrier::new(world_size),
            beds: Beds::new(world_size),
            roll: Roll::new(world_size),
            f32: Arc::new(Board::new(world_size)),
            f64: Arc::new(Board::new(world_size)),
            i64: Arc::new(Board::new(world_size)),
            over_shards: program(&by_rank.concat(), &(0..shards)),
            root_counts: by_rank.iter().map(Vec::len).collect(),
            over_ranks: program(&leaves, &(0..world_size)),
        }
    }

    /// How many canonical subtrees lie inside the shards of `rank`.
    pub(crate) fn roots_of(&self, rank: usize) -> usize {
        self.root_counts[rank]
    }

    pub(crate) fn waiter(&self, rank: usize) -> Waiter<'_> {
        let Settings { world_size, cores, deadline, .. } = self.settings;
        Waiter { beds: &self.beds, rank, patience: Patience::new(world_size, cores, deadline) }
    }

    /// Ends the world, unless it has ended before, and wakes everybody; returns the first cause.
    pub(crate) fn fail(&self, cause: Error) -> Error {
        let first = self.barrier.abort(cause);
        tracing::debug!(error = %first, "the world has ended");
        self.beds.wake_all();
        first
    }

    /// The first cause, if the world has ended.
    pub(crate) fn check(&self) -> Result<()> {
        self.barrier.check()
    }
}
