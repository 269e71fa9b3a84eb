//! What a rank has under way: its collectives in the order in which it called them, each moved on
//! as far as the other ranks allow.
//!
//! A collective goes through stages, and no stage waits. A rank *brings* its part; when all have
//! brought theirs it *folds*: it reads what it needs of the others' parts; when all have folded it
//! *finishes*: nobody reads its part any more, so it takes its buffers back, and the chunks of the
//! others are there to be copied. Whoever waits for one of its collectives moves all of them on, so
//! no two ranks can wait for each other.
//!
//! # Two waits are enough
//!
//! A reduction by chunks needs every part (first wait) and every finished chunk (second wait). A
//! third wait would say that everybody has copied the chunks, so that their memory can be used
//! again. The next use is in the fold of the collective [`WINDOW`] later; all ranks have brought
//! that one then, and a rank brings it only after it has finished the earlier one.

mod gather;
mod lane;
mod ring;
mod tree;

use std::collections::VecDeque;
use std::ops::Range;

use kernels::DType;

use crate::error::{Error, Result};
use crate::fabric::Fabric;
use crate::header::{Header, Kind};
use crate::roll::WINDOW;
use crate::sync::Duration;
pub(crate) use lane::{Cargo, Lane};

/// How far a rank is in one collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Its slot is still in use by an earlier one.
    Queued,
    Brought,
    Folded,
    Done,
}

/// One collective under way.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    pub(crate) header: Header,
    pub(crate) stage: Stage,
    /// A commit whose barrier was passed.
    passed: bool,
    /// Nobody will ask for it again.
    forgotten: bool,
}

/// Where a collective happens: the world and one of its ranks.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) rank: usize,
}

impl Site<'_> {
    pub(crate) fn world_size(&self) -> usize {
        self.fabric.settings.world_size
    }

    fn chunks(&self, entry: &Entry) -> kernels::ring_all_reduce::Chunks {
        let granule = self.fabric.settings.granule;
        kernels::ring_all_reduce::Chunks::new(entry.header.count, self.world_size(), granule)
    }

    fn own_chunk(&self, entry: &Entry) -> Range<usize> {
        self.chunks(entry).range(self.rank)
    }
}

/// The stages that differ by element type.
trait Carry {
    /// Moves the own part to where the others find it.
    fn bring(&mut self, site: Site<'_>, entry: &Entry);
    /// Reads the others' parts; all are there and agree.
    fn fold(&mut self, site: Site<'_>, entry: &Entry);
    /// Goes on around the ring as far as buffers have arrived; whether it has come full circle.
    fn hop(&mut self, site: Site<'_>, entry: &Entry) -> Result<bool>;
    /// Takes the own part back and copies the others' chunks; all have folded.
    fn finish(&mut self, site: Site<'_>, entry: &Entry);
}

/// The collectives of one rank.
#[derive(Debug)]
pub(crate) struct Engine {
    rank: usize,
    next: u64,
    /// Collectives that this rank has folded.
    folded: u64,
    /// All before this one are done.
    done: u64,
    entries: VecDeque<Entry>,
    pub(crate) f32: Lane<f32>,
    pub(crate) f64: Lane<f64>,
    pub(crate) i64: Lane<i64>,
}

impl Engine {
    pub(crate) fn new(fabric: &Fabric, rank: usize) -> Self {
        Engine {
            rank,
            next: 0,
            folded: 0,
            done: 0,
            entries: VecDeque::new(),
            f32: Lane::new(&fabric.f32),
            f64: Lane::new(&fabric.f64),
            i64: Lane::new(&fabric.i64),
        }
    }

    /// The lane of the elements of type `T`; `None` when they do not travel.
    pub(crate) fn lane<T: 'static>(&mut self) -> Option<&mut Lane<T>> {
        crate::wire::pick([&mut self.f32, &mut self.f64, &mut self.i64])
    }

    /// The number of the next collective.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Takes up a collective; its cargo, if any, is in its lane.
    pub(crate) fn open(&mut self, header: Header) -> u64 {
        let seq = self.next;
        self.next += 1;
        let stage = Stage::Queued;
        self.entries.push_back(Entry { seq, header, stage, passed: false, forgotten: false });
        seq
    }

    /// The entry of `seq`, unless it was closed.
    pub(crate) fn entry(&self, seq: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.seq == seq)
    }

    /// Forgets a collective as soon as it is done.
    pub(crate) fn close(&mut self, seq: u64) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.seq == seq) {
            entry.forgotten = true;
        }
        self.entries.retain(|entry| !(entry.forgotten && entry.stage == Stage::Done));
    }

