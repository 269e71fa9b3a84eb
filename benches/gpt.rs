//! The time of one training step of a small transformer, beside its floor: the arithmetic of its
//! matrix products at the speed of the product alone.
//!
//! `cargo bench --bench gpt`

mod common;

use std::time::Duration;

use common::{matrix, measured, print_step, products_seconds, training_time, turned};
use criterion::{Criterion, criterion_group, criterion_main};
use ringgrad::nn::optim::adamw;
use ringgrad::nn::{self, GptSettings, Init};
use ringgrad::{Device, Tensor};

const BATCH: usize = 16;
const SETTINGS: GptSettings =
    GptSettings { vocabulary: 65, context: 64, dim: 128, heads: 4, layers: 4 };

/// Threads, and the project's target in milliseconds a step.
const CASES: [(usize, f64); 2] = [(1, 85.0), (2, 53.0)];

fn time_of(device: &Device, steps: u64) -> nn::Result<Duration> {
    let tokens = |shift: usize| -> nn::Result<Tensor> {
        let token = |i| ((7 * i + shift) % SETTINGS.vocabulary) as i64;
        let tokens = (0..BATCH * SETTINGS.context).map(token).collect();
        Ok(Tensor::from_vec(device, tokens, &[BATCH, SETTINGS.context])?)
    };
    let model = nn::gpt(&Init::new(device, 1), &SETTINGS)?;
    training_time(model, adamw(0.001), (tokens(0)?, tokens(7)?), steps)
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

/// All matrix products of a step.
fn step_products(device: &Device) -> Vec<(usize, Tensor, Tensor)> {
    let operands = products().into_iter().flat_map(|(often, [m, k, n])| {
        let (a, b, dy) = (matrix(device, m, k), matrix(device, k, n), matrix(device, m, n));
        [(often, a.clone(), b.clone()), (often, dy.clone(), turned(&b)), (often, turned(&a), dy)]
    });
    operands.collect()
}

fn steps(criterion: &mut Criterion) {
    for (threads, target_ms) in CASES {
        let device = Device::cpu_with_threads(threads).expect("threads");
        let name = format!("GPT d 128, {threads} threads");
        let time_of = |steps| time_of(&device, steps).expect("a run without faults");
        if let Some(times) = measured(criterion, ["gpt", &name], (20, 4), time_of) {
            print_step(&name, &times, target_ms, products_seconds(&step_products(&device)));
        }
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
