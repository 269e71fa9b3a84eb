//! Every op over every layout of its operands, slopes against central differences, conventions.

use super::*;
use crate::PerOp;

/// The value and both slopes for one pair, computed alone, as no vectorised loop would.
struct Pair<T>(T, [T; 2]);

impl<T: Float> PerOp for Pair<T> {
    type Output = [T; 3];
    fn run<const OP: u32>(self) -> [T; 3] {
        let Pair(a, [x, y]) = self;
        let slopes =
            [formula::left_slope::<OP, T>(a, x, y), formula::right_slope::<OP, T>(a, x, y)];
        [formula::value::<OP, T>(a, x, y), slopes[0], slopes[1]]
    }
}

fn value<T: Float>(op: BinaryOp, x: T, y: T) -> T {
    op.dispatch(Pair(T::from_f64(op.setting()), [x, y]))[0]
}

fn slope<T: Float>(op: BinaryOp, side: Side, x: T, y: T) -> T {
    let [_, left, right] = op.dispatch(Pair(T::from_f64(op.setting()), [x, y]));
    if side == Side::Left { left } else { right }
}

/// Row-major elements of a view, by the definition of its strides.
fn elements(view: Strided<'_, f32>) -> Vec<f32> {
    let element = |mut i: usize| {
        let mut at = view.offset();
        for (&len, &stride) in view.shape().iter().zip(view.strides()).rev() {
            at += i % len * stride;
            i /= len;
        }
        view.data()[at]
    };
    (0..view.numel()).map(element).collect()
}

/// Bits, NaNs counted as one.
fn bits_of(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { f32::NAN } else { *x }.to_bits()).collect()
}

fn check(shape: &[usize], [xs, ys, zs]: [&[usize]; 3]) {
    let data = |phase: f32| (0..300).map(|i| (0.7 * i as f32 + phase).sin()).collect::<Vec<_>>();
    let (x, y, dz) = (data(0.3), data(1.1), data(2.3));
    let views =
        [(&x, 3, xs), (&y, 0, ys), (&dz, 5, zs)].map(|(d, at, s)| Strided::new(d, at, shape, s));
    let [x, y, dz] = views.map(elements);
    let threads = Threads::serial();
    for op in BinaryOp::ALL {
        let mut out = vec![f32::NAN; x.len()];
        binary(&threads, op, views[0], views[1], &mut out);
        let want: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| value(op, x, y)).collect();
        assert_eq!(bits_of(&out), bits_of(&want), "{} {shape:?} {xs:?} {ys:?}", op.name());
        for side in [Side::Left, Side::Right] {
            binary_vjp(&threads, op, side, views, &mut out);
            let want =
                (0..x.len()).map(|i| dz[i] * slope(op, side, x[i], y[i])).collect::<Vec<_>>();
            assert_eq!(bits_of(&out), bits_of(&want), "{} {shape:?} {side:?}", op.name());
        }
    }
}

#[test]
fn every_layout_gives_the_pairs_in_row_major_order() {
    check(&[], [&[], &[], &[]]);
    check(&[0, 3], [&[3, 1], &[0, 1], &[3, 1]]);
    for n in [1, 15, 16, 17, 37] {
        check(&[n], [&[1], &[1], &[1]]);
        check(&[n], [&[1], &[0], &[1]]);
        check(&[n], [&[0], &[1], &[1]]);
        check(&[n], [&[0], &[3], &[2]]);
    }
    check(&[5, 7], [&[7, 1], &[0, 1], &[7, 1]]);
    check(&[5, 7], [&[1, 5], &[1, 0], &[7, 1]]);
    check(&[5, 7], [&[1, 0], &[0, 1], &[0, 0]]);
    check(&[3, 2, 4], [&[8, 4, 1], &[0, 12, 3], &[1, 3, 6]]);
}

fn bits(op: BinaryOp, x: f32, y: f32) -> u32 {
    value(op, x, y).to_bits()
}

#[test]
fn max_and_min_order_zeros_and_keep_nans() {
    let (minus, plus) = ((-0.0f32).to_bits(), 0.0f32.to_bits());
    for (x, y) in [(-0.0, 0.0), (0.0, -0.0)] {
        assert_eq!(bits(BinaryOp::Max, x, y), plus);
        assert_eq!(bits(BinaryOp::Min, x, y), minus);
    }
    assert_eq!((bits(BinaryOp::Max, -0.0, -0.0), bits(BinaryOp::Min, 0.0, 0.0)), (minus, plus));
    for op in [BinaryOp::Max, BinaryOp::Min] {
        for (x, y) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::INFINITY)] {
            assert!(value(op, x, y).is_nan());
            assert_eq!(slope(op, Side::Left, x, y), 1.0);
            assert_eq!(slope(op, Side::Right, x, y), 1.0);
        }
        assert_eq!(value(op, f32::INFINITY, f32::INFINITY), f32::INFINITY);
        assert_eq!(value(op, f32::MAX, f32::MAX), f32::MAX);
    }
    assert_eq!(value(BinaryOp::Max, f32::NEG_INFINITY, -3.0), -3.0);
}

