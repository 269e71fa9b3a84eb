//! A rank's end of its world: starts collectives, waits for them, and accounts for the time.

use kernels::{DType, Element, Float};

use crate::collective::{Cargo, Engine, Lane, Stage};
use crate::error::{Error, Result};
use crate::fabric::Fabric;
use crate::header::{Algorithm, Header, Kind, ReduceOp};
use crate::sync::{Duration, Instant};
use crate::wait::Look;
use crate::wire::Wire;
use std::sync::Arc;

/// A collective of this rank that was started and is to be finished.
#[derive(Debug)]
#[must_use = "a reduction that is started is to be finished"]
pub struct Ticket {
    seq: u64,
    owner: Owner,
}

/// Whose ticket it is: the rank, and the address of its world's fabric, which lives as long as any
/// rank of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    fabric: usize,
    rank: usize,
}

/// Where a rank's time inside `dist` went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Adding up and copying.
    pub reduce: Duration,
    /// Waiting for other ranks.
    pub wait: Duration,
}

/// One rank's end.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) rank: usize,
    engine: Engine,
    waited: Duration,
    /// What `times` starts from.
    times_from: Times,
    signs: u64,
}

impl Port {
    pub(crate) fn new(fabric: &Arc<Fabric>, rank: usize) -> Self {
        Port {
            fabric: Arc::clone(fabric),
            rank,
            engine: Engine::new(fabric, rank),
            waited: Duration::ZERO,
            times_from: Times::default(),
            signs: 0,
        }
    }

    /// Counts an entry into a call, or a return from one.
    pub(crate) fn sign(&mut self) {
        self.signs += 1;
        self.fabric.roll.sign(self.rank, self.signs);
    }

    pub(crate) fn sent(&self) -> u64 {
        self.engine.sent()
    }

    pub(crate) fn times(&self) -> Times {
        let Times { reduce, wait } = self.times_from;
        Times { reduce: self.engine.busy() - reduce, wait: self.waited - wait }
    }

    pub(crate) fn reset_times(&mut self) {
        self.times_from = Times { reduce: self.engine.busy(), wait: self.waited };
    }

    /// An error that concerns this rank alone.
    pub(crate) fn refuse<R>(
        &self,
        call: &'static str,
        brought: String,
        rule: &'static str,
    ) -> Result<R> {
        Err(Error::Call { call, rank: self.rank, brought, rule })
    }

    fn lane<T: Element>(&mut self, call: &'static str) -> Result<&mut Lane<T>> {
        let rank = self.rank;
        self.engine.lane().ok_or_else(|| Error::Call {
            call,
            rank,
            brought: format!("elements of type {}", T::DTYPE),
            rule: "f32, f64 and i64 travel between ranks: cast first",
        })
    }

    /// Starts the sum of gradients over all shards; see `Rank::start_all_reduce`.
    pub(crate) fn start_gradients<T: Float>(
        &mut self,
        label: &str,
        roots: Vec<Vec<T>>,
    ) -> Result<Ticket> {
        const CALL: &str = "start_all_reduce";
        let algorithm = self.fabric.settings.algorithm;
        let expected = self.fabric.roots_of(self.rank);
        let fits = match algorithm {
            Algorithm::Tree => roots.len() == expected,
            Algorithm::Ring => !roots.is_empty(),
        };
        if !fits {
            let brought = format!("{} sums for {expected} subtrees [{label}]", roots.len());
            return self.refuse(CALL, brought, "bring one sum for each subtree of the own shards");
        }
        let count = roots[0].len();
        if let Some(other) = roots.iter().map(Vec::len).find(|&len| len != count) {
            let brought = format!("sums of {count} and of {other} elements [{label}]");
            return self.refuse(CALL, brought, "the sums of one bucket are equally long");
        }
        let seq = self.engine.next();
        self.lane(CALL)?.load(seq, roots);
        let header = Header::new(Kind::Gradients, T::DTYPE, count);
        self.engine.open(Header { algorithm, label: label.to_owned(), ..header });
        self.progress()?;
        Ok(Ticket { seq, owner: self.owner() })
    }

    /// Waits for what [`Port::start_gradients`] started: the total, and the sums that were brought.
    pub(crate) fn finish_gradients<T: Float>(
        &mut self,
        ticket: Ticket,
    ) -> Result<(Vec<T>, Vec<Vec<T>>)> {
        let Ticket { seq, owner } = ticket;
        if owner == self.owner() {
            self.wait_for(seq, Stage::Done)?;
            self.engine.close(seq);
            if let Some(Cargo { result, parts, .. }) = self.lane("finish")?.unload(seq) {
                return Ok((result, parts));
            }
        }
        self.refuse(
            "finish",
            format!("a ticket of rank {} for collective {seq}, as {}", owner.rank, T::DTYPE),
            "a ticket is finished by the rank that started it, with the same element type",
        )
    }

