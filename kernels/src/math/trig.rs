//! sin and cos in f64, of any finite angle.
//!
//! The angle is reduced to `q` quarter turns and a rest `r + low`, |r| ≤ π/4. Below 4096 by three
//! fused steps with π/2 in parts; from there on exactly, from the digits of 2/π that matter (Payne
//! and Hanek 1983, "Radian reduction for trigonometric functions"). Then polynomials: sin r and
//! cos r, corrected by `low` to first order. Within 2 ulps. f32 goes through f64 and is within one.

/// 2/π in binary, from the first digit behind the point.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];
/// π/2 as the sum of two numbers.
const HALF_PI: [f64; 2] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17];
/// `(sin r − r) / r³` in r², and `(cos r − 1 + r²/2) / r⁴`.
const SIN: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333323,
    -0.00019841269841255148,
    2.755731921423061e-6,
    -2.5052104921724215e-8,
    1.6058367881934803e-10,
    -7.578758536721442e-13,
];
const COS: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888874,
    2.480158730157154e-5,
    -2.755731921539349e-7,
    2.0876754369935566e-9,
    -1.1470293675934298e-11,
    4.7381268118792135e-14,
];
/// Below it three fused steps are exact enough.
const NEAR: f64 = 4096.0;

/// sin x; NaN of an infinite x. Not inlined: it branches, so no loop over it is vectorised.
#[inline(never)]
pub(crate) fn sin(x: f64) -> f64 {
    let (quarters, r, low) = reduced(x);
    // The reduction adds +0 and loses the sign of −0.
    if x == 0.0 { x } else { quarter(quarters, r, low) }
}

/// cos x; NaN of an infinite x.
#[inline(never)]
pub(crate) fn cos(x: f64) -> f64 {
    let (quarters, r, low) = reduced(x);
    quarter(quarters.wrapping_add(1), r, low)
}

/// sin of `quarters · π/2 + r + low`.
#[inline(always)]
fn quarter(quarters: u64, r: f64, low: f64) -> f64 {
    let square = r * r;
    let sum = |table: [f64; 7]| {
        table.into_iter().rev().fold(0.0, |sum: f64, coefficient| sum.mul_add(square, coefficient))
    };
    let sin = r + (r * square).mul_add(sum(SIN), low);
    // 1 − r²/2 loses nothing: what it rounds away is added to the rest.
    let half = 0.5 * square;
    let lead = 1.0 - half;
    let cos = lead + (((1.0 - lead) - half) + (square * square).mul_add(sum(COS), -r * low));
    let magnitude = if quarters & 1 == 1 { cos } else { sin };
    if quarters & 2 == 2 { -magnitude } else { magnitude }
}

/// `(q, r, low)` with `x = q · π/2 + r + low` but for whole turns.
#[inline(always)]
fn reduced(x: f64) -> (u64, f64, f64) {
    // A NaN and an infinity go this way and end as NaN.
    if x.abs() >= NEAR && x.is_finite() {
        return far(x);
    }
    let n = (x * std::f64::consts::FRAC_2_PI).round_ties_even();
    let first = (-n).mul_add(HALF_PI[0], x);
    let r = (-n).mul_add(HALF_PI[1], first);
    // What the second step has rounded away.
    let low = (-n).mul_add(HALF_PI[1], first - r);
    (n as i64 as u64, r, low)
}

