//! The barrier, the board and the mailbox under a model checker: loom runs every interleaving of
//! the threads, with every value that a load may return.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p ringgrad-dist --test loom`
//!
//! The files that ship are compiled into this test, with loom's locks and atomics in the place of
//! the standard library's. Time stands still, so a sleeper that nobody wakes is a deadlock. The
//! controls at the end show that loom rejects a wake-up without fences and a relaxed publication.
#![cfg(loom)]
#![allow(dead_code, unreachable_pub, reason = "the files that ship are parts of a library")]

#[path = "../src/barrier.rs"]
mod barrier;
#[path = "../src/board.rs"]
mod board;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/header.rs"]
mod header;
#[path = "../src/mailbox.rs"]
mod mailbox;
#[path = "../src/roll.rs"]
mod roll;
#[path = "../src/sync.rs"]
mod sync;
#[path = "../src/wait.rs"]
mod wait;

use std::time::Duration;

use barrier::Barrier;
use board::Board;
use error::{Error, Result};
use header::{Header, Kind};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::thread;
use mailbox::Mailbox;
use roll::Roll;
use wait::{Beds, Patience, Waiter};

struct World {
    barrier: Barrier,
    beds: Beds,
    roll: Roll,
}

fn cause() -> Error {
    Error::World { ranks: 7, shards: 7, max: 1 }
}

fn patience() -> Patience {
    Patience::new(2, 2, Duration::MAX)
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(World { barrier: Barrier::new(2), beds: Beds::new(2), roll: Roll::new(2) })
    }

    /// Passes the barrier, or gives up at the first look that does not find it passed.
    fn pass(&self, rank: usize, gives_up: bool) -> Result<()> {
        let waiter = Waiter { beds: &self.beds, rank, patience: patience() };
        let look = |_| if gives_up { Err(cause()) } else { Ok(()) };
        self.barrier.pass(waiter, || Ok(()), look, |_| cause())
    }

    fn wait(&self, rank: usize, until: impl Fn() -> bool) {
        let found = self.beds.wait(rank, patience(), |_| until().then_some(()));
        assert_eq!(found, Some(()));
    }
}

/// Every interleaving with at most three forced switches; the barrier loops, and all of them would
/// take days. Bugs that need more switches than that are not known.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn what_was_written_before_a_generation_is_seen_after_it_by_both_ranks_twice() {
    check(|| {
        let world = World::new();
        let written = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let turn = |world: Arc<World>, written: Arc<[AtomicU64; 2]>, rank: usize| {
            for generation in 1..=2 {
                // Relaxed: it is the barrier that has to order this.
                written[rank].store(generation, Ordering::Relaxed);
                world.pass(rank, false).unwrap();
                assert!(written[1 - rank].load(Ordering::Relaxed) >= generation);
            }
        };
        let (other, others) = (Arc::clone(&world), Arc::clone(&written));
        let thread = thread::spawn(move || turn(other, others, 1));
        turn(world, written, 0);
        thread.join().unwrap();
    });
}

#[test]
fn a_deadline_and_the_last_arrival_have_the_same_outcome_on_both_ranks() {
    check(|| {
        let world = World::new();
        let other = Arc::clone(&world);
        let thread = thread::spawn(move || other.pass(1, false).is_ok());
        let passed = world.pass(0, true).is_ok();
        assert_eq!(thread.join().unwrap(), passed);
        assert_eq!(world.barrier.check().is_ok(), passed);
    });
}

#[test]
fn a_failure_from_outside_has_the_same_outcome_on_both_ranks_and_wakes_them() {
    check(|| {
        let world = World::new();
        let threads = [0, 1].map(|rank| {
            let world = Arc::clone(&world);
            thread::spawn(move || world.pass(rank, false).is_ok())
        });
        let first = world.barrier.abort(cause());
        assert!(matches!(first, Error::World { ranks: 7, .. }));
        world.beds.wake_all();
        let [left, right] = threads.map(|thread| thread.join().unwrap());
        assert_eq!(left, right);
    });
}

#[test]
fn a_failure_wakes_a_rank_that_waits_for_one_that_never_comes() {
    check(|| {
        let world = World::new();
        let other = Arc::clone(&world);
        let thread = thread::spawn(move || other.pass(0, false).is_err());
        world.barrier.abort(cause());
        world.beds.wake_all();
        assert!(thread.join().unwrap());
    });
}

