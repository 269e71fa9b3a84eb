//! The matrix product: `out = a · b`, with an optional bias added to every row.
//!
//! # Bits
//!
//! With `a` of shape `[m, k]` and `b` of shape `[k, n]`, each element of the output is one chain:
//!
//! ```text
//! acc = +0
//! for p in 0, 1, …, k−1:  acc = fma(a[i, p], b[p, j], acc)      (rounded once)
//! out[i, j] = acc + bias[j]                                     (rounded once; if there is one)
//! ```
//!
//! It is this chain whatever the strides, the alignment, the number of threads and the
//! instructions. So a row's result does not depend on the rows that are computed with it, and
//! three nested loops give the same bits on any machine. Nothing is skipped: `0 · ∞` is NaN. Which
//! NaN a NaN is (sign and payload) is not promised.
//!
//! # How it is fast
//!
//! The lanes of a vector register are neighbouring columns of the output, so vectorising does not
//! touch a chain. A tile of up to 8 rows and 2 registers stays in registers along k (`tile.rs`). A
//! panel of B as wide as a tile is read in place when its rows have no gaps, else packed into the
//! stack (`pack.rs`); elements of A are read where they lie. When k is cut into blocks, a chain
//! waits in the output, which loses nothing (`cpu.rs`). When B's columns rather than its rows have
//! no gaps (x · Wᵀ), the product may be turned: the lanes are then rows of the output, and Aᵀ is
//! packed instead of B. Registers are AVX-512, AVX2 or arrays, whatever the machine has.

mod batch;
mod chain;
mod cpu;
mod lanes;
mod pack;
#[cfg(test)]
mod tests;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};

use crate::{DType, Float, Threads};
pub use batch::matmul_batched;
pub(crate) use chain::{Ends, chain};
use cpu::{Path, Product, Registers};

/// Multiply-adds that are worth a thread of their own.
const WORK_PER_THREAD: usize = 3_000_000;

/// Elements between neighbouring rows, and between neighbouring columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Strides {
    row: usize,
    col: usize,
}

impl Strides {
    /// Where element (i, j) lies; wrapping, since a matrix without elements may have any strides.
    fn at(self, i: usize, j: usize) -> usize {
        i.wrapping_mul(self.row).wrapping_add(j.wrapping_mul(self.col))
    }

    fn swapped(self) -> Self {
        Strides { row: self.col, col: self.row }
    }
}

/// A matrix by strides over a slice: element (i, j) is `data[i · row_stride + j · col_stride]`.
/// A stride of 0 repeats.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    strides: Strides,
}

