//! The order of the elements along one axis, the elements at given places, and the way back.
//!
//! A NaN is larger than every number; −0 and +0 are equal. Equal elements keep the order of their
//! index, ascending and descending alike: the sort is stable, and the first k are the same ones as
//! in the whole order.

use std::cmp::Ordering;

use crate::reduce::Axis;
use crate::{Element, Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 13;

/// Where the first `k` elements along the axis in ascending or descending order lie.
///
/// **Shapes**: x `[outer, len, inner]`, out `[outer, k, inner]`.
///
/// # Panics
/// When k is larger than `len`, or a slice has another number of elements.
pub fn order<X: Element + PartialOrd>(
    threads: &Threads,
    x: &[X],
    (axis, k): (Axis, usize),
    descending: bool,
    out: &mut [i64],
) {
    assert!(k <= axis.len, "at most all elements");
    axis.check(x.len(), axis.results());
    assert_eq!(out.len(), axis.results() * k, "out is [outer, k, inner]");
    if out.is_empty() {
        return;
    }
    let Axis { len, inner, .. } = axis;
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(out, k * inner, parts, |first, run| {
        let mut pairs = Vec::with_capacity(len);
        for (outer, out) in (first..).zip(run.chunks_exact_mut(k * inner)) {
            let x = &x[outer * len * inner..][..len * inner];
            for column in 0..inner {
                pairs.clear();
                pairs.extend(x[column..].iter().copied().step_by(inner).zip(0i64..));
                first_pairs(&mut pairs, k, descending);
                for (i, &(_, at)) in pairs[..k].iter().enumerate() {
                    out[i * inner + column] = at;
                }
            }
        }
    });
}

/// Brings the first `k` pairs, at least one, to the front, in order.
fn first_pairs<X: PartialOrd>(pairs: &mut [(X, i64)], k: usize, descending: bool) {
    // A total order, since indices differ: any algorithm gives the same result.
    let order = |(x, i): &(X, i64), (y, j): &(X, i64)| {
        let values = if descending { ascending(y, x) } else { ascending(x, y) };
        values.then(i.cmp(j))
    };
    if k < pairs.len() {
        pairs.select_nth_unstable_by(k - 1, order);
    }
    pairs[..k].sort_unstable_by(order);
}

fn ascending<X: PartialOrd>(x: &X, y: &X) -> Ordering {
    let nan = |x: &X| x.partial_cmp(x).is_none();
    x.partial_cmp(y).unwrap_or_else(|| nan(x).cmp(&nan(y)))
}

/// The elements at the places that `indices` give along the axis.
///
/// **Shapes**: x `[outer, len, inner]`, indices, out `[outer, k, inner]`.
///
/// # Panics
/// When an index lies outside `0..len`, or a slice has another number of elements.
pub fn take<X: Element>(x: &[X], axis: Axis, indices: &[i64], out: &mut [X]) {
    assert_eq!((x.len(), out.len()), (axis.numel(), indices.len()), "x and out fit");
    let mut places = Places::of(axis, indices);
    out.iter_mut().for_each(|out| *out = x[places.next()]);
}

/// The derivative of [`take`]: each dy is added to its place, in the order of the indices; what
/// has none is 0.
///
/// **Shapes**: dy, indices `[outer, k, inner]`, dx `[outer, len, inner]`.
///
/// # Panics
/// When an index lies outside `0..len`, or a slice has another number of elements.
pub fn take_vjp<T: Float>(dy: &[T], indices: &[i64], axis: Axis, dx: &mut [T]) {
    assert_eq!((dx.len(), dy.len()), (axis.numel(), indices.len()), "dx and dy fit");
    dx.fill(T::ZERO);
    let mut places = Places::of(axis, indices);
    dy.iter().for_each(|&dy| dx[places.next()] += dy);
}

/// Where the elements lie that indices name, one after the other.
struct Places<'a> {
    indices: &'a [i64],
    axis: Axis,
    /// Indices of one plane `[k, inner]`.
    plane: usize,
    done: usize,
}

