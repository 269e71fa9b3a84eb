//! The softmax against its formula in f64.

use super::*;

const AXES: [[usize; 3]; 9] = [
    [0, 3, 1],
    [3, 1, 1],
    [300, 3, 1],
    [5, 17, 1],
    [40, 33, 1],
    [2, 2500, 1],
    [2, 5, 3],
    [1, 7, 161],
    [3, 300, 190],
];

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| 6.0 * (1.3 * i as f32 + 0.4).sin()).collect()
}

/// The places of each column's elements.
fn columns(axis: Axis) -> Vec<Vec<usize>> {
    let Axis { len, inner, .. } = axis;
    let column = |i: usize| (0..len).map(move |l| (i / inner * len + l) * inner + i % inner);
    (0..axis.results()).map(|i| column(i).collect()).collect()
}

fn on_one_and_three(len: usize, f: impl Fn(&Threads, &mut [f32])) -> Vec<f32> {
    let mut outs = [vec![f32::NAN; len], vec![9.0; len]];
    f(&Threads::serial(), &mut outs[0]);
    f(&Threads::new(3).unwrap(), &mut outs[1]);
    assert!(outs[0].iter().zip(&outs[1]).all(|(a, b)| a.to_bits() == b.to_bits()));
    outs[0].clone()
}

#[test]
fn values_and_derivatives_follow_the_formulas() {
    for [outer, len, inner] in AXES {
        let axis = Axis { outer, len, inner };
        let (x, n) = (numbers(axis.numel()), axis.numel());
        let dy: Vec<f32> = (0..n).map(|i| (0.3 * i as f32).cos()).collect();
        let y = on_one_and_three(n, |t, y| softmax(t, &x, axis, y));
        let log = on_one_and_three(n, |t, y| log_softmax(t, &x, axis, y));
        let dx = on_one_and_three(n, |t, dx| softmax_vjp(t, [&y, &dy], axis, dx));
        let dlog = on_one_and_three(n, |t, dx| log_softmax_vjp(t, [&log, &dy], axis, dx));
        for column in columns(axis) {
            let exp: Vec<f64> = column.iter().map(|&at| f64::from(x[at]).exp()).collect();
            let sum: f64 = exp.iter().sum();
            let dys: Vec<f64> = column.iter().map(|&at| f64::from(dy[at])).collect();
            let dot: f64 = dys.iter().zip(&exp).map(|(dy, exp)| dy * exp / sum).sum();
            let total: f64 = dys.iter().sum();
            for (i, &at) in column.iter().enumerate() {
                let p = exp[i] / sum;
                let check = |got: f32, want: f64| {
                    let error = (f64::from(got) - want).abs();
                    assert!(error <= 2e-6 * want.abs().max(0.5), "{axis:?}: {got} {want}");
                };
                check(y[at], p);
                check(log[at], p.ln());
                check(dx[at], p * (dys[i] - dot));
                check(dlog[at] / len as f32, (dys[i] - p * total) / len as f64);
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_in_every_batch() {
    let (outer, len) = (70, 37);
    let x = numbers(outer * len);
    let mut y = [vec![0.0; x.len()], vec![0.0; x.len()]];
    softmax(&Threads::serial(), &x, Axis { outer, len, inner: 1 }, &mut y[0]);
    for (x, y) in x.chunks(len).zip(y[1].chunks_mut(len)) {
        softmax(&Threads::serial(), x, Axis { outer: 1, len, inner: 1 }, y);
    }
    assert_eq!(y[0], y[1]);
}

#[test]
fn extreme_logits_masks_and_broken_rows_have_the_documented_results() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = [1e4, 0.0, -1e4, 0.0, -inf, 0.0, -inf, -inf, -inf, inf, 0.0, 1.0, nan, 0.0, 1.0];
    let axis = Axis { outer: 5, len: 3, inner: 1 };
    // The same rows as columns.
    let columns = Axis { outer: 1, len: 3, inner: 5 };
    let turned: Vec<f32> = (0..15).map(|i| x[i % 5 * 3 + i / 5]).collect();
    let serial = Threads::serial();
    let (mut y, mut log, mut side) = ([0.0; 15], [0.0; 15], [0.0; 15]);
    softmax(&serial, &x, axis, &mut y);
    log_softmax(&serial, &x, axis, &mut log);
    assert_eq!((&y[..6], &log[..3]), (&[1.0, 0.0, 0.0, 0.5, 0.0, 0.5][..], &[0.0, -1e4, -2e4][..]));
    assert_eq!(log[4], -inf);
    assert!(y[6..].iter().all(|y| y.is_nan()) && log[6..9].iter().all(|y| y.is_nan()));
    assert!(log[12..].iter().all(|y| y.is_nan()));
    softmax(&serial, &turned, columns, &mut side);
    assert!(
        (0..15).all(|i| side[i].to_bits() == y[i % 5 * 3 + i / 5].to_bits() || side[i].is_nan())
    );
    assert_eq!(side.iter().filter(|y| y.is_nan()).count(), 9);
    let mut dx = [9.0; 3];
    softmax_vjp(&serial, [&y[3..6], &[1.0, 5.0, 3.0]], Axis { outer: 1, ..axis }, &mut dx);
    assert_eq!(dx, [-0.5, 0.0, 0.5]);
}
