//! The vector registers that a tile of the product is made of: one trait, one type per machine.
//!
//! The arithmetic of every type is the same, lane by lane, so the choice cannot change a bit.

use std::array;

use crate::Float;

/// A register of [`Lanes::LANES`] numbers, and the height of the tile that suits such registers.
///
/// A value exists only on a machine that has the instructions of its type: `splat` and `load`,
/// which make values, have that as a precondition, and the other functions rely on it.
pub(super) trait Lanes: Copy {
    /// The type of one number.
    type Elem: Float;
    /// Numbers in a register: a power of two.
    const LANES: usize;
    /// Rows of a full tile, at most 8. Two registers for each of them, two of B and one of A
    /// together fit the machine's register file.
    const ROWS: usize;

    /// `x` in every lane.
    ///
    /// # Safety
    /// The machine has the instructions of this type.
    unsafe fn splat(x: Self::Elem) -> Self;

    /// The numbers at `from..from + LANES`.
    ///
    /// # Safety
    /// They are readable, and the machine has the instructions of this type.
    unsafe fn load(from: *const Self::Elem) -> Self;

    /// The numbers at `from..from + count`, and +0 in the other lanes; `count <= LANES`.
    ///
    /// # Safety
    /// They are readable, and the machine has the instructions of this type.
    unsafe fn load_first(from: *const Self::Elem, count: usize) -> Self;

    /// Writes the lanes to `to..to + LANES`.
    ///
    /// # Safety
    /// They are writable.
    unsafe fn store(self, to: *mut Self::Elem);

    /// Writes the first `count` lanes to `to..to + count`, and touches nothing else.
    ///
    /// # Safety
    /// They are writable; `count <= LANES`.
    unsafe fn store_first(self, to: *mut Self::Elem, count: usize);

    /// `self · b + acc` in each lane, rounded once.
    fn mul_add(self, b: Self, acc: Self) -> Self;

    /// `self + b` in each lane.
    fn add(self, b: Self) -> Self;

    /// The lanes of both in turn (`s0 o0 s1 o1 …`): the first half, then the second.
    fn interleave(self, other: Self) -> [Self; 2];

    /// Writes the transpose of a matrix of `rows <= LANES` rows of `LANES` numbers: row `c` of the
    /// result, at `to + c · to_stride`, is column `c`, filled up with zeros to `LANES` numbers.
    ///
    /// # Safety
    /// Row `r` is readable at `from + r · from_stride`, every row of the result is writable, and
    /// the machine has the instructions of this type.
    unsafe fn transpose(
        from: *const Self::Elem,
        from_stride: usize,
        rows: usize,
        to: *mut Self::Elem,
        to_stride: usize,
    );
}

/// [`Lanes::transpose`] for registers of `N` lanes.
///
/// Interleaving row `r` with row `r + N / 2` rotates the bits of "row, column" by one place; after
/// log₂ N such rounds row and column have changed places.
///
/// # Safety
/// That of [`Lanes::transpose`]; `N` is `V::LANES`.
#[inline(always)]
pub(super) unsafe fn transpose_square<V: Lanes, const N: usize>(
    from: *const V::Elem,
    from_stride: usize,
    rows: usize,
    to: *mut V::Elem,
    to_stride: usize,
) {
    // SAFETY: the caller promises the instructions, the rows, and N numbers in each.
    let mut square: [V; N] = array::from_fn(|r| unsafe {
        if r < rows { V::load(from.add(r * from_stride)) } else { V::splat(V::Elem::ZERO) }
    });
    for _ in 0..N.ilog2() {
        let before = square;
        for r in 0..N / 2 {
            [square[2 * r], square[2 * r + 1]] = before[r].interleave(before[r + N / 2]);
        }
    }
    for (c, column) in square.into_iter().enumerate() {
        // SAFETY: the caller promises N writable numbers in each of N rows.
        unsafe { column.store(to.add(c * to_stride)) };
    }
}

/// Plain arrays: what the compiler makes of them, on any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable<T>([T; 4]);

impl<T: Float> Lanes for Portable<T> {
    type Elem = T;
    const LANES: usize = 4;
    const ROWS: usize = 6;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        Portable([x; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller promises four readable numbers, which is an array.
        Portable(unsafe { from.cast::<[T; 4]>().read() })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const T, count: usize) -> Self {
        // SAFETY: the caller promises that the first `count` numbers are readable.
        Portable(array::from_fn(|i| if i < count { unsafe { *from.add(i) } } else { T::ZERO }))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller promises room for four numbers, which is an array.
        unsafe { to.cast::<[T; 4]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut T, count: usize) {
        for (i, &x) in self.0.iter().enumerate().take(count) {
            // SAFETY: `i < count`, and the caller promises room for `count` numbers.
            unsafe { to.add(i).write(x) };
        }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, acc: Self) -> Self {
        Portable(array::from_fn(|i| self.0[i].mul_add(b.0[i], acc.0[i])))
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Portable(array::from_fn(|i| self.0[i] + b.0[i]))
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        let ([s0, s1, s2, s3], [o0, o1, o2, o3]) = (self.0, other.0);
        [Portable([s0, o0, s1, o1]), Portable([s2, o2, s3, o3])]
    }

    #[inline(always)]
    unsafe fn transpose(
        from: *const T,
        from_stride: usize,
        rows: usize,
        to: *mut T,
        to_stride: usize,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { transpose_square::<Self, 4>(from, from_stride, rows, to, to_stride) }
    }
}
