//! Value and slope of each function, side by side.

use super::UnaryOp;
use crate::Float;

/// √(2/π), and the factor of x³, of the approximation of gelu.
const GELU_SCALE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044_715;
/// 1/√(2π) and 2/√π: the heights of the normal density and of the slope of erf.
const DENSITY: f64 = 0.398_942_280_401_432_7;
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// `1 / (1 + e⁻ˣ)`: as eˣ / (1 + eˣ) for negative x, so that nothing overflows and small results
/// keep their digits.
#[inline(always)]
fn sigmoid<T: Float>(x: T) -> T {
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

impl UnaryOp {
    /// `f(x)`.
    #[inline(always)]
    pub fn value<T: Float>(self, x: T) -> T {
        let (zero, one) = (T::ZERO, T::ONE);
        // This way round a NaN, which compares false, is kept.
        let positive = |x: T, rest: T| if x <= zero { rest } else { x };
        match self {
            UnaryOp::Neg => -x,
            UnaryOp::Abs => x.abs(),
            UnaryOp::Exp => x.exp(),
            UnaryOp::Ln => x.ln(),
            UnaryOp::Sqrt => x.sqrt(),
            UnaryOp::Recip => one / x,
            UnaryOp::Square => x * x,
            UnaryOp::Relu => positive(x, zero),
            UnaryOp::Tanh => x.tanh(),
            UnaryOp::Sigmoid => sigmoid(x),
            UnaryOp::Sin => x.sin(),
            UnaryOp::Cos => x.cos(),
            UnaryOp::Erf => x.erf(),
            UnaryOp::Gelu => {
                let y = x * x.normal().0;
                // −∞ · 0 has no value; the function has.
                if x < -T::from_f64(1e4) { -zero } else { y }
            }
            UnaryOp::GeluTanh => {
                let y = T::from_f64(0.5) * x * (one + gelu_tanh(x));
                if x < -T::from_f64(1e4) { -zero } else { y }
            }
            UnaryOp::Silu => {
                let y = x * sigmoid(x);
                if x < -T::from_f64(1e4) { -zero } else { y }
            }
            UnaryOp::Softplus => positive(x, zero) + (-x.abs()).exp().ln_1p(),
            UnaryOp::Log1p => x.ln_1p(),
            UnaryOp::Rsqrt => one / x.sqrt(),
            UnaryOp::Sign => {
                let side = if x > zero { one } else { x };
                if x < zero { -one } else { side }
            }
            UnaryOp::Floor => x.floor(),
            UnaryOp::Ceil => x.ceil(),
            UnaryOp::Round => x.round(),
            UnaryOp::LeakyRelu(slope) => positive(x, T::from_f64(slope) * x),
            UnaryOp::Elu(alpha) => positive(x, T::from_f64(alpha) * exp_less_one(x)),
            UnaryOp::Powf(exponent) => x.pow(T::from_f64(exponent)),
            UnaryOp::Shift(term) => x + T::from_f64(term),
            UnaryOp::Scale(factor) => x * T::from_f64(factor),
            UnaryOp::Clamp(min, max) => {
                let (min, max) = (T::from_f64(min), T::from_f64(max));
                let x = if x < min { min } else { x };
                if x > max { max } else { x }
            }
        }
    }

    /// `f'(x)`, where `y = f(x)`.
    #[inline(always)]
    pub fn slope<T: Float>(self, x: T, y: T) -> T {
        let (zero, one) = (T::ZERO, T::ONE);
        match self {
            UnaryOp::Neg => -one,
            UnaryOp::Abs => {
                let side = if x < zero { -one } else { one };
                if x == zero { zero } else { side }
            }
            UnaryOp::Exp => y,
            UnaryOp::Ln => one / x,
            UnaryOp::Sqrt => T::from_f64(0.5) / y,
            UnaryOp::Recip => -(y * y),
            UnaryOp::Square => x + x,
            UnaryOp::Relu => {
                if x <= zero {
                    zero
                } else {
                    one
                }
            }
            // Not 1 − y²: 1 − y is exact where y is near 1.
            UnaryOp::Tanh => (one - y) * (one + y),
            UnaryOp::Sigmoid => y * (one - y),
            UnaryOp::Sin => x.cos(),
            UnaryOp::Cos => -x.sin(),
            UnaryOp::Erf => T::from_f64(ERF_SLOPE) * (-(x * x)).exp(),
            UnaryOp::Gelu => {
                let (below, power) = x.normal();
                // The density outruns every power of x; ∞ · 0 has no value.
                let far = x.abs() > T::from_f64(1e4);
                let tilt = T::from_f64(DENSITY) * x * power;
                below + if far { zero } else { tilt }
            }
            UnaryOp::GeluTanh => {
                let t = gelu_tanh(x);
                let inner = T::from_f64(3.0 * GELU_CUBE) * x * x + one;
                let tilt = T::from_f64(GELU_SCALE) * x * inner * ((one - t) * (one + t));
                let far = x.abs() > T::from_f64(1e4);
                T::from_f64(0.5) * (one + t + if far { zero } else { tilt })
            }
            UnaryOp::Silu => {
                let s = sigmoid(x);
                // x · (1 − s) is y's complement: infinite times 0 at +∞.
                let tilt = s * (x * (one - s));
                let far = x.abs() > T::from_f64(1e4);
                s + if far { zero } else { tilt }
            }
            UnaryOp::Softplus => sigmoid(x),
            UnaryOp::Log1p => one / (one + x),
            UnaryOp::Rsqrt => T::from_f64(-0.5) * y / x,
            UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round => zero,
            UnaryOp::LeakyRelu(slope) => {
                if x <= zero {
                    T::from_f64(slope)
                } else {
                    one
                }
            }
            UnaryOp::Elu(alpha) => {
                // y + α = α · eˣ, which loses digits for small results; exp does not.
                let below = T::from_f64(alpha) * x.exp();
                if x <= zero { below } else { one }
            }
            UnaryOp::Powf(exponent) => power_slope(x, T::from_f64(exponent)),
            UnaryOp::Shift(_) => one,
            UnaryOp::Scale(factor) => T::from_f64(factor),
            UnaryOp::Clamp(min, max) => {
                let outside = x <= T::from_f64(min) || x >= T::from_f64(max);
                if outside { zero } else { one }
            }
        }
    }
}

/// `d xᵉ / dx`, 0 for e = 0 also at x = 0.
#[inline(always)]
pub(crate) fn power_slope<T: Float>(x: T, exponent: T) -> T {
    let slope = exponent * x.pow(exponent - T::ONE);
    if exponent == T::ZERO { T::ZERO } else { slope }
}