#[test]
fn what_is_laid_out_is_seen_by_the_reader_and_comes_back_to_its_owner() {
    check(|| {
        let world = World::new();
        let board = Arc::new(Board::<u64>::new(2));
        let header = Header::new(Kind::AllReduce, kernels::DType::I64, 2);
        let (reader, board_of_reader, same) =
            (Arc::clone(&world), Arc::clone(&board), header.clone());
        let thread = thread::spawn(move || {
            reader.roll.bring(&reader.beds, 1, 0, &same);
            reader.wait(1, || reader.roll.all_have_brought(0));
            reader.roll.compare(1, 0).unwrap();
            let mut handles = Vec::new();
            board_of_reader.read(0, 0, &mut handles);
            assert_eq!(handles[0].as_ref(), [5, 7]);
            drop(handles);
            reader.roll.fold(&reader.beds, 1, 0);
        });
        let mut parts = vec![vec![5, 7]];
        let address = parts[0].as_ptr();
        board.lay_out(0, 0, &mut parts);
        world.roll.bring(&world.beds, 0, 0, &header);
        world.roll.fold(&world.beds, 0, 0);
        world.wait(0, || world.roll.all_have_folded(0));
        board.take_back(0, 0, &mut parts);
        assert_eq!(parts[0].as_ptr(), address, "the reader still held it, and it was copied");
        thread.join().unwrap();
    });
}

#[test]
fn ranks_that_disagree_notice_it_on_at_least_one_side() {
    check(|| {
        let world = World::new();
        let meet = |world: &World, rank: usize, count: usize| {
            let header = Header::new(Kind::AllReduce, kernels::DType::I64, count);
            world.roll.bring(&world.beds, rank, 0, &header);
            world.wait(rank, || world.roll.all_have_brought(0));
            world.roll.compare(rank, 0)
        };
        let other = Arc::clone(&world);
        let thread = thread::spawn(move || meet(&other, 1, 4).is_err());
        assert!(meet(&world, 0, 3).is_err());
        assert!(thread.join().unwrap());
    });
}

#[test]
fn buffers_pass_through_a_mailbox_in_order_and_nobody_sleeps_through() {
    check(|| {
        let world = World::new();
        let mailbox = Arc::new(Mailbox::new());
        let (sender, outbox) = (Arc::clone(&world), Arc::clone(&mailbox));
        let thread = thread::spawn(move || {
            for value in 1..=2 {
                let mut buffer = Some(vec![value]);
                sender.wait(1, || !outbox.is_full());
                assert!(outbox.send(&mut buffer));
                sender.beds.wake(0);
            }
        });
        for value in 1..=2 {
            world.wait(0, || mailbox.is_full());
            assert_eq!(mailbox.receive(), Some(vec![value]));
            world.beds.wake(1);
        }
        thread.join().unwrap();
    });
}

/// A control: `Beds` with everything but its fences.
#[test]
#[should_panic(expected = "deadlock")]
fn a_wake_up_without_fences_is_lost() {
    check(|| {
        let state = Arc::new((
            loom::sync::Mutex::new(()),
            loom::sync::Condvar::new(),
            [AtomicU64::new(0), AtomicU64::new(0)],
        ));
        let waker = Arc::clone(&state);
        let thread = thread::spawn(move || {
            let (lock, bell, [asleep, ready]) = &*waker;
            ready.store(1, Ordering::Release);
            if asleep.load(Ordering::Relaxed) == 1 {
                let _guard = lock.lock().unwrap();
                asleep.store(0, Ordering::Relaxed);
                bell.notify_one();
            }
        });
        let (lock, bell, [asleep, ready]) = &*state;
        asleep.store(1, Ordering::Relaxed);
        if ready.load(Ordering::Acquire) == 0 {
            let guard = lock.lock().unwrap();
            if asleep.load(Ordering::Relaxed) == 1 {
                drop(bell.wait(guard).unwrap());
            }
        }
        thread.join().unwrap();
    });
}

/// The same with the fences: what the control lacks is what makes it right.
#[test]
fn a_wake_up_with_fences_is_not_lost() {
    check(|| {
        let state = Arc::new((Beds::new(1), AtomicU64::new(0)));
        let waker = Arc::clone(&state);
        let thread = thread::spawn(move || {
            waker.1.store(1, Ordering::Release);
            waker.0.wake(0);
        });
        let found =
            state.0.wait(0, patience(), |_| (state.1.load(Ordering::Acquire) == 1).then_some(()));
        assert_eq!(found, Some(()));
        thread.join().unwrap();
    });
}

/// A control: a counter that is stored without `Release`, as `Roll` must not.
#[test]
#[should_panic(expected = "was not seen")]
fn a_relaxed_publication_shows_old_data() {
    check(|| {
        let state = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let writer = Arc::clone(&state);
        let thread = thread::spawn(move || {
            writer[0].store(5, Ordering::Relaxed);
            writer[1].store(1, Ordering::Relaxed);
        });
        if state[1].load(Ordering::Acquire) == 1 {
            assert_eq!(state[0].load(Ordering::Relaxed), 5, "the data was not seen");
        }
        thread.join().unwrap();
        fence(Ordering::SeqCst);
    });
}
