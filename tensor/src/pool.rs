//! Buffers that outlive their tensor, to be used again: a training step asks for the same sizes
//! each time, and memory that was touched before needs no page faults.
//!
//! A buffer that is handed out holds whatever it held before; whoever takes it writes every
//! element. Sizes are rounded up to powers of two, one shelf each, so that a slightly longer
//! last batch does not start a second population.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use half::{bf16, f16};
use kernels::Element;

/// Bytes that a pool keeps; beyond them a buffer goes back to the system.
const KEPT_BYTES_MAX: usize = 1 << 30;

/// The free buffers of one device, by element type and size.
#[derive(Debug, Default)]
pub struct Pool {
    f16: Shelves<f16>,
    bf16: Shelves<bf16>,
    f32: Shelves<f32>,
    f64: Shelves<f64>,
    i64: Shelves<i64>,
    u8: Shelves<u8>,
    // Statistics only: no memory is published through them, hence Relaxed throughout.
    live_bytes: AtomicUsize,
    kept_bytes: AtomicUsize,
}

/// Free buffers of one element type; entry `k` holds those of capacity 2ᵏ.
#[derive(Debug)]
pub struct Shelves<T>(Mutex<Vec<Vec<Vec<T>>>>);

impl<T> Default for Shelves<T> {
    fn default() -> Self {
        Shelves(Mutex::new(Vec::new()))
    }
}

impl<T> Shelves<T> {
    // A panic elsewhere cannot leave a shelf half changed: each change is one push or pop.
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<Vec<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An element type that a pool has shelves for. Public in a private module: it seals `Stored`.
pub trait Pooled: Element {
    #[doc(hidden)]
    fn shelves(pool: &Pool) -> &Shelves<Self>;
}

impl Pooled for f16 {
    fn shelves(pool: &Pool) -> &Shelves<Self> {
        &pool.f16
    }
}
impl Pooled for bf16 {
    fn shelves(pool: &Pool) -> &Shelves<Self> {
        &pool.bf16
    }
}
impl Pooled for f32 {
    fn shelves(pool: &Pool) -> &Shelves<Self> {
        &pool.f32
    }
}
impl Pooled for f64 {
    fn shelves(pool: &Pool) -> &Shelves<Self> {
        &pool.f64
    }
}
impl Pooled for i64 {
    fn shelves(pool: &Pool) -> &Shelves<Self> {
        &pool.i64
    }
}
impl Pooled for u8 {
    fn shelves(pool: &Pool) -> &Shelves<Self> {
        &pool.u8
    }
}

/// The shelf for buffers of `len` elements: the exponent of the next power of two.
fn shelf_of(len: usize) -> usize {
    len.max(1).next_power_of_two().trailing_zeros() as usize
}

impl Pool {
    /// A buffer of `len` elements with unspecified values.
    pub(crate) fn take<T: Pooled>(&self, len: usize) -> Vec<T> {
        let shelf = shelf_of(len);
        let kept = T::shelves(self).lock().get_mut(shelf).and_then(Vec::pop);
        let mut buffer = match kept {
            Some(buffer) => {
                self.kept_bytes.fetch_sub(size_of::<T>() << shelf, Ordering::Relaxed);
                buffer
            }
            None => Vec::with_capacity(1 << shelf),
        };
        buffer.resize(len, T::default());
        self.live_bytes.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
        buffer
    }

    /// Counts a buffer that was made elsewhere.
    pub(crate) fn adopt<T: Pooled>(&self, buffer: &[T]) {
        self.live_bytes.fetch_add(size_of_val(buffer), Ordering::Relaxed);
    }

    /// Ends the count of a buffer from [`Pool::adopt`].
    pub(crate) fn forget<T: Pooled>(&self, buffer: &[T]) {
        self.live_bytes.fetch_sub(size_of_val(buffer), Ordering::Relaxed);
    }

    /// Takes back a buffer from [`Pool::take`], unchanged in length.
    pub(crate) fn give_back<T: Pooled>(&self, buffer: Vec<T>) {
        self.live_bytes.fetch_sub(size_of_val(buffer.as_slice()), Ordering::Relaxed);
        let shelf = shelf_of(buffer.capacity());
        let bytes = size_of::<T>() << shelf;
        // The allocator may have given more than was asked for; then no shelf has its size.
        let fits = buffer.capacity() == 1 << shelf;
        if !fits || self.kept_bytes.load(Ordering::Relaxed) + bytes > KEPT_BYTES_MAX {
            return;
        }
        self.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut shelves = T::shelves(self).lock();
        if shelves.len() <= shelf {
            shelves.resize_with(shelf + 1, Vec::new);
        }
        shelves[shelf].push(buffer);
    }

    pub(crate) fn live_bytes(&self) -> usize {
        self.live_bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_buffer_is_handed_out_again_and_live_bytes_follow() {
        let pool = Pool::default();
        let first = pool.take::<f32>(100);
        let address = first.as_ptr();
        assert_eq!(pool.live_bytes(), 400);
        pool.give_back(first);
        assert_eq!(pool.live_bytes(), 0);
        let second = pool.take::<f32>(128);
        assert_eq!(second.as_ptr(), address);
        assert_eq!((second.len(), pool.live_bytes()), (128, 512));
        let third = pool.take::<f32>(128);
        assert_ne!(third.as_ptr(), address);
    }

    #[test]
    fn odd_sizes_zero_and_foreign_buffers_are_accepted() {
        let pool = Pool::default();
        for len in [0, 1, 3, 64, 65] {
            let buffer = pool.take::<i64>(len);
            assert_eq!(buffer.len(), len);
            pool.give_back(buffer);
        }
        let foreign = vec![1u8; 128];
        pool.adopt(&foreign);
        assert_eq!(pool.live_bytes(), 128);
        pool.forget(&foreign);
        assert_eq!(pool.live_bytes(), 0);
    }
}
