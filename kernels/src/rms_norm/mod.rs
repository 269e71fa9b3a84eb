//! Normalization of rows by their root mean square (Zhang and Sennrich 2019, "Root mean square
//! layer normalization"), and its derivative.
//!
//! For a row x of n elements, with a weight w of as many:
//!
//! ```text
//! r = 1 / √(mean x² + eps)      x̂ = x · r      y = x̂ · w
//! g = dy · w      dx = r · (g − x̂ · mean (g · x̂))      dw = Σ dy · x̂ over rows
//! ```
//!
//! Sums within a row have the order of [`lane_sum`](crate::reduce::lane_sum); the sum over rows
//! starts from +0 and goes in the order of the rows. A row's result does not depend on the rows
//! beside it. A row with a NaN is NaN as a whole; one with an infinity is 0 elsewhere, NaN there.

mod cpu;

use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 15;

/// The normalized rows of `len` elements, and the factor r of each.
///
/// **Shapes**: x `[rows, len]`, weight `[len] -> y [rows, len], rstd [rows]`.
///
/// # Panics
/// When the lengths do not fit: the tensor layer establishes that they do.
pub fn rms_norm<T: Float>(
    threads: &Threads,
    x: &[T],
    weight: Option<&[T]>,
    (len, eps): (usize, f64),
    [y, rstd]: [&mut [T]; 2],
) {
    let rows = rstd.len();
    assert!(x.len() == rows * len && y.len() == x.len(), "x and y are [rows, len]");
    assert!(weight.is_none_or(|weight| weight.len() == len), "the weight is [len]");
    if x.is_empty() {
        return;
    }
    let eps = T::from_f64(eps);
    let parts = threads.parts(x.len(), MIN_PART);
    let per_part = rows.div_ceil(parts);
    let outputs = y.chunks_mut(per_part * len).zip(rstd.chunks_mut(per_part));
    let mut jobs: Vec<_> = x.chunks(per_part * len).zip(outputs).collect();
    threads.split_mut(&mut jobs, 1, parts, |_, jobs| {
        for (x, (y, rstd)) in jobs {
            cpu::forward(x, weight, (len, eps), [y, rstd]);
        }
    });
}

/// The derivative with respect to x.
///
/// **Shapes**: x and dy `[rows, len]`, weight `[len]`, rstd `[rows] -> dx [rows, len]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn rms_norm_vjp<T: Float>(
    threads: &Threads,
    [x, dy]: [&[T]; 2],
    weight: Option<&[T]>,
    rstd: &[T],
    dx: &mut [T],
) {
    assert!(dy.len() == x.len() && dx.len() == x.len(), "x, dy and dx are [rows, len]");
    if dx.is_empty() {
        return;
    }
    let len = x.len() / rstd.len();
    assert_eq!(len * rstd.len(), x.len(), "one factor a row");
    assert!(weight.is_none_or(|weight| weight.len() == len), "the weight is [len]");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(dx, len, parts, |first, run| {
        cpu::backward([x, dy], weight, rstd, (first, run));
    });
}

/// The derivative with respect to the weight.
///
/// **Shapes**: x and dy `[rows, len]`, rstd `[rows] -> dw [len]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn rms_norm_weight_vjp<T: Float>(
    threads: &Threads,
    [x, dy]: [&[T]; 2],
    rstd: &[T],
    dw: &mut [T],
) {
    assert!(x.len() == dy.len() && x.len() == rstd.len() * dw.len(), "x is [rows, len]");
    let (parts, len) = (threads.parts(x.len(), MIN_PART), dw.len());
    threads.split_mut(dw, 1, parts, |first, run| {
        cpu::weight_backward([x, dy], rstd, len, (first, run));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize, phase: f32) -> Vec<f32> {
        (0..len).map(|i| 1.5 * (1.3 * i as f32 + phase).sin() + 0.2).collect()
    }

    /// y, dx and dw.
    fn run(
        threads: &Threads,
        x: &[f32],
        dy: &[f32],
        w: Option<&[f32]>,
        len: usize,
    ) -> [Vec<f32>; 3] {
        let rows = x.len() / len;
        let (mut y, mut rstd) = (vec![f32::NAN; x.len()], vec![f32::NAN; rows]);
        let (mut dx, mut dw) = (y.clone(), vec![f32::NAN; len]);
        rms_norm(threads, x, w, (len, 1e-6), [&mut y, &mut rstd]);
        rms_norm_vjp(threads, [x, dy], w, &rstd, &mut dx);
        rms_norm_weight_vjp(threads, [x, dy], &rstd, &mut dw);
        [y, dx, dw]
    }

    #[test]
    fn values_and_derivatives_agree_with_the_formulas_in_f64() {
        for len in (1..=35).chain([128]) {
            for (rows, weighed) in [(0, true), (1, false), (19, true)] {
                let (x, dy) = (numbers(rows * len, 0.1), numbers(rows * len, 0.8));
                let w = numbers(len, 1.7);
                let weight = weighed.then_some(&w[..]);
                let [y, dx, dw] = run(&Threads::serial(), &x, &dy, weight, len);
                let at = |j: usize| if weighed { f64::from(w[j]) } else { 1.0 };
                let mut want_dw = vec![0.0; len];
                for i in 0..rows {
                    let row = |s: &[f32]| -> Vec<f64> {
                        s[i * len..(i + 1) * len].iter().map(|&x| f64::from(x)).collect()
                    };
                    let (x, dy, n) = (row(&x), row(&dy), len as f64);
                    let r = 1.0 / (x.iter().map(|x| x * x).sum::<f64>() / n + 1e-6).sqrt();
                    let along = (0..len).map(|j| dy[j] * at(j) * x[j] * r).sum::<f64>() / n;
                    for j in 0..len {
                        let want = [x[j] * r * at(j), r * (dy[j] * at(j) - x[j] * r * along)];
                        for (got, want) in [y[i * len + j], dx[i * len + j]].iter().zip(want) {
                            assert!((f64::from(*got) - want).abs() < 2e-5, "{len} {got} {want}");
                        }
                        want_dw[j] += dy[j] * x[j] * r;
                    }
                }
                for (got, want) in dw.iter().zip(want_dw) {
                    assert!((f64::from(*got) - want).abs() < 2e-5, "{len} {got} {want}");
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (len, rows) = (37, 2 * MIN_PART / 37 + 5);
        let (x, dy, w) = (numbers(rows * len, 0.1), numbers(rows * len, 0.8), numbers(len, 1.7));
        let threads = Threads::new(3).unwrap();
        let want = run(&Threads::serial(), &x, &dy, Some(&w), len);
        assert_eq!(run(&threads, &x, &dy, Some(&w), len), want);
    }
}
