//! Copies: a strided view in row-major order, another element type, whole rows by their numbers.

mod cpu;

use crate::walk::Walk;
use crate::{Element, Strided, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// `out` becomes the elements of `x` in row-major order, bit for bit.
///
/// # Panics
/// When `out` has another number of elements, or `x` more than 8 axes.
pub fn copy<T: Element>(threads: &Threads, x: Strided<'_, T>, out: &mut [T]) {
    assert_eq!(x.numel(), out.len(), "one place an element");
    let walk = Walk::new([x]);
    let parts = threads.parts(out.len(), MIN_PART);
    if let Some(grid) = cpu::Grid::of(&walk) {
        // Whole rows a part: a tile of the transposition spans several.
        threads.split_mut(out, grid.columns, parts, |first_row, run| {
            cpu::transpose(&walk, grid, x.data(), (first_row, run));
        });
    } else {
        threads.split_mut(out, 1, parts, |first, run| {
            cpu::gather(&walk, x.data(), (first, run));
        });
    }
}

/// `out[i] = x[i]` in another element type: to nearest, ties to even, between floats; truncated
/// and saturated, with NaN as 0, from a float to an integer. Of the same type: bit for bit.
///
/// An i64 becomes an f32, f16 or bf16 by way of f64; above 2⁵³ that rounds twice.
///
/// # Panics
/// When the lengths differ.
pub fn cast<A: Element, B: Element>(x: &[A], out: &mut [B]) {
    assert_eq!(x.len(), out.len(), "one result an element");
    cpu::cast(x, out);
}

/// Row i of `out` becomes row `rows[i]` of `x`; a row is `row_len` elements.
///
/// # Panics
/// When `out` does not hold `rows.len()` rows, or `x` lacks one of them.
pub fn take_rows<T: Element>(x: &[T], row_len: usize, rows: &[usize], out: &mut [T]) {
    assert_eq!(out.len(), rows.len() * row_len, "one place a row");
    if row_len == 0 {
        return;
    }
    for (out, &row) in out.chunks_exact_mut(row_len).zip(rows) {
        out.copy_from_slice(&x[row * row_len..(row + 1) * row_len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    fn check(threads: &Threads, shape: &[usize], strides: &[usize]) {
        let reach: usize = shape.iter().zip(strides).map(|(&n, &s)| n.saturating_sub(1) * s).sum();
        let data: Vec<i64> = (0..(reach + 4) as i64).map(|i| i * 7 + 1).collect();
        let view = Strided::new(&data, 2, shape, strides);
        let mut out = vec![-1; view.numel()];
        copy(threads, view, &mut out);
        for (i, &found) in out.iter().enumerate() {
            let (mut rest, mut at) = (i, 2);
            for (&len, &stride) in shape.iter().zip(strides).rev() {
                at += rest % len * stride;
                rest /= len;
            }
            assert_eq!(found, data[at], "{shape:?} {strides:?} {i}");
        }
    }

    #[test]
    fn a_copy_has_the_elements_of_the_view_in_row_major_order() {
        let serial = Threads::serial();
        for (rows, columns) in [(0, 3), (1, 1), (3, 5), (15, 17), (16, 16), (17, 33), (64, 47)] {
            check(&serial, &[rows, columns], &[1, rows.max(1)]);
            check(&serial, &[rows, columns], &[1, rows + 3]);
            check(&serial, &[rows, columns], &[columns + 2, 1]);
            check(&serial, &[rows, columns], &[columns, 1]);
            check(&serial, &[rows, columns], &[0, 1]);
            check(&serial, &[rows, columns], &[1, 0]);
            check(&serial, &[rows, columns], &[3, 2]);
            check(&serial, &[3, rows, columns], &[rows * columns, 1, rows.max(1)]);
            check(&serial, &[rows, 3, columns], &[1, rows * columns, rows.max(1)]);
        }
        check(&serial, &[], &[]);
        check(&serial, &[2, 3, 4, 5], &[1, 2, 6, 24]);
        check(&serial, &[2, 3, 4, 5], &[1, 40, 10, 2]);
    }

    #[test]
    fn threads_share_a_copy_without_a_gap() {
        let threads = Threads::new(3).unwrap();
        check(&threads, &[517, 401], &[1, 517]);
        check(&threads, &[2, 260, 401], &[260 * 401, 1, 260]);
        check(&threads, &[517, 401], &[402, 1]);
    }

    #[test]
    fn casts_round_to_nearest_and_saturate() {
        let mut wide = [0.0f64; 3];
        cast(&[0.1f32, f32::INFINITY, -0.0], &mut wide);
        assert_eq!(wide, [f64::from(0.1f32), f64::INFINITY, 0.0]);
        assert!(wide[2].is_sign_negative());
        let mut narrow = [0.0f32; 2];
        cast(&[0.1f64, 1e300], &mut narrow);
        assert_eq!(narrow, [0.1f32, f32::INFINITY]);
        let mut whole = [7i64; 4];
        cast(&[-2.9f32, f32::NAN, 1e30, 2.5], &mut whole);
        assert_eq!(whole, [-2, 0, i64::MAX, 2]);
        let exact = [i64::MAX, i64::MIN, (1 << 53) + 1];
        let mut same = [0i64; 3];
        cast(&exact, &mut same);
        assert_eq!(same, exact);
        let (mut half, mut brain) = ([f16::ZERO; 2], [bf16::ZERO; 2]);
        cast(&[1.0f32 + 2f32.powi(-11), 70_000.0], &mut half);
        cast(&[1.0f32 + 2f32.powi(-8), 3.0], &mut brain);
        assert_eq!(half, [f16::ONE, f16::INFINITY]);
        assert_eq!(brain, [bf16::ONE, bf16::from_f32(3.0)]);
    }

    #[test]
    fn rows_are_taken_in_the_order_of_their_numbers() {
        let x = [1, 2, 3, 4, 5, 6i64];
        let mut out = [0; 6];
        take_rows(&x, 2, &[2, 0, 2], &mut out);
        assert_eq!(out, [5, 6, 1, 2, 5, 6]);
        take_rows(&x, 0, &[2, 0], &mut []);
        take_rows(&x, 3, &[], &mut []);
    }

    #[test]
    #[should_panic(expected = "range end index 8 out of range")]
    fn a_row_that_is_not_there_is_refused() {
        take_rows(&[1, 2, 3, 4, 5, 6i64], 2, &[3], &mut [0; 2]);
    }
}
