//! The reduction along the canonical tree: each rank reads all parts, folds the chunk that it owns,
//! and copies the chunks of the others.

use kernels::tree::combine;

use crate::header::{Kind, ReduceOp};
use crate::roll::slot_of;
use crate::wire::Wire;

use super::lane::{Cargo, Tools, take_spare};
use super::{Entry, Site};

impl<T: Wire> Tools<'_, T> {
    /// Folds the own chunk and lays it out for the others.
    pub(super) fn fold_chunk(&mut self, site: Site<'_>, entry: &Entry) {
        let slot = slot_of(entry.seq);
        let chunk = self.board.take_chunk(site.rank, slot);
        let chunk = self.folded(site, entry, chunk);
        self.board.lay_out_chunk(site.rank, slot, chunk);
    }

    /// Folds the own chunk as the result.
    pub(super) fn fold_result(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        let chunk = take_spare(self.spare, site.own_chunk(entry).len());
        cargo.result = self.folded(site, entry, chunk);
    }

    fn folded(&mut self, site: Site<'_>, entry: &Entry, mut chunk: Vec<T>) -> Vec<T> {
        let range = site.own_chunk(entry);
        for rank in 0..site.world_size() {
            self.board.read(rank, slot_of(entry.seq), self.handles);
        }
        let program = match entry.header.kind {
            Kind::Gradients => &site.fabric.over_shards,
            _ => &site.fabric.over_ranks,
        };
        chunk.resize(range.len(), T::default());
        match entry.header.op {
            ReduceOp::Sum => combine(program, self.handles, range.start, &mut chunk, T::plus),
            ReduceOp::Max => combine(program, self.handles, range.start, &mut chunk, T::larger),
        }
        chunk
    }

    /// Puts the finished chunks of all ranks together.
    pub(super) fn gather_chunks(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        let slot = slot_of(entry.seq);
        let mut result = match cargo.parts.pop_if(|_| cargo.in_place) {
            Some(part) => part,
            None => take_spare(self.spare, entry.header.count),
        };
        result.clear();
        if site.world_size() == 1 {
            // The one chunk is the whole: the buffers change places.
            let whole = self.board.take_chunk(site.rank, slot);
            self.board.lay_out_chunk(site.rank, slot, std::mem::replace(&mut result, whole));
        } else {
            for rank in 0..site.world_size() {
                result.extend_from_slice(self.board.chunk(rank, slot).as_ref());
            }
        }
        cargo.result = result;
    }
}
