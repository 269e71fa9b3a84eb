//! Every reduction against a loop that is written as the contract says.

use super::*;

const LENS: [usize; 12] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 37, 64];

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (0.9 * i as f32 + 0.4).sin() * (1.0 + (i % 7) as f32)).collect()
}

/// The contract of the last axis, word by word.
fn in_lanes(x: &[f32]) -> f32 {
    let mut lanes = [0.0; 16];
    for (i, &x) in x.iter().enumerate() {
        lanes[i % 16] += x;
    }
    for width in [8, 4, 2, 1] {
        for l in 0..width {
            lanes[l] += lanes[l + width];
        }
    }
    lanes[0]
}

fn in_order(x: impl Iterator<Item = f32>) -> f32 {
    x.fold(0.0, |sum, x| sum + x)
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn sums_have_the_bits_of_the_written_order() {
    let serial = Threads::serial();
    for len in LENS {
        for outer in [0, 1, 5] {
            let x = numbers(outer * len);
            let mut out = vec![f32::NAN; outer];
            sum(&serial, &x, Axis { outer, len, inner: 1 }, &mut out);
            let row = |i: usize| in_lanes(&x[i * len..(i + 1) * len]);
            assert_eq!(bits(&out), bits(&(0..outer).map(row).collect::<Vec<_>>()), "{len}");
        }
        for (outer, inner) in [(1, 2), (3, 10), (2, 83), (1, 160)] {
            let x = numbers(outer * len * inner);
            let mut out = vec![f32::NAN; outer * inner];
            sum(&serial, &x, Axis { outer, len, inner }, &mut out);
            let column = |i: usize| {
                let first = i / inner * len * inner + i % inner;
                in_order((0..len).map(|l| x[first + l * inner]))
            };
            let want: Vec<f32> = (0..outer * inner).map(column).collect();
            assert_eq!(bits(&out), bits(&want), "{len} {outer} {inner}");
        }
    }
}

#[test]
fn the_two_orders_differ_in_bits() {
    let x = numbers(37);
    assert_ne!(in_lanes(&x).to_bits(), in_order(x.iter().copied()).to_bits());
}

#[test]
fn no_sum_is_negative_zero_and_what_follows_a_row_is_not_counted() {
    let serial = Threads::serial();
    let mut out = [f32::NAN; 2];
    sum(&serial, &[-0.0; 6], Axis { outer: 2, len: 3, inner: 1 }, &mut out);
    assert_eq!(bits(&out), [0, 0]);
    sum(&serial, &[-0.0; 6], Axis { outer: 1, len: 3, inner: 2 }, &mut out);
    assert_eq!(bits(&out), [0, 0]);
    let mut x = [1.0; 40];
    x[20..].fill(f32::NAN);
    sum(&serial, &x, Axis { outer: 2, len: 20, inner: 1 }, &mut out);
    assert!(out[0] == 20.0 && out[1].is_nan());
}

#[test]
fn threads_do_not_change_a_bit() {
    let threads = Threads::new(3).unwrap();
    for axis in [
        Axis { outer: 401, len: 517, inner: 1 },
        Axis { outer: 1, len: 517, inner: 401 },
        Axis { outer: 3, len: 67, inner: 1033 },
    ] {
        let x = numbers(axis.outer * axis.len * axis.inner);
        let mut outs = [vec![0.0; axis.outer * axis.inner], vec![1.0; axis.outer * axis.inner]];
        sum(&Threads::serial(), &x, axis, &mut outs[0]);
        sum(&threads, &x, axis, &mut outs[1]);
        assert_eq!(bits(&outs[0]), bits(&outs[1]), "{axis:?}");
    }
}

/// Shapes with every block width of the loops.
const AXES: [[usize; 3]; 9] = [
    [0, 3, 1],
    [2, 1, 1],
    [5, 17, 1],
    [3, 33, 1],
    [300, 9, 1],
    [1, 5, 2],
    [3, 6, 16],
    [2, 7, 83],
    [1, 4, 161],
];

/// Calls `check` with each axis, its numbers, and the elements of each result in f64.
fn each_axis(check: impl Fn(Axis, &[f32], &[Vec<f64>])) {
    for [outer, len, inner] in AXES {
        let axis = Axis { outer, len, inner };
        let x = numbers(axis.numel());
        let element = |i: usize, l: usize| x[i / inner * len * inner + l * inner + i % inner];
        let column = |i| (0..len).map(|l| f64::from(element(i, l))).collect();
        check(axis, &x, &(0..axis.results()).map(column).collect::<Vec<_>>());
    }
}

fn assert_near(got: &[f32], want: impl Iterator<Item = f64>, what: &str) {
    for (i, (&got, want)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(got) - want).abs();
        assert!(error <= 3e-6 * want.abs().max(1.0), "{what} {i}: {got} against {want}");
    }
}