/// [`reduced`] of a large finite x = m · 2ᵉ: `x · 2/π` modulo 4 from 192 digits of 2/π, those
/// before them being multiples of 4 when m is.
fn far(x: f64) -> (u64, f64, f64) {
    let bits = x.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    let skipped = (exponent - 2).max(0) as u32;
    let window = [0, 1, 2].map(|word| digits(skipped + 64 * word));
    // m · window, as four words, the highest first.
    let mut product = [0u64; 4];
    let mut carry = 0u128;
    for word in (0..3).rev() {
        let sum = u128::from(mantissa) * u128::from(window[word]) + carry;
        product[word + 1] = sum as u64;
        carry = sum >> 64;
    }
    product[0] = carry as u64;
    // The point stands 192 − (e − skipped) digits from the right: move it to 190.
    let shift = (2 - (exponent - skipped as i32)) as u32;
    let word = |k: usize| {
        let above = if k == 0 { 0 } else { product[k - 1] };
        if shift == 0 { product[k] } else { product[k] >> shift | above << (64 - shift) }
    };
    let (high, middle) = (word(1), word(2));
    let mut quarters = high >> 62;
    // The fraction of a quarter, signed, in units of 2⁻¹²⁶.
    let mut fraction = ((u128::from(high) << 64 | u128::from(middle)) << 2 >> 2) as i128;
    if fraction >> 125 != 0 {
        quarters += 1;
        fraction -= 1 << 126;
    }
    let unit = (2f64).powi(-126);
    let lead = fraction as f64;
    let rest = (fraction - lead as i128) as f64;
    let (lead, rest) = (lead * unit, rest * unit);
    let r = lead * HALF_PI[0];
    let low = lead.mul_add(HALF_PI[0], -r) + lead.mul_add(HALF_PI[1], rest * HALF_PI[0]);
    if x < 0.0 { (quarters.wrapping_neg(), -r, -low) } else { (quarters, r, low) }
}

/// 64 digits of 2/π behind the first `skipped`.
fn digits(skipped: u32) -> u64 {
    let (word, within) = ((skipped / 64) as usize, skipped % 64);
    let at = |k: usize| TWO_OVER_PI.get(k).copied().unwrap_or(0);
    if within == 0 { at(word) } else { at(word) << within | at(word + 1) >> (64 - within) }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

    use super::*;

    fn near(got: f64, want: f64, x: f64) {
        assert!(got.to_bits().abs_diff(want.to_bits()) <= 2, "{x:e}: {got:e} not {want:e}");
    }

    /// `(x, sin x, cos x)`, from an evaluation with 2200 bits.
    const VALUES: [(f64, f64, f64); 8] = [
        (12345.678, -0.7040813137533816, 0.7101193587160628),
        (100000.0, 0.03574879797201651, -0.9993608074382124),
        (1e10, -0.4875060250875107, 0.873119622676856),
        (1e15, 0.8582727931702359, -0.5131937377869703),
        (1e16, 0.7796880066069788, -0.6261681981330862),
        (1e22, -0.8522008497671888, 0.523214785395139),
        // The double that comes closest to a multiple of π/2.
        (5.319372648326541e255, 1.0, -4.687165924254628e-19),
        (f64::MAX, 0.004961954789184062, -0.9999876894265599),
    ];

    #[test]
    fn large_angles_are_reduced_exactly() {
        for (x, sine, cosine) in VALUES {
            near(sin(x), sine, x);
            near(cos(x), cosine, x);
            near(sin(-x), -sine, -x);
            near(cos(-x), cosine, -x);
        }
    }

    #[test]
    fn moderate_angles_agree_with_the_standard_library() {
        for i in -40_000..=40_000 {
            let x = f64::from(i) * 0.101_700_3;
            near(sin(x), x.sin(), x);
            near(cos(x), x.cos(), x);
        }
        for x in [1e-300, 1e-8, FRAC_PI_4, FRAC_PI_2, 4095.999, 4096.0] {
            near(sin(x), x.sin(), x);
            near(cos(x), x.cos(), x);
        }
    }

    #[test]
    fn zeros_keep_their_sign_and_infinities_have_no_angle() {
        assert_eq!((sin(0.0).to_bits(), sin(-0.0).to_bits()), (0, (-0.0f64).to_bits()));
        assert_eq!((cos(0.0), cos(-0.0)), (1.0, 1.0));
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(sin(x).is_nan() && cos(x).is_nan());
        }
    }
}
