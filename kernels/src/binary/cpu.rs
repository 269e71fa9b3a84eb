//! The loops of the elementwise functions of two variables: a row of each operand is contiguous,
//! one repeated element, or strided.

use std::array;

use super::{BinaryOp, Side, formula};
use crate::simd::simd;
use crate::walk::Walk;
use crate::{Float, PerOp};

/// A result's first element in row-major order, and the elements from there on.
type Part<'a, T> = (usize, &'a mut [T]);

/// `out = f(x, y)`; the part lies within the walk.
pub(super) fn values<T: Float>(
    op: BinaryOp,
    walk: &Walk<2>,
    operands: [&[T]; 2],
    part: Part<'_, T>,
) {
    op.dispatch(Values { setting: T::from_f64(op.setting()), walk, operands, part });
}

struct Values<'a, T> {
    setting: T,
    walk: &'a Walk<2>,
    /// x and y.
    operands: [&'a [T]; 2],
    part: Part<'a, T>,
}

impl<T: Float> PerOp for Values<'_, T> {
    type Output = ();
    fn run<const OP: u32>(self) {
        let setting = self.setting;
        each_row(
            self.walk,
            self.operands,
            self.part,
            #[inline(always)]
            |rows, strides, out| {
                value_row(
                    #[inline(always)]
                    |x, y| formula::value::<OP, T>(setting, x, y),
                    rows,
                    strides,
                    out,
                );
            },
        );
    }
}

/// Calls `body(rows, strides, out)` for each row of the part, compiled for the widest vectors of
/// the machine.
fn each_row<T: Float, const N: usize>(
    walk: &Walk<N>,
    operands: [&[T]; N],
    (first, out): Part<'_, T>,
    body: impl Fn([&[T]; N], [usize; N], &mut [T]),
) {
    let strides = walk.strides(walk.shape().len() - 1);
    let elements = first..first + out.len();
    simd(
        #[inline(always)]
        || {
            walk.each_run(
                elements,
                #[inline(always)]
                |at, run| {
                    let rows = array::from_fn(
                        #[inline(always)]
                        |i| &operands[i][at[i]..],
                    );
                    body(rows, strides, &mut out[run]);
                },
            );
        },
    );
}

#[inline(always)]
fn value_row<T: Float>(
    f: impl Fn(T, T) -> T,
    [x, y]: [&[T]; 2],
    strides: [usize; 2],
    out: &mut [T],
) {
    match strides {
        [1, 1] => {
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                *out = f(x, y);
            }
        }
        [1, 0] => {
            let y = y[0];
            for (out, &x) in out.iter_mut().zip(x) {
                *out = f(x, y);
            }
        }
        [0, 1] => {
            let x = x[0];
            for (out, &y) in out.iter_mut().zip(y) {
                *out = f(x, y);
            }
        }
        [sx, sy] => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = f(x[i * sx], y[i * sy]);
            }
        }
    }
}

/// `out = dz · ∂f/∂side`; the part lies within the walk.
pub(super) fn products<T: Float>(
    op: BinaryOp,
    side: Side,
    walk: &Walk<3>,
    operands: [&[T]; 3],
    part: Part<'_, T>,
) {
    let setting = T::from_f64(op.setting());
    match side {
        Side::Left => op.dispatch(Products::<T, true> { setting, walk, operands, part }),
        Side::Right => op.dispatch(Products::<T, false> { setting, walk, operands, part }),
    }
}

/// The side is a constant in each loop, as the op is.
struct Products<'a, T, const LEFT: bool> {
    setting: T,
    walk: &'a Walk<3>,
    /// x, y and dz.
    operands: [&'a [T]; 3],
    part: Part<'a, T>,
}

impl<T: Float, const LEFT: bool> PerOp for Products<'_, T, LEFT> {
    type Output = ();
    fn run<const OP: u32>(self) {
        let setting = self.setting;
        each_row(
            self.walk,
            self.operands,
            self.part,
            #[inline(always)]
            |rows, strides, out| {
                product_row(
                    #[inline(always)]
                    |x, y| match LEFT {
                        true => formula::left_slope::<OP, T>(setting, x, y),
                        false => formula::right_slope::<OP, T>(setting, x, y),
                    },
                    rows,
                    strides,
                    out,
                );
            },
        );
    }
}

#[inline(always)]
fn product_row<T: Float>(
    slope: impl Fn(T, T) -> T,
    [x, y, dz]: [&[T]; 3],
    strides: [usize; 3],
    out: &mut [T],
) {
    match strides {
        [1, 1, 1] => {
            for (((out, &x), &y), &dz) in out.iter_mut().zip(x).zip(y).zip(dz) {
                *out = dz * slope(x, y);
            }
        }
        [1, 0, 1] => {
            let y = y[0];
            for ((out, &x), &dz) in out.iter_mut().zip(x).zip(dz) {
                *out = dz * slope(x, y);
            }
        }
        [0, 1, 1] => {
            let x = x[0];
            for ((out, &y), &dz) in out.iter_mut().zip(y).zip(dz) {
                *out = dz * slope(x, y);
            }
        }
        [sx, sy, sz] => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = dz[i * sz] * slope(x[i * sx], y[i * sy]);
            }
        }
    }
}
