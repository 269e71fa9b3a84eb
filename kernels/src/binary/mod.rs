//! `z = f(x, y)` elementwise, and `dx = dz · ∂f/∂x`, `dy = dz · ∂f/∂y`.
//!
//! Value and slopes of each op stand side by side in `formula.rs`. Operands come broadcast to the
//! shape of the result, by strides of 0; the vjp has that shape too, and whoever broadcast sums it
//! back.
//!
//! Conventions: max and min of anything with a NaN are NaN, `max(−0, +0) = +0` and
//! `min(−0, +0) = −0`. Equal operands share the slope of max and min, half each; a NaN gives
//! each side the slope 1, so that it is not lost on the way back. `0⁰` is 1, and the slopes of a
//! power are 0 for the exponent 0, and for the base 0 with an exponent that is not negative.

mod cpu;
mod formula;
mod integer;
mod number;
mod op;

use crate::walk::Walk;
use crate::{Float, Strided, Threads};
pub use integer::integer;
pub use op::{BinaryOp, Side};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// `out = f(x, y)` in row-major order.
///
/// **Shapes**: x and y have one shape, with as many elements as `out`.
///
/// # Panics
/// When they do not, or have more than 8 axes.
pub fn binary<T: Float>(
    threads: &Threads,
    op: BinaryOp,
    x: Strided<'_, T>,
    y: Strided<'_, T>,
    out: &mut [T],
) {
    assert_eq!(x.numel(), out.len(), "one result a pair");
    let walk = Walk::new([x, y]);
    let data = [x.data(), y.data()];
    let parts = threads.parts(out.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| cpu::values(op, &walk, data, (first, run)));
}

/// `out = dz · ∂f/∂(one side)` in row-major order, where `z = f(x, y)`.
///
/// **Shapes**: x, y and dz have one shape, with as many elements as `out`.
///
/// # Panics
/// When they do not, or have more than 8 axes.
pub fn binary_vjp<T: Float>(
    threads: &Threads,
    op: BinaryOp,
    side: Side,
    [x, y, dz]: [Strided<'_, T>; 3],
    out: &mut [T],
) {
    assert_eq!(dz.numel(), out.len(), "one result an element of dz");
    let walk = Walk::new([x, y, dz]);
    let data = [x.data(), y.data(), dz.data()];
    let parts = threads.parts(out.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| {
        cpu::products(op, side, &walk, data, (first, run));
    });
}

#[cfg(test)]
mod tests;
