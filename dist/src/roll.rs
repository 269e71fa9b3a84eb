//! Who has come how far: by rank, how many collectives it has brought its part to, how many it has
//! read the others' parts of, and what it said of each.
//!
//! Collectives are numbered by the order in which a rank calls them, from 0, and every rank goes
//! through them in that order. So two numbers a rank say everything. A rank is at most [`WINDOW`]
//! collectives ahead of the slowest reader; so long, what it brought stays in its slot.

use crate::error::Error;
use crate::header::{Header, Kind};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, Padded, lock};
use crate::wait::Beds;

use kernels::DType;

/// Collectives that a rank may have in flight at once; further ones queue up on the rank.
pub(crate) const WINDOW: usize = 8;

/// The slot of collective `seq`.
pub(crate) fn slot_of(seq: u64) -> usize {
    (seq % WINDOW as u64) as usize
}

/// The progress of all ranks.
#[derive(Debug)]
pub(crate) struct Roll {
    entries: Vec<Padded<Progress>>,
    /// Apart from `entries`: written at every call, read by the supervisor only.
    lives: Vec<Padded<Life>>,
    headers: Vec<[Mutex<Header>; WINDOW]>,
}

/// Counters of one rank; only that rank writes them.
#[derive(Debug)]
struct Progress {
    brought: AtomicU64,
    folded: AtomicU64,
    /// All collectives before this one are done: nothing of the others' is read for them any more.
    done: AtomicU64,
    /// Of the header in each slot.
    signatures: [AtomicU64; WINDOW],
}

#[derive(Debug, Default)]
struct Life {
    /// Odd while the rank is inside a call.
    signs: AtomicU64,
    left: AtomicBool,
}

impl Roll {
    pub(crate) fn new(world_size: usize) -> Self {
        let progress = |_| {
            let zero = || AtomicU64::new(0);
            let signatures = std::array::from_fn(|_| zero());
            Padded(Progress { brought: zero(), folded: zero(), done: zero(), signatures })
        };
        let empty = |_| Mutex::new(Header::new(Kind::Barrier, DType::U8, 0));
        Roll {
            entries: (0..world_size).map(progress).collect(),
            lives: (0..world_size).map(|_| Padded::default()).collect(),
            headers: (0..world_size).map(|_| std::array::from_fn(empty)).collect(),
        }
    }

    fn world_size(&self) -> usize {
        self.entries.len()
    }

    /// Says that `rank` has brought its part to collective `seq`, and what it was.
    pub(crate) fn bring(&self, beds: &Beds, rank: usize, seq: u64, header: &Header) {
        lock(&self.headers[rank][slot_of(seq)]).copy_from(header);
        let entry = &self.entries[rank];
        // Relaxed: the store below releases it.
        entry.signatures[slot_of(seq)].store(header.signature(), Ordering::Relaxed);
        // Release: pairs with the load in `has_brought`.
        entry.brought.store(seq + 1, Ordering::Release);
        self.wake_if_last(beds, seq, Roll::has_brought);
    }

    /// Says that `rank` has read all it needs of the others' parts of collective `seq`.
    pub(crate) fn fold(&self, beds: &Beds, rank: usize, seq: u64) {
        // Release: pairs with the load in `has_folded`.
        self.entries[rank].folded.store(seq + 1, Ordering::Release);
        self.wake_if_last(beds, seq, Roll::has_folded);
    }

    /// Says that `rank` is done with all collectives before `seq`. Nobody waits for it.
    pub(crate) fn finish_before(&self, rank: usize, seq: u64) {
        // Release: pairs with the load in `done_by_all`.
        self.entries[rank].done.store(seq, Ordering::Release);
    }

    /// The first collective that some rank may not be done with.
    pub(crate) fn done_by_all(&self) -> u64 {
        // Acquire: pairs with the store in `finish_before`.
        let done = |entry: &Padded<Progress>| entry.done.load(Ordering::Acquire);
        self.entries.iter().map(done).min().unwrap_or(0)
    }

