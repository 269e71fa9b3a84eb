//! The loops of the elementwise functions of one variable.

use super::{UnaryOp, formula};
use crate::simd::simd;
use crate::{Float, PerOp};

/// `out = f(x)`; the lengths are equal.
pub(super) fn values<T: Float>(op: UnaryOp, x: &[T], out: &mut [T]) {
    op.dispatch(Values { settings: op.settings().map(T::from_f64), x, out });
}

struct Values<'a, T> {
    settings: [T; 2],
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Float> PerOp for Values<'_, T> {
    type Output = ();
    fn run<const OP: u32>(self) {
        simd(
            #[inline(always)]
            || {
                for (out, &x) in self.out.iter_mut().zip(self.x) {
                    *out = formula::value::<OP, T>(self.settings, x);
                }
            },
        );
    }
}

/// `dx = dy · f'(x)`; the lengths are equal.
pub(super) fn products<T: Float>(op: UnaryOp, operands: [&[T]; 3], dx: &mut [T]) {
    op.dispatch(Products { settings: op.settings().map(T::from_f64), operands, dx });
}

struct Products<'a, T> {
    settings: [T; 2],
    /// x, y and dy.
    operands: [&'a [T]; 3],
    dx: &'a mut [T],
}

impl<T: Float> PerOp for Products<'_, T> {
    type Output = ();
    fn run<const OP: u32>(self) {
        let [x, y, dy] = self.operands;
        simd(
            #[inline(always)]
            || {
                for (((dx, &x), &y), &dy) in self.dx.iter_mut().zip(x).zip(y).zip(dy) {
                    *dx = dy * formula::slope::<OP, T>(self.settings, x, y);
                }
            },
        );
    }
}
