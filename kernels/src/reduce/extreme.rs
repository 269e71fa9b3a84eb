//! The largest and the smallest element, where it lies, and the derivative.

use std::array;

use super::fold::{Largest, Smallest, SumOf, is_nan, same};
use super::{Axis, MIN_PART, along, spread};
use crate::{Element, Float, Threads};

/// Columns that are searched together.
const WIDTH: usize = 16;

/// Which end of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
}

/// The largest or smallest element along the axis; NaN where one is among them. −0 and +0 are
/// equal: which of them comes out follows from the order of the reductions.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When `len` is 0 and results are wanted, or a slice has another number of elements.
pub fn extreme<X: Element + PartialOrd>(
    threads: &Threads,
    which: Extreme,
    x: &[X],
    axis: Axis,
    out: &mut [X],
) {
    assert!(axis.len > 0 || out.is_empty(), "no element, no extreme one");
    // Conversions saturate: an integer's ends.
    let (bottom, top) = (X::from_f64(f64::NEG_INFINITY), X::from_f64(f64::INFINITY));
    match which {
        Extreme::Max => along(threads, Largest(bottom), x, axis, out),
        Extreme::Min => along(threads, Smallest(top), x, axis, out),
    }
}

/// Where the largest or smallest element along the axis lies, the first of equals. A NaN goes
/// before every number; the first one counts.
///
/// **Shapes**: `[outer, len, inner] -> [outer, inner]`.
///
/// # Panics
/// When `len` is 0 and results are wanted, or a slice has another number of elements.
pub fn arg_extreme<X: Element + PartialOrd>(
    threads: &Threads,
    which: Extreme,
    x: &[X],
    axis: Axis,
    out: &mut [i64],
) {
    assert!(axis.len > 0 || out.is_empty(), "no element, no extreme one");
    axis.check(x.len(), out.len());
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(out, 1, parts, |first, run| match which {
        Extreme::Max => search(x, axis, (first, run), |x, best| x > best),
        Extreme::Min => search(x, axis, (first, run), |x, best| x < best),
    });
}

/// The results from number `first` on; `before` says which of two numbers goes before the other.
fn search<X: Element + PartialOrd>(
    x: &[X],
    axis: Axis,
    (first, out): (usize, &mut [i64]),
    before: impl Fn(X, X) -> bool + Copy,
) {
    let ahead = |x: X, best: X| before(x, best) || (is_nan(x) && !is_nan(best));
    if axis.inner == 1 {
        let rows = x[first * axis.len..].chunks_exact(axis.len);
        for (row, out) in rows.zip(out) {
            let (mut at, mut best) = (0, row[0]);
            for (i, &x) in row.iter().enumerate() {
                if ahead(x, best) {
                    (at, best) = (i, x);
                }
            }
            *out = at as i64;
        }
        return;
    }
    let mut done = 0;
    while done < out.len() {
        let (outer, column) = ((first + done) / axis.inner, (first + done) % axis.inner);
        let count = (axis.inner - column).min(out.len() - done).min(WIDTH);
        let plane = &x[outer * axis.len * axis.inner..][..axis.len * axis.inner];
        let mut best: [X; WIDTH] = array::from_fn(|i| plane[column + i.min(count - 1)]);
        let out = &mut out[done..done + count];
        out.fill(0);
        for (l, row) in plane.chunks_exact(axis.inner).enumerate() {
            for ((at, best), &x) in out.iter_mut().zip(&mut best).zip(&row[column..]) {
                if ahead(x, *best) {
                    (*at, *best) = (l as i64, x);
                }
            }
        }
        done += count;
    }
}

