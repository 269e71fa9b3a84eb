//! What a training step allocates, counted in the allocator: nothing that grows, since the live
//! bytes of all ranks are the same after step 10 and after step 1,000; and after the first steps
//! nothing large, since buffers are used again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

use ringgrad::nn::optim::Optimizer;
use ringgrad::nn::{self, Context, GptSettings, Init, Module, data, optim};
use ringgrad::{Algorithm, Device, RankTrainer, Result, Tensor, Var, World};

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    /// Set on the threads of ranks: the test harness allocates on its own, whenever it likes.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
    /// Large allocations of this thread.
    static LARGE: Cell<usize> = const { Cell::new(0) };
}

/// Bytes from which an allocation is large: more than the lists of a graph's nodes take, less than
/// the values of a layer.
const LARGE_FROM: usize = 32 << 10;

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
        if layout.size() >= LARGE_FROM {
            LARGE.set(LARGE.get() + 1);
        }
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

/// The large allocations of each of some steps of one rank with one thread.
fn large_in_each_step(
    mut model: impl Module,
    x: Tensor,
    loss: impl Fn(&Var) -> nn::Result<nn::Loss>,
) -> nn::Result<Vec<usize>> {
    let mut optimizer = Optimizer::new(&mut model, optim::adamw(0.001))?;
    let x = Var::constant(x);
    let mut large = Vec::new();
    for step in 0..6 {
        let before = LARGE.get();
        let loss = loss(&model.forward(&Context::train(step, 0), &x)?)?;
        let (gradients, count) = (loss.backward()?, loss.count());
        drop(loss);
        optimizer.step(&mut model, &gradients, count)?;
        large.push(LARGE.get() - before);
    }
    Ok(large)
}

#[test]
fn after_the_first_steps_no_allocation_is_large() {
    let (device, init) = (Device::cpu(), Init::new(&Device::cpu(), 1));
    let pixels = (0..32 * 64).map(|i| (0.7 * i as f32).sin()).collect();
    let pixels = Tensor::from_vec(&device, pixels, &[32, 1, 8, 8]).unwrap();
    let classes = Tensor::from_vec(&device, (0..32i64).map(|i| i % 10).collect(), &[32]).unwrap();
    let network = nn::cnn(&init, [1, 8, 8], &[8, 16], 10).unwrap();
    let cnn = large_in_each_step(network, pixels, |y| nn::cross_entropy(y, &classes)).unwrap();

    let settings = GptSettings { vocabulary: 20, context: 32, dim: 64, heads: 4, layers: 2 };
    let tokens = |shift: i64| {
        let tokens = (0..8 * 32).map(|i| (7 * i + shift) % 20).collect::<Vec<i64>>();
        Tensor::from_vec(&device, tokens, &[8, 32]).unwrap()
    };
    let network = nn::gpt(&init, &settings).unwrap();
    let gpt = large_in_each_step(network, tokens(0), |y| nn::cross_entropy(y, &tokens(1)));
    let gpt = gpt.unwrap();

    for (name, large) in [("cnn", cnn), ("gpt", gpt)] {
        // The first step fills the pool: the counter counts.
        assert!(large[0] > 0, "{name}: {large:?}");
        assert_eq!(large[3..], [0; 3], "{name}: {large:?}");
    }
}