fn moments(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (mean, x.iter().map(|x| (x - mean).powi(2)).sum())
}

fn log_sum(x: &[f64]) -> f64 {
    x.iter().map(|x| x.exp()).sum::<f64>().ln()
}

fn square_root(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn values_follow_the_formulas_on_any_number_of_threads() {
    let pool = Threads::new(3).unwrap();
    each_axis(|axis, x, columns| {
        let run = |what: &str, f: &dyn Fn(&Threads, &mut [f32]), want: &dyn Fn(&[f64]) -> f64| {
            let mut outs = [vec![f32::NAN; axis.results()], vec![7.0; axis.results()]];
            f(&Threads::serial(), &mut outs[0]);
            f(&pool, &mut outs[1]);
            assert_eq!(bits(&outs[0]), bits(&outs[1]), "{what} {axis:?}");
            assert_near(&outs[0], columns.iter().map(|x| want(x)), what);
        };
        run("mean", &|t, out| mean(t, x, axis, out), &|x| moments(x).0);
        run("norm", &|t, out| norm(t, x, axis, out), &square_root);
        run("logsumexp", &|t, out| logsumexp(t, x, axis, out), &log_sum);
        let n = axis.len as f64;
        run("var", &|t, out| var(t, x, (axis, 0), out), &|x| moments(x).1 / n);
        if axis.len > 1 {
            run("var", &|t, out| var(t, x, (axis, 1), out), &|x| moments(x).1 / (n - 1.0));
        }
    });
}

#[test]
fn products_have_the_bits_of_the_written_order() {
    each_axis(|axis, x, _| {
        let mut out = vec![f32::NAN; axis.results()];
        prod(&Threads::serial(), x, axis, &mut out);
        for (i, out) in out.iter().enumerate() {
            let Axis { len, inner, .. } = axis;
            let column = (0..len).map(|l| x[i / inner * len * inner + l * inner + i % inner]);
            let mut lanes = [1.0f32; 16];
            column.enumerate().for_each(|(l, x)| lanes[if inner == 1 { l % 16 } else { 0 }] *= x);
            for width in [8, 4, 2, 1] {
                (0..width).for_each(|l| lanes[l] *= lanes[l + width]);
            }
            assert_eq!(out.to_bits(), lanes[0].to_bits(), "{axis:?}");
        }
    });
}

#[test]
fn derivatives_follow_the_formulas() {
    let pool = Threads::new(3).unwrap();
    each_axis(|axis, x, columns| {
        let Axis { len, inner, .. } = axis;
        let dy: Vec<f32> = (0..axis.results()).map(|i| (0.7 * i as f32).cos()).collect();
        let run =
            |what: &str, f: &dyn Fn(&Threads, &mut [f32]), want: &dyn Fn(&[f64], f64) -> f64| {
                let mut outs = [vec![f32::NAN; x.len()], vec![7.0; x.len()]];
                f(&Threads::serial(), &mut outs[0]);
                f(&pool, &mut outs[1]);
                assert_eq!(bits(&outs[0]), bits(&outs[1]), "{what} {axis:?}");
                let all = (0..x.len()).map(|i| {
                    let at = i / (len * inner) * inner + i % inner;
                    want(&columns[at], f64::from(x[i])) * f64::from(dy[at])
                });
                assert_near(&outs[0], all, what);
            };
        let serial = Threads::serial();
        let mut y = vec![0.0; axis.results()];
        norm(&serial, x, axis, &mut y);
        let slope = |column: &[f64], x: f64| 2.0 * (x - moments(column).0) / len as f64;
        run("var", &|t, dx| var_vjp(t, [x, &dy], (axis, 0), dx), &slope);
        run("norm", &|t, dx| norm_vjp(t, [x, &y, &dy], axis, dx), &|c, x| x / square_root(c));
        let softmax = |column: &[f64], x: f64| (x - log_sum(column)).exp();
        run("logsumexp", &|t, dx| logsumexp_vjp(t, [x, &dy], axis, dx), &softmax);
    });
}

type Reduction<'a> = &'a dyn Fn(&[f32], Axis, &mut [f32]);

#[test]
fn empty_and_extreme_rows_have_the_documented_results() {
    let serial = Threads::serial();
    let one = |x: &[f32], f: Reduction<'_>| {
        let mut out = [5.0];
        f(x, Axis { outer: 1, len: x.len(), inner: 1 }, &mut out);
        out[0]
    };
    let inf = f32::INFINITY;
    let lse = |x: &[f32]| one(x, &|x, axis, out| logsumexp(&serial, x, axis, out));
    assert_eq!((lse(&[]), lse(&[-inf, -inf]), lse(&[1.0, inf])), (-inf, -inf, inf));
    assert_eq!((lse(&[-inf, 3.0]), lse(&[1e30, 0.0]), lse(&[0.0])), (3.0, 1e30, 0.0));
    assert!(lse(&[f32::NAN, inf]).is_nan() && lse(&[-inf, f32::NAN]).is_nan());
    let variance = |x: &[f32], c| one(x, &|x, axis, out| var(&serial, x, (axis, c), out));
    assert!([0, 1, 2].iter().all(|&c| variance(&[], c).is_nan()));
    assert!(variance(&[2.0], 1).is_nan() && variance(&[2.0, 3.0], 2).is_nan());
    assert_eq!((variance(&[2.0], 0), variance(&[2.0, 4.0], 1)), (0.0, 2.0));
    // The mean, 8388608.75, is no f32.
    let large = [8_388_607.0, 8_388_608.0, 8_388_609.0, 8_388_611.0];
    assert_eq!(variance(&large, 0), 2.1875);
    assert!(one(&[], &|x, axis, out| mean(&serial, x, axis, out)).is_nan());
    assert_eq!(one(&[], &|x, axis, out| norm(&serial, x, axis, out)), 0.0);
    assert_eq!(one(&[], &|x, axis, out| prod(&serial, x, axis, out)), 1.0);
    let axis = Axis { outer: 1, len: 2, inner: 1 };
    let mut dx = [7.0; 2];
    norm_vjp(&serial, [&[0.0, -0.0], &[0.0], &[3.0]], axis, &mut dx);
    assert_eq!(dx, [0.0; 2]);
    logsumexp_vjp(&serial, [&[-inf, -inf], &[3.0]], axis, &mut dx);
    assert_eq!(dx, [0.0; 2]);
    // ln 2 + 1e6 is no f32.
    logsumexp_vjp(&serial, [&[1e6, 1e6], &[3.0]], axis, &mut dx);
    assert_eq!(dx, [1.5; 2]);
}

#[test]
fn integers_wrap_and_what_is_not_zero_counts() {
    let serial = Threads::serial();
    let axis = Axis { outer: 1, len: 3, inner: 1 };
    let mut out = [0; 1];
    wrapping_sum(&serial, &[i64::MAX, 1, 5], axis, &mut out);
    assert_eq!(out, [i64::MIN + 5]);
    wrapping_prod(&serial, &[200u8, 200, 3], axis, &mut out);
    assert_eq!(out, [120_000]);
    count_nonzero(&serial, &[-0.0, f64::NAN, 5e-324], axis, &mut out);
    assert_eq!(out, [2]);
    let axis = Axis { outer: 1, len: 2, inner: 3 };
    let mut out = [0; 3];
    count_nonzero(&serial, &[1u8, 0, 0, 2, 3, 0], axis, &mut out);
    assert_eq!(out, [2, 1, 0]);
}
