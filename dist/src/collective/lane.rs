//! What a rank carries of one element type: the buffers of its collectives, and memory to be used
//! again.

use kernels::ring_all_reduce::Ring;

use crate::board::{Board, Handle};
use crate::error::Result;
use crate::header::Kind;
use crate::roll::slot_of;
use crate::sync::{Arc, Duration, Instant};
use crate::wire::Wire;

use super::{Carry, Entry, Site};

/// The buffers of one collective on one rank.
#[derive(Debug)]
pub(crate) struct Cargo<T> {
    pub(super) seq: u64,
    /// What the rank brings; away on the board between the stages `Brought` and `Done`.
    pub(crate) parts: Vec<Vec<T>>,
    /// What comes out. Before that, if `in_place`, in a ring: what the rank brings.
    pub(crate) result: Vec<T>,
    /// Whether the result is to be written over the first part.
    pub(super) in_place: bool,
    /// A buffer that the next rank's mailbox has no room for yet.
    pub(super) outgoing: Option<Vec<T>>,
    /// Rounds of the ring that are behind it.
    pub(super) round: usize,
}

/// Everything of one element type.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    pub(super) board: Arc<Board<T>>,
    pub(super) cargos: Vec<Cargo<T>>,
    /// Cargos to be used again.
    idle: Vec<Cargo<T>>,
    /// Buffers to be used again.
    spare: Vec<Vec<T>>,
    /// Handles of the fold that is going on; empty outside of it.
    pub(super) handles: Vec<Handle<T>>,
    pub(super) sent: u64,
    busy: Duration,
}

/// The lane without its cargos, while one of these is worked on.
pub(super) struct Tools<'a, T> {
    pub(super) board: &'a Board<T>,
    pub(super) spare: &'a mut Vec<Vec<T>>,
    pub(super) handles: &'a mut Vec<Handle<T>>,
    pub(super) sent: &'a mut u64,
}

impl<T: Clone> Lane<T> {
    pub(super) fn new(board: &Arc<Board<T>>) -> Self {
        Lane {
            board: Arc::clone(board),
            cargos: Vec::new(),
            idle: Vec::new(),
            spare: Vec::new(),
            handles: Vec::new(),
            sent: 0,
            busy: Duration::ZERO,
        }
    }

    /// Time spent adding and copying.
    pub(super) fn busy(&self) -> Duration {
        self.busy
    }

    /// Elements sent around the ring.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// The cargo of a collective that begins: `parts` are brought, and come back as they are.
    pub(crate) fn load(&mut self, seq: u64, parts: Vec<Vec<T>>) {
        let cargo = self.blank(seq);
        let cargo = Cargo { parts, ..cargo };
        self.cargos.push(cargo);
    }

    /// As [`Lane::load`] for one buffer; if `in_place`, the result is written over it.
    pub(crate) fn load_one(&mut self, seq: u64, part: Vec<T>, in_place: bool) {
        let mut cargo = self.blank(seq);
        cargo.parts.push(part);
        cargo.in_place = in_place;
        self.cargos.push(cargo);
    }

    fn blank(&mut self, seq: u64) -> Cargo<T> {
        let blank = || Cargo {
            seq,
            parts: Vec::new(),
            result: Vec::new(),
            in_place: false,
            outgoing: None,
            round: 0,
        };
        let cargo = self.idle.pop().unwrap_or_else(blank);
        Cargo { seq, in_place: false, outgoing: None, round: 0, ..cargo }
    }

    /// Takes the cargo of a collective out, once it is done.
    pub(crate) fn unload(&mut self, seq: u64) -> Option<Cargo<T>> {
        let at = self.cargos.iter().position(|cargo| cargo.seq == seq)?;
        Some(self.cargos.swap_remove(at))
    }

    /// Keeps the lists of a cargo for the next one.
    pub(crate) fn retire(&mut self, mut cargo: Cargo<T>) {
        cargo.parts.clear();
        cargo.result = Vec::new();
        self.idle.push(cargo);
    }

