//! The loops of the copies.

use crate::Element;
use crate::simd::simd;
use crate::walk::Walk;

/// Rows and columns of a tile of a transposition: its lines of source and of destination are
/// both in the first-level cache.
const TILE: usize = 16;

/// A view whose second-last axis is the contiguous one: a stack of transposed matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    rows: usize,
    /// Elements of a row of the result.
    pub(super) columns: usize,
    /// Elements between neighbours of a row, in the source.
    stride: usize,
}

impl Grid {
    /// The view as transposed matrices, when it is that.
    pub(super) fn of(walk: &Walk<1>) -> Option<Self> {
        let &[.., rows, columns] = walk.shape() else { return None };
        let ndim = walk.shape().len();
        let ([down], [stride]) = (walk.strides(ndim - 2), walk.strides(ndim - 1));
        (down == 1 && stride > 1).then_some(Grid { rows, columns, stride })
    }
}

/// Writes whole rows of the result from `first_row` on.
pub(super) fn transpose<T: Element>(
    walk: &Walk<1>,
    grid: Grid,
    x: &[T],
    (first_row, out): (usize, &mut [T]),
) {
    if grid.columns == 0 {
        return;
    }
    let rows = out.len() / grid.columns;
    let mut done = 0;
    while done < rows {
        // A block of rows stays within one matrix, where its sources are neighbours.
        let row = first_row + done;
        let block = TILE.min(rows - done).min(grid.rows - row % grid.rows);
        let [offset] = walk.row_offsets(row);
        let out = &mut out[done * grid.columns..(done + block) * grid.columns];
        simd(
            #[inline(always)]
            || rows_of_columns(&x[offset..], grid.stride, block, out),
        );
        done += block;
    }
}

/// `out[r, c] = x[c · stride + r]` for `rows` rows, at most [`TILE`].
#[inline(always)]
fn rows_of_columns<T: Element>(x: &[T], stride: usize, rows: usize, out: &mut [T]) {
    let columns = out.len() / rows;
    let mut column = 0;
    while rows == TILE && column + TILE <= columns {
        let mut tile = [[T::default(); TILE]; TILE];
        for (c, tile) in tile.iter_mut().enumerate() {
            tile.copy_from_slice(&x[(column + c) * stride..][..TILE]);
        }
        for (r, out) in out.chunks_exact_mut(columns).enumerate() {
            for (out, tile) in out[column..column + TILE].iter_mut().zip(&tile) {
                *out = tile[r];
            }
        }
        column += TILE;
    }
    for column in column..columns {
        for (row, &x) in x[column * stride..][..rows].iter().enumerate() {
            out[row * columns + column] = x;
        }
    }
}

/// Writes the elements of the result from `first` on.
pub(super) fn gather<T: Element>(walk: &Walk<1>, x: &[T], (first, out): (usize, &mut [T])) {
    let [stride] = walk.strides(walk.shape().len() - 1);
    walk.each_run(first..first + out.len(), |[offset], part| {
        let out = &mut out[part];
        match stride {
            0 => out.fill(x[offset]),
            1 => out.copy_from_slice(&x[offset..offset + out.len()]),
            _ => {
                for (out, &x) in out.iter_mut().zip(x[offset..].iter().step_by(stride)) {
                    *out = x;
                }
            }
        }
    });
}

/// The lengths are equal.
pub(super) fn cast<A: Element, B: Element>(x: &[A], out: &mut [B]) {
    if A::DTYPE == B::DTYPE {
        out.copy_from_slice(bytemuck::cast_slice(x));
        return;
    }
    simd(
        #[inline(always)]
        || {
            for (out, &x) in out.iter_mut().zip(x) {
                *out = B::from_f64(x.to_f64());
            }
        },
    );
}
