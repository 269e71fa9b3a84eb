//! Value and slope of each function, side by side.

use super::number as op;
use crate::Float;

/// √(2/π), and the factor of x³, of the approximation of gelu.
const GELU_SCALE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044_715;
/// 1/√(2π) and 2/√π: the heights of the normal density and of the slope of erf.
const DENSITY: f64 = 0.398_942_280_401_432_7;
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// `max(x, 0)`, or with `rest` in the place of the 0. This way round a NaN, which compares false,
/// is kept.
#[inline(always)]
pub(crate) fn positive<T: Float>(x: T, rest: T) -> T {
    if x <= T::ZERO { rest } else { x }
}

/// x within the bounds; a NaN is kept.
#[inline(always)]
pub(crate) fn clamp<T: Float>(x: T, min: T, max: T) -> T {
    let x = if x < min { min } else { x };
    if x > max { max } else { x }
}

/// −1, 0 or 1.
#[inline(always)]
pub(crate) fn abs_slope<T: Float>(x: T) -> T {
    let side = if x < T::ZERO { -T::ONE } else { T::ONE };
    if x == T::ZERO { T::ZERO } else { side }
}

/// `1 / (1 + e⁻ˣ)`: as eˣ / (1 + eˣ) for negative x, so that nothing overflows and small results
/// keep their digits.
#[inline(always)]
pub(crate) fn sigmoid<T: Float>(x: T) -> T {
    let e = (-x.abs()).exp();
    let numerator = if x < T::ZERO { e } else { T::ONE };
    numerator / (T::ONE + e)
}

/// The factor of ½x in the approximation of gelu, less 1.
#[inline(always)]
fn gelu_tanh<T: Float>(x: T) -> T {
    (T::from_f64(GELU_SCALE) * (T::from_f64(GELU_CUBE) * x * x).mul_add(x, x)).tanh()
}

/// eˣ − 1 of x ≤ 0: from tanh(x/2), which keeps the digits of small x, as 2·t / (1 − t).
#[inline(always)]
fn exp_less_one<T: Float>(x: T) -> T {
    let t = (T::from_f64(0.5) * x).tanh();
    (t + t) / (T::ONE - t)
}

/// `f(x)` of the op with the number `OP` and these settings.
#[inline(always)]
pub(super) fn value<const OP: u32, T: Float>([a, b]: [T; 2], x: T) -> T {
    let (zero, one) = (T::ZERO, T::ONE);
    match OP {
        op::NEG => -x,
        op::ABS => x.abs(),
        op::EXP => x.exp(),
        op::LN => x.ln(),
        op::SQRT => x.sqrt(),
        op::RECIP => one / x,
        op::SQUARE => x * x,
        op::RELU => positive(x, zero),
        op::TANH => x.tanh(),
        op::SIGMOID => sigmoid(x),
        op::SIN => x.sin(),
        op::COS => x.cos(),
        op::ERF => x.erf(),
        op::GELU => {
            let y = x * x.normal().0;
            // −∞ · 0 has no value; the function has.
            if x < -T::from_f64(1e4) { -zero } else { y }
        }
        op::GELU_TANH => {
            let y = T::from_f64(0.5) * x * (one + gelu_tanh(x));
            if x < -T::from_f64(1e4) { -zero } else { y }
        }
        op::SILU => {
            let y = x * sigmoid(x);
            if x < -T::from_f64(1e4) { -zero } else { y }
        }
        op::SOFTPLUS => positive(x, zero) + (-x.abs()).exp().ln_1p(),
        op::LOG1P => x.ln_1p(),
        op::RSQRT => one / x.sqrt(),
        op::SIGN => {
            let side = if x > zero { one } else { x };
            if x < zero { -one } else { side }
        }
        op::FLOOR => x.floor(),
        op::CEIL => x.ceil(),
        op::ROUND => x.round(),
        op::LEAKY_RELU => positive(x, a * x),
        op::ELU => positive(x, a * exp_less_one(x)),
        op::POWF => x.pow(a),
        op::SHIFT => x + a,
        op::SCALE => x * a,
        op::CLAMP => clamp(x, a, b),
        _ => unreachable!("no op has the number {OP}"),
    }
}

/// `f'(x)` of the op with the number `OP` and these settings, where `y = f(x)`.
#[inline(always)]
pub(super) fn slope<const OP: u32, T: Float>([a, b]: [T; 2], x: T, y: T) -> T {
    let (zero, one) = (T::ZERO, T::ONE);
    match OP {
        op::NEG => -one,
        op::ABS => abs_slope(x),
        op::EXP => y,
        op::LN => one / x,
        op::SQRT => T::from_f64(0.5) / y,
        op::RECIP => -(y * y),
        op::SQUARE => x + x,
        op::RELU => {
            if x <= zero {
                zero
            } else {
                one
            }
        }
        // Not 1 − y²: 1 − y is exact where y is near 1.
        op::TANH => (one - y) * (one + y),
        op::SIGMOID => y * (one - y),
        op::SIN => x.cos(),
        op::COS => -x.sin(),
        op::ERF => T::from_f64(ERF_SLOPE) * (-(x * x)).exp(),
        op::GELU => {
            let (below, power) = x.normal();
            // The density outruns every power of x; ∞ · 0 has no value.
            let far = x.abs() > T::from_f64(1e4);
            let tilt = T::from_f64(DENSITY) * x * power;
            below + if far { zero } else { tilt }
        }
        op::GELU_TANH => {
            let t = gelu_tanh(x);
            let inner = T::from_f64(3.0 * GELU_CUBE) * x * x + one;
            let tilt = T::from_f64(GELU_SCALE) * x * inner * ((one - t) * (one + t));
            let far = x.abs() > T::from_f64(1e4);
            T::from_f64(0.5) * (one + t + if far { zero } else { tilt })
        }
        op::SILU => {
            let s = sigmoid(x);
            // x · (1 − s) is y's complement: infinite times 0 at +∞.
            let tilt = s * (x * (one - s));
            let far = x.abs() > T::from_f64(1e4);
            s + if far { zero } else { tilt }
        }
        op::SOFTPLUS => sigmoid(x),
        op::LOG1P => one / (one + x),
        op::RSQRT => T::from_f64(-0.5) * y / x,
        op::SIGN | op::FLOOR | op::CEIL | op::ROUND => zero,
        op::LEAKY_RELU => {
            if x <= zero {
                a
            } else {
                one
            }
        }
        op::ELU => {
            // y + a = a · eˣ, which loses digits for small results; exp does not.
            let below = a * x.exp();
            if x <= zero { below } else { one }
        }
        op::POWF => power_slope(x, a),
        op::SHIFT => one,
        op::SCALE => a,
        op::CLAMP => {
            if x <= a || x >= b {
                zero
            } else {
                one
            }
        }
        _ => unreachable!("no op has the number {OP}"),
    }
}
/// `d xᵉ / dx`, 0 for e = 0 also at x = 0.
#[inline(always)]
pub(crate) fn power_slope<T: Float>(x: T, exponent: T) -> T {
    let slope = exponent * x.pow(exponent - T::ONE);
    if exponent == T::ZERO { T::ZERO } else { slope }
}
