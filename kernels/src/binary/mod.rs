//! `z = f(x, y)` elementwise, and `dx = dz · ∂f/∂x`, `dy = dz · ∂f/∂y`.
//!
//! Value and slopes of each op stand side by side in [`BinaryOp::value`] and
//! [`BinaryOp::slope`]. Operands come broadcast to the shape of the result, by strides of 0; the
//! vjp has that shape too, and whoever broadcast sums it back.
//!
//! Conventions: max and min of anything with a NaN are NaN, `max(−0, +0) = +0` and
//! `min(−0, +0) = −0`. Equal operands share the slope of max and min, half each; a NaN gives
//! each side the slope 1, so that it is not lost on the way back.

mod cpu;

use crate::walk::Walk;
use crate::{Float, Strided, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// An elementwise function of two variables. The numbers are shared with device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BinaryOp {
    /// `x + y`
    Add = 0,
    /// `x − y`
    Sub = 1,
    /// `x · y`
    Mul = 2,
    /// `x / y`
    Div = 3,
    /// The larger one.
    Max = 4,
    /// The smaller one.
    Min = 5,
}

/// An operand of a binary op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// `x`
    Left,
    /// `y`
    Right,
}

impl BinaryOp {
    /// Every op, in the order of its number.
    pub const ALL: [BinaryOp; 6] =
        [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Max, BinaryOp::Min];

    /// The lower-case name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Max => "max",
            BinaryOp::Min => "min",
        }
    }

    /// `f(x, y)`.
    #[inline(always)]
    pub fn value<T: Float>(self, x: T, y: T) -> T {
        // Of equal numbers, only zeros differ: a sum of zeros is −0 when both are. It is also
        // the NaN that two numbers without an order leave.
        let same = x == y && x != T::ZERO;
        match self {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            BinaryOp::Div => x / y,
            BinaryOp::Max => {
                let rest = if same { x } else { x + y };
                let rest = if x > y { x } else { rest };
                if x < y { y } else { rest }
            }
            BinaryOp::Min => {
                let rest = if same { x } else { -(-x + -y) };
                let rest = if x < y { x } else { rest };
                if x > y { y } else { rest }
            }
        }
    }

    /// `∂f/∂x` for the left side, `∂f/∂y` for the right one.
    #[inline(always)]
    pub fn slope<T: Float>(self, side: Side, x: T, y: T) -> T {
        match (self, side) {
            (BinaryOp::Add, _) | (BinaryOp::Sub, Side::Left) => T::ONE,
            (BinaryOp::Sub, Side::Right) => -T::ONE,
            (BinaryOp::Mul, Side::Left) => y,
            (BinaryOp::Mul, Side::Right) => x,
            (BinaryOp::Div, Side::Left) => T::ONE / y,
            // Not −x / y²: the square overflows early.
            (BinaryOp::Div, Side::Right) => -(x / y / y),
            (BinaryOp::Max, Side::Left) | (BinaryOp::Min, Side::Right) => not_below(x, y),
            (BinaryOp::Max, Side::Right) | (BinaryOp::Min, Side::Left) => not_below(y, x),
        }
    }

    /// Calls `body` with this op as a constant, so that a loop in an inlined `body` is compiled
    /// once for each op and has no match inside.
    #[inline(always)]
    fn fixed(self, body: impl FnOnce(BinaryOp)) {
        match self {
            BinaryOp::Add => body(BinaryOp::Add),
            BinaryOp::Sub => body(BinaryOp::Sub),
            BinaryOp::Mul => body(BinaryOp::Mul),
            BinaryOp::Div => body(BinaryOp::Div),
            BinaryOp::Max => body(BinaryOp::Max),
            BinaryOp::Min => body(BinaryOp::Min),
        }
    }
}

/// 0 where `a < b`, ½ where they are equal, else 1.
#[inline(always)]
fn not_below<T: Float>(a: T, b: T) -> T {
    let rest = if a == b { T::from_f64(0.5) } else { T::ONE };
    if a < b { T::ZERO } else { rest }
}

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
        // Two branches, so that the side is a constant in each loop.
        match side {
            Side::Left => cpu::products(op, Side::Left, &walk, data, (first, run)),
            Side::Right => cpu::products(op, Side::Right, &walk, data, (first, run)),
        }
    });
}
