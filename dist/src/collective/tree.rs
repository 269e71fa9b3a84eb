//! The reduction along the canonical tree: each rank reads all parts, folds the chunk that it owns,
//! and copies the chunks of the others. Of a small one each rank folds everything.

use std::ops::Range;

use kernels::tree::combine;

use crate::header::{Kind, ReduceOp};
use crate::roll::{WINDOW, slot_of};
use crate::wire::Wire;

use super::lane::{Cargo, Tools, take_spare};
use super::{Entry, Site};

impl<T: Wire> Tools<'_, T> {
    /// Folds the own chunk and lays it out for the others.
    pub(super) fn fold_chunk(&mut self, site: Site<'_>, entry: &Entry) {
        let slot = slot_of(entry.seq);
        let mut chunk = self.board.take_chunk(site.rank, self.latest_chunk(site, entry));
        self.fold_range(site, entry, site.own_chunk(entry), &mut chunk);
        self.board.lay_out_chunk(site.rank, slot, chunk);
    }

    /// The slot of the latest chunk of this rank that every rank has copied: its memory is the
    /// likeliest to be in the cache. If there is none, the slot of this collective itself, which is
    /// free.
    fn latest_chunk(&self, site: Site<'_>, entry: &Entry) -> usize {
        let end = entry.seq.min(site.fabric.roll.done_by_all());
        let recent = (entry.seq.saturating_sub(WINDOW as u64 - 1)..end).rev().map(slot_of);
        let mut filled = recent.filter(|&slot| self.board.has_chunk(site.rank, slot));
        filled.next().unwrap_or(slot_of(entry.seq))
    }

    /// Folds the own chunk as the result.
    pub(super) fn fold_result(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        let range = site.own_chunk(entry);
        cargo.result = take_spare(self.spare, range.len());
        self.fold_range(site, entry, range, &mut cargo.result);
    }

    /// Folds everything as the result. What is read are copies, so it may overwrite the own part.
    pub(super) fn fold_all(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        self.start_result(entry, cargo);
        self.fold_range(site, entry, 0..entry.header.count, &mut cargo.result);
    }

    /// Folds the elements of `range` into `out`.
    fn fold_range(&mut self, site: Site<'_>, entry: &Entry, range: Range<usize>, out: &mut Vec<T>) {
        for rank in 0..site.world_size() {
            self.board.read(rank, slot_of(entry.seq), self.handles);
        }
        let program = match entry.header.kind {
            Kind::Gradients => &site.fabric.over_shards,
            _ => &site.fabric.over_ranks,
        };
        out.resize(range.len(), T::default());
        match entry.header.op {
            ReduceOp::Sum => combine(program, self.handles, range.start, out, T::plus),
            ReduceOp::Max => combine(program, self.handles, range.start, out, T::larger),
        }
    }

    /// The memory of the result: the part that was brought, or a spare buffer.
    fn start_result(&mut self, entry: &Entry, cargo: &mut Cargo<T>) {
        cargo.result = match cargo.parts.pop_if(|_| cargo.in_place) {
            Some(part) => part,
            None => take_spare(self.spare, entry.header.count),
        };
    }

    /// Puts the finished chunks of all ranks together.
    pub(super) fn gather_chunks(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        let slot = slot_of(entry.seq);
        self.start_result(entry, cargo);
        let result = &mut cargo.result;
        result.clear();
        if site.world_size() == 1 {
            // The one chunk is the whole: the buffers change places.
            let whole = self.board.take_chunk(site.rank, slot);
            self.board.lay_out_chunk(site.rank, slot, std::mem::replace(result, whole));
        } else {
            for rank in 0..site.world_size() {
                result.extend_from_slice(self.board.chunk(rank, slot).as_ref());
            }
        }
    }
}
