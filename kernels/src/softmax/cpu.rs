//! The loops along the last axis, in phases over blocks of rows: each phase is one long loop that
//! vectorises also where rows are short.

use crate::Float;
use crate::reduce::{lane_largest, lane_sum_of, row_sums};
use crate::simd::simd;

/// Elements of a block: they stay in the first-level cache from phase to phase.
const BLOCK: usize = 2048;
/// Rows of a block.
const BLOCK_ROWS: usize = 64;

/// Calls `body(first element, rows)` for blocks of rows.
fn blocks<T>(len: usize, out: &mut [T], body: impl Fn(usize, &mut [T])) {
    let block = (BLOCK / len).clamp(1, BLOCK_ROWS) * len;
    for (i, out) in out.chunks_mut(block).enumerate() {
        body(i * block, out);
    }
}

/// As many rows as `y` holds, each of `len` elements, at least one.
pub(super) fn softmax<T: Float>(x: &[T], len: usize, y: &mut [T]) {
    blocks(len, y, |first, y| {
        simd(
            #[inline(always)]
            || softmax_block(&x[first..][..y.len()], len, y),
        );
    });
}

#[inline(always)]
fn softmax_block<T: Float>(x: &[T], len: usize, y: &mut [T]) {
    for (x, y) in x.chunks_exact(len).zip(y.chunks_exact_mut(len)) {
        let max = lane_largest(x);
        for (y, &x) in y.iter_mut().zip(x) {
            *y = x - max;
        }
    }
    for y in y.iter_mut() {
        *y = y.exp();
    }
    let mut sums = [T::ZERO; BLOCK_ROWS];
    let sums = &mut sums[..y.len() / len];
    row_sums(y, len, sums);
    for (y, &sum) in y.chunks_exact_mut(len).zip(&*sums) {
        for y in y.iter_mut() {
            *y = *y / sum;
        }
    }
}

/// As many rows as `y` holds, each of `len` elements, at least one.
pub(super) fn log_softmax<T: Float>(x: &[T], len: usize, y: &mut [T]) {
    simd(
        #[inline(always)]
        || {
            for (x, y) in x.chunks_exact(len).zip(y.chunks_exact_mut(len)) {
                let max = lane_largest(x);
                let log = lane_sum_of(
                    x,
                    #[inline(always)]
                    |x| (x - max).exp(),
                )
                .ln();
                for (y, &x) in y.iter_mut().zip(x) {
                    *y = (x - max) - log;
                }
            }
        },
    );
}

/// As many rows as `dx` holds, each of `len` elements, at least one.
pub(super) fn softmax_vjp<T: Float>([y, dy]: [&[T]; 2], len: usize, dx: &mut [T]) {
    blocks(len, dx, |first, dx| {
        let (y, dy) = (&y[first..][..dx.len()], &dy[first..][..dx.len()]);
        simd(
            #[inline(always)]
            || {
                for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
                    *dx = dy * y;
                }
                let mut dots = [T::ZERO; BLOCK_ROWS];
                let dots = &mut dots[..dx.len() / len];
                row_sums(dx, len, dots);
                let rows = y.chunks_exact(len).zip(dy.chunks_exact(len));
                for ((dx, (y, dy)), &dot) in dx.chunks_exact_mut(len).zip(rows).zip(&*dots) {
                    for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
                        *dx = y * (dy - dot);
                    }
                }
            },
        );
    });
}
