//! exp, ln and tanh: our own, so that their bits are the same on every machine.
//!
//! Each function is one sequence of products, sums and fused multiply-adds without branches (a
//! loop over it vectorises), written once for both types over a table of constants. The tables
//! are minimax polynomials, fitted to the ranges named below and rounded to the type.
//!
//! With n the integer nearest to x·log₂e and `r = x − n·ln 2`, |r| ≤ ½ ln 2:
//!
//! * `exp x = 2ⁿ · (1 + (r + r²·Q(r)))`, where `Q(r) ≈ (eʳ − 1 − r) / r²`.
//! * `tanh x = t / (t + 2)` with `t = e²ˣ − 1` from the same r and Q. The numerator and the
//!   denominator are kept as sums of two numbers and the quotient is corrected by its remainder,
//!   because t rounded to one number would cost an ulp.
//! * `ln x = k·ln 2 + ln(1 + f)` with `x = 2ᵏ·(1 + f)`, `√½ ≤ 1 + f < √2`. With
//!   `s = f / (2 + f)` and `z = s²`, `ln(1 + f) = 2 artanh s = f − (f²/2 − s·(f²/2 + z·L(z)))`,
//!   where `L(z) ≈ (2 artanh(s)/s − 2) / z`; the leading f carries no rounding.
//!
//! Largest errors that the tests allow: 1 ulp in f32, 2 ulps in f64.
//!
//! | x | exp | ln | tanh |
//! | --- | --- | --- | --- |
//! | NaN | NaN | NaN | NaN |
//! | +∞ | +∞ | +∞ | 1 |
//! | −∞ | 0 | NaN | −1 |
//! | ±0 | 1 | −∞ | ±0 |
//! | below 0 | | NaN | |
//!
//! Subnormal numbers are ordinary inputs and results.

mod gauss;
mod power;
mod trig;

use crate::Float;
pub(crate) use gauss::{erf, normal};
pub(crate) use power::{ln_1p, pow};
pub(crate) use trig::{cos, sin};

/// What the functions need to know of a binary format: its tables, and its bits.
pub(crate) trait Format: Float {
    /// 1.5 · 2^(mantissa bits): adding it to a small number rounds that to an integer, which
    /// then stands in the low bits.
    const ROUNDER: Self;
    /// log₂ e.
    const LOG2_E: Self;
    /// ln 2 with so few bits that its product with an exponent is exact …
    const LN_2_HIGH: Self;
    /// … and the rest.
    const LN_2_LOW: Self;
    /// Below it, exp is 0.
    const EXP_MIN: Self;
    /// Above it, exp overflows.
    const EXP_MAX: Self;
    /// Q, from the constant up.
    const EXP: &'static [Self];
    /// L, from the constant up.
    const LN: &'static [Self];
    /// From here on, tanh rounds to 1.
    const TANH_MAX: Self;
    /// A power of two that makes subnormals normal, and its exponent.
    const LIFT: (Self, Self);
    /// The smallest positive normal number.
    const MIN_NORMAL: Self;
    /// +∞.
    const INFINITY: Self;
    /// A NaN.
    const NAN: Self;

    /// `2ⁿ` of an integer n within the exponents of normal numbers.
    fn two_to(n: Self) -> Self;
    /// `(k, m)` with `x = 2ᵏ·m` and `√½ ≤ m < √2`, of a positive normal x.
    fn split(x: Self) -> (Self, Self);
    /// The magnitude of `self` with the sign of `sign`.
    fn with_sign_of(self, sign: Self) -> Self;
}

impl Format for f32 {
    const ROUNDER: Self = 12_582_912.0;
    const LOG2_E: Self = std::f32::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_145_75;
    const LN_2_LOW: Self = 1.428_606_8e-6;
    const EXP_MIN: Self = -104.0;
    const EXP_MAX: Self = 89.0;
    const EXP: &'static [Self] =
        &[0.5, 1.666_666_7e-1, 4.166_627e-2, 8.333_268e-3, 1.394_611_8e-3, 1.991_655_4e-4];
    const LN: &'static [Self] = &[6.666_677_6e-1, 3.997_754e-1, 2.987_184_8e-1];
    const TANH_MAX: Self = 10.0;
    const LIFT: (Self, Self) = (16_777_216.0, 24.0);
    const MIN_NORMAL: Self = f32::MIN_POSITIVE;
    const INFINITY: Self = f32::INFINITY;
    const NAN: Self = f32::NAN;

