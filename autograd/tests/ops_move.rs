//! Views and movements: gradients, layouts, and the cases that other engines got wrong.

mod common;

use common::{check, check_batched, input};
use ringgrad_autograd::{Result, Var};
use tensor::{Device, Tensor};

fn ints(values: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
}

fn vector(values: &[f64]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap()
}

fn gradient(loss: &Var, of: &Var) -> Vec<f64> {
    loss.backward().unwrap().get(of).unwrap().to_vec().unwrap()
}

#[test]
fn views_move_gradients_back() {
    let x = [input(&[3, 4, 2], 0.3)];
    check("reshape_infer", &x, |x| x[0].reshape_infer(&[Some(2), None]));
    check_batched("unsqueeze", &x, 1, |x| x[0].unsqueeze(2));
    check_batched("squeeze", &[input(&[3, 1, 2], 0.1)], 1, |x| x[0].squeeze(1));
    check_batched("flatten", &x, 1, |x| x[0].flatten(1, 2));
    check_batched("slice", &x, 1, |x| x[0].slice(1, 1..4, 2));
    check_batched("select", &x, 1, |x| x[0].select(1, 3));
    check("repeat", &x, |x| x[0].repeat(&[2, 3, 1]));
    check("repeat with more axes", &[input(&[2, 3], 0.4)], |x| x[0].repeat(&[2, 1, 2]));
}

#[test]
fn copies_move_gradients_back() {
    let x = [input(&[3, 4, 2], 0.3)];
    check("flip", &x, |x| x[0].flip(&[0, 2]));
    check_batched("flip of an inner axis", &x, 1, |x| x[0].flip(&[1]));
    check("roll", &x, |x| x[0].roll(0, -4));
    check_batched("pad", &x, 1, |x| x[0].pad(&[[0, 0], [2, 0], [1, 3]], 0.5));
    check_batched("tril", &x, 1, |x| x[0].tril(-1));
    check_batched("triu", &x, 1, |x| x[0].triu(1));
    let parts = [input(&[2, 3], 0.1), input(&[2, 1], 0.5), input(&[2, 0], 0.2)];
    check_batched("cat", &parts, 3, |x| Var::cat(&[&x[0], &x[1], &x[2]], 1));
    let pair = [input(&[2, 3], 0.1), input(&[2, 3], 0.5)];
    check("stack", &pair, |x| Var::stack(&[&x[0], &x[1]], 2));
    check("the middle of three chunks", &[input(&[2, 7], 0.1)], |x| {
        Ok(x[0].chunk(3, 1)?.swap_remove(1))
    });
    check("split", &[input(&[5, 2], 0.1)], |x| Ok(x[0].split(&[1, 4], 0)?.swap_remove(1)));
}

#[test]
fn picks_by_index_add_their_gradients_up() {
    let x = [input(&[4, 3], 0.3)];
    check("index_select", &x, |x| x[0].index_select(0, &ints(&[2, 0, 2, 3, 2], &[5])));
    check_batched("index_select of columns", &x, 1, |x| x[0].index_select(1, &ints(&[1, 1], &[2])));
    check("gather", &x, |x| x[0].gather(1, &ints(&[0, 2, 2, 1, 1, 1], &[3, 2])));
    let pair = [input(&[4, 3], 0.3), input(&[4, 2], 0.8)];
    check("scatter_add", &pair, |x| {
        x[0].scatter_add(1, &ints(&[0, 0, 2, 1, 1, 1, 0, 2], &[4, 2]), &x[1])
    });
    let x = Var::leaf("x", vector(&[1.0, 2.0, 3.0]));
    let picked = x.gather(0, &ints(&[1, 1, 2], &[3])).unwrap().sum_all().unwrap();
    assert_eq!(gradient(&picked, &x), [0.0, 2.0, 1.0]);
}

#[test]
fn the_gradient_of_a_part_goes_to_its_input_also_beside_constants_and_empty_parts() {
    let (a, b) = (Var::constant(vector(&[1.0, 2.0])), Var::leaf("b", vector(&[5.0])));
    let empty = Var::constant(Tensor::zeros(&Device::cpu(), tensor::DType::F64, &[0]).unwrap());
    let all = Var::cat(&[&a, &empty, &b], 0).unwrap();
    let weights = Var::constant(vector(&[1.0, 2.0, 3.0]));
    assert_eq!(gradient(&(&all * &weights).unwrap().sum_all().unwrap(), &b), [3.0]);
    let x = Var::leaf(
        "x",
        Tensor::from_vec(&Device::cpu(), vec![1.0, 7.0, -2.0, -3.0], &[2, 2]).unwrap(),
    );
    let twice = x.repeat(&[2, 1]).unwrap().sum_all().unwrap();
    assert_eq!(gradient(&twice, &x), [2.0; 4]);
    let none = x.index_select(0, &ints(&[], &[0])).unwrap().sum_all().unwrap();
    assert_eq!(gradient(&none, &x), [0.0; 4]);
}

#[test]
fn impossible_movements_name_the_operation_both_sides_and_the_rule() {
    let x = Var::leaf("x", Tensor::from_vec(&Device::cpu(), vec![0.0; 6], &[2, 3]).unwrap());
    let refused = |result: Result<Var>, parts: &[&str]| {
        let message = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    refused(
        x.index_select(1, &ints(&[0, 3], &[2])),
        &["index_select", "index 3", "0..3", "axis 1"],
    );
    refused(x.index_select(1, &ints(&[-1], &[1])), &["index -1"]);
    refused(x.gather(0, &ints(&[0; 4], &[1, 4])), &["gather", "[2, 3]", "[1, 4]"]);
    refused(x.gather(0, &ints(&[2; 3], &[1, 3])), &["gather", "index 2", "0..2"]);
    refused(Var::cat(&[&x, &x.narrow(1, 0, 2).unwrap()], 0), &["cat", "[2, 3]", "[2, 2]"]);
    refused(Var::cat(&[], 0), &["cat", "at least one part"]);
    refused(x.squeeze(0), &["squeeze", "[2, 3]", "length 1"]);
    refused(x.reshape_infer(&[None, None]), &["reshape_infer", "at most one"]);
    refused(x.slice(1, 0..3, 0), &["slice", "at least 1"]);
    refused(x.pad(&[[1, 1]], 0.0), &["pad", "one [before, after] an axis"]);
    refused(x.flip(&[2]), &["flip", "axis 2"]);
    refused(x.roll(5, 1), &["roll", "axis 5"]);
    refused(x.repeat(&[2]), &["repeat", "each axis"]);
    assert!(x.value().chunk(0, 0).is_err() && x.value().split(&[1, 1, 1], 0).is_err());
}
