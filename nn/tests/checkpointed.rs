//! A checkpointed part of a model computes what the plain one does, and keeps less.

use autograd::Var;
use ringgrad_nn::optim::{Optimizer, sgd};
use ringgrad_nn::{
    BatchNorm1d, Checkpointed, Context, Dropout, Error, Init, Linear, Module, Relu, Sequential,
    Summary, mse_loss, named_state, summary, update_buffers,
};
use tensor::{Device, Tensor};

fn tensor(shape: &[usize]) -> Tensor {
    let values = (0..shape.iter().product()).map(|i| (0.7 * i as f32).sin()).collect();
    Tensor::from_vec(&Device::cpu(), values, shape).unwrap()
}

fn part(init: &Init) -> Sequential {
    Sequential::new()
        .then(Linear::new(&init.at("in"), 5, 8).unwrap())
        .then(BatchNorm1d::new(&init.at("norm"), 8).unwrap())
        .then(Relu)
        .then(Dropout::new(&init.at("dropout"), 0.5))
}

fn model(checkpointed: bool) -> Sequential {
    let init = Init::new(&Device::cpu(), 3);
    let head = Linear::new(&init.at("head"), 8, 2).unwrap();
    match checkpointed {
        true => Sequential::new().then(Checkpointed::new(part(&init))).then(head),
        false => Sequential::new().then(part(&init)).then(head),
    }
}

/// Bits of everything that three steps leave behind.
fn trained(mut model: Sequential) -> Vec<Vec<u32>> {
    let mut optimizer = Optimizer::new(&mut model, sgd(0.1).momentum(0.9)).unwrap();
    let (x, y) = (Var::constant(tensor(&[6, 5])), Var::constant(tensor(&[6, 2])));
    for step in 0..3 {
        let cx = Context::train(step, 6 * step).with_seed(7);
        let gradients = {
            let output = model.forward(&cx, &x).unwrap();
            mse_loss(&output, &y).unwrap().backward().unwrap()
        };
        optimizer.step(&mut model, &gradients, 12.0).unwrap();
        update_buffers(&mut model, &cx).unwrap();
    }
    let bits = |value: &Tensor| value.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits);
    named_state(&model).iter().map(|(_, value)| bits(value).collect()).collect()
}

#[test]
fn steps_dropout_and_running_statistics_have_the_bits_of_the_plain_module() {
    let (plain, checkpointed) = (trained(model(false)), trained(model(true)));
    assert_eq!(plain, checkpointed);
    assert_eq!(plain.len(), 8);
}

#[test]
fn the_graph_keeps_one_operation_for_the_whole_part() {
    let graph = |model: Sequential| {
        let output = model.forward(&Context::train(0, 0), &Var::constant(tensor(&[6, 5]))).unwrap();
        output.to_dot()
    };
    let (plain, checkpointed) = (graph(model(false)), graph(model(true)));
    assert!(plain.contains("dropout") && !plain.contains("checkpoint"), "{plain}");
    assert!(checkpointed.contains("checkpoint") && !checkpointed.contains("dropout"));
    for name in ["in.weight", "norm.bias", "head.weight"] {
        assert!(checkpointed.contains(name), "{checkpointed}");
    }
}

#[test]
fn a_summary_sees_the_parts_inside_once() {
    let names = |model: Sequential| {
        let Summary { parts, .. } =
            summary(&model, &Context::eval(), &Var::constant(tensor(&[6, 5]))).unwrap();
        parts.into_iter().map(|part| part.description).collect::<Vec<_>>()
    };
    let checkpointed = names(model(true));
    let inside: Vec<_> =
        checkpointed.iter().filter(|name| *name != "Checkpointed").cloned().collect();
    assert_eq!(inside, names(model(false)));
}

#[test]
fn a_step_between_forward_and_backward_and_a_wrong_input_are_errors() {
    let mut model = model(true);
    let mut optimizer = Optimizer::new(&mut model, sgd(0.1)).unwrap();
    let (x, y) = (Var::constant(tensor(&[6, 5])), Var::constant(tensor(&[6, 2])));
    let loss = |model: &Sequential| {
        mse_loss(&model.forward(&Context::train(0, 0), &x).unwrap(), &y).unwrap()
    };
    let early = loss(&model);
    let gradients = loss(&model).backward().unwrap();
    let stepped = optimizer.step(&mut model, &gradients, 12.0);
    let late = early.backward();
    assert!(stepped.is_err() || late.is_err(), "neither the step nor the late backward fails");
    let narrow = Var::constant(tensor(&[6, 4]));
    let error = model.forward(&Context::train(0, 0), &narrow).unwrap_err();
    assert!(matches!(error, Error::Autograd(_)) && error.to_string().contains("[6, 4]"));
}
