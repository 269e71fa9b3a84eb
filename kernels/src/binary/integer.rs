//! Arithmetic of integers, modulo 2⁶⁴.

use super::BinaryOp;

/// `out[i] = f(x[i], y[i])`, wrapping around; `None` when the op has no integer result.
///
/// # Panics
/// When the lengths differ.
#[must_use]
pub fn integer(op: BinaryOp, x: &[i64], y: &[i64], out: &mut [i64]) -> Option<()> {
    assert_eq!((x.len(), y.len()), (out.len(), out.len()), "one result a pair");
    let value: fn(i64, i64) -> i64 = match op {
        BinaryOp::Add => i64::wrapping_add,
        BinaryOp::Sub => i64::wrapping_sub,
        BinaryOp::Mul => i64::wrapping_mul,
        BinaryOp::Max => i64::max,
        BinaryOp::Min => i64::min,
        _ => return None,
    };
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = value(x, y);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_around_and_have_no_quotient() {
        let mut out = [0; 2];
        assert_eq!(integer(BinaryOp::Add, &[1, i64::MAX], &[2, 1], &mut out), Some(()));
        assert_eq!(out, [3, i64::MIN]);
        assert_eq!(integer(BinaryOp::Min, &[1, -4], &[2, -3], &mut out), Some(()));
        assert_eq!(out, [1, -4]);
        assert_eq!(integer(BinaryOp::Div, &[1, 1], &[2, 2], &mut out), None);
    }
}