/// The derivative of [`extreme`] from its result y: the elements that equal y share dy evenly.
/// Where y is NaN, those that are NaN do.
///
/// **Shapes**: x, dx `[outer, len, inner]`, y, dy `[outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn extreme_vjp<T: Float>(threads: &Threads, [x, y, dy]: [&[T]; 3], axis: Axis, dx: &mut [T]) {
    let mut shares = y.to_vec();
    let ties = SumOf(|x, y| if same(x, y) { T::ONE } else { T::ZERO });
    along(threads, ties, x, axis, &mut shares);
    for (share, &dy) in shares.iter_mut().zip(dy) {
        *share = dy / *share;
    }
    spread(
        threads,
        ([x], axis),
        [y, &shares],
        dx,
        |[x], [y, share]| {
            if same(x, y) { share } else { T::ZERO }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIAL: Threads = Threads::serial();

    fn found(which: Extreme, x: &[f32], [outer, len, inner]: [usize; 3]) -> Vec<i64> {
        let mut out = vec![9; outer * inner];
        arg_extreme(&SERIAL, which, x, Axis { outer, len, inner }, &mut out);
        out
    }

    #[test]
    fn the_first_extreme_and_the_first_nan_are_found_along_any_axis() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let x = [1.0, 3.0, 3.0, 2.0, nan, inf, nan, 1.0, -inf, -inf, -inf, -inf];
        assert_eq!(found(Extreme::Max, &x, [3, 4, 1]), [1, 0, 0]);
        assert_eq!(found(Extreme::Min, &x, [3, 4, 1]), [0, 0, 0]);
        assert_eq!(found(Extreme::Max, &[inf, nan, 5.0, nan, -0.0, 0.0], [2, 3, 1]), [1, 0]);
        assert_eq!(found(Extreme::Max, &x, [1, 3, 4]), [1, 1, 1, 0]);
        assert_eq!(found(Extreme::Min, &x, [1, 3, 4]), [1, 2, 1, 2]);
        assert_eq!(found(Extreme::Max, &[-0.0, 0.0], [1, 2, 1]), [0]);
        assert!(found(Extreme::Max, &[], [0, 4, 1]).is_empty());
        let mut out = [0; 1];
        let axis = Axis { outer: 1, len: 3, inner: 1 };
        arg_extreme(&SERIAL, Extreme::Min, &[5i64, i64::MIN, 2], axis, &mut out);
        assert_eq!(out, [1]);
    }

    #[test]
    #[should_panic(expected = "no extreme one")]
    fn rows_without_elements_are_refused() {
        found(Extreme::Max, &[], [2, 0, 1]);
    }

    #[test]
    fn ties_share_the_gradient_and_nan_keeps_it() {
        let axis = Axis { outer: 2, len: 3, inner: 1 };
        let x = [2.0, 2.0, 1.0, 0.0, f32::NAN, f32::NAN];
        let (mut y, mut dx) = ([0.0; 2], [9.0; 6]);
        extreme(&SERIAL, Extreme::Max, &x, axis, &mut y);
        assert!(y[0] == 2.0 && y[1].is_nan());
        extreme_vjp(&SERIAL, [&x, &y, &[1.0, 4.0]], axis, &mut dx);
        assert_eq!(dx, [0.5, 0.5, 0.0, 0.0, 2.0, 2.0]);
    }

    #[test]
    fn widths_and_threads_change_nothing() {
        let threads = Threads::new(3).unwrap();
        for [outer, len, inner] in [[2, 5, 1], [3, 4, 16], [2, 7, 37], [1, 600, 700]] {
            let axis = Axis { outer, len, inner };
            let x: Vec<f32> = (0..axis.numel()).map(|i| ((i * 37) % 101) as f32).collect();
            let (mut y, mut at) = (vec![0.0; axis.results()], vec![0; axis.results()]);
            extreme(&threads, Extreme::Min, &x, axis, &mut y);
            arg_extreme(&threads, Extreme::Min, &x, axis, &mut at);
            for i in 0..axis.results() {
                let first = i / inner * len * inner + i % inner;
                let column = |l: usize| x[first + l * inner];
                let least = (0..len).map(column).fold(f32::INFINITY, f32::min);
                let first = (0..len).find(|&l| column(l) == least).unwrap();
                assert_eq!((at[i] as usize, y[i]), (first, least));
            }
        }
    }
}
