//! The registers of AVX2 with FMA (256 bits) and of AVX-512F (512 bits).
//!
//! Arrays and `mul_add` would do for the full tiles, in safe code. But of transposes and of
//! registers filled in part the compiler then makes scalar loops, and a product with ten columns
//! takes twice the time.

use std::arch::x86_64::{
    __m256, __m256d, __m256i, __m512, __m512d, _mm256_add_pd, _mm256_add_ps, _mm256_fmadd_pd,
    _mm256_fmadd_ps, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_maskload_pd,
    _mm256_maskload_ps, _mm256_maskstore_pd, _mm256_maskstore_ps, _mm256_permute2f128_pd,
    _mm256_permute2f128_ps, _mm256_set1_pd, _mm256_set1_ps, _mm256_storeu_pd, _mm256_storeu_ps,
    _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps, _mm512_add_pd,
    _mm512_add_ps, _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_loadu_pd, _mm512_loadu_ps,
    _mm512_mask_storeu_pd, _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps,
    _mm512_permutex2var_pd, _mm512_permutex2var_ps, _mm512_set1_pd, _mm512_set1_ps,
    _mm512_setr_epi32, _mm512_setr_epi64, _mm512_storeu_pd, _mm512_storeu_ps,
};

use super::lanes::{Lanes, transpose_square};

/// Eight f32: AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct F32x8(__m256);

/// Four f64: AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct F64x4(__m256d);

/// Sixteen f32: AVX-512F.
#[derive(Clone, Copy)]
pub(super) struct F32x16(__m512);

/// Eight f64: AVX-512F.
#[derive(Clone, Copy)]
pub(super) struct F64x8(__m512d);

/// The mask of 256 bits whose first `count` of `N` lanes are set.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn first_lanes<T: Copy + From<i8>, const N: usize>(count: usize) -> __m256i {
    let mask: [T; N] = std::array::from_fn(|i| T::from(if i < count { -1 } else { 0 }));
    const { assert!(N * size_of::<T>() == size_of::<__m256i>()) };
    // SAFETY: the caller promises AVX2; the mask has the size that is read.
    unsafe { _mm256_loadu_si256(mask.as_ptr().cast()) }
}