    /// Closes a commit whose barrier was passed.
    pub(crate) fn close_commit(&mut self, seq: u64) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.seq == seq) {
            entry.passed = true;
        }
        self.close(seq);
    }

    /// Time spent adding and copying.
    pub(crate) fn busy(&self) -> Duration {
        self.f32.busy() + self.f64.busy() + self.i64.busy()
    }

    /// Elements sent to the next rank of the ring.
    pub(crate) fn sent(&self) -> u64 {
        self.f32.sent() + self.f64.sent() + self.i64.sent()
    }

    /// Moves every collective as far as it goes now.
    ///
    /// # Errors
    /// Ranks that do not agree; the caller ends the world.
    pub(crate) fn advance(&mut self, fabric: &Fabric) -> Result<()> {
        let mut any_forgotten = false;
        let mut moved = false;
        for i in 0..self.entries.len() {
            while self.step(fabric, i)? {
                moved = true;
            }
            let entry = &self.entries[i];
            any_forgotten |= entry.forgotten && entry.stage == Stage::Done;
            if entry.stage == Stage::Queued {
                break;
            }
        }
        if moved {
            self.publish_done(fabric);
        }
        if any_forgotten {
            self.entries.retain(|entry| !(entry.forgotten && entry.stage == Stage::Done));
        }
        Ok(())
    }

    /// Tells the others up to where this rank is done.
    fn publish_done(&mut self, fabric: &Fabric) {
        let open = self.entries.iter().find(|entry| entry.stage != Stage::Done);
        let done = open.map_or(self.next, |entry| entry.seq);
        if done > self.done {
            self.done = done;
            fabric.roll.finish_before(self.rank, done);
        }
    }

    /// Moves collective `i` by one stage, if it can.
    fn step(&mut self, fabric: &Fabric, i: usize) -> Result<bool> {
        let Engine { rank, folded, entries, f32, f64, i64, .. } = self;
        let rank = *rank;
        let may_bring = slot_is_free(fabric, entries, i);
        let (roll, beds, site) = (&fabric.roll, &fabric.beds, Site { fabric, rank });
        let entry = &mut entries[i];
        let seq = entry.seq;
        let lane: &mut dyn Carry = match entry.header.dtype {
            DType::F64 => f64,
            DType::I64 => i64,
            _ => f32,
        };
        match entry.stage {
            Stage::Queued if may_bring => {
                lane.bring(site, entry);
                roll.bring(beds, rank, seq, &entry.header);
                entry.stage = Stage::Brought;
            }
            Stage::Brought if entry.header.is_ring() => {
                if !lane.hop(site, entry)? || seq != *folded {
                    return Ok(false);
                }
                roll.fold(beds, rank, seq);
                *folded += 1;
                entry.stage = Stage::Done;
            }
            Stage::Brought if seq == *folded && entry.may_fold(fabric) => {
                roll.compare(rank, seq)?;
                lane.fold(site, entry);
                roll.fold(beds, rank, seq);
                *folded += 1;
                entry.stage = if entry.finishes(rank) { Stage::Folded } else { Stage::Done };
            }
            Stage::Folded if roll.all_have_folded(seq) => {
                lane.finish(site, entry);
                entry.stage = Stage::Done;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reasons why `seq` will never be done.
    ///
    /// # Errors
    /// Ranks that do not agree, or one that has returned and is needed; the caller ends the world.
    pub(crate) fn check_hope(&self, fabric: &Fabric, seq: u64) -> Result<()> {
        let Some(entry) = self.blocking(seq) else { return Ok(()) };
        if entry.stage == Stage::Brought {
            fabric.roll.compare(self.rank, entry.seq)?;
        }
        let gone = |&rank: &usize| fabric.roll.has_left(rank) && entry.lacks(fabric, rank);
        let Some(rank) = self.others(fabric).find(gone) else { return Ok(()) };
        Err(Error::Left { rank, collective: entry.header.to_string() })
    }

    /// What a wait for `seq` ends in at its deadline.
    pub(crate) fn late(&self, fabric: &Fabric, seq: u64) -> Error {
        let deadline = fabric.settings.deadline;
        let Some(entry) = self.blocking(seq) else {
            return Error::Late {
                ranks: Vec::new(),
                collective: "collective".to_owned(),
                deadline,
            };
        };
        let lacking: Vec<usize> =
            self.others(fabric).filter(|&rank| entry.lacks(fabric, rank)).collect();
        // In the ring everybody lacks behind one who does: that one has not brought its part, or
        // is in its own code.
        let not_there = |&rank: &usize| !fabric.roll.has_brought(rank, entry.seq);
        let outside = |&rank: &usize| fabric.roll.is_outside(rank);
        let some = |ranks: Vec<usize>| (!ranks.is_empty()).then_some(ranks);
        let ranks = some(lacking.iter().copied().filter(not_there).collect())
            .or_else(|| some(lacking.iter().copied().filter(outside).collect()))
            .unwrap_or(lacking);
        Error::Late { ranks, collective: entry.header.to_string(), deadline }
    }

    /// The collective that `seq` waits for: the first that is not done.
    fn blocking(&self, seq: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.stage != Stage::Done && entry.seq <= seq)
    }

    fn others(&self, fabric: &Fabric) -> impl Iterator<Item = usize> {
        let own = self.rank;
        (0..fabric.settings.world_size).filter(move |&rank| rank != own)
    }
}

/// Whether what used the slot of collective `i` before is read by all and finished by this rank.
fn slot_is_free(fabric: &Fabric, entries: &VecDeque<Entry>, i: usize) -> bool {
    let Some(earlier) = entries[i].seq.checked_sub(WINDOW as u64) else { return true };
    let mut older = entries.iter().take_while(|entry| entry.seq <= earlier);
    older.all(|entry| entry.stage == Stage::Done) && fabric.roll.all_have_folded(earlier)
}

impl Entry {
    fn may_fold(&self, fabric: &Fabric) -> bool {
        match self.header.kind {
            Kind::Commit => self.passed,
            _ => fabric.roll.all_have_brought(self.seq),
        }
    }

    /// Whether something is left to do for `rank` when all have folded.
    fn finishes(&self, rank: usize) -> bool {
        let is_root = self.header.kind == Kind::Broadcast && self.header.root == rank;
        is_root || self.header.reduces() && !self.header.is_small()
    }

    /// Whether this collective still needs something of `rank`.
    fn lacks(&self, fabric: &Fabric, rank: usize) -> bool {
        if self.header.is_ring() || self.stage == Stage::Folded {
            !fabric.roll.has_folded(rank, self.seq)
        } else {
            !fabric.roll.has_brought(rank, self.seq)
        }
    }
}
