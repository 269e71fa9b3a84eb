//! Value and slopes of each function, side by side.

use super::number as op;
use crate::Float;
use crate::unary::{abs_slope, clamp, positive, power_slope, sigmoid};

/// `f(x, y)` of the op with the number `OP` and this setting.
#[inline(always)]
pub(super) fn value<const OP: u32, T: Float>(a: T, x: T, y: T) -> T {
    // Of equal numbers, only zeros differ: a sum of zeros is −0 when both are. It is also
    // the NaN that two numbers without an order leave.
    let same = x == y && x != T::ZERO;
    let half = T::from_f64(0.5);
    match OP {
        op::ADD => x + y,
        op::SUB => x - y,
        op::MUL => x * y,
        op::DIV => x / y,
        op::MAX => {
            let rest = if same { x } else { x + y };
            let rest = if x > y { x } else { rest };
            if x < y { y } else { rest }
        }
        op::MIN => {
            let rest = if same { x } else { -(-x + -y) };
            let rest = if x < y { x } else { rest };
            if x > y { y } else { rest }
        }
        op::POW => x.pow(y),
        op::SQUARED_ERROR => (x - y) * (x - y),
        op::ABSOLUTE_ERROR => (x - y).abs(),
        op::HUBER => {
            let d = (x - y).abs();
            if d <= a { half * d * d } else { a * (d - half * a) }
        }
        op::BCE => -(y * log(x) + (T::ONE - y) * log(T::ONE - x)),
        op::BCE_WITH_LOGITS => positive(x, T::ZERO) - x * y + (-x.abs()).exp().ln_1p(),
        op::KL_DIV => {
            let term = y * (y.ln() - x);
            if y == T::ZERO { T::ZERO } else { term }
        }
        _ => unreachable!("no op has the number {OP}"),
    }
}

/// `∂f/∂x` of the op with the number `OP` and this setting.
#[inline(always)]
pub(super) fn left_slope<const OP: u32, T: Float>(a: T, x: T, y: T) -> T {
    match OP {
        op::ADD | op::SUB => T::ONE,
        op::MUL => y,
        op::DIV => T::ONE / y,
        op::MAX => not_below(x, y),
        op::MIN => not_below(y, x),
        op::POW => power_slope(x, y),
        op::SQUARED_ERROR => (x - y) + (x - y),
        op::ABSOLUTE_ERROR => abs_slope(x - y),
        op::HUBER => clamp(x - y, -a, a),
        op::BCE => {
            let spread = (T::ONE - x) * x;
            let least = T::from_f64(1e-12);
            (x - y) / if spread < least { least } else { spread }
        }
        op::BCE_WITH_LOGITS => sigmoid(x) - y,
        op::KL_DIV => -y,
        _ => unreachable!("no op has the number {OP}"),
    }
}

/// `∂f/∂y` of the op with the number `OP` and this setting.
#[inline(always)]
pub(super) fn right_slope<const OP: u32, T: Float>(a: T, x: T, y: T) -> T {
    match OP {
        op::ADD => T::ONE,
        op::SUB => -T::ONE,
        op::MUL => x,
        // Not −x / y²: the square overflows early.
        op::DIV => -(x / y / y),
        op::MAX => not_below(y, x),
        op::MIN => not_below(x, y),
        op::POW => {
            let slope = x.pow(y) * x.ln();
            // 0 · −∞, the limit from above, for every power that is not negative.
            if x == T::ZERO && y >= T::ZERO { T::ZERO } else { slope }
        }
        op::SQUARED_ERROR => (y - x) + (y - x),
        op::ABSOLUTE_ERROR => abs_slope(y - x),
        op::HUBER => clamp(y - x, -a, a),
        op::BCE => log(T::ONE - x) - log(x),
        op::BCE_WITH_LOGITS => -x,
        op::KL_DIV => {
            let slope = y.ln() + T::ONE - x;
            if y == T::ZERO { T::ZERO } else { slope }
        }
        _ => unreachable!("no op has the number {OP}"),
    }
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
