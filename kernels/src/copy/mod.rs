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
