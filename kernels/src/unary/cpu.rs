//! The loops of the elementwise functions of one variable.

use super::UnaryOp;
use crate::Float;
use crate::simd::simd;

/// `out = f(x)`; the lengths are equal.
pub(super) fn values<T: Float>(op: UnaryOp, x: &[T], out: &mut [T]) {
    simd(
        #[inline(always)]
        || {
            op.fixed(
                #[inline(always)]
                |op| {
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = op.value(x);
                    }
                },
            );
        },
    );
}

/// `dx = dy · f'(x)`; the lengths are equal.
pub(super) fn products<T: Float>(op: UnaryOp, [x, y, dy]: [&[T]; 3], dx: &mut [T]) {
    simd(
        #[inline(always)]
        || {
            op.fixed(
                #[inline(always)]
                |op| {
                    for (((dx, &x), &y), &dy) in dx.iter_mut().zip(x).zip(y).zip(dy) {
                        *dx = dy * op.slope(x, y);
                    }
                },
            );
        },
    );
}