    #[inline(always)]
    fn two_to(n: Self) -> Self {
        // The low bits of the sum are n; the shift pushes everything above them out.
        f32::from_bits(((n + Self::ROUNDER).to_bits() << 23).wrapping_add(1.0f32.to_bits()))
    }

    #[inline(always)]
    fn split(x: Self) -> (Self, Self) {
        let root_half = std::f32::consts::FRAC_1_SQRT_2.to_bits();
        let bits = x.to_bits().wrapping_add(1.0f32.to_bits() - root_half);
        let k = f32::from_bits(Self::ROUNDER.to_bits() + (bits >> 23)) - (Self::ROUNDER + 127.0);
        (k, f32::from_bits((bits & 0x007f_ffff) + root_half))
    }

    #[inline(always)]
    fn with_sign_of(self, sign: Self) -> Self {
        self.copysign(sign)
    }
}

impl Format for f64 {
    const ROUNDER: Self = 6_755_399_441_055_744.0;
    const LOG2_E: Self = std::f64::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_147_180_559_663;
    const LN_2_LOW: Self = 2.823_529_056_303_157_7e-13;
    const EXP_MIN: Self = -746.0;
    const EXP_MAX: Self = 710.0;
    const EXP: &'static [Self] = &[
        0.5,
        0.166_666_666_666_666_85,
        0.041_666_666_666_666_73,
        0.008_333_333_333_316_737,
        0.001_388_888_888_885_855_3,
        0.000_198_412_698_970_619_9,
        2.480_158_737_353_491_7e-5,
        2.755_723_423_411_736_5e-6,
        2.755_723_352_717_716_6e-7,
        2.511_224_067_601_317_4e-8,
        2.092_689_375_035_577e-9,
    ];
    const LN: &'static [Self] = &[
        0.666_666_666_666_673_4,
        0.399_999_999_994_142_54,
        0.285_714_287_424_838_5,
        0.222_221_985_630_030_43,
        0.181_835_648_739_556_96,
        0.153_140_360_236_976_8,
        0.147_961_003_525_126_92,
    ];
    const TANH_MAX: Self = 20.0;
    const LIFT: (Self, Self) = (18_014_398_509_481_984.0, 54.0);
    const MIN_NORMAL: Self = f64::MIN_POSITIVE;
    const INFINITY: Self = f64::INFINITY;
    const NAN: Self = f64::NAN;

    #[inline(always)]
    fn two_to(n: Self) -> Self {
        f64::from_bits(((n + Self::ROUNDER).to_bits() << 52).wrapping_add(1.0f64.to_bits()))
    }

    #[inline(always)]
    fn split(x: Self) -> (Self, Self) {
        let root_half = std::f64::consts::FRAC_1_SQRT_2.to_bits();
        let bits = x.to_bits().wrapping_add(1.0f64.to_bits() - root_half);
        let k = f64::from_bits(Self::ROUNDER.to_bits() + (bits >> 52)) - (Self::ROUNDER + 1023.0);
        (k, f64::from_bits((bits & 0x000f_ffff_ffff_ffff) + root_half))
    }

    #[inline(always)]
    fn with_sign_of(self, sign: Self) -> Self {
        self.copysign(sign)
    }
}

