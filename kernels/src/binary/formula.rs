//! Value and slopes of each function, side by side.

use super::{BinaryOp, Side};
use crate::Float;
use crate::unary::{UnaryOp, power_slope};

impl BinaryOp {
    /// `f(x, y)`.
    #[inline(always)]
    pub fn value<T: Float>(self, x: T, y: T) -> T {
        // Of equal numbers, only zeros differ: a sum of zeros is −0 when both are. It is also
        // the NaN that two numbers without an order leave.
        let same = x == y && x != T::ZERO;
        let half = T::from_f64(0.5);
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
            BinaryOp::Pow => pow(x, y),
            BinaryOp::SquaredError => (x - y) * (x - y),
            BinaryOp::AbsoluteError => (x - y).abs(),
            BinaryOp::Huber(delta) => {
                let (delta, d) = (T::from_f64(delta), (x - y).abs());
                if d <= delta { half * d * d } else { delta * (d - half * delta) }
            }
            BinaryOp::Bce => -(y * log(x) + (T::ONE - y) * log(T::ONE - x)),
            BinaryOp::BceWithLogits => UnaryOp::Relu.value(x) - x * y + (-x.abs()).exp().ln_1p(),
            BinaryOp::KlDiv => {
                let term = y * (y.ln() - x);
                if y == T::ZERO { T::ZERO } else { term }
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
            (BinaryOp::Pow, Side::Left) => power_base_slope(x, y),
            (BinaryOp::Pow, Side::Right) => {
                let slope = power_growth(x, y);
                // 0 · −∞, the limit from above, for every power that is not negative.
                if x == T::ZERO && y >= T::ZERO { T::ZERO } else { slope }
            }
            (BinaryOp::SquaredError, Side::Left) => (x - y) + (x - y),
            (BinaryOp::SquaredError, Side::Right) => (y - x) + (y - x),
            (BinaryOp::AbsoluteError, Side::Left) => UnaryOp::Abs.slope(x - y, T::ZERO),
            (BinaryOp::AbsoluteError, Side::Right) => UnaryOp::Abs.slope(y - x, T::ZERO),
            (BinaryOp::Huber(delta), Side::Left) => clamped(x - y, delta),
            (BinaryOp::Huber(delta), Side::Right) => clamped(y - x, delta),
            (BinaryOp::Bce, Side::Left) => {
                let spread = (T::ONE - x) * x;
                let least = T::from_f64(1e-12);
                (x - y) / if spread < least { least } else { spread }
            }
            (BinaryOp::Bce, Side::Right) => log(T::ONE - x) - log(x),
            (BinaryOp::BceWithLogits, Side::Left) => UnaryOp::Sigmoid.value(x) - y,
            (BinaryOp::BceWithLogits, Side::Right) => -x,
            (BinaryOp::KlDiv, Side::Left) => -y,
            (BinaryOp::KlDiv, Side::Right) => {
                let slope = y.ln() + T::ONE - x;
                if y == T::ZERO { T::ZERO } else { slope }
            }
        }
    }
}

/// `xʸ`. Powers are called, not inlined: a loop for each instruction set and form of the operands
/// would be most of the crate's code.
#[inline(never)]
fn pow<T: Float>(x: T, y: T) -> T {
    x.pow(y)
}

/// `∂xʸ/∂x`; called as [`pow`] is.
#[inline(never)]
fn power_base_slope<T: Float>(x: T, y: T) -> T {
    power_slope(x, y)
}

/// `xʸ · ln x`; called as [`pow`] is.
#[inline(never)]
fn power_growth<T: Float>(x: T, y: T) -> T {
    x.pow(y) * x.ln()
}

/// 0 where `a < b`, ½ where they are equal, else 1.
#[inline(always)]
fn not_below<T: Float>(a: T, b: T) -> T {
    let rest = if a == b { T::from_f64(0.5) } else { T::ONE };
    if a < b { T::ZERO } else { rest }
}

/// The logarithm, at least −100: a certain and wrong probability costs that much.
#[inline(always)]
fn log<T: Float>(x: T) -> T {
    let (y, least) = (x.ln(), T::from_f64(-100.0));
    if y < least { least } else { y }
}

/// `d` within ±`delta`.
#[inline(always)]
fn clamped<T: Float>(d: T, delta: f64) -> T {
    UnaryOp::Clamp(-delta, delta).value(d)
}
