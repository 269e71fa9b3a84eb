//! Reductions along one axis: sums, and the position of the largest element.
//!
//! The order of the additions is part of the contract, because it decides the bits:
//!
//! * **Along an inner axis** (`inner > 1`): each result starts from +0 and takes its elements in
//!   the order of their index. The loop goes along `inner`, many results at once.
//! * **Along the last axis** (`inner = 1`): 16 lanes start from +0, lane l takes the elements
//!   l, l + 16, l + 32, … in this order; then the lanes are folded in pairs, l with l + 8, then
//!   with l + 4, l + 2 and l + 1, the lower one on the left. This is [`lane_sum`].
//!
//! An empty sum is +0, and no sum is −0.

mod cpu;

use crate::{Float, Threads};

pub use cpu::lane_sum;
pub(crate) use cpu::row_sums;

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

/// The sums along the axis.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn sum<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    assert_eq!(x.len(), axis.outer * axis.len * axis.inner, "x is [outer, len, inner]");
    assert_eq!(out.len(), axis.outer * axis.inner, "out is [outer, inner]");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| {
        if axis.inner == 1 {
            cpu::sum_last(x, axis, (first, run));
        } else {
            cpu::sum_inner(x, axis, (first, run));
        }
    });
}

/// Where the largest element of each row of `len` elements lies, the first of equals. A NaN is
/// larger than every number; the first one counts.
///
/// **Shapes**: `[rows, len] -> [rows]`.
///
/// # Panics
/// When `len` is 0, or the lengths do not fit.
pub fn argmax<T: Float>(x: &[T], len: usize, out: &mut [i64]) {
    assert!(len > 0, "a row without elements has no largest one");
    assert_eq!(x.len(), len * out.len(), "x is [rows, len] and out is [rows]");
    cpu::argmax(x, len, out);
}
