//! Gradients of reductions, softmax, scans and sorts: central differences, kinks and halves.

mod common;

use common::{Input, check, check_batched, input, positive_input};
use ringgrad_autograd::Var;
use tensor::{Axes, DType, Device, Tensor};

/// Every kind of axes: one, neighbours, others, all, none.
fn axes() -> [Axes; 8] {
    [
        0.into(),
        1.into(),
        2.into(),
        [1, 2].into(),
        [2, 0].into(),
        (..).into(),
        [].into(),
        [0, 1].into(),
    ]
}

fn block() -> [Input; 1] {
    [input(&[2, 3, 4], 0.2)]
}

#[test]
fn reductions_have_their_gradients_along_any_axes() {
    for axes in axes() {
        for keep in [false, true] {
            check("sum", &block(), |x| x[0].sum(axes, keep));
            check("mean", &block(), |x| x[0].mean(axes, keep));
            check("norm", &block(), |x| x[0].norm(axes, keep));
            check("logsumexp", &block(), |x| x[0].logsumexp(axes, keep));
            check("amax", &block(), |x| x[0].amax(axes, keep));
            check("amin", &block(), |x| x[0].amin(axes, keep));
            check("prod", &block(), |x| x[0].prod(axes, keep));
            check("var", &block(), |x| x[0].var(axes, 0, keep));
        }
    }
    for axes in [Axes::from(1), [0, 2].into(), (..).into()] {
        check("var", &block(), |x| x[0].var(axes, 1, false));
        check("std", &block(), |x| x[0].std(axes, 1, true));
        check("std", &block(), |x| x[0].std(axes, 0, false));
    }
}

#[test]
fn a_batch_is_its_samples() {
    let rows = || [input(&[3, 19], 0.4)];
    check_batched("sum", &rows(), 1, |x| x[0].sum(1, false));
    check_batched("mean", &rows(), 1, |x| x[0].mean(1, true));
    check_batched("var", &rows(), 1, |x| x[0].var(1, 1, false));
    check_batched("norm", &rows(), 1, |x| x[0].norm(1, false));
    check_batched("logsumexp", &rows(), 1, |x| x[0].logsumexp(1, false));
    check_batched("amax", &rows(), 1, |x| x[0].amax(1, false));
    check_batched("softmax", &rows(), 1, |x| x[0].softmax(1));
    check_batched("log_softmax", &rows(), 1, |x| x[0].log_softmax(1));
    check_batched("cumsum", &rows(), 1, |x| x[0].cumsum(1));
    check_batched("sort", &rows(), 1, |x| Ok(x[0].sort(1, true)?.0));
}

#[test]
fn softmax_scans_and_sorts_have_their_gradients_along_any_axis() {
    for axis in 0..3 {
        check("softmax", &block(), |x| x[0].softmax(axis));
        check("log_softmax", &block(), |x| x[0].log_softmax(axis));
        check("cumsum", &block(), |x| x[0].cumsum(axis));
        check("cumprod", &[positive_input(&[2, 3, 4], 0.3)], |x| x[0].cumprod(axis));
        check("sort", &block(), |x| Ok(x[0].sort(axis, false)?.0));
        check("topk", &block(), |x| Ok(x[0].topk(2, axis, true)?.0));
    }
}

#[test]
fn products_have_gradients_where_elements_are_zero() {
    for values in [[1.5, 0.0, -2.0, 3.0], [1.5, 0.0, 0.0, 3.0], [0.0; 4]] {
        let x = || [(values.to_vec(), vec![4])];
        check("prod", &x(), |x| x[0].prod(0, false));
        check("cumprod", &x(), |x| x[0].cumprod(0));
    }
}

fn f32s(values: &[f32], shape: &[usize]) -> Var {
    Var::leaf("x", Tensor::from_slice(&Device::cpu(), values, shape).unwrap())
}

/// The value, and the gradient of its sum.
fn run(x: &Var, y: &Var) -> (Vec<f32>, Vec<f32>) {
    let dx = y.sum_all().unwrap().backward().unwrap().get(x).unwrap().to_vec().unwrap();
    (y.value().to_vec().unwrap(), dx)
}

#[test]
fn ties_share_and_kinks_are_flat() {
    let x = f32s(&[2.0, 2.0, 1.0], &[3]);
    assert_eq!(run(&x, &x.amax(.., false).unwrap()), (vec![2.0], vec![0.5, 0.5, 0.0]));
    let x = f32s(&[0.0, 0.0], &[2]);
    assert_eq!(run(&x, &x.norm(0, false).unwrap()), (vec![0.0], vec![0.0, 0.0]));
    let x = f32s(&[7.0, 7.0], &[2]);
    assert_eq!(run(&x, &x.std(0, 0, false).unwrap()), (vec![0.0], vec![0.0, 0.0]));
    let x = f32s(&[f32::NEG_INFINITY; 2], &[2]);
    let (y, dx) = run(&x, &x.logsumexp(0, false).unwrap());
    assert_eq!((y, dx), (vec![f32::NEG_INFINITY], vec![0.0, 0.0]));
    let x = f32s(&[1.0, f32::NAN, 2.0], &[3]);
    let (y, dx) = run(&x, &x.amax(0, false).unwrap());
    assert!(y[0].is_nan() && dx == [0.0, 1.0, 0.0]);
}

#[test]
fn a_large_mean_costs_the_gradient_of_the_variance_no_digits() {
    let x = f32s(&[10_000.0, 10_001.0, 10_002.0, 10_003.0], &[4]);
    let (y, dx) = run(&x, &x.var(0, 0, false).unwrap());
    assert_eq!((y, dx), (vec![1.25], vec![-0.75, -0.25, 0.25, 0.75]));
}

#[test]
fn halves_are_reduced_in_f32_and_their_gradients_are_rounded_once() {
    let leaf = Var::leaf("x", Tensor::full(&Device::cpu(), 1.0f32, &[70_000]).unwrap());
    for dtype in [DType::F16, DType::BF16] {
        let x = leaf.cast(dtype).unwrap();
        let gradient = |y: &Var| {
            assert_eq!(y.value().dtype(), dtype);
            let y = y.cast(DType::F32).unwrap().sum_all().unwrap();
            y.backward().unwrap().get(&leaf).unwrap().to_vec::<f32>().unwrap()
        };
        let y = x.mean(0, false).unwrap();
        assert_eq!(y.value().cast(DType::F32).unwrap().item::<f32>().unwrap(), 1.0);
        let share = Tensor::scalar(&Device::cpu(), 1.0f32 / 70_000.0).cast(dtype).unwrap();
        let share = share.cast(DType::F32).unwrap().item::<f32>().unwrap();
        assert_eq!(gradient(&y), vec![share; 70_000]);
        assert_eq!(gradient(&x.sum(.., true).unwrap()), vec![1.0; 70_000]);
        assert_eq!(gradient(&x.amax(0, false).unwrap()), vec![share; 70_000]);
        let first: Vec<f32> = gradient(&x.topk(3, 0, true).unwrap().0);
        assert!(first[..3] == [1.0; 3] && first[3..].iter().all(|&dx| dx == 0.0));
        assert!(gradient(&x.softmax(0).unwrap()).iter().all(|dx| dx.abs() < 1e-6));
    }
}
