//! The element types of a tensor, and the few facts every layer needs about each.

use std::fmt::{self, Debug, Display};

use half::{bf16, f16};

/// The type of a tensor's elements, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// IEEE 754 binary16. Stored; arithmetic happens in f32 and is rounded once.
    F16,
    /// The upper half of a binary32. Stored; arithmetic happens in f32 and is rounded once.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two's complement, 64 bits: class and row numbers.
    I64,
    /// Bytes and masks.
    U8,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 6] =
        [DType::F16, DType::BF16, DType::F32, DType::F64, DType::I64, DType::U8];

    /// Bytes of one element.
    pub const fn size_bytes(self) -> usize {
        match self {
            DType::U8 => 1,
            DType::F16 | DType::BF16 => 2,
            DType::F32 => 4,
            DType::F64 | DType::I64 => 8,
        }
    }

    /// Whether elements have 16 bits and a fraction: computations widen them to f32 and round once.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// Whether elements have a fraction, and so values of this type can have gradients.
    pub const fn is_float(self) -> bool {
        !matches!(self, DType::I64 | DType::U8)
    }

    /// The lower-case name used in messages and files.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::I64 => "i64",
            DType::U8 => "u8",
        }
    }
}

impl Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that can be an element.
///
/// `to_f64` and `from_f64` are the conversions of every cast: to nearest, ties to even, between
/// floats; truncating and saturating, with NaN as 0, from a float to an integer (Rust's `as`).
pub trait Element: bytemuck::Pod + Default + PartialEq + Debug + Send + Sync + 'static {
    /// This type as a value.
    const DTYPE: DType;
    /// This value in f64; an `i64` above 2⁵³ is rounded.
    fn to_f64(self) -> f64;
    /// The value of this type nearest to `value`.
    fn from_f64(value: f64) -> Self;
}

/// `value` in f32 rounded to odd: exact, or else the neighbour with an odd last bit. A second
/// rounding to a type of half the width then gives what one rounding would have given, since an
/// odd last bit is never a tie (Boldo and Melquiond 2008, "Emulation of a FMA and correctly rounded
/// sums: proved algorithms using rounding to odd").
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || value.is_nan() {
        return near;
    }
    // Towards zero, then odd. The magnitude's bits count the floats upwards from zero.
    let away = u32::from(back.abs() > value.abs());
    f32::from_bits((near.to_bits() - away) | 1)
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        f16::from_f32(to_odd(value))
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::BF16;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        bf16::from_f32(to_odd(value))
    }
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Element for f64 {
    const DTYPE: DType = DType::F64;
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Element for i64 {
    const DTYPE: DType = DType::I64;
    fn to_f64(self) -> f64 {
        self as f64
    }
    fn from_f64(value: f64) -> Self {
        value as i64
    }
}

impl Element for u8 {
    const DTYPE: DType = DType::U8;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_number_is_rounded_once_to_the_nearest_half() {
        // Just above and below a tie, by less than an f32 holds.
        fn check<T: Element>(ulp: f64) {
            let sliver = 2f64.powi(-40);
            for (tie, down, up) in [(0.5, 0.0, 1.0), (1.5, 1.0, 2.0)] {
                for sign in [1.0, -1.0] {
                    let rounded = |x: f64| T::from_f64(sign * (1.0 + x)).to_f64();
                    assert_eq!(rounded(tie * ulp + sliver), sign * (1.0 + up * ulp));
                    assert_eq!(rounded(tie * ulp - sliver), sign * (1.0 + down * ulp));
                }
            }
        }
        check::<f16>(2f64.powi(-10));
        check::<bf16>(2f64.powi(-7));
        assert_eq!(<f16 as Element>::from_f64(1.0 + 2f64.powi(-11)), f16::ONE);
    }

    #[test]
    fn halves_keep_special_values_tiny_ones_and_the_ends_of_their_range() {
        let half = <f16 as Element>::from_f64;
        let brain = <bf16 as Element>::from_f64;
        assert!(half(f64::NAN).is_nan() && brain(f64::NAN).is_nan());
        assert_eq!((half(-1e300), brain(1e300)), (f16::NEG_INFINITY, bf16::INFINITY));
        assert_eq!((half(65_519.999), half(65_520.0)), (f16::MAX, f16::INFINITY));
        for zero in [0.0, 1e-300, f64::from(f32::MIN_POSITIVE) / 1e30] {
            assert_eq!((half(-zero).to_bits(), brain(zero).to_bits()), (0x8000, 0));
        }
        let least = 2f64.powi(-24);
        assert_eq!((half(least).to_bits(), half(least * 0.5).to_bits()), (1, 0));
        assert_eq!(half(least * 0.5 * (1.0 + 1e-12)).to_bits(), 1);
        // Every number of either type comes back as itself.
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(h.is_nan() || half(f64::from(h)).to_bits() == bits, "{bits:#x}");
            assert!(b.is_nan() || brain(f64::from(b)).to_bits() == bits, "{bits:#x}");
        }
    }
}