impl<'a> Places<'a> {
    fn of(axis: Axis, indices: &'a [i64]) -> Self {
        let plane = indices.len().checked_div(axis.outer).unwrap_or(0);
        assert_eq!(indices.len(), axis.outer * plane, "indices are [outer, k, inner]");
        Places { indices, axis, plane, done: 0 }
    }

    fn next(&mut self) -> usize {
        let (i, Axis { len, inner, .. }) = (self.done, self.axis);
        let index = self.indices[i];
        assert!((0..len as i64).contains(&index), "an index lies within the axis");
        self.done += 1;
        (i / self.plane * len + index as usize) * inner + i % inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f32> {
        (0..n)
            .map(|i| match i % 11 {
                3 => f32::NAN,
                5 => -0.0,
                7 => 0.0,
                8 => f32::INFINITY,
                _ => ((i * 37) % 13) as f32 - 6.0,
            })
            .collect()
    }

    /// Insertion sort, stable by construction.
    fn naive(x: &[f32], descending: bool) -> Vec<i64> {
        let above = |a: f32, b: f32| a > b || (a.is_nan() && !b.is_nan());
        let mut order: Vec<usize> = Vec::new();
        for i in 0..x.len() {
            let behind = |j: usize| {
                if descending { above(x[i], x[j]) } else { above(x[j], x[i]) }
            };
            let at = order.iter().position(|&j| behind(j)).unwrap_or(order.len());
            order.insert(at, i);
        }
        order.into_iter().map(|i| i as i64).collect()
    }

    #[test]
    fn the_order_is_stable_along_any_axis_and_for_any_k() {
        let pool = Threads::new(3).unwrap();
        for [outer, len, inner] in [[0, 3, 1], [4, 1, 2], [3, 33, 1], [2, 17, 3], [90, 100, 4]] {
            let axis = Axis { outer, len, inner };
            let x = numbers(axis.numel());
            for (descending, k) in [(false, len), (true, len), (true, len / 3), (false, 1)] {
                let mut outs = [vec![-1; axis.results() * k], vec![-2; axis.results() * k]];
                order(&Threads::serial(), &x, (axis, k), descending, &mut outs[0]);
                order(&pool, &x, (axis, k), descending, &mut outs[1]);
                assert_eq!(outs[0], outs[1], "{axis:?}");
                for i in 0..axis.results() {
                    let (o, c) = (i / inner, i % inner);
                    let column: Vec<f32> = (0..len).map(|l| x[(o * len + l) * inner + c]).collect();
                    let got: Vec<i64> = (0..k).map(|j| outs[0][(o * k + j) * inner + c]).collect();
                    assert_eq!(got, naive(&column, descending)[..k], "{axis:?} {descending} {k}");
                }
            }
        }
    }

    #[test]
    fn elements_are_taken_from_their_places_and_gradients_put_back() {
        let axis = Axis { outer: 2, len: 3, inner: 2 };
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let indices = [2, 0, 1, 1, 0, 0, 0, 2];
        let mut y = [0.0; 8];
        take(&x, axis, &indices, &mut y);
        assert_eq!(y, [4.0, 1.0, 2.0, 3.0, 6.0, 7.0, 6.0, 11.0]);
        let mut dx = [9.0; 12];
        take_vjp(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], &indices, axis, &mut dx);
        assert_eq!(dx, [0.0, 2.0, 3.0, 4.0, 1.0, 0.0, 12.0, 6.0, 0.0, 0.0, 0.0, 8.0]);
    }

    #[test]
    #[should_panic(expected = "within the axis")]
    fn a_place_outside_the_axis_is_refused() {
        let axis = Axis { outer: 1, len: 2, inner: 1 };
        take(&[1.0, 2.0], axis, &[2], &mut [0.0]);
    }
}
