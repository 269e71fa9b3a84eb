//! Normalizations, products of batches and dropout: their gradients, their values where known,
//! and what they refuse.

mod common;

use common::{check, check_batched, input, spread, tensor_bits};
use ringgrad_autograd::{Result, Var};
use tensor::{DType, Device, Tensor};

/// `Σ c · f(x)²` at x = [1, 2, 4] with c = [1, 2, 3]: the gradient with respect to x.
fn gradient_of_weighed_squares(f: impl Fn(&Var) -> Result<Var>) -> Vec<f64> {
    let tensor = |values: &[f64]| Tensor::from_slice(&Device::cpu(), values, &[3]).unwrap();
    let x = Var::leaf("x", tensor(&[1.0, 2.0, 4.0]));
    let y = f(&x).unwrap();
    let squares = (&(&y * &y).unwrap() * &Var::constant(tensor(&[1.0, 2.0, 3.0]))).unwrap();
    let gradients = squares.sum_all().unwrap().backward().unwrap();
    gradients.get(&x).unwrap().to_vec().unwrap()
}

fn near(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() < 5e-8, "{got} {want}");
    }
}

#[test]
fn layer_norm_gradients_agree() {
    let x = || input(&[3, 2, 4], 0.3);
    let (w, b) = (|shape: &[usize]| input(shape, 0.8), |shape: &[usize]| input(shape, 1.4));
    check_batched("layer_norm", &[x(), w(&[4]), b(&[4])], 1, |x| {
        x[0].layer_norm(1, Some(&x[1]), Some(&x[2]), 1e-5)
    });
    check_batched("layer_norm over two axes", &[x(), w(&[2, 4]), b(&[2, 4])], 1, |x| {
        x[0].layer_norm(2, Some(&x[1]), Some(&x[2]), 1e-5)
    });
    check_batched("layer_norm without bias", &[x(), w(&[4])], 1, |x| {
        x[0].layer_norm(1, Some(&x[1]), None, 1e-5)
    });
    check_batched("layer_norm without weight", &[x(), b(&[4])], 1, |x| {
        x[0].layer_norm(1, None, Some(&x[1]), 1e-5)
    });
    check_batched("layer_norm alone", &[x()], 1, |x| x[0].layer_norm(1, None, None, 1e-5));
    check("layer_norm over all axes", &[x()], |x| x[0].layer_norm(3, None, None, 1e-3));
}

#[test]
fn layer_norm_has_the_gradient_that_was_computed_by_hand() {
    let gradient = gradient_of_weighed_squares(|x| x.layer_norm(1, None, None, 1e-5));
    near(&gradient, &[0.7958888, -1.1938760, 0.3979871]);
}

#[test]
fn rms_norm_and_group_norm_gradients_agree() {
    let (x, w) = (input(&[3, 2, 4], 0.3), input(&[4], 0.8));
    check_batched("rms_norm", &[x.clone(), w], 1, |x| x[0].rms_norm(1, Some(&x[1]), 1e-6));
    check_batched("rms_norm over two axes", &[x.clone(), input(&[2, 4], 0.8)], 1, |x| {
        x[0].rms_norm(2, Some(&x[1]), 1e-6)
    });
    check_batched("rms_norm alone", &[x], 1, |x| x[0].rms_norm(1, None, 1e-6));
    let gradient = gradient_of_weighed_squares(|x| x.rms_norm(1, None, 1e-5));
    near(&gradient, &[-0.4897941, -0.4081605, 0.3265346]);
    for shape in [vec![3, 4, 2], vec![2, 4, 3, 3], vec![3, 4]] {
        let inputs = [input(&shape, 0.3), input(&[4], 0.8), input(&[4], 1.4)];
        for groups in [1, 2, 4] {
            if shape.len() == 2 && groups == 4 {
                continue;
            }
            check_batched("group_norm", &inputs, 1, |x| {
                x[0].group_norm(groups, Some(&x[1]), Some(&x[2]), 1e-3)
            });
            check_batched("group_norm alone", &inputs[..1], 1, |x| {
                x[0].group_norm(groups, None, None, 1e-3)
            });
        }
    }
}

