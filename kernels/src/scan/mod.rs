//! Running sums and products along one axis, and the derivatives of products.
//!
//! Element i of the result is the sum or product of the elements 0..=i, one after the other in
//! the order of their index, from +0 or 1 on. Integers wrap modulo 2⁶⁴.
//!
//! With `Pᵢ` the product of the elements before i, no derivative divides, so zeros are ordinary
//! elements:
//!
//! ```text
//! prod:     dxᵢ = Pᵢ · Qᵢ      Qᵢ = xᵢ₊₁ · Qᵢ₊₁ from dy at the end
//! cumprod:  dxᵢ = Pᵢ · Sᵢ      Sᵢ = dyᵢ + xᵢ₊₁ · Sᵢ₊₁ from 0 behind the end
//! ```

mod cpu;

use crate::reduce::Axis;
use crate::{Element, Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// Calls `body(outer, plane)` for each plane `[len, inner]` of `out`, on the threads.
fn planes<A: Send>(
    threads: &Threads,
    axis: Axis,
    out: &mut [A],
    body: impl Fn(usize, &mut [A]) + Sync,
) {
    assert_eq!(out.len(), axis.numel(), "out is [outer, len, inner]");
    if out.is_empty() {
        return;
    }
    let (plane, parts) = (axis.len * axis.inner, threads.parts(out.len(), MIN_PART));
    threads.split_mut(out, plane, parts, |first, run| {
        for (outer, plane) in (first..).zip(run.chunks_exact_mut(plane)) {
            body(outer, plane);
        }
    });
}

/// The elements of plane `outer`.
fn plane<X>(x: &[X], axis: Axis, outer: usize) -> &[X] {
    let plane = axis.len * axis.inner;
    &x[outer * plane..(outer + 1) * plane]
}

/// The running sums along the axis; `backward`: from the end.
///
/// **Shapes**: x, out `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn cumsum<T: Float>(threads: &Threads, x: &[T], (axis, backward): (Axis, bool), out: &mut [T]) {
    planes(threads, axis, out, |outer, out| {
        let x = plane(x, axis, outer);
        cpu::scan((x, axis.inner, backward), T::ZERO, |sum, x| sum + x, out);
    });
}

/// The running sums of integers, modulo 2⁶⁴.
///
/// **Shapes**: x, out `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn wrapping_cumsum<X>(threads: &Threads, x: &[X], axis: Axis, out: &mut [i64])
where
    X: Element + Into<i64>,
{
    planes(threads, axis, out, |outer, out| {
        let x = plane(x, axis, outer);
        cpu::scan((x, axis.inner, false), 0, |sum: i64, x| sum.wrapping_add(x.into()), out);
    });
}

/// The running products along the axis.
///
/// **Shapes**: x, out `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn cumprod<T: Float>(threads: &Threads, x: &[T], axis: Axis, out: &mut [T]) {
    planes(threads, axis, out, |outer, out| {
        cpu::scan((plane(x, axis, outer), axis.inner, false), T::ONE, |p, x| p * x, out);
    });
}

/// The running products of integers, modulo 2⁶⁴.
///
/// **Shapes**: x, out `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn wrapping_cumprod<X>(threads: &Threads, x: &[X], axis: Axis, out: &mut [i64])
where
    X: Element + Into<i64>,
{
    planes(threads, axis, out, |outer, out| {
        let x = plane(x, axis, outer);
        cpu::scan((x, axis.inner, false), 1, |p: i64, x| p.wrapping_mul(x.into()), out);
    });
}

/// The derivative of [`cumprod`].
///
/// **Shapes**: x, dy, dx `[outer, len, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn cumprod_vjp<T: Float>(threads: &Threads, [x, dy]: [&[T]; 2], axis: Axis, dx: &mut [T]) {
    planes(threads, axis, dx, |outer, dx| {
        let (x, dy) = (plane(x, axis, outer), plane(dy, axis, outer));
        cpu::products_before(x, axis.inner, dx);
        cpu::times_behind(x, Some(dy), &mut vec![T::ZERO; axis.inner], dx);
    });
}

