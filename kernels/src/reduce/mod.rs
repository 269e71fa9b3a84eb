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

#[cfg(test)]
mod tests {
    use super::*;

    const LENS: [usize; 12] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 37, 64];

    fn numbers(len: usize) -> Vec<f32> {
        (0..len).map(|i| (0.9 * i as f32 + 0.4).sin() * (1.0 + (i % 7) as f32)).collect()
    }

    /// The contract of the last axis, word by word.
    fn in_lanes(x: &[f32]) -> f32 {
        let mut lanes = [0.0; 16];
        for (i, &x) in x.iter().enumerate() {
            lanes[i % 16] += x;
        }
        for width in [8, 4, 2, 1] {
            for l in 0..width {
                lanes[l] += lanes[l + width];
            }
        }
        lanes[0]
    }

    fn in_order(x: impl Iterator<Item = f32>) -> f32 {
        x.fold(0.0, |sum, x| sum + x)
    }

    fn bits(x: &[f32]) -> Vec<u32> {
        x.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn sums_have_the_bits_of_the_written_order() {
        let serial = Threads::serial();
        for len in LENS {
            for outer in [0, 1, 5] {
                let x = numbers(outer * len);
                let mut out = vec![f32::NAN; outer];
                sum(&serial, &x, Axis { outer, len, inner: 1 }, &mut out);
                let row = |i: usize| in_lanes(&x[i * len..(i + 1) * len]);
                assert_eq!(bits(&out), bits(&(0..outer).map(row).collect::<Vec<_>>()), "{len}");
            }
            for (outer, inner) in [(1, 2), (3, 10), (2, 83), (1, 160)] {
                let x = numbers(outer * len * inner);
                let mut out = vec![f32::NAN; outer * inner];
                sum(&serial, &x, Axis { outer, len, inner }, &mut out);
                let column = |i: usize| {
                    let first = i / inner * len * inner + i % inner;
                    in_order((0..len).map(|l| x[first + l * inner]))
                };
                let want: Vec<f32> = (0..outer * inner).map(column).collect();
                assert_eq!(bits(&out), bits(&want), "{len} {outer} {inner}");
            }
        }
    }

    #[test]
    fn the_two_orders_differ_in_bits() {
        let x = numbers(37);
        assert_ne!(in_lanes(&x).to_bits(), in_order(x.iter().copied()).to_bits());
    }

    #[test]
    fn no_sum_is_negative_zero_and_what_follows_a_row_is_not_counted() {
        let serial = Threads::serial();
        let mut out = [f32::NAN; 2];
        sum(&serial, &[-0.0; 6], Axis { outer: 2, len: 3, inner: 1 }, &mut out);
        assert_eq!(bits(&out), [0, 0]);
        sum(&serial, &[-0.0; 6], Axis { outer: 1, len: 3, inner: 2 }, &mut out);
        assert_eq!(bits(&out), [0, 0]);
        let mut x = [1.0; 40];
        x[20..].fill(f32::NAN);
        sum(&serial, &x, Axis { outer: 2, len: 20, inner: 1 }, &mut out);
        assert!(out[0] == 20.0 && out[1].is_nan());
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let threads = Threads::new(3).unwrap();
        for axis in [
            Axis { outer: 401, len: 517, inner: 1 },
            Axis { outer: 1, len: 517, inner: 401 },
            Axis { outer: 3, len: 67, inner: 1033 },
        ] {
            let x = numbers(axis.outer * axis.len * axis.inner);
            let mut outs = [vec![0.0; axis.outer * axis.inner], vec![1.0; axis.outer * axis.inner]];
            sum(&Threads::serial(), &x, axis, &mut outs[0]);
            sum(&threads, &x, axis, &mut outs[1]);
            assert_eq!(bits(&outs[0]), bits(&outs[1]), "{axis:?}");
        }
    }

    #[test]
    fn argmax_is_the_first_largest_and_the_first_nan() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let x = [1.0, 3.0, 3.0, 2.0, nan, inf, nan, 1.0, -inf, -inf, -inf, -inf];
        let mut out = [9; 3];
        argmax(&x, 4, &mut out);
        assert_eq!(out, [1, 0, 0]);
        argmax(&[inf, nan, 5.0, nan, -0.0, 0.0], 3, &mut out[..2]);
        assert_eq!(out[..2], [1, 0]);
        argmax::<f32>(&[], 4, &mut []);
    }

    #[test]
    #[should_panic(expected = "no largest one")]
    fn argmax_of_empty_rows_is_refused() {
        argmax::<f32>(&[], 0, &mut [0; 2]);
    }
}
