//! Mean, variance, norm and logsumexp, and the derivatives with respect to their elements.

use super::fold::{Largest, Sum, SumOf};
use super::{Axis, MIN_PART, along, cpu, spread};
use crate::{Float, Threads};

/// Results of a block: its elements stay in a near cache from the first sum to the last.
const BLOCK: usize = 64;
/// Elements of the rows of a block.
const BLOCK_ELEMENTS: usize = 8192;

/// Calls `body` for blocks of results, on the threads: with the number of the first one.
fn blocks<T: Float>(
    threads: &Threads,
    axis: Axis,
    out: &mut [T],
    body: impl Fn(usize, &mut [T]) + Sync,
) {
    let parts = threads.parts(axis.numel(), MIN_PART);
    let rows = (BLOCK_ELEMENTS / axis.len.max(1)).clamp(1, BLOCK);
    let block = if axis.inner == 1 { rows } else { BLOCK };
    threads.split_mut(out, 1, parts, |first, run| {
        for (i, run) in run.chunks_mut(block).enumerate() {
            body(first + i * block, run);
        }
    });
}

/// The sums of `f(x, center)`; `out` holds the centers, then the sums.
fn sums_of<T: Float>(
    x: &[T],
    axis: Axis,
    out: (usize, &mut [T]),
    f: impl Fn(T, T) -> T + Copy + Sync,
) {
    cpu::fold(SumOf(f), x, axis, out);
}

/// The means along the axis: the sum divided by the length.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn mean<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    axis.check(x.len(), out.len());
    blocks(threads, axis, out, |first, out| means(x, axis, (first, out)));
}

fn means<T: Float>(x: &[T], axis: Axis, (first, out): (usize, &mut [T])) {
    cpu::fold(Sum, x, axis, (first, &mut *out));
    let count = T::from_f64(axis.len as f64);
    for out in out {
        *out = *out / count;
    }
}

/// The variances along the axis, `Σ (x − mean)² / (len − correction)`.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn var<T: Float>(threads: &Threads, x: &[T], (axis, correction): (Axis, usize), out: &mut [T]) {
    axis.check(x.len(), out.len());
    let (count, freedom) = (T::from_f64(axis.len as f64), freedom::<T>(axis, correction));
    blocks(threads, axis, out, |first, out| {
        means(x, axis, (first, &mut *out));
        let mut rest = [T::ZERO; BLOCK];
        let rest = &mut rest[..out.len()];
        rest.copy_from_slice(out);
        sums_of(x, axis, (first, &mut *rest), |x, mean| x - mean);
        sums_of(x, axis, (first, &mut *out), |x, mean| (x - mean) * (x - mean));
        for (out, &rest) in out.iter_mut().zip(&*rest) {
            let squares = *out - rest * rest / count;
            // A rounding below zero is zero; a NaN stays.
            *out = if squares < T::ZERO { T::ZERO } else { squares } / freedom;
        }
    });
}

/// `len − correction`, or NaN when nothing is left.
fn freedom<T: Float>(axis: Axis, correction: usize) -> T {
    let left = axis.len.checked_sub(correction).filter(|&left| left > 0);
    T::from_f64(left.map_or(f64::NAN, |left| left as f64))
}

/// The derivative of [`var`], `dx = 2 (x − mean) / (len − correction) · dy`. The rounding of the
/// mean is taken out of the differences, which sum to 0.
///
/// **Shapes**: x, dx `[outer, len, inner]`, dy `[outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn var_vjp<T: Float>(
    threads: &Threads,
    [x, dy]: [&[T]; 2],
    (axis, correction): (Axis, usize),
    dx: &mut [T],
) {
    axis.check(x.len(), dy.len());
    let count = T::from_f64(axis.len as f64);
    let mut means = vec![T::ZERO; dy.len()];
    mean(threads, x, axis, &mut means);
    let mut rest = means.clone();
    blocks(threads, axis, &mut rest, |first, out| {
        sums_of(x, axis, (first, &mut *out), |x, mean| x - mean);
        for out in out {
            *out = *out / count;
        }
    });
    let freedom = freedom::<T>(axis, correction);
    let slopes: Vec<T> = dy.iter().map(|&dy| (dy + dy) / freedom).collect();
    spread(threads, ([x], axis), [&means, &rest, &slopes], dx, |[x], [mean, rest, slope]| {
        ((x - mean) - rest) * slope
    });
}

