//! A training step allocates nothing that grows: live bytes of the whole process, counted in the
//! allocator, are the same after step 10 and after step 1,000.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use ringgrad::nn::{self, Init, Module, data, optim};
use ringgrad::{Algorithm, RankTrainer, Result, World};

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller's obligations are those of `System`, to which the call is passed on.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: `layout` is the caller's.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
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

#[test]
fn a_thousand_steps_keep_the_live_bytes_of_the_tenth() {
    for (ranks, algorithm) in [(1, Algorithm::Tree), (2, Algorithm::Tree), (3, Algorithm::Ring)] {
        let live = live_after_each_step(ranks, algorithm);
        let after_ten = live[9];
        let grown = live[9..].iter().position(|bytes| *bytes != after_ten);
        assert_eq!(grown, None, "{ranks} {algorithm:?}: {after_ten} then {:?}", &live[9..30]);
    }
    // The counter counts: a vector is seen while it lives.
    let before = LIVE.load(Ordering::Relaxed);
    let held = vec![0u8; 100_000];
    assert!(LIVE.load(Ordering::Relaxed) - before >= 100_000, "{}", held.len());
}
