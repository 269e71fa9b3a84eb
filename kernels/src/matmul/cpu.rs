//! The loops around the tiles, and the choice of the instructions they are made of.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::lanes::{Lanes, Portable};
use super::pack::pack;
use super::tile::Tile;
#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{MatRef, Strides};
use crate::Float;

/// Rows of A that meet a packed panel before the next one is packed: their block of k stays in
/// the second-level cache.
const ROWS_BLOCK: usize = 256;

/// Columns of A above which they are cut into blocks.
const DEPTH_BLOCK: usize = 1024;

/// Columns of A up to which a small stack frame holds the packed panel.
const SMALL_DEPTH: usize = 128;

/// Bytes of the widest row of a packed panel: two registers of 512 bits. A panel of DEPTH_BLOCK
/// rows fits a second-level cache, and any thread's stack.
const PANEL_ROW: usize = 128;

/// Rows from which on a panel that could be read in place is copied all the same: it then lies in
/// few pages and in distinct cache lines.
const PACK_ROWS: usize = 128;

/// The same for rows of B: a panel of fewer stays in the first-level cache where it is.
const PACK_DEPTH: usize = 256;

/// The instructions of a product. Every path gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// 512-bit registers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256-bit registers and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler makes of plain loops.
    Portable,
}

impl Path {
    /// The paths that this machine can take, best first.
    pub(super) fn available() -> impl Iterator<Item = Path> {
        #[cfg(target_arch = "x86_64")]
        let vector = [
            is_x86_feature_detected!("avx512f").then_some(Path::Avx512),
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
                .then_some(Path::Avx2),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let vector: [Option<Path>; 0] = [];
        vector.into_iter().flatten().chain([Path::Portable])
    }
}

/// A number type and its registers on each path.
pub(super) trait Registers: Float {
    /// Those of [`Path::Avx512`].
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Elem = Self>;
    /// Those of [`Path::Avx2`].
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Elem = Self>;
}

impl Registers for f32 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = x86::F32x16;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = x86::F32x8;
}

impl Registers for f64 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = x86::F64x8;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = x86::F64x4;
}

/// `out = a · b`, plus a bias for each column or for each row, with an output of any strides.
///
/// Whoever makes one ensures that `out` names `a.rows × b.cols` distinct elements, which live and
/// are written by nobody else as long as it does; that `a.cols == b.rows`; and that the bias is
/// as long as the axis along which its stride is 1 (the other stride is 0).
pub(super) struct Product<'a, T> {
    pub(super) a: MatRef<'a, T>,
    pub(super) b: MatRef<'a, T>,
    /// The chains go on from what the output holds, not from +0.
    pub(super) resume: bool,
    pub(super) bias: Option<&'a [T]>,
    pub(super) bias_strides: Strides,
    pub(super) out: *mut T,
    pub(super) out_strides: Strides,
}

// SAFETY: the fields other than `out` are shared references and numbers. Threads write through
// `out`, and the callers of `compute` give each its own rows or columns.
unsafe impl<T: Send + Sync> Sync for Product<'_, T> {}