    /// Of two ranks that come last at the same time, each stores its own progress before it loads
    /// the other's, with a sequentially consistent fence between: at least one sees both, and
    /// wakes those who wait for all. That is one wake-up a sleeper, not one a rank that arrives.
    fn wake_if_last(&self, beds: &Beds, seq: u64, has: impl Fn(&Roll, usize, u64) -> bool) {
        crate::sync::fence(Ordering::SeqCst);
        if (0..self.world_size()).all(|rank| has(self, rank, seq)) {
            beds.wake_all();
        }
    }

    pub(crate) fn has_brought(&self, rank: usize, seq: u64) -> bool {
        // Acquire: pairs with the store in `bring`.
        self.entries[rank].brought.load(Ordering::Acquire) > seq
    }

    pub(crate) fn has_folded(&self, rank: usize, seq: u64) -> bool {
        // Acquire: pairs with the store in `fold`.
        self.entries[rank].folded.load(Ordering::Acquire) > seq
    }

    pub(crate) fn all_have_brought(&self, seq: u64) -> bool {
        (0..self.world_size()).all(|rank| self.has_brought(rank, seq))
    }

    pub(crate) fn all_have_folded(&self, seq: u64) -> bool {
        (0..self.world_size()).all(|rank| self.has_folded(rank, seq))
    }

    /// Whether every rank that has brought its part to `seq` brought what `rank` brought; `rank`
    /// has, and has not folded it, so no slot in question can have been used again.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first rank that differs.
    pub(crate) fn compare(&self, rank: usize, seq: u64) -> Result<(), Error> {
        let signature = |rank: usize| {
            // Relaxed: follows an acquiring load of `brought`.
            self.entries[rank].signatures[slot_of(seq)].load(Ordering::Relaxed)
        };
        let own = signature(rank);
        let differs = |&other: &usize| self.has_brought(other, seq) && signature(other) != own;
        let Some(other) = (0..self.world_size()).find(differs) else { return Ok(()) };
        let ranks = [rank.min(other), rank.max(other)];
        Err(Error::Mismatch { ranks, brought: ranks.map(|rank| self.describe(rank, seq)) })
    }

    /// Whether every other rank is at commit `seq`, as `rank` is; all have arrived at its barrier.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first rank that arrived as at another collective.
    pub(crate) fn compare_arrived(&self, rank: usize, seq: u64) -> Result<(), Error> {
        self.compare(rank, seq)?;
        let Some(other) = (0..self.world_size()).find(|&other| !self.has_brought(other, seq))
        else {
            return Ok(());
        };
        // It counts fewer collectives, and its commit meets one of this rank's that is none.
        let theirs = self.entries[other].brought.load(Ordering::Acquire).saturating_sub(1);
        let ranks = [rank.min(other), rank.max(other)];
        Err(Error::Mismatch { ranks, brought: ranks.map(|rank| self.describe(rank, theirs)) })
    }

    /// What `rank` said of collective `seq`, to which it has brought its part.
    fn describe(&self, rank: usize, seq: u64) -> String {
        let header = lock(&self.headers[rank][slot_of(seq)]);
        let header = &*header;
        format!("{header} as collective {seq}")
    }

    /// Counts a call of `rank`: once when it enters and once when it leaves, so that the count is
    /// odd inside.
    pub(crate) fn sign(&self, rank: usize, count: u64) {
        // Relaxed: a sign of life, nothing is read through it.
        self.lives[rank].signs.store(count, Ordering::Relaxed);
    }

    /// The count of [`Roll::sign`].
    pub(crate) fn signs(&self, rank: usize) -> u64 {
        self.lives[rank].signs.load(Ordering::Relaxed)
    }

    /// Whether `rank` is in its own code, outside any call.
    pub(crate) fn is_outside(&self, rank: usize) -> bool {
        self.signs(rank).is_multiple_of(2)
    }

    /// Says that `rank` will not come to any further collective.
    pub(crate) fn leave(&self, beds: &Beds, rank: usize) {
        // Release: pairs with the load in `has_left`; who sees it sees the rank's last progress.
        self.lives[rank].left.store(true, Ordering::Release);
        beds.wake_all();
    }

    pub(crate) fn has_left(&self, rank: usize) -> bool {
        // Acquire: pairs with the store in `leave`.
        self.lives[rank].left.load(Ordering::Acquire)
    }
}
