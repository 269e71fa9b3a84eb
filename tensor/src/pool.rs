//! Buffers that outlive their tensor, to be used again: a training step asks for the same sizes
//! each time, and memory that was touched before needs no page faults.
//!
//! A buffer that is handed out holds whatever it held before; whoever takes it writes every
//! element. Sizes are rounded up, one shelf each, so that a slightly longer last batch does not
//! start a second population: to a power of two, and above [`FINE_FROM_BYTES`] to an eighth of
//! one, so that no large tensor takes twice its memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use half::{bf16, f16};
use kernels::Element;

/// Bytes that a pool keeps; beyond them a buffer goes back to the system.
const KEPT_BYTES_MAX: usize = 1 << 30;

/// Bytes from which sizes are rounded up in the finer steps.
const FINE_FROM_BYTES: usize = 1 << 20;

/// Sizes between a power of two and the next, in the finer steps.
const STEPS: usize = 8;

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

/// Free buffers of one element type; entry [`shelf_of`] holds those of a capacity.
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

/// The capacity of the buffers that serve `len` elements; `None` beyond what can be addressed.
fn capacity_for<T>(len: usize) -> Option<usize> {
    let len = len.max(1);
    if len <= FINE_FROM_BYTES / size_of::<T>() {
        return len.checked_next_power_of_two();
    }
    len.checked_next_multiple_of((1 << len.ilog2()) / STEPS)
}

/// The shelf of a capacity from [`capacity_for`]: its power of two and its step above that.
fn shelf_of(capacity: usize) -> usize {
    let power = capacity.ilog2();
    let step = capacity >> power.saturating_sub(STEPS.ilog2()) & (STEPS - 1);
    power as usize * STEPS + step
}

impl Pool {
    /// A buffer of `len` elements with unspecified values; `None` when the system has no memory
    /// of that size.
    pub(crate) fn take<T: Pooled>(&self, len: usize) -> Option<Vec<T>> {
        let capacity = capacity_for::<T>(len)?;
        let kept = T::shelves(self).lock().get_mut(shelf_of(capacity)).and_then(Vec::pop);
        let mut buffer = match kept {
            Some(buffer) => {
                self.kept_bytes.fetch_sub(capacity * size_of::<T>(), Ordering::Relaxed);
                buffer
            }
            None => {
                let mut buffer = Vec::new();
                buffer.try_reserve_exact(capacity).ok()?;
                buffer
            }
        };
        buffer.resize(len, T::default());
        self.live_bytes.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
        Some(buffer)
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
        let capacity = buffer.capacity();
        let bytes = capacity * size_of::<T>();
        // The allocator may have given more than was asked for; then no shelf has its size.
        let fits = capacity_for::<T>(capacity) == Some(capacity);
        if !fits || self.kept_bytes.load(Ordering::Relaxed) + bytes > KEPT_BYTES_MAX {
            return;
        }
        self.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
        let shelf = shelf_of(capacity);
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
        let first = pool.take::<f32>(100).unwrap();
        let address = first.as_ptr();
        assert_eq!(pool.live_bytes(), 400);
        pool.give_back(first);
        assert_eq!(pool.live_bytes(), 0);
        let second = pool.take::<f32>(128).unwrap();
        assert_eq!(second.as_ptr(), address);
        assert_eq!((second.len(), pool.live_bytes()), (128, 512));
        let third = pool.take::<f32>(128).unwrap();
        assert_ne!(third.as_ptr(), address);
    }

    #[test]
    fn odd_sizes_zero_and_foreign_buffers_are_accepted() {
        let pool = Pool::default();
        for len in [0, 1, 3, 64, 65] {
            let buffer = pool.take::<i64>(len).unwrap();
            assert_eq!(buffer.len(), len);
            pool.give_back(buffer);
        }
        let foreign = vec![1u8; 128];
        pool.adopt(&foreign);
        assert_eq!(pool.live_bytes(), 128);
        pool.forget(&foreign);
        assert_eq!(pool.live_bytes(), 0);
    }

    #[test]
    fn every_capacity_has_a_shelf_of_its_own_and_large_ones_waste_an_eighth_at_most() {
        let mut shelves = Vec::new();
        for len in (0..70).chain((10..40).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])) {
            let capacity = capacity_for::<f32>(len).unwrap();
            assert!(capacity >= len && capacity_for::<f32>(capacity) == Some(capacity), "{len}");
            if len * size_of::<f32>() > FINE_FROM_BYTES {
                assert!(capacity - len <= len / STEPS, "{len} {capacity}");
            } else {
                assert_eq!(capacity, len.max(1).next_power_of_two());
            }
            shelves.push((capacity, shelf_of(capacity)));
        }
        shelves.sort();
        shelves.dedup();
        assert!(shelves.windows(2).all(|pair| pair[0].1 < pair[1].1), "{shelves:?}");
    }

    #[test]
    fn a_size_that_no_system_has_is_refused_and_not_counted() {
        let pool = Pool::default();
        for len in [(1 << 59) + 1, (1 << 60) - 1, usize::MAX / 2, usize::MAX] {
            assert_eq!(pool.take::<f64>(len), None);
            assert_eq!(pool.take::<f32>(len), None);
        }
        assert_eq!(pool.live_bytes(), 0);
    }
}