#[test]
fn group_norm_and_rms_norm_say_what_does_not_fit() {
    let zeros = |shape: &[usize]| Tensor::zeros(&Device::cpu(), DType::F32, shape).unwrap();
    let says = |y: tensor::Result<Tensor>, parts: &[&str]| {
        let message = y.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    let x = zeros(&[2, 6]);
    says(x.group_norm(4, None, None, 1e-5), &["group_norm", "[2, 6]", "divide"]);
    says(x.group_norm(0, None, None, 1e-5), &["divide"]);
    says(x.group_norm(2, Some(&zeros(&[2])), None, 1e-5), &["[2, 6]", "[2]", "axis 1"]);
    says(zeros(&[6]).group_norm(2, None, None, 1e-5), &["[6]", "channels are axis 1"]);
    says(x.rms_norm(1, Some(&zeros(&[2])), 1e-5), &["rms_norm", "[2, 6]", "[2]"]);
    says(x.rms_norm(1, None, f64::INFINITY), &["eps is inf"]);
    let empty = zeros(&[0, 6]).group_norm(3, None, None, 1e-5).unwrap();
    assert_eq!(empty.shape()[..], [0, 6]);
}

#[test]
fn layer_norm_takes_empty_tensors_halves_and_nothing_that_does_not_fit() {
    let device = Device::cpu();
    let zeros =
        |dtype, shape: &[usize]| Var::leaf("x", Tensor::zeros(&device, dtype, shape).unwrap());
    let w = zeros(DType::F32, &[4]);
    let x = zeros(DType::F32, &[0, 4]);
    let y = x.layer_norm(1, Some(&w), None, 1e-5).unwrap().sum_all().unwrap();
    let gradients = y.backward().unwrap();
    assert_eq!(gradients.get(&w).unwrap().to_vec::<f32>().unwrap(), [0.0; 4]);
    assert_eq!(gradients.get(&x).unwrap().shape()[..], [0, 4]);
    let none = zeros(DType::F64, &[3, 0]);
    assert_eq!(none.layer_norm(1, None, None, 1e-5).unwrap().value().shape()[..], [3, 0]);

    let halves = Tensor::from_slice(&device, &spread(8, 0.4), &[2, 4]).unwrap();
    let halves = Var::leaf("x", halves.cast(DType::BF16).unwrap());
    let y = halves.layer_norm(1, Some(&w), None, 1e-5).unwrap();
    assert_eq!(y.value().dtype(), DType::BF16);

    let x = zeros(DType::F32, &[3, 4]);
    let refused = |y: Result<Var>, parts: &[&str]| {
        let message = y.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    refused(x.layer_norm(0, None, None, 1e-5), &["layer_norm", "[3, 4]", "at least 1"]);
    refused(x.layer_norm(3, None, None, 1e-5), &["at most all"]);
    refused(x.layer_norm(2, Some(&w), None, 1e-5), &["[3, 4]", "[4]", "normalized axes"]);
    refused(x.layer_norm(1, None, None, -1.0), &["eps is -1", "not negative"]);
    refused(x.layer_norm(1, Some(&zeros(DType::F64, &[4])), None, 1e-5), &["f32", "f64"]);
}

#[test]
fn products_of_batches_have_gradients_summed_back_over_what_was_repeated() {
    let shapes: [(&[usize], &[usize]); 12] = [
        (&[2, 3], &[3, 4]),
        (&[3], &[3]),
        (&[3], &[3, 2]),
        (&[2, 3], &[3]),
        (&[3], &[2, 3, 2]),
        (&[2, 2, 3], &[3]),
        (&[2, 2, 3], &[2, 3, 2]),
        (&[2, 2, 3], &[3, 2]),
        (&[2, 3], &[2, 3, 2]),
        (&[2, 1, 2, 3], &[3, 3, 2]),
        (&[1, 2, 3], &[2, 3, 1]),
        (&[2, 1, 1, 3], &[1, 2, 3, 2]),
    ];
    for (left, right) in shapes {
        let name = format!("matmul {left:?} {right:?}");
        check(&name, &[input(left, 0.3), input(right, 0.8)], |x| x[0].matmul(&x[1]));
    }
    let (a, b) = (input(&[3, 2, 4], 0.3), input(&[3, 4, 2], 0.8));
    check_batched("matmul of a batch", &[a.clone(), b], 2, |x| x[0].matmul(&x[1]));
    let shared = input(&[4, 2], 0.8);
    check_batched("matmul with one right operand", &[a, shared], 1, |x| x[0].matmul(&x[1]));
}

#[test]
fn products_without_elements_have_gradients_of_zeros() {
    let shapes: [[&[usize]; 3]; 5] = [
        [&[0, 3], &[3, 4], &[0, 4]],
        [&[2, 0], &[0, 3], &[2, 3]],
        [&[0, 2, 3], &[3, 2], &[0, 2, 2]],
        [&[2, 0, 3], &[2, 3, 2], &[2, 0, 2]],
        [&[0], &[0], &[]],
    ];
    for [left, right, result] in shapes {
        let zeros = |shape| Tensor::zeros(&Device::cpu(), DType::F64, shape).unwrap();
        let (a, b) = (Var::leaf("a", zeros(left)), Var::leaf("b", zeros(right)));
        let y = a.matmul(&b).unwrap();
        assert_eq!(y.value().shape()[..], *result);
        let gradients = y.sum_all().unwrap().backward().unwrap();
        for (leaf, shape) in [(&a, left), (&b, right)] {
            let gradient = gradients.get(leaf).unwrap();
            assert_eq!(gradient.shape()[..], *shape);
            assert!(gradient.to_vec::<f64>().unwrap().iter().all(|&x| x == 0.0));
        }
    }
}

#[test]
fn products_of_halves_are_rounded_once_and_linear_takes_them() {
    let device = Device::cpu();
    let half = |shape: &[usize]| {
        let x = Tensor::from_slice(&device, &spread(shape.iter().product(), 0.4), shape).unwrap();
        Var::leaf("x", x.cast(DType::F16).unwrap())
    };
    let (a, b) = (half(&[2, 3, 40]), half(&[40, 5]));
    let wide = |x: &Var| x.cast(DType::F32).unwrap();
    let want = wide(&a).matmul(&wide(&b)).unwrap().cast(DType::F16).unwrap();
    assert_eq!(tensor_bits(a.matmul(&b).unwrap().value()), tensor_bits(want.value()));
    let (w, bias) = (b.transpose(0, 1).unwrap(), half(&[5]));
    let y = a.linear(&w, Some(&bias)).unwrap();
    assert_eq!((y.value().dtype(), &y.value().shape()[..]), (DType::F16, &[2, 3, 5][..]));
}

#[test]
fn matmul_says_which_axes_clash() {
    let zeros = |shape: &[usize]| Tensor::zeros(&Device::cpu(), DType::F32, shape).unwrap();
    let cases: [(&[usize], &[usize], &[&str]); 5] = [
        (&[2, 3], &[2, 3], &["matmul", "[2, 3] and [2, 3]", "axis 1", "axis 0"]),
        (&[2, 3], &[4], &["[2, 3] and [4]", "axis 0 of the right"]),
        (&[4], &[2, 3, 4], &["axis 0 of the left"]),
        (&[2, 2, 3], &[3, 3, 2], &["[2, 2, 3] and [3, 3, 2]", "before the last two"]),
        (&[], &[3], &["[] and [3]", "scalar"]),
    ];
    for (left, right, parts) in cases {
        let message = zeros(left).matmul(&zeros(right)).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}
