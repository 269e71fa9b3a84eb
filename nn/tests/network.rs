//! Starts, losses and steps against values that were worked out by hand.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use autograd::Var;
use ringgrad_nn::optim::{Optimizer, sgd};
use ringgrad_nn::{
    Context, Error, Init, Linear, Loss, Module, Parameter, Relu, Sequential, cross_entropy, mlp,
    named_values, numel,
};
use tensor::{DType, Device, Tensor};

fn values(model: &dyn Module) -> Vec<Vec<f32>> {
    named_values(model).iter().map(|(_, value)| value.to_vec().unwrap()).collect()
}

#[test]
fn parameters_carry_pytorch_names_and_shapes() {
    let model = mlp(&Init::new(&Device::cpu(), 1), &[64, 48, 10]).unwrap();
    let shapes: Vec<(String, Vec<usize>)> =
        named_values(&model).into_iter().map(|(n, v)| (n, v.shape().to_vec())).collect();
    let wanted: [(&str, &[usize]); 4] = [
        ("layers.0.weight", &[48, 64]),
        ("layers.0.bias", &[48]),
        ("layers.1.weight", &[10, 48]),
        ("layers.1.bias", &[10]),
    ];
    assert_eq!(shapes, wanted.map(|(n, s)| (n.to_owned(), s.to_vec())));
    assert_eq!(numel(&model), 3610);
}

#[test]
fn a_start_is_a_function_of_seed_path_and_element_alone() {
    let device = Device::cpu();
    let start =
        |seed: u64, sizes: &[usize]| values(&mlp(&Init::new(&device, seed), sizes).unwrap());
    assert_eq!(start(1, &[6, 5, 4]), start(1, &[6, 5, 4]));
    assert_ne!(start(1, &[6, 5, 4]), start(2, &[6, 5, 4]));
    // Another layer behind it, or another number of rows, does not move the first layer's numbers.
    assert_eq!(start(1, &[6, 5, 4])[0], start(1, &[6, 5, 9, 4])[0]);
    assert_eq!(start(1, &[6, 5, 4])[0], start(1, &[6, 7, 4])[0][..30]);
    let weights = start(3, &[100, 400])[0].clone();
    assert!(weights.iter().all(|w| w.abs() <= 0.1));
    // Uniform in ±0.1: mean 0, standard deviation 0.1/√3.
    let mean = weights.iter().sum::<f32>() / weights.len() as f32;
    let square = weights.iter().map(|w| w * w).sum::<f32>() / weights.len() as f32;
    assert_abs_diff_eq!(mean, 0.0, epsilon = 0.001);
    assert_relative_eq!(square.sqrt(), 0.1 / 3f32.sqrt(), max_relative = 0.01);
}

#[test]
fn f64_parameters_are_the_numbers_that_f32_rounds() {
    let init = Init::new(&Device::cpu(), 5);
    let single = mlp(&init, &[3, 2]).unwrap();
    let double = mlp(&init.dtype(DType::F64), &[3, 2]).unwrap();
    for ((_, s), (_, d)) in named_values(&single).iter().zip(&named_values(&double)) {
        let rounded: Vec<f32> = d.to_vec::<f64>().unwrap().iter().map(|&x| x as f32).collect();
        assert_eq!(s.to_vec::<f32>().unwrap(), rounded);
    }
}

/// One weight and one bias, chosen by the test.
fn line(weight: f32, bias: f32) -> Linear {
    let device = Device::cpu();
    let mut model = Linear::new(&Init::new(&device, 1), 1, 1).unwrap();
    model.visit_mut(&mut |parameter| {
        let value = if parameter.name() == "weight" { weight } else { bias };
        let value = Tensor::full(&device, value, parameter.value().shape()).unwrap();
        let leaf = Var::leaf(parameter.name(), value);
        parameter.bind(leaf).unwrap();
    });
    model
}

/// Σ (w·x + b)² over x = 1 and x = 3, counted over both.
fn squares(model: &Linear) -> Loss {
    let x = Tensor::from_vec(&Device::cpu(), vec![1.0f32, 3.0], &[2, 1]).unwrap();
    let y = model.forward(&Context::eval(), &x.into()).unwrap();
    Loss::new((&y * &y).unwrap().sum_all().unwrap(), 2.0).unwrap()
}

#[test]
fn sgd_steps_by_the_mean_gradient_with_momentum_as_pytorch_does() {
    let mut model = line(0.5, -0.25);
    let rule = sgd(0.1).momentum(0.9).weight_decay(0.01);
    let mut optimizer = Optimizer::new(&mut model, rule).unwrap();
    // The same in f64, from the definition.
    let (mut w, mut b, mut momentum) = (0.5f64, -0.25f64, [0.0f64; 2]);
    for step in 0..5 {
        let loss = squares(&model);
        let (gradients, count) = (loss.backward().unwrap(), loss.count());
        drop(loss);
        optimizer.step(&mut model, &gradients, count).unwrap();
        let (y1, y3) = (w + b, 3.0 * w + b);
        let mean = [(2.0 * y1 + 6.0 * y3) / 2.0, (2.0 * y1 + 2.0 * y3) / 2.0];
        let decayed = [mean[0] + 0.01 * w, mean[1] + 0.01 * b];
        for (m, d) in momentum.iter_mut().zip(decayed) {
            *m = if step == 0 { d } else { 0.9 * *m + d };
        }
        (w, b) = (w - 0.1 * momentum[0], b - 0.1 * momentum[1]);
        let [got_w, got_b] = [0, 1].map(|i| f64::from(values(&model)[i][0]));
        assert_relative_eq!(got_w, w, max_relative = 1e-5);
        assert_relative_eq!(got_b, b, max_relative = 1e-5);
    }
}

