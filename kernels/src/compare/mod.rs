//! Masks: bytes that are 1 where something holds and 0 where it does not.
//!
//! A NaN is equal to nothing and neither above nor below anything: every comparison with one is 0
//! but `ne`, which is 1. −0 and +0 are equal. A mask that is read counts every byte but 0 as true.

use crate::{Element, Float};

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `x = y`
    Eq,
    /// `x ≠ y`
    Ne,
    /// `x < y`
    Lt,
    /// `x ≤ y`
    Le,
    /// `x > y`
    Gt,
    /// `x ≥ y`
    Ge,
}

impl CompareOp {
    /// The lower-case name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        }
    }
}

/// A function of two truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicalOp {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
}

impl LogicalOp {
    /// The name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            LogicalOp::And => "logical_and",
            LogicalOp::Or => "logical_or",
            LogicalOp::Xor => "logical_xor",
        }
    }
}

/// `out[i] = [x[i] ∘ y[i]]`.
///
/// # Panics
/// When the lengths differ.
pub fn compare<T: Element + PartialOrd>(op: CompareOp, x: &[T], y: &[T], out: &mut [u8]) {
    match op {
        CompareOp::Eq => pairs(x, y, out, |x, y| x == y),
        CompareOp::Ne => pairs(x, y, out, |x, y| x != y),
        CompareOp::Lt => pairs(x, y, out, |x, y| x < y),
        CompareOp::Le => pairs(x, y, out, |x, y| x <= y),
        CompareOp::Gt => pairs(x, y, out, |x, y| x > y),
        CompareOp::Ge => pairs(x, y, out, |x, y| x >= y),
    }
}

/// `out[i] = x[i] ∘ y[i]` of masks.
///
/// # Panics
/// When the lengths differ.
pub fn logical(op: LogicalOp, x: &[u8], y: &[u8], out: &mut [u8]) {
    match op {
        LogicalOp::And => pairs(x, y, out, |x, y| x != 0 && y != 0),
        LogicalOp::Or => pairs(x, y, out, |x, y| x != 0 || y != 0),
        LogicalOp::Xor => pairs(x, y, out, |x, y| (x != 0) != (y != 0)),
    }
}

/// Where a mask is 0.
///
/// # Panics
/// When the lengths differ.
pub fn logical_not(x: &[u8], out: &mut [u8]) {
    pairs(x, x, out, |x, _| x == 0);
}

/// Where an element is not a number.
///
/// # Panics
/// When the lengths differ.
pub fn is_nan<T: Float>(x: &[T], out: &mut [u8]) {
    pairs(x, x, out, |x, _| x.is_nan());
}

/// Where an element is neither infinite nor NaN.
///
/// # Panics
/// When the lengths differ.
pub fn is_finite<T: Float>(x: &[T], out: &mut [u8]) {
    pairs(x, x, out, |x, _| x.is_finite());
}

#[inline(always)]
fn pairs<T: Copy>(x: &[T], y: &[T], out: &mut [u8], holds: impl Fn(T, T) -> bool) {
    assert_eq!((x.len(), y.len()), (out.len(), out.len()), "one result a pair");
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = u8::from(holds(x, y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_follow_the_order_and_a_nan_has_none() {
        let (x, y) = ([1.0, 2.0, -0.0, f32::NAN], [2.0, 2.0, 0.0, f32::NAN]);
        for (op, want) in [
            (CompareOp::Eq, [0, 1, 1, 0]),
            (CompareOp::Ne, [1, 0, 0, 1]),
            (CompareOp::Lt, [1, 0, 0, 0]),
            (CompareOp::Le, [1, 1, 1, 0]),
            (CompareOp::Gt, [0, 0, 0, 0]),
            (CompareOp::Ge, [0, 1, 1, 0]),
        ] {
            let mut out = [9; 4];
            compare(op, &x, &y, &mut out);
            assert_eq!(out, want, "{}", op.name());
        }
    }

    #[test]
    fn any_byte_but_zero_is_true() {
        let (x, y, mut out) = ([0, 0, 3, 255], [0, 7, 0, 1], [9; 4]);
        logical(LogicalOp::And, &x, &y, &mut out);
        assert_eq!(out, [0, 0, 0, 1]);
        logical(LogicalOp::Or, &x, &y, &mut out);
        assert_eq!(out, [0, 1, 1, 1]);
        logical(LogicalOp::Xor, &x, &y, &mut out);
        assert_eq!(out, [0, 1, 1, 0]);
        logical_not(&x, &mut out);
        assert_eq!(out, [1, 1, 0, 0]);
        is_nan(&[f64::NAN, 1.0, f64::INFINITY, 0.0], &mut out);
        assert_eq!(out, [1, 0, 0, 0]);
        is_finite(&[f64::NAN, 1.0, f64::INFINITY, 0.0], &mut out);
        assert_eq!(out, [0, 1, 0, 1]);
    }
}
