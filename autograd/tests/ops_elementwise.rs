//! Elementwise functions, choices and losses of pairs: gradients, promotion, and the cases that
//! other engines got wrong.

mod common;

use common::{check, check_batched, input, positive_input};
use half::{bf16, f16};
use ringgrad_autograd::Var;
use tensor::{DType, Device, Tensor};

fn vector(values: &[f64]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap()
}

fn leaf(values: &[f64]) -> Var {
    Var::leaf("x", vector(values))
}

fn gradient(y: &Var, of: &Var) -> Vec<f64> {
    y.sum_all().unwrap().backward().unwrap().get(of).unwrap().to_vec().unwrap()
}

#[test]
fn losses_of_pairs_have_gradients_to_both_sides() {
    let probability = |phase| {
        let (values, shape) = positive_input(&[3, 4], phase);
        (values.iter().map(|x| x / 2.5).collect(), shape)
    };
    let pair = [input(&[3, 4], 0.2), input(&[3, 4], 0.7)];
    check_batched("mse_loss", &pair, 2, |x| x[0].mse_loss(&x[1]));
    check_batched("l1_loss", &pair, 2, |x| x[0].l1_loss(&x[1]));
    check_batched("huber_loss", &pair, 2, |x| x[0].huber_loss(&x[1], 0.7));
    let targets = [input(&[3, 4], 0.2), probability(0.5)];
    check_batched("bce_with_logits", &targets, 2, |x| x[0].bce_with_logits(&x[1]));
    check_batched("kl_div", &targets, 2, |x| x[0].kl_div(&x[1]));
    let chances = [probability(0.9), probability(0.5)];
    check_batched("bce_loss", &chances, 2, |x| x[0].bce_loss(&x[1]));
    assert!(leaf(&[1.0]).huber_loss(&leaf(&[0.0]), 0.0).is_err());
}

#[test]
fn operators_take_numbers_and_results() {
    let pair = [input(&[3, 4], 0.2), positive_input(&[4], 0.7)];
    check("a chain", &pair, |x| &x[0] * &x[1] + &x[0]);
    check("numbers", &pair[..1], |x| &(&(&(&x[0] + 2.0)? - 0.5)? * 3.0)? / 4.0);
    check("negation", &pair[..1], |x| -&x[0]);
    let x = leaf(&[1.0, 2.0]);
    let y = (&x - 1.5).unwrap();
    assert_eq!(y.value().to_vec::<f64>().unwrap(), [-0.5, 0.5]);
    let whole = Tensor::from_slice(&Device::cpu(), &[7i64, -3], &[2]).unwrap();
    assert_eq!(
        (&whole * 2.0).unwrap().cast(DType::F64).unwrap().to_vec::<f64>().unwrap(),
        [14.0, -6.0]
    );
}

#[test]
fn kinks_ties_and_zeros_have_the_written_slopes() {
    let x = leaf(&[0.0, -1.0, 3.0]);
    assert_eq!(gradient(&x.abs().unwrap(), &x), [0.0, -1.0, 1.0]);
    assert_eq!(gradient(&x.relu().unwrap(), &x), [0.0, 0.0, 1.0]);
    assert_eq!(gradient(&x.powf(0.0).unwrap(), &x), [0.0; 3]);
    let (base, exponent) = (leaf(&[0.0, 2.0]), leaf(&[1.0, 1.0]));
    let slopes = gradient(&base.pow(&exponent).unwrap(), &exponent);
    assert!(slopes[0] == 0.0 && (slopes[1] - 1.3862943611198906).abs() < 1e-15, "{slopes:?}");
    let (a, b) = (leaf(&[1.0, 2.0]), leaf(&[1.0, 3.0]));
    let larger = a.maximum(&b).unwrap().sum_all().unwrap().backward().unwrap();
    assert_eq!(larger.get(&a).unwrap().to_vec::<f64>().unwrap(), [0.5, 0.0]);
    assert_eq!(larger.get(&b).unwrap().to_vec::<f64>().unwrap(), [0.5, 1.0]);
    let far = leaf(&[200.0, -200.0]);
    assert_eq!(
        gradient(&far.sigmoid().unwrap(), &far),
        [0.0, gradient(&far.sigmoid().unwrap(), &far)[1]]
    );
    assert!(gradient(&far.sigmoid().unwrap(), &far)[1] < 1e-80);
    let targets = Var::constant(vector(&[1.0, 0.0]));
    let losses = far.bce_with_logits(&targets).unwrap();
    assert!(losses.value().to_vec::<f64>().unwrap().iter().all(|x| *x < 1e-80));
}

