//! The time of one training step beside its floor: the arithmetic of its matrix products at the
//! speed of the product alone, measured in the same run.
//!
//! `cargo bench --bench step`

mod common;

use std::time::{Duration, Instant};

use common::{matrix, measured, print_step, products_seconds, turned};
use criterion::{Criterion, criterion_group, criterion_main};
use ringgrad::nn::data::{Dataset, Step};
use ringgrad::nn::optim::{Recipe, adamw, sgd};
use ringgrad::nn::{self, Init, Module};
use ringgrad::{Device, Rank, Result, Tensor, Trainer, World};

/// A network and its global batch.
struct Case {
    name: &'static str,
    sizes: &'static [usize],
    batch: usize,
    ranks: usize,
    recipe: fn() -> Recipe,
    /// The project's target, in milliseconds a step.
    target_ms: f64,
}

const CASES: [Case; 5] = [
    Case {
        name: "64-32-10 b64 1 rank",
        sizes: &[64, 32, 10],
        batch: 64,
        ranks: 1,
        recipe: momentum,
        target_ms: 0.04,
    },
    Case {
        name: "784-256-128-10 b64 1 rank",
        sizes: &[784, 256, 128, 10],
        batch: 64,
        ranks: 1,
        recipe: momentum,
        target_ms: 0.90,
    },
    Case {
        name: "784-256-128-10 b64 1 rank adamw",
        sizes: &[784, 256, 128, 10],
        batch: 64,
        ranks: 1,
        recipe: || adamw(1e-3).into(),
        target_ms: 1.1,
    },
    Case {
        name: "64-32-10 b64 2 ranks",
        sizes: &[64, 32, 10],
        batch: 64,
        ranks: 2,
        recipe: momentum,
        target_ms: 0.06,
    },
    Case {
        name: "784-256-128-10 b256 2 ranks",
        sizes: &[784, 256, 128, 10],
        batch: 256,
        ranks: 2,
        recipe: momentum,
        target_ms: 1.8,
    },
];

fn momentum() -> Recipe {
    sgd(0.01).momentum(0.9).into()
}

/// Synthetic samples; their values do not matter to the time.
fn one_batch(case: &Case) -> Step {
    let features = case.sizes[0];
    let x = (0..case.batch * features).map(|i| (i % 17) as f32 / 17.0).collect();
    let y = (0..case.batch).map(|i| (i % 10) as i64).collect();
    let data = Dataset::new("synthetic", x, &[features], y, 10).expect("consistent samples");
    Step::new(&data, 0, (0..case.batch).collect()).expect("existing samples")
}

/// Runs `steps` steps on every rank; the time is rank 0's, between two barriers.
fn run(rank: &Rank, case: &Case, step: &Step, steps: u64) -> Result<Duration> {
    let model = nn::mlp(&Init::new(rank.device(), 1), case.sizes)?;
    let mut trainer = Trainer::new(rank, model, (case.recipe)(), Default::default())?;
    let mut began = Instant::now();
    for i in 0..steps + WARM_UP {
        if i == WARM_UP {
            rank.barrier()?;
            began = Instant::now();
        }
        trainer.step(step, |model, cx, batch| {
            nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
        })?;
    }
    rank.barrier()?;
    Ok(began.elapsed())
}

const WARM_UP: u64 = 20;

fn time_of(case: &'static Case, steps: u64) -> Duration {
    let step = one_batch(case);
    let world = World::threads(case.ranks).shards(case.ranks).threads_per_rank(1);
    let times = world.run(move |rank| run(rank, case, &step, steps));
    times.expect("a run without faults")[0]
}

/// All matrix products of one rank's step.
fn products(case: &Case) -> Vec<(usize, Tensor, Tensor)> {
    let (device, rows) = (Device::cpu(), case.batch / case.ranks);
    let mut products = Vec::new();
    for (layer, pair) in case.sizes.windows(2).enumerate() {
        let [x, w] = [[rows, pair[0]], [pair[1], pair[0]]].map(|[m, n]| matrix(&device, m, n));
        let dy = matrix(&device, rows, pair[1]);
        products.push((1, x.clone(), turned(&w)));
        products.push((1, turned(&dy), x));
        if layer > 0 {
            products.push((1, dy, w));
        }
    }
    products
}

fn steps(criterion: &mut Criterion) {
    for case in &CASES {
        let time_of = |steps| time_of(case, steps);
        if let Some(times) = measured(criterion, ["step", case.name], (20, 2), time_of) {
            print_step(case.name, &times, case.target_ms, products_seconds(&products(case)));
        }
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