    fn owner(&self) -> Owner {
        Owner { fabric: Arc::as_ptr(&self.fabric).addr(), rank: self.rank }
    }

    /// Keeps a buffer for a later total.
    pub(crate) fn recycle<T: Float>(&mut self, buffer: Vec<T>) {
        if let Some(lane) = self.engine.lane() {
            lane.keep(buffer);
        }
    }

    /// Moves on whatever can move without waiting.
    pub(crate) fn progress(&mut self) -> Result<()> {
        self.engine.advance(&self.fabric).map_err(|cause| self.fabric.fail(cause))
    }

    /// Takes part in a collective with one buffer, and waits until it is done. If `in_place`, the
    /// result is written over the buffer.
    pub(crate) fn collect<T: Wire>(
        &mut self,
        header: Header,
        part: Vec<T>,
        in_place: bool,
    ) -> Result<Cargo<T>> {
        let seq = self.engine.next();
        self.lane("collective")?.load_one(seq, part, in_place);
        self.engine.open(header);
        self.wait_for(seq, Stage::Done)?;
        self.engine.close(seq);
        self.lane("collective")?.unload(seq).ok_or_else(|| Error::Call {
            call: "collective",
            rank: self.rank,
            brought: "nothing".to_owned(),
            rule: "every collective has a cargo until it is unloaded",
        })
    }

    /// Keeps what is left of a cargo.
    pub(crate) fn retire<T: Wire>(&mut self, cargo: Cargo<T>) {
        if let Some(lane) = self.engine.lane() {
            lane.retire(cargo);
        }
    }

    /// The header of a reduction in the world's algorithm.
    pub(crate) fn reduction(&self, kind: Kind, dtype: DType, count: usize, op: ReduceOp) -> Header {
        let algorithm = self.fabric.settings.algorithm;
        Header { op, algorithm, ..Header::new(kind, dtype, count) }
    }

    /// Waits until all ranks have come here.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        let seq = self.engine.open(Header::new(Kind::Barrier, DType::F32, 0));
        self.wait_for(seq, Stage::Done)?;
        self.engine.close(seq);
        Ok(())
    }

    /// Passes the barrier with all ranks, or with none.
    pub(crate) fn commit(&mut self) -> Result<()> {
        let seq = self.engine.open(Header::new(Kind::Commit, DType::F32, 0));
        self.wait_for(seq, Stage::Brought)?;
        let Port { fabric, rank, engine, .. } = self;
        let (rank, started, busy) = (*rank, Instant::now(), engine.busy());
        let engine = std::cell::RefCell::new(engine);
        let look = |look| {
            let mut engine = engine.borrow_mut();
            engine.advance(fabric)?;
            if look == Look::Thorough { engine.check_hope(fabric, seq) } else { Ok(()) }
        };
        let agree = || fabric.roll.compare_arrived(rank, seq);
        let late = |ranks| Error::Late {
            ranks,
            collective: "commit".to_owned(),
            deadline: fabric.settings.deadline,
        };
        let passed = fabric.barrier.pass(fabric.waiter(rank), agree, look, late);
        let engine = engine.into_inner();
        self.waited += started.elapsed().saturating_sub(engine.busy() - busy);
        passed?;
        self.engine.close_commit(seq);
        self.progress()
    }

    /// Waits until collective `seq` has come to `stage`, and moves all others on meanwhile.
    fn wait_for(&mut self, seq: u64, stage: Stage) -> Result<()> {
        let Port { fabric, rank, engine, waited, .. } = self;
        let reached = |engine: &Engine| engine.entry(seq).is_none_or(|entry| entry.stage >= stage);
        engine.advance(fabric).map_err(|cause| fabric.fail(cause))?;
        if reached(engine) {
            return Ok(());
        }
        let (started, busy) = (Instant::now(), engine.busy());
        let found = fabric.waiter(*rank).wait(|look| {
            let mut moved = engine.advance(fabric);
            if reached(engine) {
                return Some(Ok(()));
            }
            if look == Look::Thorough {
                moved = moved.and_then(|()| engine.check_hope(fabric, seq));
            }
            let moved = moved.map_err(|cause| fabric.fail(cause));
            moved.and_then(|()| fabric.check()).err().map(Err)
        });
        *waited += started.elapsed().saturating_sub(engine.busy() - busy);
        found.unwrap_or_else(|| Err(fabric.fail(engine.late(fabric, seq))))
    }
}
