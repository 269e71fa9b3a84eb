//! The cross-entropy of rows of logits with their classes, and its derivative.
//!
//! With m the largest logit of row i and t its class:
//!
//! ```text
//! s = Σⱼ exp(xᵢⱼ − m)      pᵢⱼ = exp(xᵢⱼ − m) / s      lossᵢ = ln s − (xᵢₜ − m)
//! dxᵢⱼ = (pᵢⱼ − [j = t]) · dy
//! ```
//!
//! Subtracting m keeps exp from overflowing; s is at least 1, so its logarithm is safe. The sum
//! over classes has the order of [`lane_sum`](crate::reduce::lane_sum), which depends on the
//! number of classes alone: a row has the same bits in every batch.
//!
//! A row with a NaN or a +∞, or of nothing but −∞, has the loss NaN and the probabilities NaN.
//! A single −∞ has the probability 0, and as the target's logit the loss +∞.

mod cpu;

use crate::{Float, Threads};

/// Logits below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// The loss of each row, and the softmax, which the derivative needs.
///
/// **Shapes**: logits `[rows, classes]`, targets `[rows]` `-> losses [rows], probs [rows,
/// classes]`.
///
/// # Panics
/// When the lengths do not fit, or a target lies outside `0..classes`: the tensor layer has
/// checked the targets.
pub fn cross_entropy<T: Float>(
    threads: &Threads,
    logits: &[T],
    classes: usize,
    targets: &[i64],
    [losses, probs]: [&mut [T]; 2],
) {
    let rows = targets.len();
    assert_eq!(logits.len(), rows * classes, "logits are [rows, classes]");
    assert_eq!((losses.len(), probs.len()), (rows, logits.len()), "one loss a row, one softmax");
    if rows == 0 {
        return;
    }
    assert!(classes > 0, "a target needs a class");
    let parts = threads.parts(logits.len(), MIN_PART);
    if parts == 1 {
        return cpu::forward(logits, classes, targets, losses, probs);
    }
    let per_part = rows.div_ceil(parts);
    let outputs = losses.chunks_mut(per_part).zip(probs.chunks_mut(per_part * classes));
    let mut jobs: Vec<_> = outputs.collect();
    let parts = jobs.len();
    threads.split_mut(&mut jobs, 1, parts, |first, jobs| {
        for (i, (losses, probs)) in (first..).zip(jobs) {
            let rows = i * per_part..i * per_part + losses.len();
            let logits = &logits[rows.start * classes..rows.end * classes];
            cpu::forward(logits, classes, &targets[rows], losses, probs);
        }
    });
}

/// The derivative of `dy · Σ lossᵢ` with respect to the logits, from the softmax.
///
/// **Shapes**: probs `[rows, classes]`, targets `[rows]` `-> dlogits [rows, classes]`.
///
/// # Panics
/// As [`cross_entropy`].
pub fn cross_entropy_vjp<T: Float>(
    probs: &[T],
    classes: usize,
    targets: &[i64],
    dy: T,
    dlogits: &mut [T],
) {
    assert_eq!(probs.len(), targets.len() * classes, "probs are [rows, classes]");
    assert_eq!(dlogits.len(), probs.len(), "one derivative a logit");
    cpu::backward(probs, classes, targets, dy, dlogits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logits(rows: usize, classes: usize) -> Vec<f32> {
        (0..rows * classes).map(|i| 6.0 * (1.3 * i as f32 + 0.4).sin()).collect()
    }

    fn targets(rows: usize, classes: usize) -> Vec<i64> {
        (0..rows).map(|i| (i * 7 % classes) as i64).collect()
    }

    fn forward(threads: &Threads, x: &[f32], classes: usize, t: &[i64]) -> [Vec<f32>; 2] {
        let (mut losses, mut probs) = (vec![-1.0; t.len()], vec![-1.0; x.len()]);
        cross_entropy(threads, x, classes, t, [&mut losses, &mut probs]);
        [losses, probs]
    }

    #[test]
    fn losses_and_derivatives_agree_with_the_formula_in_f64() {
        for (rows, classes) in [(0, 3), (1, 1), (64, 10), (5, 17), (300, 3), (3, 2500)] {
            let (x, t) = (logits(rows, classes), targets(rows, classes));
            let [losses, probs] = forward(&Threads::serial(), &x, classes, &t);
            let mut dx = vec![f32::NAN; x.len()];
            cross_entropy_vjp(&probs, classes, &t, 0.75, &mut dx);
            for i in 0..rows {
                let row = x[i * classes..(i + 1) * classes].iter().map(|&x| f64::from(x));
                let sum: f64 = row.clone().map(f64::exp).sum();
                let target = t[i] as usize;
                let loss = sum.ln() - f64::from(x[i * classes + target]);
                assert!((f64::from(losses[i]) - loss).abs() < 2e-6, "{rows} {classes}");
                for (j, x) in row.enumerate() {
                    let p = x.exp() / sum;
                    let want = (p - f64::from(u8::from(j == target))) * 0.75;
                    let at = i * classes + j;
                    assert!((f64::from(probs[at]) - p).abs() < 3e-7, "{rows} {classes}");
                    assert!((f64::from(dx[at]) - want).abs() < 3e-7, "{rows} {classes}");
                }
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_in_every_batch_and_on_every_thread() {
        let (rows, classes) = (2 * MIN_PART / 10 + 7, 10);
        let (x, t) = (logits(rows, classes), targets(rows, classes));
        let [losses, probs] = forward(&Threads::serial(), &x, classes, &t);
        assert_eq!(forward(&Threads::new(3).unwrap(), &x, classes, &t), [losses.clone(), probs]);
        for i in (0..rows).step_by(211) {
            let row = &x[i * classes..(i + 1) * classes];
            let [alone, _] = forward(&Threads::serial(), row, classes, &t[i..=i]);
            assert_eq!(alone[0].to_bits(), losses[i].to_bits());
        }
    }

    #[test]
    fn extreme_logits_stay_finite_and_broken_rows_stay_among_themselves() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let x = [1e4, 0.0, -1e4, nan, 0.0, 1.0, inf, 0.0, 1.0, 0.0, -inf, 0.0];
        let [losses, probs] = forward(&Threads::serial(), &x, 3, &[1, 1, 2, 1]);
        assert_eq!((losses[0], losses[3]), (1e4, inf));
        assert_eq!(probs[..3], [1.0, 0.0, 0.0]);
        assert_eq!(probs[9..], [0.5, 0.0, 0.5]);
        assert!(losses[1].is_nan() && losses[2].is_nan());
        assert!(probs[3..9].iter().all(|p| p.is_nan()));
        let [losses, _] = forward(&Threads::serial(), &[-inf, -inf], 2, &[0]);
        assert!(losses[0].is_nan());
    }

    #[test]
    #[should_panic(expected = "a target lies within the classes")]
    fn a_target_in_the_next_row_is_refused() {
        cross_entropy_vjp(&[0.5f32; 4], 2, &[2, 0], 1.0, &mut [0.0; 4]);
    }
}
