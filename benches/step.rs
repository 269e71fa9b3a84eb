//! The time of one training step beside its floor: the arithmetic of its matrix products at the
//! speed of the product alone, measured in the same run.
//!
//! `cargo bench --bench step`

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

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

/// Milliseconds of all matrix products of one rank's step, done back to back.
fn floor_ms(case: &Case) -> f64 {
    let device = Device::cpu();
    let rows = case.batch / case.ranks;
    let matrix = |m: usize, n: usize| {
        let values = (0..m * n).map(|i| (i % 13) as f32 / 13.0).collect();
        Tensor::from_vec(&device, values, &[m, n]).expect("a matrix")
    };
    let mut products = Vec::new();
    for (layer, pair) in case.sizes.windows(2).enumerate() {
        let (x, w, dy) = (matrix(rows, pair[0]), matrix(pair[1], pair[0]), matrix(rows, pair[1]));
        products.push((x.clone(), w.transpose(0, 1).expect("a matrix")));
        products.push((dy.transpose(0, 1).expect("a matrix"), x));
        if layer > 0 {
            products.push((dy, w));
        }
    }
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let began = Instant::now();
        for (a, b) in &products {
            black_box(a.matmul(b).expect("matrices that fit"));
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    best
}

fn steps(criterion: &mut Criterion) {
    for case in &CASES {
        let samples = RefCell::new(Vec::new());
        let mut group = criterion.benchmark_group("step");
        group.sample_size(20).warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_secs(2));
        group.bench_function(case.name, |bencher| {
            bencher.iter_custom(|steps| {
                let time = time_of(case, steps);
                samples.borrow_mut().push(time.as_secs_f64() * 1e3 / steps as f64);
                time
            });
        });
        group.finish();
        let mut samples = samples.into_inner();
        samples.sort_by(f64::total_cmp);
        // A filter on the command line leaves out groups.
        if samples.is_empty() {
            continue;
        }
        println!(
            "{}: min {:.4} ms, median {:.4} ms a step; target {} ms, products alone {:.4} ms\n",
            case.name,
            samples[0],
            samples[samples.len() / 2],
            case.target_ms,
            floor_ms(case)
        );
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
