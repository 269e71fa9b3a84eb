//! Locks, atomics, yielding and time: the only file of this crate that names them, so that the
//! model checker's can take their place (`--cfg loom`).
//!
//! Under the checker time stands still: no deadline passes, and a sleeper that nobody wakes is
//! reported as a deadlock. That is how a lost wake-up is found.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::thread::yield_now;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

use std::ops::Deref;
use std::sync::PoisonError;
pub(crate) use std::time::{Duration, Instant};

/// Takes a lock also after its holder panicked. No critical section of this crate runs foreign
/// code, and none leaves its data half written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps until a notification, or for about `limit`.
pub(crate) fn wait_on<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    limit: Duration,
) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner).0
}

/// Tells the processor that this is a loop that waits for another core.
pub(crate) fn pause() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// When a wait ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// `None`: further away than time can count.
    at: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after(limit: Duration) -> Self {
        Deadline { at: Instant::now().checked_add(limit) }
    }

    /// The time left; `None` once it is over.
    pub(crate) fn left(self) -> Option<Duration> {
        if cfg!(loom) {
            return Some(Duration::MAX);
        }
        let Some(at) = self.at else { return Some(Duration::MAX) };
        at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

/// A value that shares no cache line with its neighbours. Two lines, because processors fetch them
/// in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> Deref for Padded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
