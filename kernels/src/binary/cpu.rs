//! The loops of the elementwise functions of two variables: a row of each operand is contiguous,
//! one repeated element, or strided. A repeated element has loops of its own for arithmetic, which
//! is what such operands are met in; for the other functions they would double the code.

use super::{BinaryOp, Side};
use crate::Float;
use crate::simd::simd;
use crate::walk::Walk;

/// A result's first element in row-major order, and the elements from there on.
type Part<'a, T> = (usize, &'a mut [T]);

/// `out = f(x, y)`; the part lies within the walk.
pub(super) fn values<T: Float>(
    op: BinaryOp,
    walk: &Walk<2>,
    [x, y]: [&[T]; 2],
    (first, out): Part<'_, T>,
) {
    let strides = walk.strides(walk.shape().len() - 1);
    let elements = first..first + out.len();
    simd(
        #[inline(always)]
        || {
            op.fixed(
                #[inline(always)]
                |op| {
                    walk.each_run(
                        elements,
                        #[inline(always)]
                        |[i, j], part| {
                            let rows = [&x[i..], &y[j..]];
                            value_row(op, rows, strides, &mut out[part]);
                        },
                    );
                },
            );
        },
    );
}

#[inline(always)]
fn value_row<T: Float>(op: BinaryOp, [x, y]: [&[T]; 2], strides: [usize; 2], out: &mut [T]) {
    match strides {
        [1, 1] => {
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                *out = op.value(x, y);
            }
        }
        [1, 0] if op.is_arithmetic() => {
            let y = y[0];
            for (out, &x) in out.iter_mut().zip(x) {
                *out = op.value(x, y);
            }
        }
        [0, 1] if op.is_arithmetic() => {
            let x = x[0];
            for (out, &y) in out.iter_mut().zip(y) {
                *out = op.value(x, y);
            }
        }
        [sx, sy] => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = op.value(x[i * sx], y[i * sy]);
            }
        }
    }
}

/// `out = dz · ∂f/∂side`; the part lies within the walk.
pub(super) fn products<T: Float>(
    op: BinaryOp,
    side: Side,
    walk: &Walk<3>,
    [x, y, dz]: [&[T]; 3],
    (first, out): Part<'_, T>,
) {
    let strides = walk.strides(walk.shape().len() - 1);
    let elements = first..first + out.len();
    simd(
        #[inline(always)]
        || {
            op.fixed(
                #[inline(always)]
                |op| {
                    walk.each_run(
                        elements,
                        #[inline(always)]
                        |[i, j, k], part| {
                            let rows = [&x[i..], &y[j..], &dz[k..]];
                            product_row((op, side), rows, strides, &mut out[part]);
                        },
                    );
                },
            );
        },
    );
}

#[inline(always)]
fn product_row<T: Float>(
    (op, side): (BinaryOp, Side),
    [x, y, dz]: [&[T]; 3],
    strides: [usize; 3],
    out: &mut [T],
) {
    match strides {
        [1, 1, 1] => {
            for (((out, &x), &y), &dz) in out.iter_mut().zip(x).zip(y).zip(dz) {
                *out = dz * op.slope(side, x, y);
            }
        }
        [1, 0, 1] if op.is_arithmetic() => {
            let y = y[0];
            for ((out, &x), &dz) in out.iter_mut().zip(x).zip(dz) {
                *out = dz * op.slope(side, x, y);
            }
        }
        [0, 1, 1] if op.is_arithmetic() => {
            let x = x[0];
            for ((out, &y), &dz) in out.iter_mut().zip(y).zip(dz) {
                *out = dz * op.slope(side, x, y);
            }
        }
        [sx, sy, sz] => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = dz[i * sz] * op.slope(side, x[i * sx], y[i * sy]);
            }
        }
    }
}
