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
    losses: &mut [T],
    probs: &mut [T],
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
