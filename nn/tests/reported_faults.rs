//! Faults that users of other engines reported, of losses and of training.

use autograd::Var;
use ringgrad_nn::optim::{Optimizer, adamw, sgd};
use ringgrad_nn::{Context, Init, Module, Parameter, Result, cnn, cross_entropy};
use tensor::{Device, Tensor};

/// Two parameters, whose gradients a test chooses.
struct Pair([Parameter; 2]);

impl Pair {
    fn new(values: [&[f32]; 2]) -> Self {
        let parameter = |i: usize| {
            let value = Tensor::from_slice(&Device::cpu(), values[i], &[values[i].len()]).unwrap();
            Parameter::new(format!("p{i}"), value)
        };
        Pair([0, 1].map(parameter))
    }

    /// One step by these gradients; the parameters after it.
    fn step(&mut self, optimizer: &mut Optimizer, gradients: [&[f32]; 2]) -> Vec<Vec<f32>> {
        let term = |i: usize| {
            let slope = Tensor::from_slice(&Device::cpu(), gradients[i], &[gradients[i].len()]);
            (self.0[i].var() * &Var::constant(slope.unwrap())).unwrap().sum_all().unwrap()
        };
        let found = (&term(0) + &term(1)).unwrap().backward().unwrap();
        optimizer.step(self, &found, 1.0).unwrap();
        self.0.iter().map(|parameter| parameter.value().to_vec().unwrap()).collect()
    }
}

impl Module for Pair {
    fn describe(&self) -> String {
        "Pair".to_owned()
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        Ok(x.clone())
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.0.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.0.iter_mut().for_each(visitor);
    }
}

#[test]
fn a_first_step_that_counts_time_from_zero() {
    let mut model = Pair::new([&[1.0], &[1.0]]);
    let mut optimizer = Optimizer::new(&mut model, adamw(0.01).weight_decay(0.0)).unwrap();
    let after = model.step(&mut optimizer, [&[0.1], &[-0.1]]);
    assert!((after[0][0] - 0.99).abs() < 1e-6 && (after[1][0] - 1.01).abs() < 1e-6, "{after:?}");
}

#[test]
fn a_norm_clipped_for_each_parameter_by_itself() {
    let mut model = Pair::new([&[0.0, 0.0], &[0.0, 0.0]]);
    let mut optimizer = Optimizer::new(&mut model, sgd(1.0).clip_norm(1.0)).unwrap();
    let after = model.step(&mut optimizer, [&[3.0, 0.0], &[0.0, 4.0]]).concat();
    for (got, want) in after.into_iter().zip([-0.6, 0.0, 0.0, -0.8]) {
        assert!((got - want).abs() < 1e-6, "{got}, wanted {want}");
    }
}

#[test]
fn the_mean_of_an_empty_batch() {
    let logits = Var::leaf("x", Tensor::from_slice::<f32>(&Device::cpu(), &[], &[0, 3]).unwrap());
    let targets = Tensor::from_slice::<i64>(&Device::cpu(), &[], &[0]).unwrap();
    let loss = cross_entropy(&logits, &targets).unwrap();
    assert_eq!((loss.count(), loss.sum_value().unwrap()), (0.0, 0.0));
    let message = loss.mean().unwrap_err().to_string();
    assert!(message.contains("the count is 0") && message.contains("at least one"), "{message}");
}

#[test]
fn pictures_of_28_by_28_that_train_to_nan() {
    let device = Device::cpu();
    let mut model = cnn(&Init::new(&device, 3), [1, 28, 28], &[4], 10).unwrap();
    let mut optimizer = Optimizer::new(&mut model, sgd(0.05).momentum(0.9)).unwrap();
    // A bright square whose place tells the class, on dim noise.
    let pixel = |class: usize, i: usize| {
        let (row, column) = (i / 28, i % 28);
        let inside = row / 14 == class / 5 && column / 5 == class % 5;
        if inside { 1.0 } else { ((i * 7919 + class * 31) % 101) as f32 / 500.0 }
    };
    let pictures: Vec<f32> =
        (0..10).flat_map(|class| (0..784).map(move |i| pixel(class, i))).collect();
    let x = Var::constant(Tensor::from_vec(&device, pictures, &[10, 1, 28, 28]).unwrap());
    let y = Tensor::arange::<i64>(&device, 10).unwrap();
    let mut losses = Vec::new();
    for step in 0..30 {
        let cx = Context::train(step, 0);
        let loss = cross_entropy(&model.forward(&cx, &x).unwrap(), &y).unwrap();
        losses.push(loss.mean().unwrap());
        let (gradients, count) = (loss.backward().unwrap(), loss.count());
        drop(loss);
        optimizer.step(&mut model, &gradients, count).unwrap();
    }
    assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
    assert!((losses[0] - 10f64.ln()).abs() < 0.5 && losses[29] < 0.2, "{losses:?}");
}
