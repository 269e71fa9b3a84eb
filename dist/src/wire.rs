//! The element types that travel between ranks.

use std::any::Any;

use kernels::Element;

use crate::header::ReduceOp;

/// An element type of the collectives: f32, f64 or i64.
pub trait Wire: Element + Combine {}

impl Wire for f32 {}
impl Wire for f64 {}
impl Wire for i64 {}

/// How two contributions become one. Not nameable outside, so that the set of types stays closed:
/// each has a board of its own.
pub trait Combine: Sized {
    /// The sum, rounded once; of integers, modulo 2⁶⁴.
    fn plus(self, right: Self) -> Self;
    /// The larger one, the left one if they are equal, NaN if one is NaN.
    fn larger(self, right: Self) -> Self;
}

impl Combine for f32 {
    #[inline(always)]
    fn plus(self, right: Self) -> Self {
        self + right
    }

    #[inline(always)]
    fn larger(self, right: Self) -> Self {
        if self >= right || self.is_nan() { self } else { right }
    }
}

impl Combine for f64 {
    #[inline(always)]
    fn plus(self, right: Self) -> Self {
        self + right
    }

    #[inline(always)]
    fn larger(self, right: Self) -> Self {
        if self >= right || self.is_nan() { self } else { right }
    }
}

impl Combine for i64 {
    #[inline(always)]
    fn plus(self, right: Self) -> Self {
        self.wrapping_add(right)
    }

    #[inline(always)]
    fn larger(self, right: Self) -> Self {
        self.max(right)
    }
}

/// `own = received op own`, element by element: what the ring adds on the way.
pub(crate) fn combine_into<T: Wire>(op: ReduceOp, received: &mut [T], own: &[T]) {
    let pairs = received.iter_mut().zip(own);
    match op {
        ReduceOp::Sum => pairs.for_each(|(received, &own)| *received = received.plus(own)),
        ReduceOp::Max => pairs.for_each(|(received, &own)| *received = received.larger(own)),
    }
}

/// The one of `candidates` that has type `L`.
///
/// Gradients have any float type in their signatures, which no trait of this crate can be
/// required of; so the type picks its lane here.
pub(crate) fn pick<L: Any>(candidates: [&mut dyn Any; 3]) -> Option<&mut L> {
    candidates.into_iter().find_map(|candidate| candidate.downcast_mut())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_one_is_nan_if_any_is() {
        assert!(f32::NAN.larger(1.0).is_nan() && 1.0_f32.larger(f32::NAN).is_nan());
        assert_eq!((2.0_f64.larger(3.0), 3.0_f64.larger(2.0)), (3.0, 3.0));
        assert!((-0.0_f32).larger(0.0).is_sign_negative(), "of equals the left one");
        assert_eq!((-5_i64).larger(4), 4);
        assert_eq!(i64::MAX.plus(1), i64::MIN);
    }
}