/// The derivative of the product along the axis, [`prod`](crate::reduce::prod).
///
/// **Shapes**: x, dx `[outer, len, inner]`, dy `[outer, inner]`.
///
/// # Panics
/// When a slice has another number of elements.
pub fn prod_vjp<T: Float>(threads: &Threads, [x, dy]: [&[T]; 2], axis: Axis, dx: &mut [T]) {
    axis.check(x.len(), dy.len());
    planes(threads, axis, dx, |outer, dx| {
        let x = plane(x, axis, outer);
        cpu::products_before(x, axis.inner, dx);
        let mut behind = dy[outer * axis.inner..(outer + 1) * axis.inner].to_vec();
        cpu::times_behind(x, None, &mut behind, dx);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: [[usize; 3]; 6] =
        [[0, 3, 2], [1, 1, 1], [3, 7, 1], [2, 5, 3], [1, 33, 17], [90, 37, 41]];

    fn numbers(n: usize) -> Vec<f32> {
        (0..n).map(|i| (0.9 * i as f32 + 0.4).sin() * (1.0 + (i % 3) as f32)).collect()
    }

    /// The elements of each column, and where they lie.
    fn columns(axis: Axis) -> Vec<Vec<usize>> {
        let Axis { len, inner, .. } = axis;
        let column = |i: usize| (0..len).map(move |l| (i / inner * len + l) * inner + i % inner);
        (0..axis.results()).map(|i| column(i).collect()).collect()
    }

    fn on_one_and_three(len: usize, f: impl Fn(&Threads, &mut [f32])) -> Vec<f32> {
        let mut outs = [vec![f32::NAN; len], vec![9.0; len]];
        f(&Threads::serial(), &mut outs[0]);
        f(&Threads::new(3).unwrap(), &mut outs[1]);
        assert_eq!(outs[0], outs[1]);
        outs[0].clone()
    }

    #[test]
    fn scans_add_and_multiply_in_the_order_of_the_index() {
        for [outer, len, inner] in AXES {
            let axis = Axis { outer, len, inner };
            let x = numbers(axis.numel());
            let sums = on_one_and_three(x.len(), |t, out| cumsum(t, &x, (axis, false), out));
            let behind = on_one_and_three(x.len(), |t, out| cumsum(t, &x, (axis, true), out));
            let products = on_one_and_three(x.len(), |t, out| cumprod(t, &x, axis, out));
            for column in columns(axis) {
                let (mut sum, mut product, mut back) = (0.0, 1.0, 0.0);
                for &at in &column {
                    (sum, product) = (sum + x[at], product * x[at]);
                    assert_eq!((sums[at], products[at]), (sum, product), "{axis:?}");
                }
                for &at in column.iter().rev() {
                    back += x[at];
                    assert_eq!(behind[at], back, "{axis:?}");
                }
            }
        }
    }

    #[test]
    fn derivatives_of_products_are_those_of_the_definition_with_any_number_of_zeros() {
        for zeros in 0..3 {
            for [outer, len, inner] in AXES.map(|[o, l, i]| [o.min(3), l.min(9), i]) {
                let axis = Axis { outer, len, inner };
                let mut x = numbers(axis.numel());
                for column in columns(axis) {
                    column.iter().step_by(2).take(zeros).for_each(|&at| x[at] = 0.0);
                }
                let dy = numbers(axis.numel() + 5).split_off(5);
                let scan = on_one_and_three(x.len(), |t, dx| cumprod_vjp(t, [&x, &dy], axis, dx));
                let ends = &dy[..axis.results()];
                let whole = on_one_and_three(x.len(), |t, dx| prod_vjp(t, [&x, ends], axis, dx));
                for (column, &end) in columns(axis).iter().zip(ends) {
                    for (i, &at) in column.iter().enumerate() {
                        let without = |to: usize| -> f32 {
                            (0..=to).filter(|&k| k != i).map(|k| x[column[k]]).product()
                        };
                        let want: f32 = (i..len).map(|j| dy[column[j]] * without(j)).sum();
                        let near = |a: f32, b: f32| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
                        assert!(near(scan[at], want), "{axis:?}: {} {want}", scan[at]);
                        assert!(near(whole[at], end * without(len - 1)), "{axis:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn integers_wrap_and_no_sum_starts_at_negative_zero() {
        let axis = Axis { outer: 1, len: 2, inner: 1 };
        let mut out = [0; 2];
        wrapping_cumsum(&Threads::serial(), &[i64::MAX, 1], axis, &mut out);
        assert_eq!(out, [i64::MAX, i64::MIN]);
        wrapping_cumprod(&Threads::serial(), &[200u8, 200], axis, &mut out);
        assert_eq!(out, [200, 40_000]);
        let mut out = [1.0f32; 2];
        cumsum(&Threads::serial(), &[-0.0, -0.0], (axis, false), &mut out);
        assert_eq!(out.map(f32::to_bits), [0, 0]);
    }
}
