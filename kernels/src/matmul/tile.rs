//! One tile of the product: a few rows of one or two registers, held in registers along k.

#![expect(
    clippy::needless_range_loop,
    reason = "an iterator takes the array's address, which ties the accumulators to memory"
)]

use std::mem::MaybeUninit;

use super::Strides;
use super::lanes::Lanes;
use crate::Float;

/// What one tile reads and writes. Each pointer points at the tile's element (0, 0).
pub(super) struct Tile<T> {
    /// The rows of A.
    pub(super) a: *const T,
    pub(super) a_strides: Strides,
    /// The rows of B, each a run of whole registers.
    pub(super) b: *const T,
    pub(super) b_row: usize,
    /// Columns of A, rows of B.
    pub(super) depth: usize,
    /// The output.
    pub(super) out: *mut T,
    pub(super) out_strides: Strides,
    /// Columns of the output; the registers may be wider.
    pub(super) width: usize,
    /// The chains go on from what the output holds, not from +0.
    pub(super) resume: bool,
    /// Added to the finished chains.
    pub(super) bias: Option<*const T>,
    pub(super) bias_strides: Strides,
}

impl<T: Float> Tile<T> {
    /// Computes the `rows` rows of the tile; it is `NV` registers wide.
    ///
    /// # Safety
    /// The machine has the instructions of `V`; `1 <= rows <= V::ROWS`;
    /// `(NV - 1) * V::LANES < self.width <= NV * V::LANES`; and every element named by the
    /// pointers, strides and lengths may be read, and those of the output written.
    #[inline(always)]
    pub(super) unsafe fn compute<V: Lanes<Elem = T>, const NV: usize>(&self, rows: usize) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            match rows {
                1 => self.compute_rows::<V, NV, 1>(),
                2 => self.compute_rows::<V, NV, 2>(),
                3 => self.compute_rows::<V, NV, 3>(),
                4 => self.compute_rows::<V, NV, 4>(),
                5 => self.compute_rows::<V, NV, 5>(),
                6 => self.compute_rows::<V, NV, 6>(),
                // The tests fold when V is known, so that no code is made for taller tiles.
                7 if V::ROWS >= 7 => self.compute_rows::<V, NV, 7>(),
                8 if V::ROWS >= 8 => self.compute_rows::<V, NV, 8>(),
                _ => unreachable!("a tile has 1 to V::ROWS rows"),
            }
        }
    }

    /// # Safety
    /// That of [`Tile::compute`], with `R` rows.
    #[inline(always)]
    unsafe fn compute_rows<V: Lanes<Elem = T>, const NV: usize, const R: usize>(&self) {
        // SAFETY: the caller promises the instructions, and elements at all the places that the
        // strides name for R rows, `depth` steps of k and `width` columns.
        unsafe {
            let mut acc = [[V::splat(T::ZERO); NV]; R];
            if self.resume {
                self.load(&mut acc);
            }
            acc = self.chains(acc);
            if let Some(bias) = self.bias {
                self.add_bias(bias, &mut acc);
            }
            self.store(&acc);
        }
    }

    /// Goes on with the chains for `depth` steps of k.
    ///
    /// The accumulators come and go by value: an array whose address is taken elsewhere would be
    /// written back to memory in every step.
    ///
    /// # Safety
    /// That of [`Tile::compute`], with `R` rows.
    #[inline(always)]
    unsafe fn chains<V: Lanes<Elem = T>, const NV: usize, const R: usize>(
        &self,
        mut acc: [[V; NV]; R],
    ) -> [[V; NV]; R] {
        let (mut a, mut b) = (self.a, self.b);
        for _ in 0..self.depth {
            // SAFETY: the caller promises the instructions, and in each of `depth` steps R
            // elements of A and NV registers of B.
            unsafe {
                let mut b_row = [V::splat(T::ZERO); NV];
                for v in 0..NV {
                    b_row[v] = V::load(b.add(v * V::LANES));
                }
                for i in 0..R {
                    let x = V::splat(a.add(i * self.a_strides.row).read());
                    for v in 0..NV {
                        acc[i][v] = x.mul_add(b_row[v], acc[i][v]);
                    }
                }
            }
            // Wrapping: past the last step both may point outside their slices.
            a = a.wrapping_add(self.a_strides.col);
            b = b.wrapping_add(self.b_row);
        }
        acc
    }

    /// Takes up the chains where the last block of k left them.
    ///
    /// # Safety
    /// That of [`Tile::compute`], with `R` rows.
    #[inline(always)]
    unsafe fn load<V: Lanes<Elem = T>, const NV: usize, const R: usize>(
        &self,
        acc: &mut [[V; NV]; R],
    ) {
        let Strides { row, col } = self.out_strides;
        // SAFETY: the caller promises R rows of `width` readable elements; `numbers` has a whole
        // number of registers a row.
        unsafe {
            if col == 1 {
                for i in 0..R {
                    acc[i] = self.load_row(self.out.add(i * row));
                }
                return;
            }
            let mut numbers = *acc;
            let to = numbers.as_mut_ptr().cast::<T>();
            for j in 0..self.width {
                for i in 0..R {
                    to.add(i * NV * V::LANES + j).write(self.out.add(i * row + j * col).read());
                }
            }
            *acc = numbers;
        }
    }

    /// # Safety
    /// That of [`Tile::compute`], with `R` rows.
    #[inline(always)]
    unsafe fn store<V: Lanes<Elem = T>, const NV: usize, const R: usize>(
        &self,
        acc: &[[V; NV]; R],
    ) {
        let Strides { row, col } = self.out_strides;
        // SAFETY: the caller promises R rows of `width` writable elements; `numbers` has a whole
        // number of registers a row.
        unsafe {
            if col == 1 {
                for i in 0..R {
                    self.store_row(&acc[i], self.out.add(i * row));
                }
                return;
            }
            // A copy: the address of `acc` itself would tie the accumulators to memory.
            let mut numbers = MaybeUninit::<[[V; NV]; R]>::uninit();
            let numbers = numbers.as_mut_ptr().cast::<T>();
            for i in 0..R {
                for v in 0..NV {
                    acc[i][v].store(numbers.add((i * NV + v) * V::LANES));
                }
            }
            for j in 0..self.width {
                for i in 0..R {
                    let x = numbers.add(i * NV * V::LANES + j).read();
                    self.out.add(i * row + j * col).write(x);
                }
            }
        }
    }

    /// # Safety
    /// That of [`Tile::compute`], with `R` rows.
    #[inline(always)]
    unsafe fn add_bias<V: Lanes<Elem = T>, const NV: usize, const R: usize>(
        &self,
        bias: *const T,
        acc: &mut [[V; NV]; R],
    ) {
        // SAFETY: the caller promises an element of the bias for each row and column that exists.
        unsafe {
            let of_columns: [V; NV] = if self.bias_strides.col == 1 {
                self.load_row(bias)
            } else {
                [V::splat(T::ZERO); NV]
            };
            for i in 0..R {
                for v in 0..NV {
                    acc[i][v] = acc[i][v].add(if self.bias_strides.col == 1 {
                        of_columns[v]
                    } else {
                        V::splat(bias.add(i * self.bias_strides.row).read())
                    });
                }
            }
        }
    }

    /// The `width` neighbours at `from`, filled up with zeros.
    ///
    /// # Safety
    /// That of [`Tile::compute`]; the neighbours are readable.
    #[inline(always)]
    unsafe fn load_row<V: Lanes<Elem = T>, const NV: usize>(&self, from: *const T) -> [V; NV] {
        // SAFETY: the caller promises the instructions and `width` readable numbers, of which
        // `left` are left for register `v`.
        unsafe {
            let mut row = [V::splat(T::ZERO); NV];
            for v in 0..NV {
                let (from, left) = (from.add(v * V::LANES), self.width - v * V::LANES);
                row[v] = if left >= V::LANES { V::load(from) } else { V::load_first(from, left) };
            }
            row
        }
    }

    /// Writes the first `width` numbers to the neighbours at `to`.
    ///
    /// # Safety
    /// That of [`Tile::compute`]; the neighbours are writable.
    #[inline(always)]
    unsafe fn store_row<V: Lanes<Elem = T>, const NV: usize>(&self, row: &[V; NV], to: *mut T) {
        for v in 0..NV {
            let left = self.width - v * V::LANES;
            // SAFETY: the caller promises `width` writable numbers, of which `left` are left.
            unsafe {
                let to = to.add(v * V::LANES);
                if left >= V::LANES { row[v].store(to) } else { row[v].store_first(to, left) }
            }
        }
    }
}
