//! The loops of the reductions: along rows in lanes, along columns many results at once.

use std::array;

use super::Axis;
use super::fold::{Fold, Largest, Sum, SumOf};
use crate::Float;
use crate::simd::simd;

/// Lanes of a fold along the last axis.
const LANES: usize = 16;

/// The sum of `x` in 16 lanes; the order is in the doc of the module above.
#[inline(always)]
pub fn lane_sum<T: Float>(x: &[T]) -> T {
    leading(Sum, x, x.len(), T::ZERO)
}

/// The [`lane_sum`] of `f` of each element.
#[inline(always)]
pub(crate) fn lane_sum_of<T: Float>(x: &[T], f: impl Fn(T) -> T + Copy + Sync) -> T {
    leading(
        SumOf(
            #[inline(always)]
            |x, _| f(x),
        ),
        x,
        x.len(),
        T::ZERO,
    )
}

/// The largest element, a NaN where one is among them; −∞ of none.
#[inline(always)]
pub(crate) fn lane_largest<T: Float>(x: &[T]) -> T {
    leading(Largest(T::from_f64(f64::NEG_INFINITY)), x, x.len(), T::ZERO)
}

/// Folds the first `len` elements. What follows them is not counted, but lets the last lanes be
/// filled with one masked load where 16 elements can be read.
#[inline(always)]
fn leading<X: Copy, A: Copy>(fold: impl Fold<X, A>, x: &[X], len: usize, center: A) -> A {
    let mut lanes = [fold.start(); LANES];
    for block in x[..len].as_chunks::<LANES>().0 {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane = fold.step(*lane, x, center);
        }
    }
    let rest = len % LANES;
    let tail = &x[len - rest..];
    if let Some(tail) = tail.first_chunk::<LANES>() {
        for (l, lane) in lanes.iter_mut().enumerate() {
            let more = fold.step(*lane, tail[l], center);
            *lane = if l < rest { more } else { *lane };
        }
    } else {
        for (lane, &x) in lanes.iter_mut().zip(&tail[..rest]) {
            *lane = fold.step(*lane, x, center);
        }
    }
    // In pairs. A lane that no element reached holds the start, which changes nothing.
    let eight: [A; 8] = array::from_fn(|l| fold.join(lanes[l], lanes[l + 8]));
    let four: [A; 4] = array::from_fn(|l| fold.join(eight[l], eight[l + 4]));
    fold.join(fold.join(four[0], four[2]), fold.join(four[1], four[3]))
}

/// The [`lane_sum`] of each row of `len` elements; as many rows as `out` has elements.
#[inline(always)]
pub(crate) fn row_sums<T: Float>(x: &[T], len: usize, out: &mut [T]) {
    rows(Sum, x, len, out);
}

/// Folds each row of `len` elements; `out` holds the centers, then the results.
#[inline(always)]
fn rows<X: Copy, A: Copy>(fold: impl Fold<X, A>, x: &[X], len: usize, out: &mut [A]) {
    for (row, out) in out.iter_mut().enumerate() {
        *out = leading(fold, &x[row * len..], len, *out);
    }
}

/// The results from number `first` on, in the order `[outer, inner]`; `out` holds the centers,
/// then the results.
pub(super) fn fold<X: Copy, A: Copy>(
    fold: impl Fold<X, A>,
    x: &[X],
    axis: Axis,
    (first, out): (usize, &mut [A]),
) {
    if axis.inner == 1 {
        let x = &x[first * axis.len..];
        return simd(
            #[inline(always)]
            || rows(fold, x, axis.len, out),
        );
    }
    let plane = axis.len * axis.inner;
    let mut done = 0;
    while done < out.len() {
        let (outer, column) = ((first + done) / axis.inner, (first + done) % axis.inner);
        let count = (axis.inner - column).min(out.len() - done);
        let x = &x[outer * plane..(outer + 1) * plane];
        let out = &mut out[done..done + count];
        simd(
            #[inline(always)]
            || columns(fold, x, axis.inner, column, out),
        );
        done += count;
    }
}

/// Folds the columns from `column` on of one plane `[len, inner]`.
#[inline(always)]
fn columns<X: Copy, A: Copy>(
    fold: impl Fold<X, A>,
    x: &[X],
    inner: usize,
    column: usize,
    out: &mut [A],
) {
    let mut column = column;
    let (blocks, out) = out.as_chunks_mut::<64>();
    for block in blocks {
        *block = column_block(fold, x, inner, column, *block);
        column += 64;
    }
    let (blocks, out) = out.as_chunks_mut::<LANES>();
    for block in blocks {
        *block = column_block(fold, x, inner, column, *block);
        column += LANES;
    }
    let mut centers = [fold.start(); LANES];
    let centers = &mut centers[..out.len()];
    centers.copy_from_slice(out);
    out.fill(fold.start());
    for row in x.chunks_exact(inner) {
        for ((total, &x), &center) in out.iter_mut().zip(&row[column..]).zip(&*centers) {
            *total = fold.step(*total, x, center);
        }
    }
}

/// Folds `W` neighbouring columns, kept in registers.
#[inline(always)]
fn column_block<X: Copy, A: Copy, const W: usize>(
    fold: impl Fold<X, A>,
    x: &[X],
    inner: usize,
    column: usize,
    centers: [A; W],
) -> [A; W] {
    let mut totals = [fold.start(); W];
    for row in x.chunks_exact(inner) {
        let row = &row[column..column + W];
        for ((total, &x), &center) in totals.iter_mut().zip(row).zip(&centers) {
            *total = fold.step(*total, x, center);
        }
    }
    totals
}
