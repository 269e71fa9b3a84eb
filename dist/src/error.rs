//! What can go wrong between ranks. Every message says what happened, the rule, and what to do.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

/// A failure of a rank, a collective or a world.
///
/// Once a world has failed it stays failed, and every rank gets the first cause, whatever it asks
/// for.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A world that cannot be.
    #[error(
        "world: {ranks} ranks over {shards} shards were asked for; a world has 1 to {max} ranks, \
         and at least one shard for each: change one of the two numbers"
    )]
    World {
        /// Ranks that were asked for.
        ranks: usize,
        /// Shards that were asked for.
        shards: usize,
        /// The most ranks of a world.
        max: usize,
    },
    /// A rank panicked, returned an error, or could not be started.
    #[error("rank {rank} failed: {cause}; the ranks go on together or not at all: mend that rank")]
    RankFailed {
        /// Which one.
        rank: usize,
        /// What it said.
        #[source]
        cause: Arc<dyn StdError + Send + Sync>,
    },
    /// Ranks that did not come to a collective in time.
    #[error(
        "{collective}: {} did not come within {deadline:?}; every rank calls the same collectives: \
         look for what keeps them, or set a longer deadline",
        name_ranks(ranks)
    )]
    Late {
        /// All that were missing.
        ranks: Vec<usize>,
        /// What the others waited in.
        collective: String,
        /// How long they waited.
        deadline: Duration,
    },
    /// A rank returned while others needed it in a collective.
    #[error(
        "{collective}: rank {rank} has returned and will not come; every rank calls the same \
         collectives: let it take part, or end the others as early"
    )]
    Left {
        /// Which one.
        rank: usize,
        /// What the others waited in.
        collective: String,
    },
    /// Two ranks called different collectives, or brought different things to one.
    #[error(
        "rank {} brought {}, rank {} brought {}; every rank calls the same collectives in the \
         same order, with the same element type, count and operation: make them agree",
        ranks[0], brought[0], ranks[1], brought[1]
    )]
    Mismatch {
        /// Which two; the first is the lower one.
        ranks: [usize; 2],
        /// What each brought.
        brought: [String; 2],
    },
    /// A rank that computed for too long without a sign of life.
    #[error(
        "rank {rank} gave no sign of life for {silent:?}; between two collectives a rank may take \
         as long as the deadline: call `rank.alive()` now and then, or set a longer deadline"
    )]
    Stuck {
        /// Which one.
        rank: usize,
        /// For how long.
        silent: Duration,
    },
    /// A call that this rank got wrong on its own, before any other rank was asked.
    #[error("{call}: rank {rank} brought {brought}; {rule}")]
    Call {
        /// Which call.
        call: &'static str,
        /// Whose.
        rank: usize,
        /// What it brought.
        brought: String,
        /// What it should bring, and how.
        rule: &'static str,
    },
}

/// The result of a collective or a world.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// `rank 3`, or `ranks 1, 3 and 5`.
fn name_ranks(ranks: &[usize]) -> String {
    match ranks {
        [] => "some rank".to_owned(),
        [rank] => format!("rank {rank}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(usize::to_string).collect();
            format!("ranks {} and {last}", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_every_late_rank() {
        let late = |ranks: &[usize]| {
            let (ranks, collective) = (ranks.to_vec(), "barrier".to_owned());
            Error::Late { ranks, collective, deadline: Duration::from_secs(30) }.to_string()
        };
        assert!(late(&[3]).starts_with("barrier: rank 3 did not come within 30s; every"));
        assert!(late(&[1, 3, 5]).contains("ranks 1, 3 and 5 did not"));
    }
}
