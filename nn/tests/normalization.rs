//! Layers that normalize and drop out: their parameters and buffers, training and evaluation.

use autograd::Var;
use ringgrad_nn::{
    BatchNorm1d, BatchNorm2d, Context, Dropout, GroupNorm, Init, LayerNorm, Linear, Module, Relu,
    RmsNorm, Sequential, bn_mlp, cross_entropy, named_state, update_buffers,
};
use tensor::{DType, Device, Tensor};

fn init() -> Init {
    Init::new(&Device::cpu(), 1)
}

fn numbers(shape: &[usize]) -> Var {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| (1.3 * i as f32 + 0.4).sin() + 0.1).collect();
    Var::constant(Tensor::from_vec(&Device::cpu(), values, shape).unwrap())
}

fn values(x: &Tensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

fn names(model: &dyn Module) -> Vec<String> {
    named_state(model).into_iter().map(|(name, _)| name).collect()
}

fn weighed(y: &Var) -> Var {
    (y * &numbers(y.value().shape())).unwrap().sum_all().unwrap()
}

#[test]
fn every_parameter_beside_a_layer_norm_gets_a_gradient() {
    let model = Sequential::new()
        .then(Linear::new(&init().at(0), 5, 4).unwrap())
        .then(LayerNorm::new(&init().at(1), 4).unwrap())
        .then(Linear::new(&init().at(2), 4, 3).unwrap());
    let y = model.forward(&Context::train(0, 0), &numbers(&[6, 5])).unwrap();
    let gradients = weighed(&y).backward().unwrap();
    let mut count = 0;
    model.visit(&mut |parameter| {
        let gradient = values(gradients.get(parameter.var()).unwrap());
        assert!(gradient.iter().any(|&g| g.abs() > 1e-4), "{}: {gradient:?}", parameter.name());
        count += 1;
    });
    assert_eq!(count, 6);
}

#[test]
fn layers_have_the_names_of_pytorch_and_say_what_they_are() {
    let layers: [(Box<dyn Module>, &str, &[&str]); 6] = [
        (
            Box::new(LayerNorm::over(&init(), &[2, 4]).unwrap()),
            "LayerNorm([2, 4])",
            &["weight", "bias"],
        ),
        (Box::new(RmsNorm::new(&init(), 4).unwrap()), "RmsNorm(4)", &["weight"]),
        (
            Box::new(GroupNorm::new(&init(), 2, 4).unwrap()),
            "GroupNorm(2 groups, 4 channels)",
            &["weight", "bias"],
        ),
        (
            Box::new(BatchNorm1d::new(&init(), 4).unwrap()),
            "BatchNorm1d(4)",
            &["weight", "bias", "running_mean", "running_var"],
        ),
        (
            Box::new(BatchNorm2d::new(&init(), 4).unwrap()),
            "BatchNorm2d(4)",
            &["weight", "bias", "running_mean", "running_var"],
        ),
        (Box::new(Dropout::new(&init(), 0.25)), "Dropout(0.25)", &[]),
    ];
    let inputs: [&[usize]; 6] = [&[3, 2, 4], &[3, 4], &[3, 4, 2], &[3, 4], &[3, 4, 2, 2], &[3, 4]];
    for ((layer, text, wanted), input) in layers.iter().zip(inputs) {
        assert_eq!(layer.describe(), *text);
        assert_eq!(names(layer), *wanted);
        let y = layer.forward(&Context::train(0, 0), &numbers(input)).unwrap();
        assert_eq!(y.value().shape()[..], *input);
    }
    let model = bn_mlp(&init(), 6, 5, 3).unwrap();
    let wanted = [
        "fc1.weight",
        "fc1.bias",
        "bn.weight",
        "bn.bias",
        "fc2.weight",
        "fc2.bias",
        "bn.running_mean",
        "bn.running_var",
    ];
    assert_eq!(names(&model), wanted);
}

#[test]
fn running_statistics_move_once_when_they_are_applied_and_serve_the_evaluation() {
    let mut layer = BatchNorm1d::new(&init(), 2).unwrap();
    let x = Var::constant(
        Tensor::from_vec(&Device::cpu(), vec![1.0f32, 0.0, 3.0, 0.0, 8.0, 0.0], &[3, 2]).unwrap(),
    );
    let cx = Context::train(0, 0);
    let y = layer.forward(&cx, &x).unwrap();
    let state = |layer: &BatchNorm1d| -> Vec<Vec<f32>> {
        named_state(layer)[2..].iter().map(|(_, value)| values(value)).collect()
    };
    assert_eq!(state(&layer), [[0.0, 0.0], [1.0, 1.0]], "a forward moves nothing");
    update_buffers(&mut layer, &cx).unwrap();
    // Mean 4, unbiased variance 13.
    assert_eq!(state(&layer), [[0.4, 0.0], [2.2, 0.9]]);
    update_buffers(&mut layer, &cx).unwrap();
    assert_eq!(state(&layer)[0], [0.4, 0.0], "records are applied once");
    let eval = Context::eval();
    let used = values(layer.forward(&eval, &x).unwrap().value());
    assert!((used[0] - 0.6 / (2.2f32 + 1e-5).sqrt()).abs() < 1e-6, "{used:?}");
    assert_ne!(used, values(y.value()));
    update_buffers(&mut layer, &eval).unwrap();
    assert_eq!(state(&layer)[0], [0.4, 0.0], "an evaluation records nothing");
    layer.forward(&cx, &x).unwrap();
    let mut other = LayerNorm::new(&init(), 2).unwrap();
    let message = update_buffers(&mut other, &cx).unwrap_err().to_string();
    assert!(message.contains("running_mean"), "{message}");
}

#[test]
fn batch_norm_refuses_one_value_a_channel_in_training_only_and_other_axes() {
    let layer = BatchNorm1d::new(&init(), 3).unwrap();
    let refused =
        |cx: &Context, shape: &[usize]| layer.forward(cx, &numbers(shape)).unwrap_err().to_string();
    let train = Context::train(0, 0);
    assert!(refused(&train, &[1, 3]).contains("more than one value"));
    assert!(refused(&train, &[2, 3, 2, 2]).contains("BatchNorm1d takes"));
    assert!(layer.forward(&Context::eval(), &numbers(&[1, 3])).is_ok());
    assert!(layer.forward(&train, &numbers(&[1, 3, 2])).is_ok());
    let planes = BatchNorm2d::new(&init(), 3).unwrap();
    let message = planes.forward(&train, &numbers(&[2, 3])).unwrap_err().to_string();
    assert!(message.contains("BatchNorm2d takes"), "{message}");
}

#[test]
fn dropout_depends_on_seed_path_step_and_place_but_not_on_the_cut() {
    let layer = Dropout::new(&init().at("drop"), 0.5);
    let x = Var::constant(Tensor::full(&Device::cpu(), 1.0f32, &[6, 2, 4]).unwrap());
    let run = |layer: &Dropout, cx: Context, start: usize, len: usize| {
        let part = x.narrow(0, start, len).unwrap();
        values(layer.forward(&cx, &part).unwrap().value())
    };
    let whole = run(&layer, Context::train(3, 10).with_seed(7), 0, 6);
    let cut: Vec<f32> = [(0, 1), (1, 2), (3, 3)]
        .into_iter()
        .flat_map(|(start, len)| {
            let cx = Context::train(3, 10 + start as u64).with_seed(7);
            run(&layer, cx, start, len)
        })
        .collect();
    assert_eq!(cut, whole);
    let others = [
        run(&layer, Context::train(3, 10), 0, 6),
        run(&layer, Context::train(4, 10).with_seed(7), 0, 6),
        run(&layer, Context::train(3, 11).with_seed(7), 0, 6),
        run(&Dropout::new(&init().at("other"), 0.5), Context::train(3, 10).with_seed(7), 0, 6),
    ];
    assert!(others.iter().all(|other| *other != whole));
    assert_eq!(run(&layer, Context::eval(), 0, 6), [1.0; 48]);
}

#[test]
fn a_network_with_batch_norm_learns_and_evaluates_with_what_it_has_seen() {
    let mut model = bn_mlp(&init().dtype(DType::F64), 4, 6, 2).unwrap();
    let x = Var::constant(numbers(&[16, 4]).value().cast(DType::F64).unwrap());
    let features = x.value().to_vec::<f64>().unwrap();
    let classes = features.chunks(4).map(|x| i64::from(x[0] > 0.3 * x[1])).collect();
    let y = Tensor::from_vec(&Device::cpu(), classes, &[16]).unwrap();
    let mut losses = Vec::new();
    for step in 0..150 {
        let cx = Context::train(step, 0);
        let loss = cross_entropy(&model.forward(&cx, &x).unwrap(), &y).unwrap();
        losses.push(loss.mean().unwrap());
        let gradients = loss.backward().unwrap();
        model.visit_mut(&mut |parameter| {
            let step = Tensor::scalar(&Device::cpu(), 0.02f64);
            let moved = (gradients.get(parameter.var()).unwrap() * &step).unwrap();
            let value = (parameter.value() - &moved).unwrap();
            let leaf = Var::leaf(parameter.name(), value);
            parameter.bind(leaf).unwrap();
        });
        update_buffers(&mut model, &cx).unwrap();
    }
    assert!(losses[149] < 0.3 * losses[0], "{} {}", losses[0], losses[149]);
    let eval = cross_entropy(&model.forward(&Context::eval(), &x).unwrap(), &y).unwrap();
    assert!(eval.mean().unwrap() < 0.5 * losses[0], "{}", eval.mean().unwrap());
    assert_eq!(Relu.describe(), "Relu");
}
