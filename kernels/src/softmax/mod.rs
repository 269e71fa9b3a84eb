//! The softmax along one axis, its logarithm, and their derivatives.
//!
//! With m the largest element of a row:
//!
//! ```text
//! s = Σⱼ exp(xⱼ − m)
//! softmax:      yᵢ = exp(xᵢ − m) / s          dxᵢ = yᵢ · (dyᵢ − Σⱼ dyⱼ·yⱼ)
//! log_softmax:  yᵢ = (xᵢ − m) − ln s          dxᵢ = dyᵢ − exp(yᵢ) · Σⱼ dyⱼ
//! ```
//!
//! The sums have the order of the reductions, [`crate::reduce`], for the same axis; each product
//! is rounded before it is added. A row has the same bits beside any others.
//!
//! A −∞ has the softmax 0 exactly: how elements are masked. A row of nothing but −∞, or with a NaN
//! or a +∞, is NaN throughout.

mod cpu;

use crate::reduce::{Axis, Extreme, exp_sums, extreme, spread, sum};
use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// `softmax` along the axis.
///
/// **Shapes**: x, y `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn softmax<T: Float>(threads: &Threads, x: &[T], axis: Axis, y: &mut [T]) {
    assert_eq!((x.len(), y.len()), (axis.numel(), axis.numel()), "x, y are [outer, len, inner]");
    if axis.inner == 1 {
        return rows(threads, axis.len, y, |first, y| cpu::softmax(&x[first..], axis.len, y));
    }
    if !y.is_empty() {
        let [max, sum] = stats(threads, x, axis);
        spread(threads, ([x], axis), [&max, &sum], y, |[x], [max, sum]| (x - max).exp() / sum);
    }
}

/// `log_softmax` along the axis.
///
/// **Shapes**: x, y `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn log_softmax<T: Float>(threads: &Threads, x: &[T], axis: Axis, y: &mut [T]) {
    assert_eq!((x.len(), y.len()), (axis.numel(), axis.numel()), "x, y are [outer, len, inner]");
    if axis.inner == 1 {
        return rows(threads, axis.len, y, |first, y| cpu::log_softmax(&x[first..], axis.len, y));
    }
    if !y.is_empty() {
        let [max, mut log] = stats(threads, x, axis);
        log.iter_mut().for_each(|sum| *sum = sum.ln());
        spread(threads, ([x], axis), [&max, &log], y, |[x], [max, log]| (x - max) - log);
    }
}

/// The largest element of each result, and the sum of the exponentials. x is not empty.
fn stats<T: Float>(threads: &Threads, x: &[T], axis: Axis) -> [Vec<T>; 2] {
    let mut max = vec![T::ZERO; axis.results()];
    extreme(threads, Extreme::Max, x, axis, &mut max);
    let mut sum = max.clone();
    exp_sums(threads, x, axis, &mut sum);
    [max, sum]
}

/// Calls `body(first element, rows)` for parts of `out`, on the threads.
fn rows<T: Float>(
    threads: &Threads,
    len: usize,
    out: &mut [T],
    body: impl Fn(usize, &mut [T]) + Sync,
) {
    if !out.is_empty() {
        let parts = threads.parts(out.len(), MIN_PART);
        threads.split_mut(out, len, parts, |first, run| body(first * len, run));
    }
}

/// The derivative of [`softmax`] from its result.
///
/// **Shapes**: y, dy, dx `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn softmax_vjp<T: Float>(threads: &Threads, [y, dy]: [&[T]; 2], axis: Axis, dx: &mut [T]) {
    let n = axis.numel();
    assert_eq!((y.len(), dy.len(), dx.len()), (n, n, n), "all are [outer, len, inner]");
    if axis.inner == 1 {
        return rows(threads, axis.len, dx, |first, dx| {
            cpu::softmax_vjp([&y[first..], &dy[first..]], axis.len, dx);
        });
    }
    let none: [&[T]; 0] = [];
    spread(threads, ([y, dy], axis), none, dx, |[y, dy], _| dy * y);
    let mut dot = vec![T::ZERO; axis.results()];
    sum(threads, dx, axis, &mut dot);
    spread(threads, ([y, dy], axis), [&dot], dx, |[y, dy], [dot]| y * (dy - dot));
}

/// The derivative of [`log_softmax`] from its result.
///
/// **Shapes**: y, dy, dx `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn log_softmax_vjp<T: Float>(threads: &Threads, [y, dy]: [&[T]; 2], axis: Axis, dx: &mut [T]) {
    let n = axis.numel();
    assert_eq!((y.len(), dy.len(), dx.len()), (n, n, n), "all are [outer, len, inner]");
    let mut total = vec![T::ZERO; axis.results()];
    sum(threads, dy, axis, &mut total);
    spread(threads, ([y, dy], axis), [&total], dx, |[y, dy], [total]| dy - y.exp() * total);
}

#[cfg(test)]
mod tests;
