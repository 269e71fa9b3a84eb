//! One element of an axis for each index: `out[o, j, i] = x[o, idx[o, j, i], i]`, and its
//! derivative, which adds.

use crate::reduce::Axis;
use crate::{Element, Float};

/// **Shapes**: x `[outer, len, inner]`, idx and out `[outer, n, inner]`.
///
/// # Panics
/// Lengths that do not fit, or an index outside `0..len`: the tensor layer has checked both.
pub fn gather<T: Element>((x, axis): (&[T], Axis), idx: &[i64], out: &mut [T]) {
    let Axis { outer, len, inner } = axis;
    assert_eq!(x.len(), outer * len * inner, "x is [outer, len, inner]");
    assert_eq!(idx.len(), out.len(), "one index a result");
    for (at, (out, &index)) in out.iter_mut().zip(idx).enumerate() {
        *out = x[place(axis, idx.len(), at, index)];
    }
}

/// `y[o, idx[o, j, i], i] += s[o, j, i]`, in the order of s: what `y` held is kept.
///
/// **Shapes**: y `[outer, len, inner]`, idx and s `[outer, n, inner]`.
///
/// # Panics
/// As [`gather`].
pub fn scatter_add<T: Float>((y, axis): (&mut [T], Axis), idx: &[i64], s: &[T]) {
    let Axis { outer, len, inner } = axis;
    assert_eq!(y.len(), outer * len * inner, "y is [outer, len, inner]");
    assert_eq!(idx.len(), s.len(), "one index a term");
    for (at, (&s, &index)) in s.iter().zip(idx).enumerate() {
        y[place(axis, idx.len(), at, index)] += s;
    }
}

/// Where element `at` of `[outer, n, inner]` with this index lies in `[outer, len, inner]`.
fn place(axis: Axis, numel: usize, at: usize, index: i64) -> usize {
    let Axis { outer, len, inner } = axis;
    assert!((0..len as i64).contains(&index), "an index of the axis");
    let row = numel / outer;
    (at / row * len + index as usize) * inner + at % inner
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis { outer: 2, len: 3, inner: 2 };

    #[test]
    fn elements_are_picked_and_added_back_where_they_were() {
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let idx = [2, 0, 2, 1, 0, 0, 1, 1];
        let mut out = [f64::NAN; 8];
        gather((&x, AXIS), &idx, &mut out);
        assert_eq!(out, [4.0, 1.0, 4.0, 3.0, 6.0, 7.0, 8.0, 9.0]);
        let mut y = [0.5; 12];
        scatter_add((&mut y, AXIS), &idx, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(y, [0.5, 2.5, 0.5, 4.5, 4.5, 0.5, 5.5, 6.5, 7.5, 8.5, 0.5, 0.5]);
        gather::<f64>((&x, AXIS), &[], &mut []);
    }

    #[test]
    #[should_panic(expected = "an index of the axis")]
    fn an_index_in_the_next_row_is_refused() {
        gather((&[1i64; 12], AXIS), &[3; 4], &mut [0; 4]);
    }
}
