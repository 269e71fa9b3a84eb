//! How a rank waits: it spins while its partner is likely some hundred nanoseconds away, then
//! yields, then sleeps until it is woken or its deadline has passed.

use crate::sync::{
    AtomicBool, AtomicU64, Condvar, Deadline, Duration, Instant, Mutex, Ordering, Padded, fence,
    lock, pause, wait_on, yield_now,
};

/// A sleeper looks around this often even if nobody wakes it, so that an unforeseen way to get
/// stuck costs time, not the run.
const NAP: Duration = Duration::from_millis(100);

/// A yield that takes longer than this has handed the core to somebody else's program. The
/// scheduler brings a thread that yields back after whole time slices, but one that is woken from
/// sleep soon.
const YIELD_MAX: Duration = Duration::from_micros(200);

/// For how many waits a rank sleeps at once after such a yield, before it tries to yield again.
const CROWDED_WAITS: u64 = 256;

/// How long a rank waits, and how it passes the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Looks before the first yield: some microseconds' worth.
    spins: u32,
    /// Looks before the first sleep.
    yields: u32,
    /// Until when.
    limit: Duration,
}

impl Patience {
    /// For a world of `world_size` ranks on `cores` cores. Ranks that outnumber the cores do not
    /// spin: the one they wait for needs the core.
    pub(crate) fn new(world_size: usize, cores: usize, limit: Duration) -> Self {
        if cfg!(loom) {
            return Patience { spins: 0, yields: 0, limit };
        }
        let spins = if world_size > cores { 0 } else { 32 };
        Patience { spins, yields: 64, limit }
    }
}

/// How thoroughly to look whether a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Often and cheaply.
    Glance,
    /// Before falling asleep: also for reasons why it will never be over.
    Thorough,
}

/// A rank that may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter<'a> {
    /// Where it sleeps.
    pub(crate) beds: &'a Beds,
    /// Which one it is.
    pub(crate) rank: usize,
    /// How long it waits.
    pub(crate) patience: Patience,
}

impl Waiter<'_> {
    /// As [`Beds::wait`].
    pub(crate) fn wait<R>(self, look: impl FnMut(Look) -> Option<R>) -> Option<R> {
        self.beds.wait(self.rank, self.patience, look)
    }
}

/// Where ranks sleep, one place a rank.
#[derive(Debug)]
pub(crate) struct Beds(Vec<Bed>);

#[derive(Debug, Default)]
struct Bed {
    asleep: Padded<AtomicBool>,
    /// Waits for which the sleeper, who alone uses this, does not yield.
    crowded: AtomicU64,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Beds {
    pub(crate) fn new(world_size: usize) -> Self {
        Beds((0..world_size).map(|_| Bed::default()).collect())
    }

    /// Looks until `look` finds something, which is returned; `None` when the patience ends first.
    ///
    /// # No wake-up is lost
    /// A sleeper stores `asleep`, then looks a last time; a waker stores what is looked for, then
    /// loads `asleep`. A sequentially consistent fence stands between the two on both sides, so at
    /// least one of them sees the other's store: either the sleeper's last look finds it, or the
    /// waker rings. The waker clears `asleep` under the lock that the sleeper holds from its check
    /// of `asleep` until it sleeps, so it cannot ring in between.
    pub(crate) fn wait<R>(
        &self,
        rank: usize,
        patience: Patience,
        mut look: impl FnMut(Look) -> Option<R>,
    ) -> Option<R> {
        for _ in 0..patience.spins {
            if let Some(found) = look(Look::Glance) {
                return Some(found);
            }
            pause();
        }
        let deadline = Deadline::after(patience.limit);
        let bed = &self.0[rank];
        for _ in 0..bed.yields(patience) {
            if let Some(found) = look(Look::Glance) {
                return Some(found);
            }
            if took_long(yield_now) {
                bed.crowded.store(CROWDED_WAITS, Ordering::Relaxed);
                break;
            }
        }
        loop {
            bed.asleep.store(true, Ordering::Relaxed);
            // Pairs with the fence in `wake`.
            fence(Ordering::SeqCst);
            let found = look(Look::Thorough);
            let left = deadline.left();
            if found.is_some() || left.is_none() {
                bed.asleep.store(false, Ordering::Relaxed);
                return found;
            }
            bed.sleep(left.unwrap_or_default().min(NAP));
        }
    }

    /// Wakes `rank` if it sleeps. What it looks for must have been stored before.
    pub(crate) fn wake(&self, rank: usize) {
        // Pairs with the fence in `wait`.
        fence(Ordering::SeqCst);
        self.0[rank].ring();
    }

    /// Wakes every rank that sleeps.
    pub(crate) fn wake_all(&self) {
        // As in `wake`.
        fence(Ordering::SeqCst);
        self.0.iter().for_each(Bed::ring);
    }
}

impl Bed {
    /// How often the sleeper yields before it sleeps: not at all for a while after the cores were
    /// found busy with other programs.
    fn yields(&self, patience: Patience) -> u32 {
        let crowded = self.crowded.load(Ordering::Relaxed);
        if crowded == 0 {
            return patience.yields;
        }
        self.crowded.store(crowded - 1, Ordering::Relaxed);
        0
    }

    fn sleep(&self, limit: Duration) {
        let guard = lock(&self.lock);
        if self.asleep.load(Ordering::Relaxed) {
            drop(wait_on(&self.bell, guard, limit));
        }
    }

    fn ring(&self) {
        if self.asleep.load(Ordering::Relaxed) {
            let _guard = lock(&self.lock);
            self.asleep.store(false, Ordering::Relaxed);
            self.bell.notify_one();
        }
    }
}

/// Whether a yield gave the core away for longer than a hand-over between ranks takes.
fn took_long(yield_now: impl FnOnce()) -> bool {
    let began = Instant::now();
    yield_now();
    began.elapsed() > YIELD_MAX
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Arc;
    use std::thread;

    #[test]
    fn a_wait_ends_with_what_was_found_or_at_its_deadline() {
        let beds = Beds::new(1);
        let patience = Patience::new(2, 1, Duration::from_millis(30));
        assert_eq!(beds.wait(0, patience, |_| Some(7)), Some(7));
        let before = Instant::now();
        assert_eq!(beds.wait(0, patience, |_| None::<()>), None);
        let waited = before.elapsed();
        assert!(waited >= Duration::from_millis(30), "{waited:?}");
        assert!(waited < Duration::from_millis(300), "{waited:?}");
    }

    #[test]
    fn ten_thousand_hand_overs_between_sleepers_lose_no_wake_up() {
        let beds = Arc::new(Beds::new(2));
        let turn = Arc::new(AtomicU64::new(0));
        // No spins: every wait goes to sleep if it has to.
        let patience = Patience { spins: 0, yields: 0, limit: Duration::from_secs(20) };
        let play = move |rank: usize| {
            for round in 0..10_000 {
                let mine = 2 * round + rank as u64;
                let look = |_| (turn.load(Ordering::Acquire) == mine).then_some(());
                assert_eq!(beds.wait(rank, patience, look), Some(()), "round {round}");
                turn.store(mine + 1, Ordering::Release);
                beds.wake(1 - rank);
            }
        };
        let before = Instant::now();
        let other = play.clone();
        let thread = thread::spawn(move || other(1));
        play(0);
        thread.join().unwrap();
        // A single lost wake-up costs a nap.
        let each = before.elapsed() / 20_000;
        assert!(each < Duration::from_millis(1), "{each:?} a hand-over");
    }
}
