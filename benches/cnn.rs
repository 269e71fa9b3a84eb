//! The time of one training step of two convolutional networks, on one thread, beside its floor:
//! the arithmetic of its matrix products at the speed of the product alone.
//!
//! `cargo bench --bench cnn`

mod common;

use std::time::Duration;

use common::{matrix, measured, print_step, products_seconds, training_time, turned};
use criterion::{Criterion, criterion_group, criterion_main};
use ringgrad::nn::optim::sgd;
use ringgrad::nn::{self, Conv2d, Flatten, Init, Linear, MaxPool2d, Relu, Sequential};
use ringgrad::tensor::{ConvSettings, Window};
use ringgrad::{Device, Tensor};

const BATCH: usize = 64;

/// A network, and the products `[rows of a, columns of a, columns of b]` of its forward: `samples`
/// of each a step. All but the first layer have three of them in a step, the first has two.
struct Case {
    name: &'static str,
    model: fn(&Init) -> nn::Result<Sequential>,
    products: &'static [(usize, [usize; 3])],
    threads: usize,
    /// The project's target, in milliseconds a step.
    target_ms: f64,
}

const LENET: [(usize, [usize; 3]); 5] = [
    (BATCH, [6, 25, 784]),
    (BATCH, [16, 150, 100]),
    (1, [BATCH, 400, 120]),
    (1, [BATCH, 120, 84]),
    (1, [BATCH, 84, 10]),
];

const CNN: [(usize, [usize; 3]); 4] = [
    (BATCH, [32, 9, 784]),
    (BATCH, [64, 288, 196]),
    (1, [BATCH, 3136, 128]),
    (1, [BATCH, 128, 10]),
];

const CASES: [Case; 3] = [
    Case { name: "LeNet-5 b64", model: lenet, products: &LENET, threads: 1, target_ms: 6.0 },
    Case { name: "CNN b64", model: cnn, products: &CNN, threads: 1, target_ms: 40.0 },
    Case { name: "CNN b64 2 threads", model: cnn, products: &CNN, threads: 2, target_ms: 25.0 },
];

fn padded(padding: usize) -> ConvSettings<2> {
    ConvSettings { padding: [padding; 2], ..Default::default() }
}

/// LeCun et al. 1998, with rectifiers and max-pools.
fn lenet(init: &Init) -> nn::Result<Sequential> {
    let pool = || MaxPool2d::new(Window::new([2, 2]));
    Ok(Sequential::new()
        .then(Conv2d::new(&init.at("conv1"), [1, 6], [5, 5], padded(2))?)
        .then(Relu)
        .then(pool())
        .then(Conv2d::new(&init.at("conv2"), [6, 16], [5, 5], padded(0))?)
        .then(Relu)
        .then(pool())
        .then(Flatten)
        .then(Linear::new(&init.at("fc1"), 400, 120)?)
        .then(Relu)
        .then(Linear::new(&init.at("fc2"), 120, 84)?)
        .then(Relu)
        .then(Linear::new(&init.at("fc3"), 84, 10)?))
}

/// Two convolutions of 3×3 and a hidden layer.
fn cnn(init: &Init) -> nn::Result<Sequential> {
    let pool = || MaxPool2d::new(Window::new([2, 2]));
    Ok(Sequential::new()
        .then(Conv2d::new(&init.at("conv1"), [1, 32], [3, 3], padded(1))?)
        .then(Relu)
        .then(pool())
        .then(Conv2d::new(&init.at("conv2"), [32, 64], [3, 3], padded(1))?)
        .then(Relu)
        .then(pool())
        .then(Flatten)
        .then(Linear::new(&init.at("fc1"), 3136, 128)?)
        .then(Relu)
        .then(Linear::new(&init.at("fc2"), 128, 10)?))
}

fn device(case: &Case) -> Device {
    Device::cpu_with_threads(case.threads).expect("threads")
}

fn time_of(case: &Case, steps: u64) -> nn::Result<Duration> {
    let device = device(case);
    let pixels = (0..BATCH * 784).map(|i| (i % 17) as f32 / 17.0).collect();
    let x = Tensor::from_vec(&device, pixels, &[BATCH, 1, 28, 28])?;
    let classes = (0..BATCH).map(|i| (i % 10) as i64).collect();
    let classes = Tensor::from_vec(&device, classes, &[BATCH])?;
    let model = (case.model)(&Init::new(&device, 1))?;
    training_time(model, sgd(0.01).momentum(0.9), (x, classes), steps)
}

/// All matrix products of a step: three a layer, but for the first, whose input has no gradient.
fn products(case: &Case) -> Vec<(usize, Tensor, Tensor)> {
    let device = device(case);
    let mut products = Vec::new();
    for (layer, &(samples, [m, k, n])) in case.products.iter().enumerate() {
        let (a, b, dy) = (matrix(&device, m, k), matrix(&device, k, n), matrix(&device, m, n));
        products.push((samples, a.clone(), b.clone()));
        products.push((samples, dy.clone(), turned(&b)));
        if layer > 0 {
            products.push((samples, turned(&a), dy));
        }
    }
    products
}

fn steps(criterion: &mut Criterion) {
    for case in &CASES {
        let time_of = |steps| time_of(case, steps).expect("a run without faults");
        if let Some(times) = measured(criterion, ["cnn", case.name], (20, 3), time_of) {
            let floor = products_seconds(&products(case));
            print_step(case.name, &times, case.target_ms, floor);
        }
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