/// The derivative of the square root y of [`var`]: that of the variance times `dy / 2y`; at y = 0,
/// where there is none, 0.
///
/// **Shapes**: x, dx `[outer, len, inner]`, y, dy `[outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn std_vjp<T: Float>(
    threads: &Threads,
    [x, y, dy]: [&[T]; 3],
    (axis, correction): (Axis, usize),
    dx: &mut [T],
) {
    let slope = |(&y, &dy): (&T, &T)| if y == T::ZERO { T::ZERO } else { dy / (y + y) };
    let slopes: Vec<T> = y.iter().zip(dy).map(slope).collect();
    var_vjp(threads, [x, &slopes], (axis, correction), dx);
}

/// The Euclidean norms along the axis, `√(Σ x²)`: overflows where a square does.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn norm<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    axis.check(x.len(), out.len());
    blocks(threads, axis, out, |first, out| {
        sums_of(x, axis, (first, &mut *out), |x, _| x * x);
        for out in out {
            *out = out.sqrt();
        }
    });
}

/// The derivative of [`norm`], `dx = x · (dy / y)`; at y = 0, where there is none, 0.
///
/// **Shapes**: x, dx `[outer, len, inner]`, y, dy `[outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn norm_vjp<T: Float>(threads: &Threads, [x, y, dy]: [&[T]; 3], axis: Axis, dx: &mut [T]) {
    axis.check(x.len(), y.len());
    let slope = |(&y, &dy): (&T, &T)| if y == T::ZERO { T::ZERO } else { dy / y };
    let slopes: Vec<T> = y.iter().zip(dy).map(slope).collect();
    spread(threads, ([x], axis), [&slopes], dx, |[x], [slope]| x * slope);
}

/// `ln Σ exp x` along the axis, without overflow. −∞ counts nothing: a row of nothing else, or
/// of no element, has −∞. One with +∞ has +∞.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn logsumexp<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    axis.check(x.len(), out.len());
    blocks(threads, axis, out, |first, out| {
        cpu::fold(Largest(T::from_f64(f64::NEG_INFINITY)), x, axis, (first, &mut *out));
        let mut centers = [T::ZERO; BLOCK];
        let centers = &mut centers[..out.len()];
        for (center, out) in centers.iter_mut().zip(&mut *out) {
            *out = if out.is_finite() { *out } else { T::ZERO };
            *center = *out;
        }
        sums_of(x, axis, (first, &mut *out), |x, center| (x - center).exp());
        for (out, &center) in out.iter_mut().zip(&*centers) {
            *out = center + out.ln();
        }
    });
}

/// `Σ exp(x − m)` along the axis, in the order of the sums; `out` holds each m, then the sums.
pub(crate) fn exp_sums<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    along(threads, SumOf(|x: T, m| (x - m).exp()), x, axis, out);
}

/// The derivative of [`logsumexp`], `dx = exp(x − m) / Σ exp(x − m) · dy`, m as there: 0 where
/// all x are −∞. An element +∞ has NaN, as in the softmax. Not exp(x − y): the rounding of a
/// large y would be that of the exponent.
///
/// **Shapes**: x, dx `[outer, len, inner]`, dy `[outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn logsumexp_vjp<T: Float>(threads: &Threads, [x, dy]: [&[T]; 2], axis: Axis, dx: &mut [T]) {
    axis.check(x.len(), dy.len());
    let mut centers = vec![T::ZERO; dy.len()];
    along(threads, Largest(T::from_f64(f64::NEG_INFINITY)), x, axis, &mut centers);
    for center in &mut centers {
        *center = if center.is_finite() { *center } else { T::ZERO };
    }
    let mut slopes = centers.clone();
    exp_sums(threads, x, axis, &mut slopes);
    for (slope, &dy) in slopes.iter_mut().zip(dy) {
        *slope = if *slope == T::ZERO { T::ZERO } else { dy / *slope };
    }
    spread(threads, ([x], axis), [&centers, &slopes], dx, |[x], [center, slope]| {
        (x - center).exp() * slope
    });
}
