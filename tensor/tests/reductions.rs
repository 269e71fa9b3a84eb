//! Reductions, softmax, scans and sorts over random shapes, views and axes against plain loops;
//! halves, integers, empty axes and the texts of errors.

use proptest::prelude::*;
use ringgrad_tensor::{DType, Device, Tensor};

fn tensor(values: &[f64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
}

fn f64s(x: &Tensor) -> Vec<f64> {
    x.cast(DType::F64).unwrap().to_vec().unwrap()
}

/// The elements that fall together when the marked axes are reduced, by result, in row-major
/// order.
fn groups(x: &Tensor, marked: &[bool]) -> Vec<Vec<f64>> {
    let shape = x.shape().to_vec();
    let lens = shape.iter().zip(marked).map(|(&len, &marked)| if marked { 1 } else { len });
    let lens: Vec<usize> = lens.collect();
    let mut groups = vec![Vec::new(); lens.iter().product()];
    for (flat, value) in f64s(x).into_iter().enumerate() {
        let (mut rest, mut at, mut step) = (flat, 0, 1);
        for axis in (0..shape.len()).rev() {
            let index = rest % shape[axis];
            rest /= shape[axis];
            if !marked[axis] {
                at += index * step;
                step *= lens[axis];
            }
        }
        groups[at].push(value);
    }
    groups
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn squares(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean).powi(2)).sum()
}

fn assert_near(got: &Tensor, want: Vec<f64>, what: &str) {
    let got = f64s(got);
    assert_eq!(got.len(), want.len(), "{what}");
    for (got, want) in got.into_iter().zip(want) {
        let same = (got.is_nan() && want.is_nan()) || got == want;
        assert!(same || (got - want).abs() <= 1e-12 * want.abs().max(1.0), "{what} {got} {want}");
    }
}

/// A view of a random tensor with values that tie.
fn view() -> impl Strategy<Value = Tensor> {
    let axis = || (0usize..4, 0usize..4, 0usize..3);
    (prop::collection::vec(0usize..5, 0..4), axis(), 0u64..1000).prop_map(|(shape, view, seed)| {
        let numel: usize = shape.iter().product();
        let value = |i: usize| (((i as u64 * 7919 + seed * 31) % 17) as f64 - 8.0) / 4.0;
        let x = tensor(&(0..numel).map(value).collect::<Vec<_>>(), &shape);
        let (a, b, cut) = view;
        if shape.is_empty() {
            return x;
        }
        let (a, b) = (a % shape.len(), b % shape.len());
        let x = x.transpose(a, b).unwrap();
        let len = x.shape()[a];
        let cut = cut.min(len.saturating_sub(1));
        x.narrow(a, cut, len - cut).unwrap()
    })
}

