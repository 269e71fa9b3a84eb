//! Faults that users of other engines reported, as gradients with their right values. Further ones
//! stand beside the operations that they are about, in `ops_*.rs`, `engine.rs` and `deep.rs`.

use ringgrad_autograd::Var;
use tensor::{ConvSettings, DType, Device, Tensor};

fn tensor(values: &[f64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
}

fn leaf(values: &[f64], shape: &[usize]) -> Var {
    Var::leaf("x", tensor(values, shape))
}

fn singles(values: &[f32]) -> Var {
    Var::leaf("x", Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap())
}

fn f64s(x: &Tensor) -> Vec<f64> {
    x.cast(DType::F64).unwrap().to_vec().unwrap()
}

/// The gradient of Σ y with respect to `of`.
fn slopes(y: &Var, of: &Var) -> Vec<f64> {
    f64s(y.sum_all().unwrap().backward().unwrap().get(of).unwrap())
}

fn near(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{got:?}");
    let close = got.iter().zip(want).all(|(got, want)| (got - want).abs() < tolerance);
    assert!(close, "{got:?}, wanted {want:?}");
}

#[test]
fn a_gradient_lost_without_an_error_softmax_of_the_last_axis() {
    let x = leaf(&[1.0, 2.0, 4.0], &[3]);
    let y = x.softmax(0).unwrap();
    let weights = Var::constant(tensor(&[1.0, 2.0, 3.0], &[3]));
    let loss = (&(&y * &y).unwrap() * &weights).unwrap();
    near(&slopes(&loss, &x), &[-0.1782743, -0.4420323, 0.6203066], 5e-8);
}

#[test]
fn nan_where_the_slope_is_finite_a_power_of_zero() {
    let (base, exponent) = (leaf(&[0.0, 0.0], &[2]), leaf(&[2.0, 0.0], &[2]));
    let y = base.pow(&exponent).unwrap();
    assert_eq!(f64s(y.value()), [0.0, 1.0]);
    assert_eq!(slopes(&y, &exponent), [0.0, 0.0]);
    assert_eq!(slopes(&y, &base), [0.0, 0.0]);
}

#[test]
fn nan_where_the_slope_is_finite_activations_far_from_zero() {
    let x = leaf(&[0.0, 200.0, -200.0, 1000.0, -1000.0], &[5]);
    near(&slopes(&x.silu().unwrap(), &x), &[0.5, 1.0, 0.0, 1.0, 0.0], 1e-12);
    near(&slopes(&x.sigmoid().unwrap(), &x), &[0.25, 0.0, 0.0, 0.0, 0.0], 1e-12);
    near(&slopes(&x.elu(1.0).unwrap(), &x), &[1.0, 1.0, 0.0, 1.0, 0.0], 1e-12);
    near(&slopes(&x.softplus().unwrap(), &x), &[0.5, 1.0, 0.0, 1.0, 0.0], 1e-12);
    near(&slopes(&x.gelu().unwrap(), &x), &[0.5, 1.0, 0.0, 1.0, 0.0], 1e-12);
    let zero = leaf(&[0.0; 5], &[5]);
    assert_eq!(slopes(&x.maximum(&zero).unwrap(), &x), [0.5, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(slopes(&x.minimum(&zero).unwrap(), &x), [0.5, 0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn nan_where_the_slope_is_zero_the_norm_of_zeros_though_its_root_has_none() {
    let x = leaf(&[0.0, 0.0], &[2]);
    assert_eq!(slopes(&x.norm(0, false).unwrap(), &x), [0.0, 0.0]);
    assert_eq!(slopes(&x.sqrt().unwrap(), &x), [f64::INFINITY; 2]);
}

#[test]
fn nan_through_the_branch_that_was_not_chosen_unless_chosen_twice() {
    let x = leaf(&[0.0, 4.0], &[2]);
    let positive = x.value().gt(&tensor(&[0.0], &[])).unwrap();
    let [zero, one] = [0.0, 1.0].map(|number| Var::constant(tensor(&[number], &[])));
    let once = x.sqrt().unwrap().where_mask(&positive, &zero).unwrap();
    assert_eq!(f64s(once.value()), [0.0, 2.0]);
    let got = slopes(&once, &x);
    assert!(got[0].is_nan() && got[1] == 0.25, "{got:?}");
    let inside = x.where_mask(&positive, &one).unwrap();
    let twice = inside.sqrt().unwrap().where_mask(&positive, &zero).unwrap();
    assert_eq!(f64s(twice.value()), [0.0, 2.0]);
    assert_eq!(slopes(&twice, &x), [0.0, 0.25]);
}

#[test]
fn nan_or_infinite_losses_binary_cross_entropy_of_large_logits() {
    let x = singles(&[200.0, -200.0, 20.0]);
    let targets = Tensor::from_slice(&Device::cpu(), &[1.0f32, 0.0, 0.0], &[3]).unwrap();
    let y = x.bce_with_logits(&Var::constant(targets)).unwrap();
    assert_eq!(f64s(y.value()), [0.0, 0.0, 20.0]);
    assert_eq!(slopes(&y, &x), [0.0, 0.0, 1.0]);
}

#[test]
fn infinite_losses_binary_cross_entropy_of_certain_probabilities() {
    let p = leaf(&[0.0, 1.0, 0.0, 1.0], &[4]);
    let y = p.bce_loss(&Var::constant(tensor(&[0.0, 1.0, 1.0, 0.0], &[4]))).unwrap();
    assert_eq!(f64s(y.value()), [0.0, 0.0, 100.0, 100.0]);
    assert!(slopes(&y, &p).iter().all(|slope| slope.is_finite()));
}

#[test]
fn probabilities_taken_for_logits() {
    let x = leaf(&[0.2, 0.3, 0.5], &[1, 3]);
    let target = Tensor::from_slice(&Device::cpu(), &[1i64], &[1]).unwrap();
    let ones = tensor(&[1.0], &[1]);
    let of_probabilities = x.ln().unwrap().nll_loss(&target, &ones).unwrap();
    let of_logits = x.cross_entropy(&target).unwrap();
    near(&f64s(of_probabilities.value()), &[1.203_972_804_325_936], 1e-14);
    near(&f64s(of_logits.value()), &[1.139_831_060_844_460_2], 1e-14);
}

#[test]
fn a_gradient_not_summed_back_over_broadcast_axes() {
    let (left, right) = (leaf(&[1.0; 6], &[2, 1, 3]), leaf(&[1.0; 4], &[4, 1]));
    let y = (&left * &right).unwrap();
    assert_eq!(y.value().shape()[..], [2, 4, 3]);
    assert_eq!(slopes(&y, &left), [4.0; 6]);
    assert_eq!(slopes(&y, &right), [6.0; 4]);
    let (one, none) = (leaf(&[1.0], &[1]), leaf(&[], &[0]));
    let empty = (&one + &none).unwrap();
    assert_eq!(empty.value().shape()[..], [0]);
    assert_eq!((slopes(&empty, &one), slopes(&empty, &none)), (vec![0.0], vec![]));
}

#[test]
fn a_replaced_gradient_added_to_the_old_one() {
    let x = leaf(&[1.0, 1.0], &[2]);
    let y = x.with_hook(|_| Ok(Some(tensor(&[2.0, 2.0], &[2]))));
    assert_eq!(slopes(&y, &x), [2.0, 2.0]);
}

#[test]
fn scattered_terms_fewer_than_the_elements_they_meet() {
    let (x, source) = (leaf(&[1.0, 2.0, 3.0], &[3]), leaf(&[10.0, 20.0], &[2]));
    let index = Tensor::from_slice(&Device::cpu(), &[2i64, 2], &[2]).unwrap();
    let y = x.scatter_add(0, &index, &source).unwrap();
    assert_eq!(f64s(y.value()), [1.0, 2.0, 33.0]);
    let weighed = (&y * &Var::constant(tensor(&[1.0, 2.0, 3.0], &[3]))).unwrap();
    assert_eq!(slopes(&weighed, &x), [1.0, 2.0, 3.0]);
    assert_eq!(slopes(&weighed, &source), [3.0, 3.0]);
}

#[test]
fn the_size_of_a_transposed_convolution_and_the_weight_of_strided_points() {
    let halving = ConvSettings { stride: [2, 2], padding: [1, 1], ..Default::default() };
    let (x, w) = (leaf(&[1.0; 16], &[1, 1, 4, 4]), leaf(&[1.0; 9], &[1, 1, 3, 3]));
    let y = x.conv_transpose2d(&w, None, halving, [1, 1]).unwrap();
    assert_eq!(y.value().shape()[..], [1, 1, 8, 8]);
    let back = y.conv2d(&w, None, halving).unwrap();
    assert_eq!(back.value().shape()[..], [1, 1, 4, 4]);
    let x = leaf(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], &[1, 1, 3, 3]);
    let point = leaf(&[2.0], &[1, 1, 1, 1]);
    let strided = ConvSettings { stride: [2, 2], ..Default::default() };
    let y = x.conv2d(&point, None, strided).unwrap();
    assert_eq!(f64s(y.value()), [2.0, 6.0, 14.0, 18.0]);
    assert_eq!(slopes(&y, &point), [20.0]);
    assert_eq!(slopes(&y, &x), [2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0]);
}

#[test]
fn a_layer_with_one_output_on_one_sample_without_a_batch() {
    let (x, w) = (leaf(&[1.0, 2.0, 3.0], &[3]), leaf(&[1.0, -1.0, 2.0], &[1, 3]));
    let y = x.linear(&w, Some(&leaf(&[0.5], &[1]))).unwrap();
    assert_eq!((&y.value().shape()[..], f64s(y.value())), (&[1][..], vec![5.5]));
    assert_eq!(slopes(&y, &w), [1.0, 2.0, 3.0]);
}

#[test]
fn an_empty_batch_of_a_loss() {
    let logits = leaf(&[], &[0, 3]);
    let targets = Tensor::from_slice::<i64>(&Device::cpu(), &[], &[0]).unwrap();
    let loss = logits.cross_entropy(&targets).unwrap();
    assert_eq!(f64s(loss.value()), [0.0]);
    assert_eq!(loss.backward().unwrap().get(&logits).unwrap().shape()[..], [0, 3]);
}

#[test]
fn gradients_that_keep_their_graph_alive() {
    let device = Device::cpu();
    let x = Var::leaf("x", Tensor::full(&device, 0.5f64, &[64]).unwrap());
    let before = device.live_bytes();
    let gradients = {
        let y = x.exp().unwrap().tanh().unwrap().sum_all().unwrap();
        y.backward().unwrap()
    };
    // One gradient of 64 f64, and the pool's rounding; a graph would hold two more.
    let kept = device.live_bytes() - before;
    assert!((512..1024).contains(&kept), "{kept} bytes");
    drop(gradients);
    assert_eq!(device.live_bytes(), before);
}

/// 200 steps of gradient descent of a graph of its own.
fn descent(seed: u64) -> Vec<u64> {
    let device = Device::cpu();
    let start: Vec<f64> = (0..12).map(|i| ((seed * 31 + i * 7) % 13) as f64 / 13.0).collect();
    let mut w = Tensor::from_slice(&device, &start, &[3, 4]).unwrap();
    for _ in 0..200 {
        let leaf = Var::leaf("w", w.clone());
        let h = leaf.matmul(&leaf.transpose(0, 1).unwrap()).unwrap().tanh().unwrap();
        let gradients = h.square().unwrap().mean(.., false).unwrap().backward().unwrap();
        w = (&w - &(gradients.get(&leaf).unwrap() * 0.1).unwrap()).unwrap();
    }
    f64s(&w).iter().map(|x| x.to_bits()).collect()
}

#[test]
fn graphs_of_several_threads_that_meet_in_one_tape() {
    let alone: Vec<_> = (0..8).map(descent).collect();
    assert_ne!(alone[0], alone[1]);
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || descent(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(together, alone);
}
