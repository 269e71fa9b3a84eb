//! Reductions along one axis, and their derivatives.
//!
//! The order of the additions is part of the contract, because it decides the bits:
//!
//! * **Along an inner axis** (`inner > 1`): each result starts from +0 and takes its elements in
//!   the order of their index. The loop goes along `inner`, many results at once.
//! * **Along the last axis** (`inner = 1`): 16 lanes start from +0, lane l takes the elements
//!   l, l + 16, l + 32, … in this order; then the lanes are folded in pairs, l with l + 8, then
//!   with l + 4, l + 2 and l + 1, the lower one on the left. This is [`lane_sum`].
//!
//! Every reduction goes this way: products start from 1, extremes from the far infinity.
//!
//! An empty sum is +0, and no sum is −0. With n the length of the axis:
//!
//! | reduction | formula | of no element |
//! | --- | --- | --- |
//! | sum, prod | Σ x, Π x; of integers modulo 2⁶⁴ | 0, 1 |
//! | mean | (Σ x) / n | NaN |
//! | var | (Σ d² − (Σ d)² / n) / (n − c), d = x − mean | NaN, as for every n ≤ c |
//! | norm | √(Σ x²) | 0 |
//! | logsumexp | m + ln Σ exp(x − m), m the largest, or 0 where that is infinite | −∞ |
//! | amax, amin | the largest, the smallest; NaN where one is among them | refused |
//! | count_nonzero | how many elements differ from 0; NaN does | 0 |
//! | any, all | whether one does, whether each does: 1 or 0 | 0, 1 |
//!
//! In var, Σ d would be 0 in exact arithmetic; it takes the rounding of the mean out again, so a
//! large mean costs no digits (Chan, Golub and LeVeque 1983, "Algorithms for computing the sample
//! variance", eq. 1.7).

mod cpu;
mod extreme;
mod fold;
mod moments;
mod spread;
#[cfg(test)]
mod tests;

use crate::{Element, Float, Threads};

pub use cpu::lane_sum;
pub(crate) use cpu::{lane_largest, lane_sum_of, row_sums};
pub use extreme::{Extreme, arg_extreme, extreme, extreme_vjp};
pub(crate) use moments::exp_sums;
pub use moments::{logsumexp, logsumexp_vjp, mean, norm, norm_vjp, std_vjp, var, var_vjp};
pub(crate) use spread::spread;

use fold::{All, Any, Fold, NonZeros, Product, Sum, WrappingProduct, WrappingSum};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// A row-major tensor seen as `[outer, len, inner]`, to be reduced along `len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Elements of the axes before the reduced one, multiplied.
    pub outer: usize,
    /// Length of the reduced axis.
    pub len: usize,
    /// Elements of the axes after the reduced one, multiplied.
    pub inner: usize,
}

impl Axis {
    /// Elements of the whole tensor.
    pub fn numel(&self) -> usize {
        self.outer * self.len * self.inner
    }

    /// Number of results.
    pub fn results(&self) -> usize {
        self.outer * self.inner
    }

    /// Panics unless `x` holds the tensor and `results` numbers are the results.
    pub(crate) fn check(&self, x: usize, results: usize) {
        assert_eq!(x, self.numel(), "x is [outer, len, inner]");
        assert_eq!(results, self.results(), "out is [outer, inner]");
    }
}

/// Folds along the axis; `out` holds the centers, then the results.
fn along<X: Element, A: Copy + Send>(
    threads: &Threads,
    how: impl Fold<X, A>,
    x: &[X],
    axis: Axis,
    out: &mut [A],
) {
    axis.check(x.len(), out.len());
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| cpu::fold(how, x, axis, (first, run)));
}

/// The sums along the axis.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn sum<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    along(threads, Sum, x, axis, out);
}

/// The products along the axis.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn prod<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    along(threads, Product, x, axis, out);
}

/// The sums of integers along the axis, modulo 2⁶⁴.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn wrapping_sum<X>(threads: &Threads, x: &[X], axis: Axis, out: &mut [i64])
where
    X: Element + Into<i64>,
{
    along(threads, WrappingSum, x, axis, out);
}

/// The products of integers along the axis, modulo 2⁶⁴.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn wrapping_prod<X>(threads: &Threads, x: &[X], axis: Axis, out: &mut [i64])
where
    X: Element + Into<i64>,
{
    along(threads, WrappingProduct, x, axis, out);
}

/// How many elements along the axis are not zero. −0 is zero, a NaN is not.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn count_nonzero<X: Element>(threads: &Threads, x: &[X], axis: Axis, out: &mut [i64]) {
    along(threads, NonZeros, x, axis, out);
}

/// 1 where some element along the axis is not zero, 0 elsewhere; see [`count_nonzero`].
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn any<X: Element>(threads: &Threads, x: &[X], axis: Axis, out: &mut [u8]) {
    along(threads, Any, x, axis, out);
}

/// 1 where no element along the axis is zero, 0 elsewhere; see [`count_nonzero`].
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn all<X: Element>(threads: &Threads, x: &[X], axis: Axis, out: &mut [u8]) {
    along(threads, All, x, axis, out);
}
