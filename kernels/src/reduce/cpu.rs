//! The loops of the reductions.

use std::array;

use super::Axis;
use crate::Float;
use crate::simd::simd;

/// Lanes of a sum along the last axis.
const LANES: usize = 16;

/// The sum of `x` in 16 lanes; the order is in the doc of the module above.
#[inline(always)]
pub fn lane_sum<T: Float>(x: &[T]) -> T {
    leading_sum(x, x.len())
}

/// The [`lane_sum`] of the first `len` elements. What follows them is not counted, but lets the
/// last lanes be filled with one masked load where 16 elements can be read.
#[inline(always)]
fn leading_sum<T: Float>(x: &[T], len: usize) -> T {
    let mut lanes = [T::ZERO; LANES];
    for block in x[..len].as_chunks::<LANES>().0 {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane += x;
        }
    }
    let rest = len % LANES;
    let tail = &x[len - rest..];
    if let Some(tail) = tail.first_chunk::<LANES>() {
        for (l, lane) in lanes.iter_mut().enumerate() {
            *lane += if l < rest { tail[l] } else { T::ZERO };
        }
    } else {
        for (lane, &x) in lanes.iter_mut().zip(&tail[..rest]) {
            *lane += x;
        }
    }
    fold(lanes)
}

/// The lanes added in pairs. A lane that no element reached is +0 and changes nothing: no lane is
/// −0, since +0 + −0 = +0.
#[inline(always)]
fn fold<T: Float>(lanes: [T; LANES]) -> T {
    let eight: [T; 8] = array::from_fn(|l| lanes[l] + lanes[l + 8]);
    let four: [T; 4] = array::from_fn(|l| eight[l] + eight[l + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The [`lane_sum`] of each row of `len` elements; as many rows as `out` has elements.
#[inline(always)]
pub(crate) fn row_sums<T: Float>(x: &[T], len: usize, out: &mut [T]) {
    for (row, out) in out.iter_mut().enumerate() {
        *out = leading_sum(&x[row * len..], len);
    }
}

/// Results from number `first` on, each of one row of `len` elements.
pub(super) fn sum_last<T: Float>(x: &[T], axis: Axis, (first, out): (usize, &mut [T])) {
    let x = &x[first * axis.len..];
    simd(
        #[inline(always)]
        || row_sums(x, axis.len, out),
    );
}

/// Results from number `first` on, in the order `[outer, inner]`.
pub(super) fn sum_inner<T: Float>(x: &[T], axis: Axis, (first, out): (usize, &mut [T])) {
    let plane = axis.len * axis.inner;
    let mut done = 0;
    while done < out.len() {
        let (outer, column) = ((first + done) / axis.inner, (first + done) % axis.inner);
        let count = (axis.inner - column).min(out.len() - done);
        let x = &x[outer * plane..(outer + 1) * plane];
        let out = &mut out[done..done + count];
        simd(
            #[inline(always)]
            || sum_columns(x, axis.inner, column, out),
        );
        done += count;
    }
}

/// The sums of the columns from `column` on of one plane `[len, inner]`.
#[inline(always)]
fn sum_columns<T: Float>(x: &[T], inner: usize, column: usize, out: &mut [T]) {
    let mut done = 0;
    while out.len() - done >= 64 {
        out[done..done + 64].copy_from_slice(&block_sums::<T, 64>(x, inner, column + done));
        done += 64;
    }
    while out.len() - done >= 16 {
        out[done..done + 16].copy_from_slice(&block_sums::<T, 16>(x, inner, column + done));
        done += 16;
    }
    let out = &mut out[done..];
    out.fill(T::ZERO);
    for row in x.chunks_exact(inner) {
        for (sum, &x) in out.iter_mut().zip(&row[column + done..]) {
            *sum += x;
        }
    }
}

/// The sums of `W` neighbouring columns, kept in registers.
#[inline(always)]
fn block_sums<T: Float, const W: usize>(x: &[T], inner: usize, column: usize) -> [T; W] {
    let mut sums = [T::ZERO; W];
    for row in x.chunks_exact(inner) {
        for (sum, &x) in sums.iter_mut().zip(&row[column..column + W]) {
            *sum += x;
        }
    }
    sums
}

/// The lengths fit and rows are not empty.
pub(super) fn argmax<T: Float>(x: &[T], len: usize, out: &mut [i64]) {
    for (row, out) in x.chunks_exact(len).zip(out) {
        let (mut at, mut largest) = (0, row[0]);
        for (i, &x) in row.iter().enumerate() {
            if x > largest || (x.is_nan() && !largest.is_nan()) {
                (at, largest) = (i, x);
            }
        }
        *out = at as i64;
    }
}