impl<'a, T> MatRef<'a, T> {
    /// The matrix of shape `[rows, cols]`.
    ///
    /// # Panics
    /// When an element lies outside `data`: the tensor layer establishes that none does when it
    /// makes a layout.
    pub fn new(
        data: &'a [T],
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Self {
        if rows > 0 && cols > 0 {
            let last_row = (rows - 1).checked_mul(row_stride);
            let last_col = (cols - 1).checked_mul(col_stride);
            let last = last_row.zip(last_col).and_then(|(r, c)| r.checked_add(c));
            assert!(last.is_some_and(|x| x < data.len()), "a matrix lies within its data");
        }
        MatRef { data, rows, cols, strides: Strides { row: row_stride, col: col_stride } }
    }

    /// The transpose, of shape `[cols, rows]`; copies nothing.
    pub fn transposed(self) -> Self {
        MatRef { rows: self.cols, cols: self.rows, strides: self.strides.swapped(), ..self }
    }

    /// The matrix of the given rows and columns.
    pub(crate) fn block(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        debug_assert!(rows.end <= self.rows && cols.end <= self.cols);
        let skip = if rows.is_empty() || cols.is_empty() {
            0
        } else {
            self.strides.at(rows.start, cols.start)
        };
        MatRef { data: &self.data[skip..], rows: rows.len(), cols: cols.len(), ..self }
    }

    /// The address of element (i, j), which may be read when the matrix has such an element.
    fn at(&self, i: usize, j: usize) -> *const T {
        self.data.as_ptr().wrapping_add(self.strides.at(i, j))
    }
}

/// Writes `a · b` (+ `bias`) to `out`; the module tells its bits.
///
/// **Shapes** `a` `[m, k]`, `b` `[k, n]`, `bias` `[n]`, `out` `[m, n]` row-major without gaps.
/// Any of m, n and k may be 0; without a k the chains are +0.
///
/// # Panics
/// When the shapes do not fit together: the tensor layer establishes that they do.
pub fn matmul<T: Float>(
    threads: &Threads,
    a: MatRef<T>,
    b: MatRef<T>,
    bias: Option<&[T]>,
    out: &mut [T],
) {
    match T::DTYPE {
        DType::F32 => {
            let out = cast_slice_mut(out);
            fastest::<f32>(threads, Product::new(cast(a), cast(b), bias.map(cast_slice), out));
        }
        DType::F64 => {
            let out = cast_slice_mut(out);
            fastest::<f64>(threads, Product::new(cast(a), cast(b), bias.map(cast_slice), out));
        }
        other => unreachable!("{other} has no arithmetic"),
    }
}

/// The same matrix; `T` is `U` by another name.
fn cast<T: Float, U: Float>(x: MatRef<T>) -> MatRef<U> {
    MatRef { data: cast_slice(x.data), rows: x.rows, cols: x.cols, strides: x.strides }
}

/// Computes a product in the way that is expected to be fastest.
fn fastest<T: Registers>(threads: &Threads, product: Product<T>) {
    let path = Path::available().next().expect("the portable path is always there");
    let turn = turned_is_cheaper(&product.a, &product.b);
    let product = if turn { product.turned() } else { product };
    run(path, threads, WORK_PER_THREAD, product);
}

/// Cuts the longer axis of the output into one run for each thread that has `min_work`
/// multiply-adds to do.
///
/// # Panics
/// When this machine cannot take `path`.
fn run<T: Registers>(path: Path, threads: &Threads, min_work: usize, product: Product<T>) {
    assert!(Path::available().any(|x| x == path), "this machine can take the path");
    let (m, n, k) = (product.a.rows, product.b.cols, product.a.cols);
    let work = m.saturating_mul(n).saturating_mul(k);
    let parts = threads.parts(work, min_work);
    threads.for_each_part(parts, |index| {
        let (rows, cols) = if m >= n {
            (cpu::part(m, parts, index), 0..n)
        } else {
            (0..m, cpu::part(n, parts, index))
        };
        // SAFETY: the machine can take the path; the parts are disjoint and within the output.
        unsafe { product.compute(path, rows, cols) }
    });
}

impl<'a, T> Product<'a, T> {
    /// `a · b` plus the bias of each column, to a row-major output.
    fn new(a: MatRef<'a, T>, b: MatRef<'a, T>, bias: Option<&'a [T]>, out: &'a mut [T]) -> Self {
        let (m, n) = (a.rows, b.cols);
        assert_eq!(b.rows, a.cols, "the columns of a are the rows of b");
        assert_eq!(m.checked_mul(n), Some(out.len()), "out has the shape of the product");
        assert!(bias.is_none_or(|bias| bias.len() == n), "one bias for each column");
        Product {
            a,
            b,
            resume: false,
            bias,
            bias_strides: Strides { row: 0, col: 1 },
            out: out.as_mut_ptr(),
            out_strides: Strides { row: n, col: 1 },
        }
    }

    /// The same product with rows and columns exchanged: outᵀ = bᵀ · aᵀ.
    fn turned(self) -> Self {
        Product {
            a: self.b.transposed(),
            b: self.a.transposed(),
            bias_strides: self.bias_strides.swapped(),
            out_strides: self.out_strides.swapped(),
            ..self
        }
    }
}

/// Whether packing Aᵀ and storing tiles turned costs less than packing B.
fn turned_is_cheaper<T>(a: &MatRef<T>, b: &MatRef<T>) -> bool {
    if b.strides.col == 1 {
        return false;
    }
    let (m, n, k) = (a.rows as u128, b.cols as u128, a.cols as u128);
    // Sixteenths of a register's multiply-add: packing an element costs about 5, storing one
    // turned about 20.
    let straight = 5 * k * n + 16 * k * m * n.div_ceil(16);
    let turned = 5 * k * m + 16 * k * n * m.div_ceil(16) + 20 * m * n;
    turned < straight
}