/// `Σ table[i]·xⁱ` by Horner's rule, every step fused.
#[inline(always)]
fn polynomial<T: Float>(table: &[T], x: T) -> T {
    let mut sum = table[table.len() - 1];
    for &coefficient in table[..table.len() - 1].iter().rev() {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// `x` within the bounds; a NaN stays one, because it compares false.
#[inline(always)]
fn clamp<T: Float>(x: T, min: T, max: T) -> T {
    let x = if x > max { max } else { x };
    if x < min { min } else { x }
}

/// `(n, r, low)` with `x = n·ln 2 + r + low`: n an integer, |r| ≤ ½ ln 2, and low what the
/// rounding of r has lost.
#[inline(always)]
fn reduce<T: Format>(x: T) -> (T, T, T) {
    let n = x.mul_add(T::LOG2_E, T::ROUNDER) - T::ROUNDER;
    let exact = (-n).mul_add(T::LN_2_HIGH, x);
    let r = (-n).mul_add(T::LN_2_LOW, exact);
    (n, r, (-n).mul_add(T::LN_2_LOW, exact - r))
}

/// eˣ.
#[inline(always)]
pub(crate) fn exp<T: Format>(x: T) -> T {
    let (n, r, low) = reduce(clamp(x, T::EXP_MIN, T::EXP_MAX));
    let near_one = T::ONE + (r + (r * r).mul_add(polynomial(T::EXP, r), low));
    // 2ⁿ alone may overflow or underflow where the result does not: scale in two halves, of
    // which only the second product can round.
    let half = n.mul_add(T::from_f64(0.5), T::ROUNDER) - T::ROUNDER;
    near_one * T::two_to(half) * T::two_to(n - half)
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn ln<T: Format>(x: T) -> T {
    let subnormal = x < T::MIN_NORMAL;
    let (scale, lift) = if subnormal { T::LIFT } else { (T::ONE, T::ZERO) };
    let (k, m) = T::split(x * scale);
    let (k, f) = (k - lift, m - T::ONE);
    let s = f / (f + T::from_f64(2.0));
    let (z, half_square) = (s * s, T::from_f64(0.5) * f * f);
    let small = s.mul_add(z.mul_add(polynomial(T::LN, z), half_square), -half_square);
    // `high + low` is k·ln 2 + f to twice the precision: |k·ln 2| > |f| unless k is 0.
    let whole = k * T::LN_2_HIGH;
    let high = whole + f;
    let low = k.mul_add(T::LN_2_LOW, f - (high - whole));
    let finite = high + (low + small);
    let positive = if x < T::INFINITY { finite } else { x };
    let rest = if x == T::ZERO { -T::INFINITY } else { T::NAN };
    // A NaN is not above zero either.
    if x > T::ZERO { positive } else { rest }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<T: Format>(x: T) -> T {
    let two = T::from_f64(2.0);
    let (n, r, low) = reduce(two * clamp(x.abs(), T::ZERO, T::TANH_MAX));
    let power = T::two_to(n);
    // t = high + low, exactly but for the rounding of the small terms: the larger summand comes
    // first in both sums.
    let (whole, tail) = (power - T::ONE, power * r);
    let sum = whole + tail;
    let small = power.mul_add(low, tail - (sum - whole));
    let rest = tail.mul_add(r * polynomial(T::EXP, r), small);
    let high = sum + rest;
    let low = rest - (high - sum);
    // t + 2 = denominator + rest, by Knuth's exact sum of any two numbers.
    let denominator = high + two;
    let second = denominator - high;
    let rest = (high - (denominator - second)) + (two - second) + low;
    let inverse = T::ONE / denominator;
    let quotient = high * inverse;
    let remainder = (-quotient).mul_add(denominator, high) + (-quotient).mul_add(rest, low);
    remainder.mul_add(inverse, quotient).with_sign_of(x)
}

/// `(cos 2πu, sin 2πu)`, for u in 0..1: within 1e-15, from the Taylor series on ±π/4.
pub(crate) fn cos_sin_of_turn(u: f64) -> (f64, f64) {
    let quarters = (4.0 * u).round_ties_even();
    let angle = (4.0 * u - quarters) * std::f64::consts::FRAC_PI_2;
    let square = angle * angle;
    let (mut cos, mut sin) = (0.0, 0.0);
    // Terms up to angle¹⁷/17!, which is below the last bit.
    for k in (1..=8).rev() {
        let k = f64::from(k);
        cos = (1.0 + cos) * (-square / ((2.0 * k - 1.0) * (2.0 * k)));
        sin = (1.0 + sin) * (-square / ((2.0 * k) * (2.0 * k + 1.0)));
    }
    let (cos, sin) = (1.0 + cos, angle + angle * sin);
    match quarters as u8 % 4 {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far `got` lies from `want`, in units of the last place of an f32 near `want`. A result
    /// beyond the largest f32 is right when it is infinite.
    fn ulps_f32(got: f32, want: f64) -> f64 {
        let rounded = want as f32;
        if rounded.is_nan() || rounded.is_infinite() {
            let same = got == rounded || (got.is_nan() && rounded.is_nan());
            return if same { 0.0 } else { f64::INFINITY };
        }
        let exponent = (rounded.abs().max(f32::MIN_POSITIVE).to_bits() >> 23) as i32 - 127;
        (f64::from(got) - want).abs() / f64::from(exponent - 23).exp2()
    }

    fn ulps_f64(got: f64, want: f64) -> u64 {
        if got.is_nan() && want.is_nan() {
            return 0;
        }
        got.to_bits().abs_diff(want.to_bits())
    }

    type Pair<T> = (&'static str, fn(T) -> T, fn(f64) -> f64);

    const F32: [Pair<f32>; 3] =
        [("exp", exp, f64::exp), ("ln", ln, f64::ln), ("tanh", tanh, f64::tanh)];
    const F64: [Pair<f64>; 3] =
        [("exp", exp, f64::exp), ("ln", ln, f64::ln), ("tanh", tanh, f64::tanh)];

    #[test]
    fn f32_results_are_within_one_ulp_over_all_exponents() {
        for (name, ours, std) in F32 {
            // Bit patterns of every exponent and sign; the step is prime.
            for bits in (0..=u32::MAX).step_by(1021) {
                let x = f32::from_bits(bits);
                let error = ulps_f32(ours(x), std(f64::from(x)));
                assert!(error <= 1.0, "{name}({x:e}) is {error} ulps off");
            }
        }
    }

    #[test]
    fn f64_results_are_within_two_ulps_of_the_standard_library() {
        for (name, ours, std) in F64 {
            let grid = (-300_000..=300_000).map(|i| f64::from(i) * 0.002_511_3);
            let near = (-200_000..=200_000).map(|i| f64::from(i) * 1.613e-5);
            let all =
                (0..1_000_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
            for x in grid.chain(near).chain(all) {
                let x = if name == "ln" { x.abs() } else { x };
                let error = ulps_f64(ours(x), std(x));
                // The standard library's tanh is itself up to 2 ulps off.
                let bound = if name == "tanh" { 3 } else { 2 };
                assert!(error <= bound, "{name}({x:e}) is {error} ulps off");
            }
        }
    }

    #[test]
    fn a_result_that_is_two_ulps_off_is_noticed() {
        let off = f32::from_bits(2.0f32.exp().to_bits() + 2);
        assert!(ulps_f32(off, 2.0f64.exp()) > 1.0);
        assert!(ulps_f32(f32::INFINITY, 3.0) > 1.0 && ulps_f32(1.0, f64::NAN) > 1.0);
        assert!(ulps_f64(1.0 + 3.0 * f64::EPSILON, 1.0) > 2);
    }

    fn check_specials<T: Format>(tiny: T, subnormal_ln: f64) {
        let (zero, one) = (T::ZERO, T::ONE);
        let sign = |x: T| one.with_sign_of(x);
        assert_eq!((exp(-T::INFINITY), exp(T::INFINITY)), (zero, T::INFINITY));
        assert_eq!((exp(zero), exp(-zero)), (one, one));
        assert_eq!((ln(zero), ln(-zero)), (-T::INFINITY, -T::INFINITY));
        assert_eq!((ln(one), ln(T::INFINITY)), (zero, T::INFINITY));
        assert!(ln(-one).is_nan() && ln(-T::INFINITY).is_nan() && ln(-tiny).is_nan());
        assert_eq!((tanh(T::INFINITY), tanh(-T::INFINITY)), (one, -one));
        assert_eq!((tanh(-zero), sign(tanh(-zero)), sign(tanh(zero))), (zero, -one, one));
        assert_eq!((tanh(tiny), tanh(-tiny)), (tiny, -tiny));
        assert!([exp(T::NAN), ln(T::NAN), tanh(T::NAN)].iter().all(|y| y.is_nan()));
        assert!((ln(tiny).to_f64() - subnormal_ln).abs() < 1e-5);
    }

    #[test]
    fn infinities_zeros_nans_and_subnormals_have_their_exact_results() {
        check_specials(f32::from_bits(1), -149.0 * std::f64::consts::LN_2);
        check_specials(f64::from_bits(1), -1074.0 * std::f64::consts::LN_2);
        assert_eq!(exp(-103.0f32), f32::from_bits(1));
        assert_eq!((exp(88.7f32).is_finite(), exp(88.73f32)), (true, f32::INFINITY));
        assert_eq!((exp(-745.1f64), exp(-745.2f64)), (f64::from_bits(1), 0.0));
        assert_eq!((exp(709.7f64).is_finite(), exp(709.8f64)), (true, f64::INFINITY));
    }

    #[test]
    fn a_turn_has_the_cosine_and_sine_of_its_angle() {
        for i in 0..=4096 {
            let u = f64::from(i) / 4097.0;
            let (cos, sin) = cos_sin_of_turn(u);
            let angle = u * std::f64::consts::TAU;
            assert!((cos - angle.cos()).abs() < 2e-15 && (sin - angle.sin()).abs() < 2e-15, "{u}");
        }
        assert_eq!(cos_sin_of_turn(0.25), (0.0, 1.0));
        assert_eq!(cos_sin_of_turn(0.5), (-1.0, 0.0));
    }
}