impl<T: Registers> Product<'_, T> {
    /// Computes `rows` × `cols` of the output.
    ///
    /// # Safety
    /// This machine can take `path`; the ranges lie within the output; and no other call that
    /// runs at the same time has a row and a column in common with this one.
    pub(super) unsafe fn compute(&self, path: Path, rows: Range<usize>, cols: Range<usize>) {
        // SAFETY: the caller's promise, and a panel with room for min(k, DEPTH_BLOCK) rows.
        unsafe {
            if self.a.cols <= SMALL_DEPTH {
                let mut panel = Panel([const { MaybeUninit::uninit() }; PANEL_ROW * SMALL_DEPTH]);
                self.compute_on(path, rows, cols, panel.0.as_mut_ptr().cast());
            } else {
                self.compute_deep(path, rows, cols);
            }
        }
    }

    /// [`Product::compute`] with a full panel. Not inlined: a small product would pay for a stack
    /// frame of this size.
    ///
    /// # Safety
    /// That of [`Product::compute`].
    #[inline(never)]
    unsafe fn compute_deep(&self, path: Path, rows: Range<usize>, cols: Range<usize>) {
        let mut panel = Panel([const { MaybeUninit::uninit() }; PANEL_ROW * DEPTH_BLOCK]);
        // SAFETY: the caller's promise, and a panel with room for DEPTH_BLOCK rows.
        unsafe { self.compute_on(path, rows, cols, panel.0.as_mut_ptr().cast()) }
    }

    /// # Safety
    /// That of [`Product::compute`]; `panel` has room for min(k, DEPTH_BLOCK) rows.
    unsafe fn compute_on(&self, path: Path, rows: Range<usize>, cols: Range<usize>, panel: *mut T) {
        // SAFETY: the caller's promise holds the instructions of each path.
        unsafe {
            match path {
                #[cfg(target_arch = "x86_64")]
                Path::Avx512 => self.compute_avx512(rows, cols, panel),
                #[cfg(target_arch = "x86_64")]
                Path::Avx2 => self.compute_avx2(rows, cols, panel),
                Path::Portable => self.compute_with::<Portable<T>>(rows, cols, panel),
            }
        }
    }

    /// # Safety
    /// That of [`Product::compute_on`].
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    unsafe fn compute_avx512(&self, rows: Range<usize>, cols: Range<usize>, panel: *mut T) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.compute_with::<T::Avx512>(rows, cols, panel) }
    }

    /// # Safety
    /// That of [`Product::compute_on`].
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn compute_avx2(&self, rows: Range<usize>, cols: Range<usize>, panel: *mut T) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.compute_with::<T::Avx2>(rows, cols, panel) }
    }

    /// # Safety
    /// That of [`Product::compute_on`], for the instructions of `V`.
    #[inline(always)]
    unsafe fn compute_with<V: Lanes<Elem = T>>(
        &self,
        rows: Range<usize>,
        cols: Range<usize>,
        panel: *mut T,
    ) {
        const { assert!(2 * V::LANES * size_of::<T>() <= PANEL_ROW) };
        let k = self.a.cols;
        // An empty k has one empty block, which writes the zeros.
        let blocks = k.div_ceil(DEPTH_BLOCK).max(1);
        for i in rows.clone().step_by(ROWS_BLOCK) {
            let rows = i..rows.end.min(i + ROWS_BLOCK);
            for block in 0..blocks {
                let depth = part(k, blocks, block);
                for j in cols.clone().step_by(2 * V::LANES) {
                    let cols = j..cols.end.min(j + 2 * V::LANES);
                    // SAFETY: the caller's promise, for fewer rows and columns.
                    unsafe {
                        if cols.len() > V::LANES {
                            self.panel::<V, 2>(rows.clone(), cols, depth.clone(), panel);
                        } else {
                            self.panel::<V, 1>(rows.clone(), cols, depth.clone(), panel);
                        }
                    }
                }
            }
        }
    }

    /// One block of k of at most `NV · LANES` columns: packs B where that is needed, then tiles.
    ///
    /// # Safety
    /// That of [`Product::compute`], for the instructions of `V`; `depth` lies in k and `packed`
    /// has room for `depth.len()` rows of NV registers.
    #[inline(always)]
    unsafe fn panel<V: Lanes<Elem = T>, const NV: usize>(
        &self,
        rows: Range<usize>,
        cols: Range<usize>,
        depth: Range<usize>,
        packed: *mut T,
    ) {
        let b = self.b.block(depth.clone(), cols.clone());
        let in_place = b.strides.col == 1
            && b.cols == NV * V::LANES
            && (rows.len() < PACK_ROWS || b.rows < PACK_DEPTH);
        let (b_at, b_row) = if in_place {
            (b.at(0, 0), b.strides.row)
        } else {
            // SAFETY: `b` has 1 to NV · LANES columns; the caller promises the room.
            unsafe { pack::<V>(b, NV, packed) };
            (packed.cast_const(), NV * V::LANES)
        };
        let blocks = rows.len().div_ceil(V::ROWS);
        for block in 0..blocks {
            let tile_rows = part(rows.len(), blocks, block);
            let i = rows.start + tile_rows.start;
            let bias = self.bias.filter(|_| depth.end == self.a.cols);
            let tile = Tile {
                a: self.a.at(i, depth.start),
                a_strides: self.a.strides,
                b: b_at,
                b_row,
                depth: depth.len(),
                out: self.out.wrapping_add(self.out_strides.at(i, cols.start)),
                out_strides: self.out_strides,
                width: cols.len(),
                resume: self.resume || depth.start > 0,
                bias: bias.map(|x| x.as_ptr().wrapping_add(self.bias_strides.at(i, cols.start))),
                bias_strides: self.bias_strides,
            };
            // SAFETY: the rows are at most V::ROWS, the columns of `b` fit NV registers and no
            // fewer; `MatRef` bounds A and B, and whoever made `self` the output and the bias.
            unsafe { tile.compute::<V, NV>(tile_rows.len()) }
        }
    }
}

/// Memory for a packed panel; on a cache line, so that no register lies across two.
#[repr(align(64))]
struct Panel<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

/// Part `index` of `0..len` cut into `parts` parts, whose lengths differ by at most one.
pub(super) fn part(len: usize, parts: usize, index: usize) -> Range<usize> {
    let (base, longer) = (len / parts, len % parts);
    let start = index * base + index.min(longer);
    start..start + base + usize::from(index < longer)
}