#[test]
fn a_choice_gives_its_gradient_to_what_was_chosen_and_exactly_zero_to_the_other() {
    let mask = Tensor::from_slice(&Device::cpu(), &[1u8, 0, 1, 0], &[4]).unwrap();
    let pair = [input(&[3, 4], 0.2), input(&[3, 1], 0.7)];
    check_batched("where_mask", &pair, 2, |x| x[0].where_mask(&mask, &x[1]));
    check("masked_fill", &pair[..1], |x| x[0].masked_fill(&mask, -5.0));
    check("masked_select", &[input(&[4], 0.3)], |x| x[0].masked_select(&mask));
    let (x, y) = (leaf(&[0.0, 0.0, 4.0, 0.0]), leaf(&[f64::NAN, 1.0, f64::INFINITY, 2.0]));
    let z = x.where_mask(&mask, &y).unwrap();
    assert_eq!(z.value().to_vec::<f64>().unwrap(), [0.0, 1.0, 4.0, 2.0]);
    let grads = z.sum_all().unwrap().backward().unwrap();
    assert_eq!(grads.get(&x).unwrap().to_vec::<f64>().unwrap(), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(grads.get(&y).unwrap().to_vec::<f64>().unwrap(), [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn two_types_meet_in_the_promoted_one_and_gradients_go_back_to_each() {
    let device = Device::cpu();
    let single = Var::leaf("x", Tensor::from_slice(&device, &[1.5f32, 2.0], &[2]).unwrap());
    let double = leaf(&[2.0, 4.0]);
    let z = (&single * &double).unwrap();
    assert_eq!(z.value().dtype(), DType::F64);
    let grads = z.sum_all().unwrap().backward().unwrap();
    assert_eq!(grads.get(&single).unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!(grads.get(&double).unwrap().to_vec::<f64>().unwrap(), [1.5, 2.0]);
    let whole = Tensor::from_slice(&device, &[3i64, 2], &[2]).unwrap();
    let z = (&single / &Var::constant(whole.clone())).unwrap();
    assert_eq!(
        (z.value().dtype(), z.value().to_vec::<f32>().unwrap()),
        (DType::F32, vec![0.5, 1.0])
    );
    let sum = (&whole + &whole).unwrap();
    assert_eq!((sum.dtype(), sum.to_vec::<i64>().unwrap()), (DType::I64, vec![6, 4]));
    let quotient = (&whole / &sum).unwrap();
    assert_eq!((quotient.dtype(), quotient.to_vec::<f32>().unwrap()), (DType::F32, vec![0.5, 0.5]));
    let bytes = Tensor::from_slice(&device, &[200u8, 100], &[2]).unwrap();
    assert_eq!((&bytes + &bytes).unwrap().to_vec::<u8>().unwrap(), [144, 200]);
}

#[test]
fn halves_are_computed_in_f32_and_rounded_once() {
    let device = Device::cpu();
    let half = |x: f32| f16::from_f32(x);
    let x = Tensor::from_slice(&device, &[half(300.0), half(1.0)], &[2]).unwrap();
    // 300² overflows a half; the square root of the f32 square would not be seen here.
    assert_eq!((&x * &x).unwrap().to_vec::<f16>().unwrap(), [f16::INFINITY, f16::ONE]);
    let y = Tensor::from_slice(&device, &[bf16::from_f32(0.5); 2], &[2]).unwrap();
    let z = (&x * &y).unwrap();
    assert_eq!((z.dtype(), z.to_vec::<f32>().unwrap()), (DType::F32, vec![150.0, 0.5]));
    let leaf = Var::leaf("w", Tensor::from_slice(&device, &[2.0f32, 3.0], &[2]).unwrap());
    let low = (&leaf.cast(DType::F16).unwrap() * &Var::constant(x)).unwrap();
    assert_eq!(low.value().dtype(), DType::F16);
    let loss = low.cast(DType::F32).unwrap().sum_all().unwrap();
    let grads = loss.backward().unwrap();
    assert_eq!(grads.get(&leaf).unwrap().to_vec::<f32>().unwrap(), [300.0, 1.0]);
}