proptest! {
    #[test]
    fn reductions_equal_plain_loops(x in view(), marks in 0usize..16, keep in any::<bool>()) {
        let marked: Vec<bool> = (0..x.ndim()).map(|axis| marks >> axis & 1 == 1).collect();
        let axes: Vec<usize> = (0..x.ndim()).rev().filter(|&axis| marked[axis]).collect();
        let (axes, groups) = (&axes[..], groups(&x, &marked));
        let of = |f: &dyn Fn(&[f64]) -> f64| groups.iter().map(|x| f(x)).collect::<Vec<_>>();
        let sum = x.sum(axes, keep).unwrap();
        let dropped = x.ndim() - axes.len();
        prop_assert_eq!(sum.ndim(), if keep { x.ndim() } else { dropped });
        assert_near(&sum, of(&|x| x.iter().sum()), "sum");
        assert_near(&x.mean(axes, keep).unwrap(), of(&mean), "mean");
        assert_near(&x.prod(axes, keep).unwrap(), of(&|x| x.iter().product()), "prod");
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert_near(&x.norm(axes, keep).unwrap(), of(&norm), "norm");
        let lse = |x: &[f64]| x.iter().map(|x| x.exp()).sum::<f64>().ln();
        assert_near(&x.logsumexp(axes, keep).unwrap(), of(&lse), "logsumexp");
        for correction in [0, 1] {
            let var = |x: &[f64]| {
                if x.len() <= correction { return f64::NAN; }
                squares(x) / (x.len() - correction) as f64
            };
            let got = x.var(axes, correction, keep).unwrap();
            assert_near(&got, of(&var), "var");
            let got = x.std(axes, correction, keep).unwrap();
            assert_near(&got, of(&|x| var(x).sqrt()), "std");
        }
        let nonzero = |x: &[f64]| x.iter().filter(|&&x| x != 0.0).count() as f64;
        assert_near(&x.count_nonzero(axes, keep).unwrap(), of(&nonzero), "count_nonzero");
        let any = |x: &[f64]| f64::from(u8::from(nonzero(x) > 0.0));
        assert_near(&x.any(axes, keep).unwrap(), of(&any), "any");
        let all = |x: &[f64]| f64::from(u8::from(nonzero(x) == x.len() as f64));
        assert_near(&x.all(axes, keep).unwrap(), of(&all), "all");
        let counts = axes.iter().map(|&axis| x.shape()[axis]).product::<usize>();
        let extremes = [x.amax(axes, keep), x.amin(axes, keep)];
        if counts == 0 {
            prop_assert!(extremes.iter().all(|y| y.is_err()));
        } else {
            let [max, min] = extremes.map(Result::unwrap);
            assert_near(&max, of(&|x| x.iter().copied().fold(f64::MIN, f64::max)), "amax");
            assert_near(&min, of(&|x| x.iter().copied().fold(f64::MAX, f64::min)), "amin");
        }
    }

    #[test]
    fn softmax_scans_and_sorts_equal_plain_loops(x in view(), axis in 0usize..4) {
        prop_assume!(x.ndim() > 0);
        let axis = axis % x.ndim();
        let marked: Vec<bool> = (0..x.ndim()).map(|other| other == axis).collect();
        let check = |y: &Tensor, f: &dyn Fn(&[f64]) -> Vec<f64>, what: &str| {
            let (got, from) = (groups(y, &marked), groups(&x, &marked));
            for (got, from) in got.into_iter().zip(from) {
                assert_near(&tensor(&got, &[got.len()]), f(&from), what);
            }
        };
        let softmax = |x: &[f64]| {
            let sum: f64 = x.iter().map(|x| x.exp()).sum();
            x.iter().map(|x| x.exp() / sum).collect::<Vec<_>>()
        };
        check(&x.softmax(axis).unwrap(), &softmax, "softmax");
        let log = |x: &[f64]| softmax(x).iter().map(|y| y.ln()).collect();
        check(&x.log_softmax(axis).unwrap(), &log, "log_softmax");
        let scan = |start: f64, f: fn(f64, f64) -> f64| move |x: &[f64]| {
            x.iter().scan(start, |total, &x| { *total = f(*total, x); Some(*total) }).collect()
        };
        check(&x.cumsum(axis).unwrap(), &scan(0.0, |a, b| a + b), "cumsum");
        check(&x.cumprod(axis).unwrap(), &scan(1.0, |a, b| a * b), "cumprod");
        let len = x.shape()[axis];
        for descending in [false, true] {
            let order = |x: &[f64]| {
                let mut at: Vec<usize> = (0..x.len()).collect();
                at.sort_by(|&a, &b| {
                    if descending { x[b].total_cmp(&x[a]) } else { x[a].total_cmp(&x[b]) }
                });
                at
            };
            let places = |k: usize| {
                move |x: &[f64]| order(x)[..k].iter().map(|&i| i as f64).collect::<Vec<_>>()
            };
            let values = |k: usize| {
                move |x: &[f64]| order(x)[..k].iter().map(|&i| x[i]).collect::<Vec<_>>()
            };
            let (sorted, at) = x.sort(axis, descending).unwrap();
            check(&sorted, &values(len), "sort");
            check(&at, &places(len), "places");
            check(&x.argsort(axis, descending).unwrap(), &places(len), "argsort");
            let (top, at) = x.topk(len / 2, axis, descending).unwrap();
            check(&top, &values(len / 2), "topk");
            check(&at, &places(len / 2), "places of topk");
            if len > 0 {
                let best = if descending { x.argmax(axis, true) } else { x.argmin(axis, true) };
                check(&best.unwrap(), &places(1), "argmax and argmin");
            }
        }
    }
}

