//! The barrier at which a step commits: either all ranks of a generation pass it, or none does.
//!
//! One atomic word holds the generation, how many ranks have arrived at it, and whether the world
//! was aborted. The last arrival turns the generation over, and a deadline or a failure sets the
//! abort bit, both by compare-and-exchange on that word: one of them comes first, and everybody
//! reads the same outcome out of it. An abort is final, so it is the world's end as well: whatever
//! a rank asks for afterwards, it is told the first cause.

use crate::error::{Error, Result};
use crate::sync::{AtomicU64, Mutex, Ordering, Padded, lock, yield_now};
use crate::wait::Waiter;

const ABORTED: u64 = 1 << 63;
/// The low bits count arrivals, the bits between them and the abort bit generations.
const ARRIVED_BITS: u32 = 20;
const ARRIVED: u64 = (1 << ARRIVED_BITS) - 1;

/// The barrier of one world.
#[derive(Debug)]
pub(crate) struct Barrier {
    word: Padded<AtomicU64>,
    /// By rank: how many generations it has arrived at. Written just after the arrival is counted;
    /// only to name who is missing.
    marks: Vec<Padded<AtomicU64>>,
    /// Why the world was aborted. Whoever sets the abort bit holds this lock from before until the
    /// cause is in its place, so who sees the bit finds a cause.
    cause: Mutex<Option<Error>>,
}

/// What became of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All ranks passed.
    Passed,
    /// No rank passed, and none ever will.
    Aborted,
}

fn generation_of(word: u64) -> u64 {
    (word & !ABORTED) >> ARRIVED_BITS
}

impl Barrier {
    pub(crate) fn new(world_size: usize) -> Self {
        Barrier {
            word: Padded::default(),
            marks: (0..world_size).map(|_| Padded::default()).collect(),
            cause: Mutex::new(None),
        }
    }

    /// The first cause, if the world was aborted.
    pub(crate) fn check(&self) -> Result<()> {
        // Acquire: pairs with the exchange in `set_aborted`.
        if self.word.load(Ordering::Acquire) & ABORTED == 0 {
            return Ok(());
        }
        self.cause().map_or(Ok(()), Err)
    }

    /// The first cause.
    pub(crate) fn cause(&self) -> Option<Error> {
        lock(&self.cause).clone()
    }

    /// Ends the world, unless it has ended before; returns the first cause. The caller wakes all.
    pub(crate) fn abort(&self, cause: Error) -> Error {
        let mut first = lock(&self.cause);
        if first.is_none() {
            self.set_aborted(None);
        }
        first.get_or_insert(cause).clone()
    }

    /// Arrives at the current generation and waits for its outcome.
    ///
    /// The last to arrive calls `agree`, which says whether all ranks brought the same; all others
    /// are in here then. `late` makes an error of the ranks that were missing at the deadline.
    ///
    /// # Errors
    /// The first cause of the world's end.
    pub(crate) fn pass(
        &self,
        waiter: Waiter<'_>,
        agree: impl Fn() -> Result<()>,
        mut look: impl FnMut(crate::wait::Look) -> Result<()>,
        late: impl FnOnce(Vec<usize>) -> Error,
    ) -> Result<()> {
        let generation = match self.arrive(waiter.rank, agree) {
            Ok(generation) => generation,
            Err(cause) => {
                let first = self.abort(cause);
                waiter.beds.wake_all();
                return Err(first);
            }
        };
        if self.outcome(generation).is_some() {
            waiter.beds.wake_all();
        }
        let found = waiter.wait(|how| {
            let failed = look(how).err();
            if let Some(cause) = failed {
                // Too late if the generation has passed meanwhile: then this rank passes as well.
                self.give_up(generation, |_| cause);
                waiter.beds.wake_all();
            }
            self.outcome(generation)
        });
        let outcome = found.unwrap_or_else(|| {
            let outcome = self.give_up(generation, late);
            waiter.beds.wake_all();
            outcome
        });
        match outcome {
            Outcome::Passed => Ok(()),
            Outcome::Aborted => self.cause().map_or(Ok(()), Err),
        }
    }

