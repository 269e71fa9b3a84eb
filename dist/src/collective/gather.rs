//! Collectives that copy and do not combine.

use crate::roll::slot_of;
use crate::wire::Wire;

use super::lane::{Cargo, Tools};
use super::{Entry, Site};

impl<T: Wire> Tools<'_, T> {
    /// All parts, one after the other in rank order.
    pub(super) fn concatenate(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        for rank in 0..site.world_size() {
            self.board.read(rank, slot_of(entry.seq), self.handles);
        }
        let len = self.handles.iter().map(|part| part.as_ref().len()).sum();
        let mut result = Vec::with_capacity(len);
        self.handles.iter().for_each(|part| result.extend_from_slice(part.as_ref()));
        cargo.result = result;
    }

    /// All parts, each in a list of its own.
    pub(super) fn copy_all(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        for rank in 0..site.world_size() {
            self.board.read(rank, slot_of(entry.seq), self.handles);
        }
        cargo.parts.extend(self.handles.iter().map(|part| part.as_ref().to_vec()));
    }

    /// The root's part, over the own one.
    pub(super) fn copy_root(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        let root = entry.header.root;
        if root == site.rank {
            return;
        }
        self.board.read(root, slot_of(entry.seq), self.handles);
        cargo.result.clear();
        self.handles.iter().for_each(|part| cargo.result.extend_from_slice(part.as_ref()));
    }
}
