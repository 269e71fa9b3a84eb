//! `ln(1 + x)` and powers, from exp and ln.

use super::{Format, exp, ln};

/// `ln(1 + x)`, within 3 ulps: the logarithm of the rounded sum, and what rounding it has lost.
#[inline(always)]
pub(crate) fn ln_1p<T: Format>(x: T) -> T {
    let sum = T::ONE + x;
    let lost = x - (sum - T::ONE);
    let y = ln(sum) + lost / sum;
    // At −1 and +∞ the loss has no meaning; of zero the sign is kept.
    let whole = if sum > T::ZERO && sum < T::INFINITY { y } else { ln(sum) };
    if x == T::ZERO { x } else { whole }
}

/// `xʸ`: exact for y = 0, 1 and 2, else `e^(y · ln |x|)` with the sign that an integer y gives. A
/// relative error of about |y · ln x| roundings.
///
/// | x | y | result |
/// | --- | --- | --- |
/// | any | 0 | 1 |
/// | below 0, finite | no integer | NaN |
/// | ±0 | above 0 | 0; −0 when y is odd and x is −0 |
/// | ±0 | below 0 | +∞; −∞ when y is odd and x is −0 |
#[inline(always)]
pub(crate) fn pow<T: Format>(x: T, y: T) -> T {
    let two = T::from_f64(2.0);
    let whole = y.trunc() == y;
    let odd = whole && (y / two).trunc() * two != y;
    let magnitude = exp(y * ln(x.abs()));
    let one = T::ONE;
    // 1 to any power, where the product of 0 and ∞ would be NaN.
    let magnitude = if x.abs() == one { one } else { magnitude };
    let signed = if odd { magnitude.with_sign_of(x) } else { magnitude };
    let no_root = x < T::ZERO && x > -T::INFINITY && !whole;
    let general = if no_root { T::NAN } else { signed };
    let general = if y == two { x * x } else { general };
    let general = if y == one { x } else { general };
    if y == T::ZERO { one } else { general }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithm_near_one_keeps_its_digits() {
        for x in [1e-300, -1e-20, 3e-9, -0.4, 0.7, 12.0, 1e10, -0.999_999] {
            let (got, want) = (ln_1p(x), f64::ln_1p(x));
            assert!(got.to_bits().abs_diff(want.to_bits()) <= 3, "{x}: {got:e} {want:e}");
            let narrow = x as f32;
            let (got, want) = (f64::from(ln_1p(narrow)), f64::ln_1p(f64::from(narrow)));
            assert!((got - want).abs() <= 3.0 * 6e-8 * want.abs() + 1e-45, "{x}: {got} {want}");
        }
        assert_eq!((ln_1p(-1.0f64), ln_1p(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(ln_1p(-1.5f32).is_nan() && ln_1p(f32::NAN).is_nan());
        assert_eq!(ln_1p(-0.0f64).to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn powers_follow_the_standard_library_and_its_special_cases() {
        let inf = f64::INFINITY;
        let xs = [-inf, -3.5, -1.0, -0.5, -0.0, 0.0, 0.3, 1.0, 2.0, 7.5, inf, f64::NAN];
        let ys = [-3.0, -2.5, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 11.0];
        for x in xs {
            for y in ys {
                let (got, want) = (pow(x, y), f64::powf(x, y));
                let bound = 4e-16 * (4.0 + (y * x.abs().ln()).abs()) * want.abs();
                let same = got == want && got.is_sign_negative() == want.is_sign_negative();
                let both = got.is_nan() && want.is_nan();
                let near = (got - want).abs() <= bound && want.is_finite() && want != 0.0;
                assert!(same || both || near, "{x} to {y}: {got} {want}");
            }
        }
    }
}
