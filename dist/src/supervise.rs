//! Waits for the ranks of a world, and for none of them longer than it shows signs of life.

use std::thread::{self, JoinHandle};

use crate::error::{Error, Result};
use crate::fabric::Fabric;
use crate::sync::{Arc, Condvar, Deadline, Duration, Instant, Mutex, lock, wait_on};

/// How much longer than the deadline a rank may be silent: those who wait for it in a collective
/// report it first, and more exactly.
const GRACE: Duration = Duration::from_millis(500);

/// Where ranks hand in their results.
#[derive(Debug)]
pub(crate) struct Desk<R> {
    results: Mutex<Vec<Option<Result<R>>>>,
    bell: Condvar,
}

impl<R> Desk<R> {
    pub(crate) fn new(world_size: usize) -> Self {
        let results = Mutex::new((0..world_size).map(|_| None).collect());
        Desk { results, bell: Condvar::new() }
    }

    /// Hands in what became of `rank`, unless it was given up before.
    pub(crate) fn hand_in(&self, rank: usize, result: Result<R>) {
        let mut results = lock(&self.results);
        if let Some(place) = results.get_mut(rank) {
            place.get_or_insert(result);
        }
        self.bell.notify_one();
    }

    /// All results, in rank order, once all are in.
    pub(crate) fn take(&self) -> Vec<Result<R>> {
        std::mem::take(&mut *lock(&self.results)).into_iter().flatten().collect()
    }
}

/// A rank's last sign of life.
#[derive(Clone, Copy)]
struct Sign {
    count: u64,
    seen: Instant,
}

/// Waits until every rank has handed in its result or is stuck; returns those that are. For these
/// the result is [`Error::Stuck`]. Once the world has failed no further sign counts: a rank that
/// goes on regardless has as long to end as one that is silent.
pub(crate) fn supervise<R>(fabric: &Fabric, desk: &Desk<R>) -> Vec<usize> {
    let limit = fabric.settings.deadline.saturating_add(GRACE);
    let nap = (limit / 16).clamp(Duration::from_millis(1), Duration::from_millis(200));
    let now = Instant::now();
    let mut signs = vec![Sign { count: 0, seen: now }; fabric.settings.world_size];
    let mut stuck = Vec::new();
    let mut results = lock(&desk.results);
    while results.iter().any(Option::is_none) {
        results = wait_on(&desk.bell, results, nap);
        for (rank, sign) in signs.iter_mut().enumerate() {
            let Some(silent) = silence(fabric, rank, sign, limit) else { continue };
            if results[rank].is_none() {
                let error = Error::Stuck { rank, silent };
                results[rank] = Some(Err(error.clone()));
                stuck.push(rank);
                fabric.fail(error);
            }
        }
    }
    stuck
}

/// For how long `rank` has been silent, if that is too long.
fn silence(fabric: &Fabric, rank: usize, sign: &mut Sign, limit: Duration) -> Option<Duration> {
    let count = fabric.roll.signs(rank);
    if count != sign.count && fabric.check().is_ok() {
        *sign = Sign { count, seen: Instant::now() };
        return None;
    }
    let silent = sign.seen.elapsed();
    // Inside a call every wait has the deadline; a call has a few, and work to do.
    let patience = if fabric.roll.is_outside(rank) { limit } else { limit.saturating_mul(4) };
    (silent > patience).then_some(silent)
}

/// Joins threads that have handed in their results; returns how many do not end. These are held up
/// by the destructor of a thread-local of the user's: nothing else runs after the hand-in.
///
/// A join has no limit of its own, so a thread of ours does it, and is waited for with one.
pub(crate) fn join_all(handles: Vec<JoinHandle<()>>) -> usize {
    let ranks = handles.len();
    let joined = Arc::new((Mutex::new(0), Condvar::new()));
    let shared = Arc::clone(&joined);
    let joiner = thread::Builder::new().name("ringgrad-joiner".to_owned()).spawn(move || {
        for handle in handles {
            // `serve` catches panics, so there is no other outcome to look at.
            drop(handle.join());
            *lock(&shared.0) += 1;
            shared.1.notify_one();
        }
    });
    // Without another thread nothing can be joined in bounded time: the ranks' threads end alone.
    let Ok(joiner) = joiner else { return 0 };
    let (count, bell) = &*joined;
    let deadline = Deadline::after(GRACE);
    let mut done = lock(count);
    while *done < ranks {
        let Some(left) = deadline.left() else { return ranks - *done };
        done = wait_on(bell, done, left);
    }
    drop(done);
    drop(joiner.join());
    0
}