    /// Keeps a buffer for a later result.
    pub(crate) fn keep(&mut self, buffer: Vec<T>) {
        self.spare.push(buffer);
    }

    /// Runs `work` on the cargo of `seq`, and counts the time it takes. A collective without
    /// elements has none.
    fn work_on<R>(
        &mut self,
        seq: u64,
        work: impl FnOnce(Tools<'_, T>, &mut Cargo<T>) -> R,
    ) -> Option<R> {
        let cargo = self.cargos.iter_mut().find(|cargo| cargo.seq == seq)?;
        let started = Instant::now();
        let tools = Tools {
            board: &self.board,
            spare: &mut self.spare,
            handles: &mut self.handles,
            sent: &mut self.sent,
        };
        let done = work(tools, cargo);
        self.busy += started.elapsed();
        Some(done)
    }
}

/// The smallest spare buffer that holds `len` elements, or a new one. What it holds is left over.
pub(super) fn take_spare<T>(spare: &mut Vec<Vec<T>>, len: usize) -> Vec<T> {
    let fits = spare.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= len);
    let best = fits.min_by_key(|(_, buffer)| buffer.capacity()).map(|(i, _)| i);
    let Some(best) = best else { return Vec::with_capacity(len) };
    spare.swap_remove(best)
}

impl<T: Wire> Carry for Lane<T> {
    fn bring(&mut self, site: Site<'_>, entry: &Entry) {
        self.work_on(entry.seq, |mut tools, cargo| {
            if entry.header.is_ring() {
                tools.set_out(site, entry, cargo);
            } else if entry.header.is_small() {
                tools.board.lay_out_copies(site.rank, slot_of(entry.seq), &cargo.parts);
            } else if entry.header.kind == Kind::Broadcast && entry.header.root != site.rank {
                cargo.result = cargo.parts.pop().unwrap_or_default();
            } else {
                tools.board.lay_out(site.rank, slot_of(entry.seq), &mut cargo.parts);
            }
        });
    }

    fn fold(&mut self, site: Site<'_>, entry: &Entry) {
        self.work_on(entry.seq, |mut tools, cargo| match entry.header.kind {
            _ if entry.header.is_small() => tools.fold_all(site, entry, cargo),
            Kind::Gradients | Kind::AllReduce => tools.fold_chunk(site, entry),
            Kind::ReduceScatter => tools.fold_result(site, entry, cargo),
            Kind::AllGather => tools.concatenate(site, entry, cargo),
            Kind::Broadcast => tools.copy_root(site, entry, cargo),
            Kind::ShareSmall => tools.copy_all(site, entry, cargo),
            Kind::Barrier | Kind::Commit => {}
        });
        self.handles.clear();
    }

    fn hop(&mut self, site: Site<'_>, entry: &Entry) -> Result<bool> {
        let slot = slot_of(entry.seq);
        let Some(cargo) = self.cargos.iter().find(|cargo| cargo.seq == entry.seq) else {
            return Ok(true);
        };
        if cargo.is_round(site, entry) {
            return Ok(true);
        }
        let next = Ring { rank: site.rank, world_size: site.world_size() }.next();
        let (inbox, outbox) = (self.board.mailbox(site.rank, slot), self.board.mailbox(next, slot));
        let idle = if cargo.outgoing.is_some() { outbox.is_full() } else { !inbox.is_full() };
        if idle {
            // As most of the time; not worth a look at the clock.
            return Ok(false);
        }
        self.work_on(entry.seq, |mut tools, cargo| tools.travel(site, entry, cargo))
            .unwrap_or(Ok(true))
    }

    fn finish(&mut self, site: Site<'_>, entry: &Entry) {
        self.work_on(entry.seq, |mut tools, cargo| {
            tools.board.take_back(site.rank, slot_of(entry.seq), &mut cargo.parts);
            match entry.header.kind {
                Kind::Gradients | Kind::AllReduce => tools.gather_chunks(site, entry, cargo),
                Kind::Broadcast => cargo.result = cargo.parts.pop().unwrap_or_default(),
                _ => {}
            }
        });
    }
}
