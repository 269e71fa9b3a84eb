//! A training step allocates nothing that grows: the live bytes of all ranks, counted in the
//! allocator, are the same after step 10 and after step 1,000.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

use ringgrad::nn::{self, Init, Module, data, optim};
use ringgrad::{Algorithm, RankTrainer, Result, World};

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    /// Set on the threads of ranks: the test harness allocates on its own, whenever it likes.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count(bytes: isize) {
    if COUNTED.get() {
        LIVE.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller's obligations are those of `System`, to which the call is passed on.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: `layout` is the caller's.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: `pointer` came from `System`, since `alloc` takes everything from there.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Live bytes after each step, as rank 0 sees them between two barriers.
fn live_after_each_step(ranks: usize, algorithm: Algorithm) -> Vec<isize> {
    let world = World::threads(ranks).shards(2 * ranks).algorithm(algorithm);
    let mut seen = world
        .run(|rank| -> Result<Vec<isize>> {
            COUNTED.set(true);
            let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 32, 10])?;
            let mut trainer = rank.trainer(model, optim::sgd(0.05).momentum(0.9))?;
            // One batch over and over, so that the data are not what grows.
            let batches = data::digits()?.batches(64);
            let step = batches.into_iter().next().expect("a batch");
            let mut live = Vec::with_capacity(1000);
            for _ in 0..1000 {
                trainer.step(&step, |model, cx, batch| {
                    nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
                })?;
                rank.barrier()?;
                live.push(LIVE.load(Ordering::Relaxed));
                rank.barrier()?;
            }
            Ok(live)
        })
        .unwrap();
    seen.swap_remove(0)
}

/// Steps after which the live bytes differ from those of the step before, with both.
fn changes(live: &[isize]) -> Vec<(usize, isize, isize)> {
    let pairs = live.windows(2).enumerate().skip(9);
    pairs.filter(|(_, w)| w[0] != w[1]).map(|(step, w)| (step + 1, w[0], w[1])).take(20).collect()
}

#[test]
fn a_thousand_steps_keep_the_live_bytes_of_the_tenth() {
    for (ranks, algorithm) in [(1, Algorithm::Tree), (2, Algorithm::Tree), (3, Algorithm::Ring)] {
        let live = live_after_each_step(ranks, algorithm);
        let after_ten = live[9];
        let grown = live[9..].iter().position(|bytes| *bytes != after_ten);
        assert_eq!(grown, None, "{ranks} {algorithm:?}: {after_ten}, then {:?}", changes(&live));
    }
    // The counter counts: a vector is seen while it lives.
    COUNTED.set(true);
    let before = LIVE.load(Ordering::Relaxed);
    let held = vec![0u8; 100_000];
    assert!(LIVE.load(Ordering::Relaxed) - before >= 100_000, "{}", held.len());
}
