//! Copies a panel of B, one or two registers wide, to where a tile can read whole registers.

use super::lanes::Lanes;
use super::{MatRef, Strides};
use crate::Float;

/// Copies `b` to `to`, row after row, each filled up with zeros to whole registers.
///
/// # Safety
/// The machine has the instructions of `V`; `b` has 1 to `registers · LANES` columns; `to` has
/// room for `b.rows` rows of `registers · LANES` numbers.
#[inline(always)]
pub(super) unsafe fn pack<V: Lanes>(b: MatRef<V::Elem>, registers: usize, to: *mut V::Elem) {
    let nr = registers * V::LANES;
    for v in 0..registers {
        let first = v * V::LANES;
        let width = (b.cols - first).min(V::LANES);
        // SAFETY: `first < b.cols`, so the columns `first..first + width` are columns of `b`, and
        // every row of `to` has LANES numbers from `first` on.
        unsafe {
            let (from, to) = (b.at(0, first), to.add(first));
            match b.strides {
                Strides { row, col: 1 } => pack_rows::<V>(from, row, [b.rows, width], to, nr),
                Strides { row: 1, col } if b.rows >= V::LANES => {
                    pack_columns::<V>(from, col, [b.rows, width], to, nr);
                }
                strides => pack_any::<V>(from, strides, [b.rows, width], to, nr),
            }
        }
    }
}

/// Rows without gaps: one register each.
///
/// # Safety
/// As [`pack`], for `[rows, cols]` at `from` and the registers at `to`, `nr` apart.
#[inline(always)]
unsafe fn pack_rows<V: Lanes>(
    from: *const V::Elem,
    row: usize,
    [rows, cols]: [usize; 2],
    to: *mut V::Elem,
    nr: usize,
) {
    for p in 0..rows {
        // SAFETY: the caller promises row `p` of both, and `cols <= LANES`.
        unsafe {
            let from = from.add(p * row);
            let x = if cols == V::LANES { V::load(from) } else { V::load_first(from, cols) };
            x.store(to.add(p * nr));
        }
    }
}

/// Columns without gaps, at least LANES rows of them: square by square.
///
/// # Safety
/// As [`pack`], for `[rows, cols]` at `from` and the registers at `to`, `nr` apart.
#[inline(always)]
unsafe fn pack_columns<V: Lanes>(
    from: *const V::Elem,
    col: usize,
    [rows, cols]: [usize; 2],
    to: *mut V::Elem,
    nr: usize,
) {
    let mut p = 0;
    while p < rows {
        // The last square may lie over the one before: it writes the same numbers again.
        let start = p.min(rows - V::LANES);
        // SAFETY: `start + LANES <= rows`, and the caller promises that many rows of both.
        unsafe { V::transpose(from.add(start), col, cols, to.add(start * nr), nr) };
        p = start + V::LANES;
    }
}

/// Any strides: element by element.
///
/// # Safety
/// As [`pack`], for `[rows, cols]` at `from` and the registers at `to`, `nr` apart.
#[inline(always)]
unsafe fn pack_any<V: Lanes>(
    from: *const V::Elem,
    strides: Strides,
    [rows, cols]: [usize; 2],
    to: *mut V::Elem,
    nr: usize,
) {
    for p in 0..rows {
        for j in 0..V::LANES {
            // SAFETY: the caller promises row `p` of both; column `j` is read when it exists.
            unsafe {
                let x = if j < cols {
                    from.add(p * strides.row + j * strides.col).read()
                } else {
                    V::Elem::ZERO
                };
                to.add(p * nr + j).write(x);
            }
        }
    }
}
