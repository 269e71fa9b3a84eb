//! What the benches share: how a figure is taken, and the floor it stands beside.

// Each bench uses a part of it.
#![allow(dead_code)]

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use ringgrad::nn::optim::{Optimizer, Recipe};
use ringgrad::nn::{self, Context, Module};
use ringgrad::{Device, Tensor, Var};

/// Seconds of one iteration.
pub(crate) struct Times {
    pub(crate) min: f64,
    pub(crate) median: f64,
}

/// Takes `samples` samples of `time_of`, which does that many iterations, in about `seconds`;
/// `None` when a filter on the command line leaves this one out.
pub(crate) fn measured(
    criterion: &mut Criterion,
    [group, name]: [&str; 2],
    (samples, seconds): (usize, u64),
    mut time_of: impl FnMut(u64) -> Duration,
) -> Option<Times> {
    let taken = RefCell::new(Vec::new());
    let mut group = criterion.benchmark_group(group);
    group.sample_size(samples).warm_up_time(Duration::from_millis(200));
    group.measurement_time(Duration::from_secs(seconds));
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|iterations| {
            let time = time_of(iterations);
            taken.borrow_mut().push(time.as_secs_f64() / iterations as f64);
            time
        });
    });
    group.finish();
    let mut taken = taken.into_inner();
    taken.sort_by(f64::total_cmp);
    Some(Times { min: *taken.first()?, median: taken[taken.len() / 2] })
}

/// Prints a step beside its target and its floor, all in milliseconds.
pub(crate) fn print_step(name: &str, times: &Times, target_ms: f64, floor: f64) {
    let [min, median, floor] = [times.min, times.median, floor].map(|seconds| seconds * 1e3);
    println!(
        "{name}: min {min:.4} ms, median {median:.4} ms a step; target {target_ms} ms, products \
         alone {floor:.4} ms\n"
    );
}

/// The time of `steps` steps on one batch, after some that are not counted.
pub(crate) fn training_time(
    mut model: impl Module,
    recipe: impl Into<Recipe>,
    (x, targets): (Tensor, Tensor),
    steps: u64,
) -> nn::Result<Duration> {
    const WARM_UP: u64 = 4;
    let mut optimizer = Optimizer::new(&mut model, recipe)?;
    let x = Var::constant(x);
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

/// A matrix whose values do not matter to the time.
pub(crate) fn matrix(device: &Device, rows: usize, columns: usize) -> Tensor {
    let values = (0..rows * columns).map(|i| (i % 13) as f32 / 13.0).collect();
    Tensor::from_vec(device, values, &[rows, columns]).expect("a matrix")
}

/// The transpose.
pub(crate) fn turned(x: &Tensor) -> Tensor {
    x.transpose(0, 1).expect("a matrix")
}

/// Seconds of these products, each as often as its number says, back to back: the best of some.
pub(crate) fn products_seconds(products: &[(usize, Tensor, Tensor)]) -> f64 {
    let mut best = f64::INFINITY;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        let began = Instant::now();
        for (often, a, b) in products {
            for _ in 0..*often {
                black_box(a.matmul(b).expect("matrices that fit"));
            }
        }
        best = best.min(began.elapsed().as_secs_f64());
    }
    best
}
