//! What each reduction does with one element; the loops in `cpu` say in which order.

use crate::{Element, Float};

/// A way to fold elements of type `X` into a result of type `A`. `center` is a number that
/// belongs to the result, such as its mean; most folds take no notice of it.
pub(super) trait Fold<X, A>: Copy + Sync {
    /// The result of no element.
    fn start(self) -> A;
    /// `total` with one element more.
    fn step(self, total: A, x: X, center: A) -> A;
    /// Two totals as one.
    fn join(self, left: A, right: A) -> A;
}

/// `Σ x`
#[derive(Clone, Copy)]
pub(super) struct Sum;

impl<T: Float> Fold<T, T> for Sum {
    #[inline(always)]
    fn start(self) -> T {
        T::ZERO
    }
    #[inline(always)]
    fn step(self, total: T, x: T, _: T) -> T {
        total + x
    }
    #[inline(always)]
    fn join(self, left: T, right: T) -> T {
        left + right
    }
}

/// `Σ f(x, center)`
#[derive(Clone, Copy)]
pub(super) struct SumOf<F>(pub(super) F);

impl<T: Float, F: Fn(T, T) -> T + Copy + Sync> Fold<T, T> for SumOf<F> {
    #[inline(always)]
    fn start(self) -> T {
        T::ZERO
    }
    #[inline(always)]
    fn step(self, total: T, x: T, center: T) -> T {
        total + (self.0)(x, center)
    }
    #[inline(always)]
    fn join(self, left: T, right: T) -> T {
        left + right
    }
}

/// `Π x`
#[derive(Clone, Copy)]
pub(super) struct Product;

impl<T: Float> Fold<T, T> for Product {
    #[inline(always)]
    fn start(self) -> T {
        T::ONE
    }
    #[inline(always)]
    fn step(self, total: T, x: T, _: T) -> T {
        total * x
    }
    #[inline(always)]
    fn join(self, left: T, right: T) -> T {
        left * right
    }
}

/// `Σ x` of integers, modulo 2⁶⁴.
#[derive(Clone, Copy)]
pub(super) struct WrappingSum;

impl<X: Into<i64>> Fold<X, i64> for WrappingSum {
    #[inline(always)]
    fn start(self) -> i64 {
        0
    }
    #[inline(always)]
    fn step(self, total: i64, x: X, _: i64) -> i64 {
        total.wrapping_add(x.into())
    }
    #[inline(always)]
    fn join(self, left: i64, right: i64) -> i64 {
        left.wrapping_add(right)
    }
}

/// `Π x` of integers, modulo 2⁶⁴.
#[derive(Clone, Copy)]
pub(super) struct WrappingProduct;

impl<X: Into<i64>> Fold<X, i64> for WrappingProduct {
    #[inline(always)]
    fn start(self) -> i64 {
        1
    }
    #[inline(always)]
    fn step(self, total: i64, x: X, _: i64) -> i64 {
        total.wrapping_mul(x.into())
    }
    #[inline(always)]
    fn join(self, left: i64, right: i64) -> i64 {
        left.wrapping_mul(right)
    }
}

/// The largest element; a NaN is larger than every number. Holds what no element is below.
#[derive(Clone, Copy)]
pub(super) struct Largest<X>(pub(super) X);

impl<X: Element + PartialOrd> Fold<X, X> for Largest<X> {
    #[inline(always)]
    fn start(self) -> X {
        self.0
    }
    #[inline(always)]
    fn step(self, total: X, x: X, _: X) -> X {
        if x > total || is_nan(x) { x } else { total }
    }
    #[inline(always)]
    fn join(self, left: X, right: X) -> X {
        self.step(left, right, right)
    }
}

/// The smallest element; a NaN is smaller than every number. Holds what no element is above.
#[derive(Clone, Copy)]
pub(super) struct Smallest<X>(pub(super) X);

impl<X: Element + PartialOrd> Fold<X, X> for Smallest<X> {
    #[inline(always)]
    fn start(self) -> X {
        self.0
    }
    #[inline(always)]
    fn step(self, total: X, x: X, _: X) -> X {
        if x < total || is_nan(x) { x } else { total }
    }
    #[inline(always)]
    fn join(self, left: X, right: X) -> X {
        self.step(left, right, right)
    }
}

/// How many elements are not zero.
#[derive(Clone, Copy)]
pub(super) struct NonZeros;

impl<X: Element> Fold<X, i64> for NonZeros {
    #[inline(always)]
    fn start(self) -> i64 {
        0
    }
    #[inline(always)]
    fn step(self, total: i64, x: X, _: i64) -> i64 {
        total + i64::from(x != X::default())
    }
    #[inline(always)]
    fn join(self, left: i64, right: i64) -> i64 {
        left + right
    }
}

/// 1 when some element is not zero, otherwise 0.
#[derive(Clone, Copy)]
pub(super) struct Any;

impl<X: Element> Fold<X, u8> for Any {
    #[inline(always)]
    fn start(self) -> u8 {
        0
    }
    #[inline(always)]
    fn step(self, total: u8, x: X, _: u8) -> u8 {
        total | u8::from(x != X::default())
    }
    #[inline(always)]
    fn join(self, left: u8, right: u8) -> u8 {
        left | right
    }
}

/// 1 when no element is zero, otherwise 0.
#[derive(Clone, Copy)]
pub(super) struct All;

impl<X: Element> Fold<X, u8> for All {
    #[inline(always)]
    fn start(self) -> u8 {
        1
    }
    #[inline(always)]
    fn step(self, total: u8, x: X, _: u8) -> u8 {
        total & u8::from(x != X::default())
    }
    #[inline(always)]
    fn join(self, left: u8, right: u8) -> u8 {
        left & right
    }
}

/// Whether `x` is not a number: what does not compare with itself.
#[inline(always)]
pub(super) fn is_nan<X: PartialOrd>(x: X) -> bool {
    x.partial_cmp(&x).is_none()
}

/// The same number, or both none.
#[inline(always)]
pub(super) fn same<X: PartialOrd + Copy>(x: X, y: X) -> bool {
    x == y || (is_nan(x) && is_nan(y))
}
