//! Normalizations, products of batches and dropout: their gradients, their values where known,
//! and what they refuse.

mod common;

use common::{check, check_batched, input, spread};
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