    /// Counts this rank, and turns the generation over if it is the last; returns the generation
    /// that it arrived at.
    fn arrive(&self, rank: usize, agree: impl Fn() -> Result<()>) -> Result<u64> {
        let world_size = self.marks.len() as u64;
        loop {
            self.check()?;
            let word = self.word.load(Ordering::Acquire);
            let generation = generation_of(word);
            let next = if (word & ARRIVED) + 1 == world_size {
                agree()?;
                (generation + 1) << ARRIVED_BITS
            } else {
                word + 1
            };
            // AcqRel: what every rank did before it arrived happens before what any rank does
            // after it has passed. Pairs with itself and with the load in `outcome`. An abort
            // between the load and here makes the exchange fail.
            let expected = word & !ABORTED;
            let exchanged = self.word.compare_exchange(
                expected,
                next & !ABORTED,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if exchanged.is_ok() {
                // Release: pairs with the load in `missing`.
                self.marks[rank].store(generation + 1, Ordering::Release);
                return Ok(generation);
            }
        }
    }

    /// What became of a generation at which the caller arrived; `None` while it is open.
    fn outcome(&self, generation: u64) -> Option<Outcome> {
        // Acquire: pairs with the exchanges in `arrive` and `set_aborted`.
        let word = self.word.load(Ordering::Acquire);
        if generation_of(word) > generation {
            Some(Outcome::Passed)
        } else if word & ABORTED != 0 {
            Some(Outcome::Aborted)
        } else {
            None
        }
    }

    /// Aborts `generation`, unless its last rank arrives first or the world has ended before.
    fn give_up(&self, generation: u64, cause: impl FnOnce(Vec<usize>) -> Error) -> Outcome {
        let mut first = lock(&self.cause);
        if first.is_none() {
            let Some(arrived) = self.set_aborted(Some(generation)) else {
                return Outcome::Passed;
            };
            *first = Some(cause(self.missing(generation, arrived)));
        }
        self.outcome(generation).unwrap_or(Outcome::Aborted)
    }

    /// Sets the abort bit and returns how many ranks had arrived; `None` when `only_in` is no
    /// longer the current generation.
    fn set_aborted(&self, only_in: Option<u64>) -> Option<u64> {
        loop {
            let word = self.word.load(Ordering::Acquire);
            if only_in.is_some_and(|generation| generation != generation_of(word)) {
                return None;
            }
            // AcqRel: pairs with the loads in `check` and `outcome`.
            let exchanged = self.word.compare_exchange(
                word,
                word | ABORTED,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if exchanged.is_ok() {
                return Some(word & ARRIVED);
            }
        }
    }

    /// The ranks that had not arrived at an aborted generation. A rank that was counted sets its
    /// mark at once; the bound is for one that the operating system keeps from doing so.
    fn missing(&self, generation: u64, arrived: u64) -> Vec<usize> {
        const LOOKS_MAX: usize = 10_000;
        let mut missing = Vec::new();
        for _ in 0..LOOKS_MAX {
            missing.clear();
            // Acquire: pairs with the store in `arrive`.
            let absent = |mark: &AtomicU64| mark.load(Ordering::Acquire) <= generation;
            missing.extend((0..self.marks.len()).filter(|&rank| absent(&self.marks[rank])));
            if missing.len() as u64 + arrived == self.marks.len() as u64 {
                break;
            }
            yield_now();
        }
        missing
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{Arc, Duration, Instant};
    use crate::wait::{Beds, Patience};
    use std::thread;

    struct World {
        barrier: Barrier,
        beds: Beds,
        limit: Duration,
    }

    impl World {
        fn new(world_size: usize, limit: Duration) -> Arc<Self> {
            let (barrier, beds) = (Barrier::new(world_size), Beds::new(world_size));
            Arc::new(World { barrier, beds, limit })
        }

        fn pass(&self, rank: usize) -> Result<()> {
            let patience = Patience::new(4, 2, self.limit);
            let waiter = Waiter { beds: &self.beds, rank, patience };
            let late = |ranks| Error::Late {
                ranks,
                collective: "commit".to_owned(),
                deadline: self.limit,
            };
            self.barrier.pass(waiter, || Ok(()), |_| Ok(()), late)
        }
    }

    fn on_threads<R: Send + 'static>(
        count: usize,
        body: impl Fn(usize) -> R + Send + Sync + 'static,
    ) -> Vec<R> {
        let body = Arc::new(body);
        let threads: Vec<_> = (0..count)
            .map(|rank| {
                let body = Arc::clone(&body);
                thread::spawn(move || body(rank))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }

    #[test]
    fn no_rank_is_ever_two_generations_ahead() {
        let world = World::new(4, Duration::from_secs(20));
        let counts: Arc<Vec<Padded<AtomicU64>>> =
            Arc::new((0..4).map(|_| Padded::default()).collect());
        on_threads(4, move |rank| {
            for generation in 1..=5_000 {
                counts[rank].store(generation, Ordering::Relaxed);
                world.pass(rank).unwrap();
                for other in counts.iter() {
                    let other = other.load(Ordering::Relaxed);
                    assert!(other == generation || other == generation + 1);
                }
            }
        });
    }

    #[test]
    fn a_timeout_names_every_missing_rank_and_stays_the_cause_for_ever() {
        let world = World::new(5, Duration::from_millis(50));
        let before = Instant::now();
        let shared = Arc::clone(&world);
        let here = [0, 2, 4];
        let errors = on_threads(3, move |i| shared.pass(here[i]).unwrap_err());
        assert!(before.elapsed() < Duration::from_secs(2));
        for error in errors.into_iter().chain([world.pass(1).unwrap_err()]) {
            assert!(matches!(&error, Error::Late { ranks, .. } if *ranks == [1, 3]), "{error}");
        }
        let later = world.barrier.abort(Error::World { ranks: 0, shards: 0, max: 1 });
        assert!(matches!(later, Error::Late { .. }), "the first cause wins: {later}");
    }

    #[test]
    fn a_deadline_and_a_last_arrival_that_meet_have_one_outcome_for_all() {
        let mut outcomes = [0; 2];
        for round in 0..200 {
            let world = World::new(3, Duration::from_micros(300));
            let passed = on_threads(3, move |rank| {
                if rank == 2 {
                    thread::sleep(Duration::from_micros(40 * (round % 20)));
                }
                world.pass(rank).is_ok()
            });
            assert!(passed.iter().all(|&other| other == passed[0]), "{passed:?}");
            outcomes[usize::from(passed[0])] += 1;
        }
        assert!(outcomes[0] > 0, "no deadline ever came first");
    }
}