impl Lanes for F32x8 {
    type Elem = f32;
    const LANES: usize = 8;
    const ROWS: usize = 6;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller promises the instructions.
        F32x8(unsafe { _mm256_set1_ps(x) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller promises the instructions and 8 readable numbers.
        F32x8(unsafe { _mm256_loadu_ps(from) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> Self {
        // SAFETY: the caller promises the instructions; lanes outside the mask are not read.
        F32x8(unsafe { _mm256_maskload_ps(from, first_lanes::<i32, 8>(count)) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: a value proves the instructions; the caller promises 8 writable numbers.
        unsafe { _mm256_storeu_ps(to, self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize) {
        // SAFETY: a value proves the instructions; lanes outside the mask are not written.
        unsafe { _mm256_maskstore_ps(to, first_lanes::<i32, 8>(count), self.0) }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, acc: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F32x8(unsafe { _mm256_fmadd_ps(self.0, b.0, acc.0) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F32x8(unsafe { _mm256_add_ps(self.0, b.0) })
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: a value proves the instructions.
        unsafe {
            let low = _mm256_unpacklo_ps(self.0, other.0);
            let high = _mm256_unpackhi_ps(self.0, other.0);
            [
                F32x8(_mm256_permute2f128_ps::<0x20>(low, high)),
                F32x8(_mm256_permute2f128_ps::<0x31>(low, high)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn transpose(
        from: *const f32,
        from_stride: usize,
        rows: usize,
        to: *mut f32,
        to_stride: usize,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { transpose_square::<Self, 8>(from, from_stride, rows, to, to_stride) }
    }
}

impl Lanes for F64x4 {
    type Elem = f64;
    const LANES: usize = 4;
    const ROWS: usize = 6;

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        // SAFETY: the caller promises the instructions.
        F64x4(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller promises the instructions and 4 readable numbers.
        F64x4(unsafe { _mm256_loadu_pd(from) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f64, count: usize) -> Self {
        // SAFETY: the caller promises the instructions; lanes outside the mask are not read.
        F64x4(unsafe { _mm256_maskload_pd(from, first_lanes::<i64, 4>(count)) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: a value proves the instructions; the caller promises 4 writable numbers.
        unsafe { _mm256_storeu_pd(to, self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f64, count: usize) {
        // SAFETY: a value proves the instructions; lanes outside the mask are not written.
        unsafe { _mm256_maskstore_pd(to, first_lanes::<i64, 4>(count), self.0) }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, acc: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F64x4(unsafe { _mm256_fmadd_pd(self.0, b.0, acc.0) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F64x4(unsafe { _mm256_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: a value proves the instructions.
        unsafe {
            let low = _mm256_unpacklo_pd(self.0, other.0);
            let high = _mm256_unpackhi_pd(self.0, other.0);
            [
                F64x4(_mm256_permute2f128_pd::<0x20>(low, high)),
                F64x4(_mm256_permute2f128_pd::<0x31>(low, high)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn transpose(
        from: *const f64,
        from_stride: usize,
        rows: usize,
        to: *mut f64,
        to_stride: usize,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { transpose_square::<Self, 4>(from, from_stride, rows, to, to_stride) }
    }
}

impl Lanes for F32x16 {
    type Elem = f32;
    const LANES: usize = 16;
    const ROWS: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller promises the instructions.
        F32x16(unsafe { _mm512_set1_ps(x) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller promises the instructions and 16 readable numbers.
        F32x16(unsafe { _mm512_loadu_ps(from) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> Self {
        // SAFETY: the caller promises the instructions; lanes outside the mask are not read.
        F32x16(unsafe { _mm512_maskz_loadu_ps(u16::MAX.unbounded_shr(16 - count as u32), from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: a value proves the instructions; the caller promises 16 writable numbers.
        unsafe { _mm512_storeu_ps(to, self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, count: usize) {
        // SAFETY: a value proves the instructions; lanes outside the mask are not written.
        unsafe { _mm512_mask_storeu_ps(to, u16::MAX.unbounded_shr(16 - count as u32), self.0) }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, acc: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F32x16(unsafe { _mm512_fmadd_ps(self.0, b.0, acc.0) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F32x16(unsafe { _mm512_add_ps(self.0, b.0) })
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: a value proves the instructions.
        unsafe {
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high =
                _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            [
                F32x16(_mm512_permutex2var_ps(self.0, low, other.0)),
                F32x16(_mm512_permutex2var_ps(self.0, high, other.0)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn transpose(
        from: *const f32,
        from_stride: usize,
        rows: usize,
        to: *mut f32,
        to_stride: usize,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { transpose_square::<Self, 16>(from, from_stride, rows, to, to_stride) }
    }
}

impl Lanes for F64x8 {
    type Elem = f64;
    const LANES: usize = 8;
    const ROWS: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        // SAFETY: the caller promises the instructions.
        F64x8(unsafe { _mm512_set1_pd(x) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller promises the instructions and 8 readable numbers.
        F64x8(unsafe { _mm512_loadu_pd(from) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f64, count: usize) -> Self {
        // SAFETY: the caller promises the instructions; lanes outside the mask are not read.
        F64x8(unsafe { _mm512_maskz_loadu_pd(u8::MAX.unbounded_shr(8 - count as u32), from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: a value proves the instructions; the caller promises 8 writable numbers.
        unsafe { _mm512_storeu_pd(to, self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f64, count: usize) {
        // SAFETY: a value proves the instructions; lanes outside the mask are not written.
        unsafe { _mm512_mask_storeu_pd(to, u8::MAX.unbounded_shr(8 - count as u32), self.0) }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, acc: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F64x8(unsafe { _mm512_fmadd_pd(self.0, b.0, acc.0) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a value proves the instructions.
        F64x8(unsafe { _mm512_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> [Self; 2] {
        // SAFETY: a value proves the instructions.
        unsafe {
            let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
            [
                F64x8(_mm512_permutex2var_pd(self.0, low, other.0)),
                F64x8(_mm512_permutex2var_pd(self.0, high, other.0)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn transpose(
        from: *const f64,
        from_stride: usize,
        rows: usize,
        to: *mut f64,
        to_stride: usize,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { transpose_square::<Self, 8>(from, from_stride, rows, to, to_stride) }
    }
}
