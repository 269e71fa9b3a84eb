//! How elements get from rank to rank: by their owner's hand, never by a copy that nobody reads.
//!
//! A rank *lays out* its buffers: they move out of its vectors into its slot on the board. Peers
//! read them through handles and drop these before they say that they have folded; the owner then
//! takes its buffers back. In the ring a buffer itself moves, from mailbox to mailbox.
//!
//! That the accesses do not overlap follows from the counters in `Roll`. If it did not, a
//! `get_mut` would fail and a copy be made; no access could become a data race.

use crate::mailbox::Mailbox;
use crate::roll::WINDOW;
use crate::sync::{Arc, Mutex, Padded, lock};

/// A buffer that several ranks may read.
#[derive(Debug, Default)]
pub(crate) struct Handle<T>(Arc<Vec<T>>);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Handle(Arc::clone(&self.0))
    }
}

impl<T> AsRef<[T]> for Handle<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> Handle<T> {
    /// Puts `buffer` in the place of what was here. The allocation around it is used again.
    fn put(&mut self, buffer: Vec<T>) {
        match Arc::get_mut(&mut self.0) {
            Some(place) => *place = buffer,
            None => self.0 = Arc::new(buffer),
        }
    }

    /// Takes the buffer out. While somebody reads it, which happens only when the world has
    /// failed, this is a copy.
    fn take(&mut self) -> Vec<T> {
        match Arc::get_mut(&mut self.0) {
            Some(place) => std::mem::take(place),
            None => self.0.to_vec(),
        }
    }
}

/// The places of all ranks for elements of one type.
#[derive(Debug)]
pub(crate) struct Board<T> {
    places: Vec<[Place<T>; WINDOW]>,
}

/// What one rank has out in one collective.
#[derive(Debug)]
struct Place<T> {
    offer: Padded<Mutex<Offer<T>>>,
    /// What its prev in the ring sends it.
    mailbox: Mailbox<T>,
}

#[derive(Debug)]
struct Offer<T> {
    /// Contributions; those beyond `count` wait to be used again.
    parts: Vec<Handle<T>>,
    count: usize,
    /// The chunk that this rank has finished.
    chunk: Handle<T>,
}

impl<T: Clone> Board<T> {
    pub(crate) fn new(world_size: usize) -> Self {
        let place = |_| Place { offer: Padded(Mutex::new(Offer::new())), mailbox: Mailbox::new() };
        Board { places: (0..world_size).map(|_| std::array::from_fn(place)).collect() }
    }

    /// Lays out `parts` for the other ranks, leaving the list empty.
    pub(crate) fn lay_out(&self, rank: usize, slot: usize, parts: &mut Vec<Vec<T>>) {
        let mut offer = lock(&self.places[rank][slot].offer);
        offer.reserve(parts.len());
        offer.parts.iter_mut().zip(parts.drain(..)).for_each(|(place, part)| place.put(part));
    }

    /// Lays out copies of `parts` for the other ranks. For little: the memory stays on the board.
    pub(crate) fn lay_out_copies(&self, rank: usize, slot: usize, parts: &[Vec<T>]) {
        let mut offer = lock(&self.places[rank][slot].offer);
        offer.reserve(parts.len());
        for (place, part) in offer.parts.iter_mut().zip(parts) {
            let mut copy = place.take();
            copy.clone_from(part);
            place.put(copy);
        }
    }

    /// Adds handles to what `rank` has laid out to `handles`.
    pub(crate) fn read(&self, rank: usize, slot: usize, handles: &mut Vec<Handle<T>>) {
        let offer = lock(&self.places[rank][slot].offer);
        handles.extend(offer.parts[..offer.count].iter().cloned());
    }

    /// Takes back what `rank` has laid out itself, in the same order.
    pub(crate) fn take_back(&self, rank: usize, slot: usize, parts: &mut Vec<Vec<T>>) {
        let mut offer = lock(&self.places[rank][slot].offer);
        let count = std::mem::take(&mut offer.count);
        parts.extend(offer.parts[..count].iter_mut().map(Handle::take));
    }

    /// Whether `rank` has memory for a chunk there.
    pub(crate) fn has_chunk(&self, rank: usize, slot: usize) -> bool {
        lock(&self.places[rank][slot].offer).chunk.0.capacity() > 0
    }

    /// The memory of `rank`'s chunk of an earlier collective, to write the next one into.
    pub(crate) fn take_chunk(&self, rank: usize, slot: usize) -> Vec<T> {
        lock(&self.places[rank][slot].offer).chunk.take()
    }

    /// Lays out a finished chunk.
    pub(crate) fn lay_out_chunk(&self, rank: usize, slot: usize, chunk: Vec<T>) {
        lock(&self.places[rank][slot].offer).chunk.put(chunk);
    }

    /// A handle to the chunk that `rank` has finished.
    pub(crate) fn chunk(&self, rank: usize, slot: usize) -> Handle<T> {
        lock(&self.places[rank][slot].offer).chunk.clone()
    }

    /// Where `rank` receives what travels around the ring.
    pub(crate) fn mailbox(&self, rank: usize, slot: usize) -> &Mailbox<T> {
        &self.places[rank][slot].mailbox
    }
}

impl<T> Offer<T> {
    fn new() -> Self {
        Offer { parts: Vec::new(), count: 0, chunk: Handle(Arc::new(Vec::new())) }
    }

    /// Makes room for `count` parts.
    fn reserve(&mut self, count: usize) {
        self.count = count;
        let wanted = self.parts.len().max(count);
        self.parts.resize_with(wanted, || Handle(Arc::new(Vec::new())));
    }
}
