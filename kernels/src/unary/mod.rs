//! `y = f(x)` elementwise, and `dx = dy · f'(x)`.
//!
//! One table: each op's value and slope stand side by side in `formula.rs`. The slope may use x, y
//! or both, whichever is cheaper or closer.
//!
//! Conventions: a NaN stays a NaN, also through relu, clamp and sign. At kinks `relu'(0) = 0`,
//! `abs'(0) = 0` and `leaky_relu'(0)` is its slope; `relu(−0) = +0`. clamp has the slope 0
//! at the bounds themselves, as in PyTorch's values. sign, floor, ceil and round have the slope 0
//! everywhere. As relu passes a NaN on, its slope there is 1. `x⁰` is 1 with slope 0, also at 0.
//! The vjp is a product everywhere, so an infinite `dy` meets a slope of 0 as NaN.

mod cpu;
mod formula;
mod number;
mod op;

use crate::{Float, Threads};
pub(crate) use formula::{abs_slope, clamp, positive, power_slope, sigmoid};
pub use op::UnaryOp;

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// `out[i] = f(x[i])`.
///
/// # Panics
/// When the lengths differ.
pub fn unary<T: Float>(threads: &Threads, op: UnaryOp, x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len(), "one result an element");
    let parts = threads.parts(out.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| {
        cpu::values(op, &x[first..first + run.len()], run);
    });
}

/// `dx[i] = dy[i] · f'(x[i])`, where `y` is what [`unary`] made of `x`.
///
/// # Panics
/// When the lengths differ.
pub fn unary_vjp<T: Float>(threads: &Threads, op: UnaryOp, [x, y, dy]: [&[T]; 3], dx: &mut [T]) {
    assert!([x, y, dy].iter().all(|s| s.len() == dx.len()), "x, y, dy and dx of one length");
    let parts = threads.parts(dx.len(), MIN_PART);
    threads.split_mut(dx, 1, parts, |first, run| {
        let part = first..first + run.len();
        cpu::products(op, [&x[part.clone()], &y[part.clone()], &dy[part]], run);
    });
}

#[cfg(test)]
mod tests;
