//! The time of one training step of a small transformer, beside its floor: the arithmetic of its
//! matrix products at the speed of the product alone.
//!
//! `cargo bench --bench gpt`

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use ringgrad::nn::optim::{Optimizer, adamw};
use ringgrad::nn::{self, Context, GptSettings, Init, Module};
use ringgrad::{Device, Tensor, Var};

const BATCH: usize = 16;
const WARM_UP: u64 = 3;
const SETTINGS: GptSettings =
    GptSettings { vocabulary: 65, context: 64, dim: 128, heads: 4, layers: 4 };

/// Threads, and the project's target in milliseconds a step.
const CASES: [(usize, f64); 2] = [(1, 85.0), (2, 53.0)];

fn time_of(device: &Device, steps: u64) -> nn::Result<Duration> {
    let mut model = nn::gpt(&Init::new(device, 1), &SETTINGS)?;
    let mut optimizer = Optimizer::new(&mut model, adamw(0.001))?;
    let tokens = |shift: usize| -> Vec<i64> {
        (0..BATCH * SETTINGS.context)
            .map(|i| ((7 * i + shift) % SETTINGS.vocabulary) as i64)
            .collect()
    };
    let shape = [BATCH, SETTINGS.context];
    let x = Var::constant(Tensor::from_vec(device, tokens(0), &shape)?);
    let targets = Tensor::from_vec(device, tokens(7), &shape)?;
    let mut began = Instant::now();
    for step in 0..steps + WARM_UP {
        if step == WARM_UP {
            began = Instant::now();
        }
        let logits = model.forward(&Context::train(step, 0), &x)?;
        let loss = nn::cross_entropy(&logits, &targets)?;
        let gradients = loss.backward()?;
        let count = loss.count();
        drop((logits, loss));
        optimizer.step(&mut model, &gradients, count)?;
    }
    Ok(began.elapsed())
}

/// The products `(how often, [rows of a, columns of a, columns of b])` of a forward; the backward
/// has two for each.
fn products() -> Vec<(usize, [usize; 3])> {
    let GptSettings { vocabulary, context, dim, heads, layers } = SETTINGS;
    let (rows, d) = (BATCH * context, dim / heads);
    let pairs = layers * BATCH * heads;
    vec![
        (layers, [rows, dim, 3 * dim]),
        (layers, [rows, dim, dim]),
        (layers, [rows, dim, 4 * dim]),
        (layers, [rows, 4 * dim, dim]),
        (1, [rows, dim, vocabulary]),
        (pairs, [context, d, context]),
        (pairs, [context, context, d]),
    ]
}

/// Milliseconds of all matrix products of a step, done back to back.
fn floor_ms(device: &Device) -> f64 {
    let matrix = |m: usize, n: usize| {
        let values = (0..m * n).map(|i| (i % 13) as f32 / 13.0).collect();
        Tensor::from_vec(device, values, &[m, n]).expect("a matrix")
    };
    let turned = |x: &Tensor| x.transpose(0, 1).expect("a matrix");
    let operands = products().into_iter().flat_map(|(often, [m, k, n])| {
        let (a, b, dy) = (matrix(m, k), matrix(k, n), matrix(m, n));
        [(often, a.clone(), b.clone()), (often, dy.clone(), turned(&b)), (often, turned(&a), dy)]
    });
    let operands: Vec<_> = operands.collect();
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let began = Instant::now();
        for (often, a, b) in &operands {
            for _ in 0..*often {
                black_box(a.matmul(b).expect("matrices that fit"));
            }
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    best
}

fn steps(criterion: &mut Criterion) {
    for (threads, target_ms) in CASES {
        let device = Device::cpu_with_threads(threads).expect("threads");
        let samples = RefCell::new(Vec::new());
        let mut group = criterion.benchmark_group("gpt");
        group.sample_size(20).warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_secs(4));
        group.bench_function(format!("threads {threads}"), |bencher| {
            bencher.iter_custom(|steps| {
                let time = time_of(&device, steps).expect("a run without faults");
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
            "GPT d 128, {threads} threads: min {:.1} ms, median {:.1} ms a step; target \
             {target_ms} ms, products alone {:.1} ms\n",
            samples[0],
            samples[samples.len() / 2],
            floor_ms(&device)
        );
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
