//! Element types with arithmetic, and the functions that they have.

use std::fmt::Display;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::{Element, math};

/// An element type with arithmetic: f32 or f64.
///
/// Products and sums are rounded one by one; a fused multiply-add happens only where
/// [`Float::mul_add`] is written. So an expression has one value on every machine.
pub trait Float:
    Element
    + Display
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Positive zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// `self · a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The magnitude; clears the sign also of zero and NaN.
    fn abs(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;
    /// eˣ, within 1 ulp in f32 and 2 in f64; 0 where it underflows, +∞ where it overflows.
    fn exp(self) -> Self;
    /// The natural logarithm, as close; −∞ at ±0, NaN below.
    fn ln(self) -> Self;
    /// The hyperbolic tangent, as close; it keeps the sign of zero.
    fn tanh(self) -> Self;
    /// The sine of an angle in radians, as close, of any finite size.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians, as close, of any finite size.
    fn cos(self) -> Self;
    /// `ln(1 + x)`, within 3 ulps.
    fn ln_1p(self) -> Self;
    /// The error function, within 4 ulps.
    fn erf(self) -> Self;
    /// `(Φ(x), e^(−x²/2))`: the normal distribution function, and √(2π) times the density.
    fn normal(self) -> (Self, Self);
    /// `self` to the power of `exponent`; `math/power.rs` has the special cases.
    fn pow(self, exponent: Self) -> Self;
    /// The largest integer that is not above.
    fn floor(self) -> Self;
    /// The smallest integer that is not below.
    fn ceil(self) -> Self;
    /// The nearest integer, ties to even.
    fn round(self) -> Self;
    /// The integer towards zero.
    fn trunc(self) -> Self;
}

impl Float for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f32::mul_add(self, a, b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        math::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        math::ln(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        math::tanh(self)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        math::sin(f64::from(self)) as f32
    }
    #[inline(always)]
    fn cos(self) -> Self {
        math::cos(f64::from(self)) as f32
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        math::ln_1p(self)
    }
    #[inline(always)]
    fn erf(self) -> Self {
        math::erf(self)
    }
    #[inline(always)]
    fn normal(self) -> (Self, Self) {
        math::normal(self)
    }
    #[inline(always)]
    fn pow(self, exponent: Self) -> Self {
        math::pow(self, exponent)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        f32::floor(self)
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        f32::ceil(self)
    }
    #[inline(always)]
    fn round(self) -> Self {
        f32::round_ties_even(self)
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        f32::trunc(self)
    }
}

impl Float for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f64::mul_add(self, a, b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        math::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        math::ln(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        math::tanh(self)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        math::sin(self)
    }
    #[inline(always)]
    fn cos(self) -> Self {
        math::cos(self)
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        math::ln_1p(self)
    }
    #[inline(always)]
    fn erf(self) -> Self {
        math::erf(self)
    }
    #[inline(always)]
    fn normal(self) -> (Self, Self) {
        math::normal(self)
    }
    #[inline(always)]
    fn pow(self, exponent: Self) -> Self {
        math::pow(self, exponent)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        f64::floor(self)
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        f64::ceil(self)
    }
    #[inline(always)]
    fn round(self) -> Self {
        f64::round_ties_even(self)
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        f64::trunc(self)
    }
}
