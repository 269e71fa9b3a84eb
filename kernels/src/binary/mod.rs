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

#[cfg(test)]
mod tests {
    use super::*;

    /// Row-major elements of a view, by the definition of its strides.
    fn elements(view: Strided<'_, f32>) -> Vec<f32> {
        let element = |mut i: usize| {
            let mut at = view.offset();
            for (&len, &stride) in view.shape().iter().zip(view.strides()).rev() {
                at += i % len * stride;
                i /= len;
            }
            view.data()[at]
        };
        (0..view.numel()).map(element).collect()
    }

    fn check(shape: &[usize], [xs, ys, zs]: [&[usize]; 3]) {
        let data =
            |phase: f32| (0..300).map(|i| (0.7 * i as f32 + phase).sin()).collect::<Vec<_>>();
        let (x, y, dz) = (data(0.3), data(1.1), data(2.3));
        let views = [(&x, 3, xs), (&y, 0, ys), (&dz, 5, zs)]
            .map(|(d, at, s)| Strided::new(d, at, shape, s));
        let [x, y, dz] = views.map(elements);
        let threads = Threads::serial();
        for op in BinaryOp::ALL {
            let mut out = vec![f32::NAN; x.len()];
            binary(&threads, op, views[0], views[1], &mut out);
            let want: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| op.value(x, y)).collect();
            assert_eq!(out, want, "{} {shape:?} {xs:?} {ys:?}", op.name());
            for side in [Side::Left, Side::Right] {
                binary_vjp(&threads, op, side, views, &mut out);
                let want = (0..x.len()).map(|i| dz[i] * op.slope(side, x[i], y[i]));
                assert_eq!(out, want.collect::<Vec<_>>(), "{} {shape:?} {side:?}", op.name());
            }
        }
    }

    #[test]
    fn every_layout_gives_the_pairs_in_row_major_order() {
        check(&[], [&[], &[], &[]]);
        check(&[0, 3], [&[3, 1], &[0, 1], &[3, 1]]);
        for n in [1, 15, 16, 17, 37] {
            check(&[n], [&[1], &[1], &[1]]);
            check(&[n], [&[1], &[0], &[1]]);
            check(&[n], [&[0], &[1], &[1]]);
            check(&[n], [&[0], &[3], &[2]]);
        }
        check(&[5, 7], [&[7, 1], &[0, 1], &[7, 1]]);
        check(&[5, 7], [&[1, 5], &[1, 0], &[7, 1]]);
        check(&[5, 7], [&[1, 0], &[0, 1], &[0, 0]]);
        check(&[3, 2, 4], [&[8, 4, 1], &[0, 12, 3], &[1, 3, 6]]);
    }

    fn bits(op: BinaryOp, x: f32, y: f32) -> u32 {
        op.value(x, y).to_bits()
    }

    #[test]
    fn max_and_min_order_zeros_and_keep_nans() {
        let (minus, plus) = ((-0.0f32).to_bits(), 0.0f32.to_bits());
        for (x, y) in [(-0.0, 0.0), (0.0, -0.0)] {
            assert_eq!(bits(BinaryOp::Max, x, y), plus);
            assert_eq!(bits(BinaryOp::Min, x, y), minus);
        }
        assert_eq!((bits(BinaryOp::Max, -0.0, -0.0), bits(BinaryOp::Min, 0.0, 0.0)), (minus, plus));
        for op in [BinaryOp::Max, BinaryOp::Min] {
            for (x, y) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::INFINITY)] {
                assert!(op.value(x, y).is_nan());
                assert_eq!(op.slope(Side::Left, x, y), 1.0);
                assert_eq!(op.slope(Side::Right, x, y), 1.0);
            }
            assert_eq!(op.value(f32::INFINITY, f32::INFINITY), f32::INFINITY);
            assert_eq!(op.value(f32::MAX, f32::MAX), f32::MAX);
        }
        assert_eq!(BinaryOp::Max.value(f32::NEG_INFINITY, -3.0), -3.0);
    }

    #[test]
    fn slopes_are_the_central_differences_and_ties_are_shared() {
        for op in BinaryOp::ALL {
            for (x, y) in [(0.7, -1.3), (-2.1, -0.4), (1.9, 0.6)] {
                let (h, f) = (1e-6, |x: f64, y: f64| op.value(x, y));
                let left = (f(x + h, y) - f(x - h, y)) / (2.0 * h);
                let right = (f(x, y + h) - f(x, y - h)) / (2.0 * h);
                assert!((op.slope(Side::Left, x, y) - left).abs() < 1e-8, "{}", op.name());
                assert!((op.slope(Side::Right, x, y) - right).abs() < 1e-8, "{}", op.name());
            }
        }
        for op in [BinaryOp::Max, BinaryOp::Min] {
            assert_eq!(
                (op.slope(Side::Left, 2.0, 2.0), op.slope(Side::Right, 2.0, 2.0)),
                (0.5, 0.5)
            );
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (rows, columns) = (2, MIN_PART + 1);
        let x: Vec<f32> = (0..rows * columns).map(|i| (0.37 * i as f32).sin()).collect();
        let (shape, strides) = ([rows, columns], [[columns, 1], [0, 1]]);
        let [wide, repeated] = [0, 1].map(|i| Strided::new(&x, 0, &shape, &strides[i]));
        let mut results = [1, 2, 3].map(|count| {
            let mut out = vec![0.0; x.len()];
            let threads = Threads::new(count).unwrap();
            binary(&threads, BinaryOp::Sub, wide, repeated, &mut out);
            out
        });
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], results[2]);
        results[2][columns] += 1.0;
        assert_ne!(results[0], results[2]);
    }
}
