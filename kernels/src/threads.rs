//! How many threads one rank may use, and the pool they come from.
//!
//! A pool belongs to one rank: ranks that shared a pool would wait for one another in an order
//! that no schedule fixes. Work is only ever split along *outputs*, so the number of threads
//! cannot change a bit.

use std::iter;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The threads of one rank. Dropping it waits until they have ended, which they do at once.
#[derive(Debug)]
pub struct Threads {
    pool: Option<ThreadPool>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    /// The calling thread alone; starts nothing.
    pub const fn serial() -> Self {
        Threads { pool: None, handles: Vec::new() }
    }

    /// The calling thread and a pool of `count − 1` others; `0` and `1` mean the calling thread
    /// alone. The caller works too, so that it neither waits to be woken up nor holds a core.
    ///
    /// # Errors
    /// When the operating system refuses to start a thread.
    pub fn new(count: usize) -> Result<Self, ThreadPoolBuildError> {
        if count <= 1 {
            return Ok(Threads::serial());
        }
        // rayon ends its threads when the pool is dropped, but waits for none that it started
        // itself.
        let handles = Mutex::new(Vec::with_capacity(count - 1));
        let pool = ThreadPoolBuilder::new()
            .num_threads(count - 1)
            .spawn_handler(|worker| {
                let name = format!("ringgrad-kernel-{}", worker.index());
                let handle = thread::Builder::new().name(name).spawn(|| worker.run())?;
                handles.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
                Ok(())
            })
            .build()?;
        let handles = handles.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Threads { pool: Some(pool), handles })
    }

    /// The number of threads, at least one.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads() + 1)
    }

    /// Into how many parts to cut `work` items, when a part below `min_part` items costs more to
    /// hand over than to do: at least one, at most [`Threads::count`].
    pub fn parts(&self, work: usize, min_part: usize) -> usize {
        if self.pool.is_none() {
            return 1;
        }
        (work / min_part.max(1)).clamp(1, self.count())
    }

    /// Cuts `out` into `parts` runs of whole `unit`s and calls `body(first_unit, run)` for each,
    /// on several threads when there is more than one part.
    ///
    /// `out.len()` must be a multiple of `unit`; the caller ensures it.
    pub fn split_mut<T: Send>(
        &self,
        out: &mut [T],
        unit: usize,
        parts: usize,
        body: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let units = out.len().checked_div(unit).unwrap_or(0);
        if parts <= 1 || units <= 1 {
            return body(0, out);
        }
        let per_part = units.div_ceil(parts);
        let runs = out.chunks_mut(per_part * unit).enumerate();
        self.each(runs, |(part, run)| body(part * per_part, run));
    }

    /// [`Threads::split_mut`] for two results with the same units.
    pub(crate) fn split_pair_mut<T: Send, U: Send>(
        &self,
        (a, b): (&mut [T], &mut [U]),
        unit: usize,
        parts: usize,
        body: impl Fn(usize, &mut [T], &mut [U]) + Sync,
    ) {
        let units = a.len().checked_div(unit).unwrap_or(0);
        if parts <= 1 || units <= 1 {
            return body(0, a, b);
        }
        let per_part = units.div_ceil(parts);
        let runs = a.chunks_mut(per_part * unit).zip(b.chunks_mut(per_part * unit)).enumerate();
        self.each(runs, |(part, (a, b))| body(part * per_part, a, b));
    }

    /// [`Threads::split_mut`] with a piece of `scratch` for each run, all of one length: the whole
    /// of it where there is one part.
    pub(crate) fn split_mut_with<T: Send>(
        &self,
        out: &mut [T],
        (unit, parts): (usize, usize),
        scratch: &mut [T],
        body: impl Fn(usize, &mut [T], &mut [T]) + Sync,
    ) {
        let units = out.len().checked_div(unit).unwrap_or(0);
        if parts <= 1 || units <= 1 {
            return body(0, out, scratch);
        }
        let per_part = units.div_ceil(parts);
        let piece = (scratch.len() / parts).max(1);
        let runs = out.chunks_mut(per_part * unit).zip(scratch.chunks_mut(piece)).enumerate();
        self.each(runs, |(part, (run, piece))| body(part * per_part, run, piece));
    }

    /// Calls `body(part)` for each of `0..parts`, on several threads when there is more than one.
    pub fn for_each_part(&self, parts: usize, body: impl Fn(usize) + Sync) {
        self.each(0..parts, body);
    }

    /// Does the first job on the calling thread and the others on the pool, and waits for them.
    fn each<J: Send>(&self, mut jobs: impl Iterator<Item = J>, body: impl Fn(J) + Sync) {
        let Some(pool) = &self.pool else { return jobs.for_each(body) };
        let (first, second) = (jobs.next(), jobs.next());
        let Some(first) = first else { return };
        let Some(second) = second else { return body(first) };
        pool.in_place_scope(|scope| {
            for job in iter::once(second).chain(jobs) {
                let body = &body;
                scope.spawn(move |_| body(job));
            }
            body(first);
        });
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.pool = None;
        for handle in self.handles.drain(..) {
            // The last reference may go on a thread of the pool itself, which cannot wait for
            // its own end. Kernels do not panic, so there is no other outcome to look at.
            if handle.thread().id() != thread::current().id() {
                drop(handle.join());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_unit_is_visited_once_at_its_own_place() {
        for count in [1, 2, 3] {
            let threads = Threads::new(count).unwrap();
            for units in [0, 1, 2, 5, 7] {
                let mut out = vec![0usize; units * 3];
                threads.split_mut(&mut out, 3, count, |first, run| {
                    for (i, x) in run.iter_mut().enumerate() {
                        *x += first * 3 + i + 1;
                    }
                });
                assert!(out.iter().enumerate().all(|(i, &x)| x == i + 1), "{count} {units}");
            }
        }
    }

    #[test]
    fn every_part_is_called_once() {
        for count in [1, 2, 3] {
            let threads = Threads::new(count).unwrap();
            for parts in [0, 1, 2, 5] {
                let calls: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                threads.for_each_part(parts, |part| {
                    calls[part].fetch_add(1, Ordering::Relaxed);
                });
                assert!(calls.into_iter().all(|x| x.into_inner() == 1), "{count} {parts}");
            }
        }
    }

    #[test]
    fn small_work_stays_in_one_part() {
        let threads = Threads::new(2).unwrap();
        assert_eq!(threads.parts(999, 1000), 1);
        assert_eq!(threads.parts(2000, 1000), 2);
        assert_eq!(threads.parts(1 << 40, 1), 2);
        assert_eq!(Threads::serial().parts(1 << 40, 1), 1);
    }
}
