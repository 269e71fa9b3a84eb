//! Which type two types meet in.

use crate::DType;

impl DType {
    /// The element type of what is computed from elements of this type and another, in elementwise
    /// operations:
    ///
    /// | | u8 | i64 | f16 | bf16 | f32 | f64 |
    /// | --- | --- | --- | --- | --- | --- | --- |
    /// | **u8** | u8 | i64 | f16 | bf16 | f32 | f64 |
    /// | **i64** | i64 | i64 | f16 | bf16 | f32 | f64 |
    /// | **f16** | f16 | f16 | f16 | f32 | f32 | f64 |
    /// | **bf16** | bf16 | bf16 | f32 | bf16 | f32 | f64 |
    /// | **f32** | f32 | f32 | f32 | f32 | f32 | f64 |
    /// | **f64** | f64 | f64 | f64 | f64 | f64 | f64 |
    ///
    /// Numbers without a tensor, as in `x * 2.0`, take the tensor's type.
    pub const fn promote(self, other: DType) -> DType {
        use DType::{BF16, F16, F32, F64, I64, U8};
        match (self, other) {
            (F64, _) | (_, F64) => F64,
            (F32, _) | (_, F32) | (F16, BF16) | (BF16, F16) => F32,
            (F16, _) | (_, F16) => F16,
            (BF16, _) | (_, BF16) => BF16,
            (I64, _) | (_, I64) => I64,
            (U8, U8) => U8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_idempotent_and_as_the_table_says() {
        use DType::{BF16, F16, F32, F64, I64, U8};
        for a in DType::ALL {
            assert_eq!(a.promote(a), a);
            for b in DType::ALL {
                assert_eq!(a.promote(b), b.promote(a));
                assert_eq!(a.promote(b).is_float(), a.is_float() || b.is_float());
            }
        }
        assert_eq!((U8.promote(I64), I64.promote(F16), F16.promote(BF16)), (I64, F16, F32));
        assert_eq!((BF16.promote(U8), F32.promote(F16), F64.promote(F32)), (BF16, F32, F64));
    }
}
