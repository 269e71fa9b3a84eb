//! Elements of one axis elsewhere: `out[o, j, i] = x[o, from[j], i]`, or a fill value; and the
//! derivative, which adds each element of `dy` back to where it came from.
//!
//! Flips, rolls, pads, steps and selections by index are all this, with another `from`.

use crate::reduce::Axis;
use crate::{Element, Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// What stands at an index of the result that no element comes to.
pub const FILL: usize = usize::MAX;

/// **Shapes**: x `[outer, len, inner]`, from `[n]` `-> [outer, n, inner]`; an entry of `from` is
/// below `len` or [`FILL`], which stands for `fill`.
///
/// # Panics
/// Lengths that do not fit, or an entry that is neither.
pub fn remap<T: Element>(
    threads: &Threads,
    (x, axis): (&[T], Axis),
    from: &[usize],
    fill: T,
    out: &mut [T],
) {
    let Axis { outer, len, inner } = axis;
    assert_eq!(x.len(), outer * len * inner, "x is [outer, len, inner]");
    assert_eq!(out.len(), outer * from.len() * inner, "out is [outer, n, inner]");
    if out.is_empty() {
        return;
    }
    let parts = threads.parts(out.len(), MIN_PART);
    threads.split_mut(out, inner, parts, |first, run| {
        for (row, out) in (first..).zip(run.chunks_mut(inner)) {
            match from[row % from.len()] {
                FILL => out.fill(fill),
                index => {
                    assert!(index < len, "an index of the axis");
                    let at = (row / from.len() * len + index) * inner;
                    out.copy_from_slice(&x[at..at + inner]);
                }
            }
        }
    });
}

/// `dx[o, k, i] = Σ dy[o, j, i]` over the j with `from[j] = k`, from +0 in the order of j.
///
/// **Shapes**: dy `[outer, n, inner] -> dx [outer, len, inner]`, which `axis` describes.
///
/// # Panics
/// As [`remap`].
pub fn remap_vjp<T: Float>(threads: &Threads, dy: &[T], axis: Axis, from: &[usize], dx: &mut [T]) {
    let Axis { outer, len, inner } = axis;
    assert_eq!(dx.len(), outer * len * inner, "dx is [outer, len, inner]");
    assert_eq!(dy.len(), outer * from.len() * inner, "dy is [outer, n, inner]");
    if dx.is_empty() {
        return;
    }
    let parts = if outer > 1 { threads.parts(dy.len(), MIN_PART) } else { 1 };
    threads.split_mut(dx, len * inner, parts, |first, run| {
        run.fill(T::ZERO);
        for (o, dx) in (first..).zip(run.chunks_mut(len * inner)) {
            for (j, &index) in from.iter().enumerate() {
                if index == FILL {
                    continue;
                }
                assert!(index < len, "an index of the axis");
                let dy = &dy[(o * from.len() + j) * inner..][..inner];
                for (dx, &dy) in dx[index * inner..(index + 1) * inner].iter_mut().zip(dy) {
                    *dx += dy;
                }
            }
        }
    });
}

/// Parts side by side along an axis: `out` is `[outer, Σ len, inner]`, each part `[outer, len,
/// inner]`.
///
/// # Panics
/// Lengths that do not fit.
pub fn concatenate<T: Element>(
    parts: &[(&[T], usize)],
    (outer, inner): (usize, usize),
    out: &mut [T],
) {
    let row: usize = parts.iter().map(|(_, len)| len * inner).sum();
    assert_eq!(out.len(), outer * row, "out holds all parts");
    assert!(parts.iter().all(|(x, len)| x.len() == outer * len * inner), "[outer, len, inner]");
    if row == 0 {
        return;
    }
    for (o, out) in out.chunks_mut(row).enumerate() {
        let mut at = 0;
        for &(x, len) in parts {
            let len = len * inner;
            out[at..at + len].copy_from_slice(&x[o * len..(o + 1) * len]);
            at += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis { outer: 2, len: 3, inner: 2 };

    #[test]
    fn elements_come_from_where_the_map_says() {
        let x: Vec<i64> = (0..12).collect();
        let mut out = [9; 16];
        remap(&Threads::serial(), (&x, AXIS), &[2, FILL, 0, 2], -1, &mut out);
        assert_eq!(out, [4, 5, -1, -1, 0, 1, 4, 5, 10, 11, -1, -1, 6, 7, 10, 11]);
        remap(&Threads::serial(), (&x, AXIS), &[], -1, &mut []);
    }

    #[test]
    fn gradients_of_repeated_elements_add_up_and_others_are_zero() {
        let dy: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let mut dx = [f32::NAN; 12];
        remap_vjp(&Threads::serial(), &dy, AXIS, &[2, FILL, 0, 2], &mut dx);
        assert_eq!(dx, [4.0, 5.0, 0.0, 0.0, 6.0, 8.0, 12.0, 13.0, 0.0, 0.0, 22.0, 24.0]);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let axis = Axis { outer: 40, len: 67, inner: 101 };
        let x: Vec<f32> = (0..40 * 67 * 101).map(|i| (0.7 * i as f32).sin()).collect();
        let from: Vec<usize> = (0..67).map(|j| j * j % 67).collect();
        let run = |threads: &Threads| {
            let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            remap(threads, (&x, axis), &from, 0.0, &mut y);
            remap_vjp(threads, &x, axis, &from, &mut dx);
            (y, dx)
        };
        assert!(run(&Threads::serial()) == run(&Threads::new(3).unwrap()));
    }

    #[test]
    fn parts_stand_side_by_side_also_empty_ones() {
        let mut out = [0; 10];
        let parts: [(&[i64], usize); 3] = [(&[1, 2, 3, 4], 2), (&[], 0), (&[5, 6, 7, 8, 9, 10], 3)];
        concatenate(&parts, (2, 1), &mut out);
        assert_eq!(out, [1, 2, 5, 6, 7, 3, 4, 8, 9, 10]);
    }

    #[test]
    #[should_panic(expected = "an index of the axis")]
    fn an_index_in_the_next_row_is_refused() {
        remap(&Threads::serial(), (&[1i64; 12], AXIS), &[3], 0, &mut [0; 4]);
    }
}