#[test]
fn slopes_are_the_central_differences_and_ties_are_shared() {
    for op in BinaryOp::ALL {
        let inner = [(0.7, 0.3), (0.2, 0.6), (0.4, 0.9)];
        let points = match op {
            BinaryOp::Pow | BinaryOp::Bce | BinaryOp::KlDiv => inner,
            _ => [(0.7, -1.3), (-2.1, -0.4), (1.9, 1.6)],
        };
        for (x, y) in points {
            let (h, f) = (1e-6, |x: f64, y: f64| value(op, x, y));
            let left = (f(x + h, y) - f(x - h, y)) / (2.0 * h);
            let right = (f(x, y + h) - f(x, y - h)) / (2.0 * h);
            assert!((slope(op, Side::Left, x, y) - left).abs() < 1e-8, "{}", op.name());
            assert!((slope(op, Side::Right, x, y) - right).abs() < 1e-8, "{}", op.name());
        }
    }
    for op in [BinaryOp::Max, BinaryOp::Min] {
        assert_eq!((slope(op, Side::Left, 2.0, 2.0), slope(op, Side::Right, 2.0, 2.0)), (0.5, 0.5));
    }
}

#[test]
fn powers_have_their_values_and_slopes_at_zero() {
    let pow = BinaryOp::Pow;
    let slopes = |x: f64, y: f64| (slope(pow, Side::Left, x, y), slope(pow, Side::Right, x, y));
    assert_eq!((value(pow, 0.0, 0.0), slopes(0.0, 0.0)), (1.0, (0.0, 0.0)));
    assert_eq!((value(pow, 0.0, 1.0), slopes(0.0, 1.0)), (0.0, (1.0, 0.0)));
    let (left, right) = slopes(2.0, 1.0);
    assert!((left - 1.0).abs() < 1e-15 && (right - 1.3862943611198906).abs() < 1e-15);
    assert_eq!(slopes(0.0, 2.0), (0.0, 0.0));
}

#[test]
fn losses_are_right_where_logits_saturate_and_probabilities_are_certain() {
    let logits = BinaryOp::BceWithLogits;
    for (x, t, loss, left) in [
        (200.0, 1.0, 1.3838965267367376e-87, 0.0),
        (-200.0, 0.0, 1.3838965267367376e-87, 0.0),
        (20.0, 0.0, 20.000000002061153, 0.9999999979388463),
        (-1e4, 1.0, 1e4, -1.0),
    ] {
        assert!((value(logits, x, t) - loss).abs() <= 1e-12 * f64::abs(loss), "{x}");
        assert!((slope(logits, Side::Left, x, t) - left).abs() <= 1e-15, "{x}");
    }
    let bce = |p: f64, t: f64| value(BinaryOp::Bce, p, t);
    assert_eq!(
        (bce(1.0, 1.0), bce(0.0, 0.0), bce(1.0, 0.0), bce(0.0, 1.0)),
        (0.0, 0.0, 100.0, 100.0)
    );
    assert_eq!((value(BinaryOp::KlDiv, -1e30, 0.0), value(BinaryOp::KlDiv, -2.0, 1.0)), (0.0, 2.0));
    let huber = BinaryOp::Huber(0.5);
    assert_eq!((value(huber, 0.5, 0.0), value(huber, 2.0, 0.0)), (0.125, 0.875));
    assert_eq!(slope(BinaryOp::AbsoluteError, Side::Left, 3.0, 3.0), 0.0);
}

#[test]
fn threads_do_not_change_a_bit() {
    let (rows, columns) = (2, MIN_PART + 1);
    let x: Vec<f32> = (0..rows * columns).map(|i| (0.37 * i as f32).sin()).collect();
    let (shape, strides) = ([rows, columns], [[columns, 1], [0, 1]]);
    let [wide, repeated] = [0, 1].map(|i| Strided::new(&x, 0, &shape, &strides[i]));
    let mut results = [1, 2, 3].map(|count| {
        let mut out = vec![0.0; x.len()];
        let threads = Threads::new(count).unwrap();
        binary(&threads, BinaryOp::Sub, wide, repeated, &mut out);
        out
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    results[2][columns] += 1.0;
    assert_ne!(results[0], results[2]);
}