#[test]
fn a_loss_is_its_sum_and_its_count() {
    let device = Device::cpu();
    let logits = Var::constant(Tensor::full(&device, 0.0f32, &[3, 4]).unwrap());
    let targets = Tensor::from_vec(&device, vec![0i64, 3, 1], &[3]).unwrap();
    let loss = cross_entropy(&logits, &targets).unwrap();
    assert_eq!(loss.count(), 3.0);
    assert_relative_eq!(loss.sum_value().unwrap(), 3.0 * 4f64.ln(), max_relative = 1e-6);
    assert_relative_eq!(loss.mean().unwrap(), 4f64.ln(), max_relative = 1e-6);
    let none = Loss::new(loss.sum().clone(), 0.0).unwrap();
    assert!(matches!(none.mean(), Err(Error::Count { count: 0.0 })));
    for count in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Loss::new(loss.sum().clone(), count), Err(Error::Count { .. })));
    }
}

#[test]
fn impossible_networks_and_rules_are_refused() {
    let init = Init::new(&Device::cpu(), 1);
    for sizes in [&[][..], &[4], &[4, 0], &[0, 4]] {
        assert!(matches!(mlp(&init, sizes), Err(Error::Sizes { .. })), "{sizes:?}");
    }
    let mut model = mlp(&init, &[2, 2]).unwrap();
    for rule in [sgd(-0.1), sgd(f64::NAN), sgd(0.1).momentum(1.5), sgd(0.1).nesterov()] {
        let refused = Optimizer::new(&mut model, rule.clone());
        assert!(matches!(refused, Err(Error::Rule(_))), "{rule:?}");
    }
    assert!(Optimizer::new(&mut Sequential::new().then(Relu), sgd(0.1)).is_err());
    let twice = |_| Linear::new(&init.at("same"), 2, 2).unwrap();
    let message = Optimizer::new(&mut Sequential::new().then(twice(0)).then(twice(1)), sgd(0.1));
    let message = message.map(drop).unwrap_err().to_string();
    assert!(message.contains("same.bias") && message.contains("2 times"), "{message}");
}

#[test]
fn a_step_names_every_parameter_without_gradient() {
    let mut model = line(1.0, 1.0);
    let mut optimizer = Optimizer::new(&mut model, sgd(0.1)).unwrap();
    let other = squares(&line(1.0, 1.0)).backward().unwrap();
    let message = optimizer.step(&mut model, &other, 2.0).unwrap_err().to_string();
    assert!(message.contains("no gradient reached bias, weight"), "{message}");
    let own = squares(&model).backward().unwrap();
    assert!(matches!(optimizer.step(&mut model, &own, 0.0), Err(Error::Count { .. })));
    let before = values(&model);
    optimizer.step(&mut model, &own, 2.0).unwrap();
    assert_ne!(values(&model), before);
}

#[test]
fn an_optimizer_steps_no_other_model_than_its_own() {
    let init = Init::new(&Device::cpu(), 1);
    let layer = |name: &str| Linear::new(&init.at(name), 1, 1).unwrap();
    let mut own = Sequential::new().then(layer("a")).then(layer("b"));
    let mut optimizer = Optimizer::new(&mut own, sgd(0.1)).unwrap();
    let x = Var::constant(Tensor::full(&Device::cpu(), 1.0f32, &[1, 1]).unwrap());
    let sum = own.forward(&Context::eval(), &x).unwrap().sum_all().unwrap();
    let gradients = sum.backward().unwrap();
    drop(sum);
    for mut foreign in [
        Sequential::new().then(layer("a")).then(layer("c")),
        Sequential::new().then(layer("a")),
        Sequential::new().then(layer("a")).then(layer("b")).then(layer("c")),
    ] {
        let before = values(&foreign);
        let refused = optimizer.step(&mut foreign, &gradients, 1.0);
        assert!(matches!(refused, Err(Error::ForeignModel { .. })), "{refused:?}");
        assert_eq!(values(&foreign), before);
    }
    optimizer.step(&mut own, &gradients, 1.0).unwrap();
}

#[test]
fn a_parameter_binds_to_a_leaf_of_its_own_shape_only() {
    let device = Device::cpu();
    let mut parameter = Parameter::new("w".into(), Tensor::full(&device, 1.0f32, &[2]).unwrap());
    let wrong = Var::leaf("w", Tensor::full(&device, 1.0f32, &[3]).unwrap());
    let message = parameter.bind(wrong).unwrap_err().to_string();
    assert!(message.contains("[3]") && message.contains("[2]"), "{message}");
}