#[test]
fn halves_accumulate_in_f32_and_round_once() {
    let ones = |n, dtype| Tensor::full(&Device::cpu(), 1.0f32, &[n]).unwrap().cast(dtype).unwrap();
    let value = |x: Tensor, dtype: DType| {
        assert_eq!(x.dtype(), dtype);
        f64s(&x)[0]
    };
    let (half, brain) = (DType::F16, DType::BF16);
    assert_eq!(value(ones(70_000, half).sum(0, false).unwrap(), half), f64::INFINITY);
    assert_eq!(value(ones(70_000, half).mean(0, false).unwrap(), half), 1.0);
    assert_eq!(value(ones(1000, brain).sum(0, false).unwrap(), brain), 1000.0);
    let large = tensor(&[40_000.0; 3], &[3]).cast(half).unwrap();
    assert_eq!(value(large.mean(.., false).unwrap(), half), 40_000.0);
    assert_eq!(
        value(tensor(&[200.0; 4], &[4]).cast(half).unwrap().norm(0, false).unwrap(), half),
        400.0
    );
    assert_eq!(value(large.argmax(0, false).unwrap(), DType::I64), 0.0);
    let (sorted, _) = tensor(&[2.0, 1.0], &[2]).cast(brain).unwrap().sort(0, false).unwrap();
    assert_eq!((sorted.dtype(), f64s(&sorted)), (brain, vec![1.0, 2.0]));
}

#[test]
fn integers_and_masks_are_added_in_i64() {
    let bytes = Tensor::full(&Device::cpu(), 200u8, &[3]).unwrap();
    assert_eq!(bytes.sum(0, false).unwrap().item::<i64>().unwrap(), 600);
    assert_eq!(bytes.prod(0, false).unwrap().item::<i64>().unwrap(), 8_000_000);
    assert_eq!(bytes.cumsum(0).unwrap().to_vec::<i64>().unwrap(), [200, 400, 600]);
    assert_eq!(bytes.amax(0, false).unwrap().item::<u8>().unwrap(), 200);
    let wide = Tensor::from_vec(&Device::cpu(), vec![i64::MAX, 1], &[2]).unwrap();
    assert_eq!(wide.sum(.., false).unwrap().item::<i64>().unwrap(), i64::MIN);
    assert_eq!(wide.amin(.., false).unwrap().item::<i64>().unwrap(), 1);
    let message = bytes.mean(0, false).unwrap_err().to_string();
    assert!(message.starts_with("mean: elements of type u8") && message.contains("cast first"));
}

#[test]
fn nan_goes_through_extremes_and_first() {
    let x = tensor(&[1.0, f64::NAN, 2.0, f64::NAN], &[4]);
    assert!(f64s(&x.amax(0, false).unwrap())[0].is_nan());
    assert!(f64s(&x.amin(0, false).unwrap())[0].is_nan());
    assert_eq!(f64s(&x.argmax(0, false).unwrap()), [1.0]);
    assert_eq!(f64s(&x.argmin(0, false).unwrap()), [1.0]);
    assert_eq!(f64s(&x.argsort(0, false).unwrap()), [0.0, 2.0, 1.0, 3.0]);
    assert_eq!(f64s(&x.argsort(0, true).unwrap()), [1.0, 3.0, 2.0, 0.0]);
}

#[test]
fn errors_name_the_operation_the_axis_and_the_rule() {
    let x = tensor(&[0.0; 6], &[2, 3]);
    let says = |result: ringgrad_tensor::Result<Tensor>, parts: &[&str]| {
        let message = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    says(x.mean([0, 2], false), &["mean: axis 2", "[2, 3]", "count from 0"]);
    says(x.var([1, 1], 1, false), &["var: axis 1", "named once"]);
    says(x.softmax(2), &["softmax: axis 2"]);
    says(x.cumsum(5), &["cumsum: axis 5"]);
    says(x.topk(4, 1, true).map(|pair| pair.0), &["topk", "axis 1", "0..3"]);
    says(tensor(&[], &[0, 3]).amax(0, false), &["amax", "[0, 3]", "must not be empty"]);
    says(x.norm_vjp(0, &x, &x), &["norm_vjp", "[2, 3]", "length 1"]);
    says(x.sort_vjp(1, &Tensor::full(&Device::cpu(), 3i64, &[2, 3]).unwrap(), 3), &["index 3"]);
    says(x.cast(DType::I64).unwrap().softmax(0), &["softmax", "i64", "floats"]);
}
