//! The reduction around the ring: the buffers themselves travel. Each rank adds its own part of a
//! chunk to what it has received and sends the sum on; finished chunks go around once more.

use kernels::ring_all_reduce::Ring;

use crate::error::Result;
use crate::header::Kind;
use crate::roll::slot_of;
use crate::wire::{Wire, combine_into};

use super::lane::{Cargo, Tools, take_spare};
use super::{Entry, Site};

fn ring_of(site: Site<'_>) -> Ring {
    Ring { rank: site.rank, world_size: site.world_size() }
}

impl<T> Cargo<T> {
    /// Whether all rounds are behind it.
    pub(super) fn is_round(&self, site: Site<'_>, entry: &Entry) -> bool {
        let phases = if gathers(entry) { 2 } else { 1 };
        self.round == phases * ring_of(site).rounds()
    }
}

/// Whether finished chunks go around as well.
fn gathers(entry: &Entry) -> bool {
    entry.header.kind != Kind::ReduceScatter
}

impl<T: Wire> Tools<'_, T> {
    /// Makes one part of the parts that the rank brings, and the first buffer that leaves.
    pub(super) fn set_out(&mut self, site: Site<'_>, entry: &Entry, cargo: &mut Cargo<T>) {
        let (ring, chunks) = (ring_of(site), site.chunks(entry));
        let [own, further @ ..] = &mut cargo.parts[..] else { return };
        further.iter().for_each(|part| plus_into(own, part));
        if ring.world_size > 1 {
            // As long as any chunk: it carries them all in turn.
            let mut outgoing = take_spare(self.spare, chunks.max_len());
            outgoing.clear();
            outgoing.extend_from_slice(&own[chunks.range(ring.reduce_scatter(0).send)]);
            cargo.outgoing = Some(outgoing);
        }
        if cargo.in_place {
            cargo.result = cargo.parts.pop().unwrap_or_default();
        } else if ring.world_size == 1 {
            cargo.result.clone_from(own);
        } else if gathers(entry) {
            cargo.result = take_spare(self.spare, entry.header.count);
            cargo.result.resize(entry.header.count, T::default());
        }
    }

    /// Takes every round whose buffer has arrived; whether all are behind.
    ///
    /// # Errors
    /// A prev that is in another collective.
    pub(super) fn travel(
        &mut self,
        site: Site<'_>,
        entry: &Entry,
        cargo: &mut Cargo<T>,
    ) -> Result<bool> {
        let (ring, slot, fabric) = (ring_of(site), slot_of(entry.seq), site.fabric);
        let inbox = self.board.mailbox(site.rank, slot);
        let outbox = self.board.mailbox(ring.next(), slot);
        loop {
            let leaving = cargo.outgoing.as_ref().map_or(0, Vec::len);
            if outbox.send(&mut cargo.outgoing) {
                *self.sent += leaving as u64;
                fabric.beds.wake(ring.next());
            }
            if cargo.outgoing.is_some() || !inbox.is_full() {
                return Ok(false);
            }
            if cargo.round == 0 {
                // Who filled the mailbox has brought its part; does it say the same of it?
                fabric.roll.compare(site.rank, entry.seq)?;
            }
            let buffer = inbox.receive().unwrap_or_default();
            fabric.beds.wake(ring.prev());
            self.take_round(site, entry, cargo, buffer);
            if cargo.outgoing.is_none() {
                return Ok(true);
            }
        }
    }

    /// One round: what arrived is added to or copied, and sent on unless its way ends here.
    fn take_round(
        &mut self,
        site: Site<'_>,
        entry: &Entry,
        cargo: &mut Cargo<T>,
        mut buffer: Vec<T>,
    ) {
        let (ring, chunks) = (ring_of(site), site.chunks(entry));
        let (round, scatters) = (cargo.round, ring.rounds());
        cargo.round += 1;
        if round < scatters {
            let range = chunks.range(ring.reduce_scatter(round).receive);
            let own = if cargo.in_place { &cargo.result } else { &cargo.parts[0] };
            combine_into(entry.header.op, &mut buffer, &own[range]);
        }
        if round + 1 < scatters {
            cargo.outgoing = Some(buffer);
            return;
        }
        if !gathers(entry) {
            cargo.result = buffer;
            return;
        }
        // The last round of the scattering brings the own chunk, the others follow it.
        let gathered = (round + 1).checked_sub(scatters + 1);
        let chunk = gathered.map_or(ring.rank, |round| ring.all_gather(round).receive);
        cargo.result[chunks.range(chunk)].copy_from_slice(&buffer);
        if cargo.is_round(site, entry) {
            self.spare.push(buffer);
        } else {
            cargo.outgoing = Some(buffer);
        }
    }
}

/// Adds a further part of a rank to its first one.
fn plus_into<T: Wire>(own: &mut [T], part: &[T]) {
    own.iter_mut().zip(part).for_each(|(own, &part)| *own = own.plus(part));
}
