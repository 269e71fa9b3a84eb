//! A rank: who it is, and the collectives that it takes part in.
//!
//! Every rank of a world calls the same collectives in the same order. One that does not gets an
//! error, and so do all others, at once or at the deadline. After the first failure a world is
//! over: every further call returns the first cause.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use kernels::Float;
use kernels::tree::shard_range;
use tensor::Device;

use crate::error::{Error, Result};
use crate::fabric::{Fabric, Settings};
use crate::header::{Algorithm, Header, Kind, ReduceOp};
use crate::port::Port;
pub use crate::port::{Ticket, Times};
pub use crate::wire::Wire;

/// One of the ranks of a world. It belongs to the thread that runs it.
pub struct Rank {
    rank: usize,
    settings: Settings,
    device: Device,
    port: RefCell<Port>,
    /// Replicas that were made on this rank.
    replicas: Cell<u64>,
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rank {{ {} of {} }}", self.rank, self.settings.world_size)
    }
}

impl Rank {
    /// The rank's end of `fabric`, and a device of its own.
    pub(crate) fn new(fabric: &Arc<Fabric>, rank: usize) -> Result<Self, tensor::Error> {
        let device = Device::cpu_with_threads(fabric.settings.threads)?;
        let port = RefCell::new(Port::new(fabric, rank));
        Ok(Rank { rank, settings: fabric.settings, device, port, replicas: Cell::new(0) })
    }

    /// Which rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Of how many.
    pub fn world_size(&self) -> usize {
        self.settings.world_size
    }

    /// Into how many shards the global batch is cut.
    pub fn shards(&self) -> usize {
        self.settings.shards
    }

    /// The shards that this rank hosts; never empty.
    pub fn shard_range(&self) -> Range<usize> {
        shard_range(self.rank, self.settings.world_size, self.settings.shards)
    }

    /// How reductions add up.
    pub fn algorithm(&self) -> Algorithm {
        self.settings.algorithm
    }

    /// How long a wait may take.
    pub fn deadline(&self) -> Duration {
        self.settings.deadline
    }

    /// Where this rank's tensors live and compute: memory and threads that no other rank uses.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many threads the kernels of this rank may use.
    pub fn threads(&self) -> usize {
        self.settings.threads
    }

    /// Runs a call: shows a sign of life before and after, and refuses if the world is over.
    fn call<R>(&self, body: impl FnOnce(&mut Port) -> Result<R>) -> Result<R> {
        let mut port = self.port.borrow_mut();
        port.sign();
        let result = port.fabric.check().and_then(|()| body(&mut port));
        port.sign();
        result
    }

    /// Ends the world with `error`, unless it has ended already. For disagreements that every
    /// rank finds by itself, so that all report them in the same words.
    pub(crate) fn fail(&self, error: Error) {
        self.port.borrow().fabric.fail(error);
    }

    /// The number of a new replica: ranks that make replicas in the same order give them the same
    /// numbers, and find out if they mix them up.
    pub(crate) fn number_replica(&self) -> u64 {
        self.replicas.replace(self.replicas.get() + 1)
    }

    /// Shows a sign of life. For computations between two collectives that take longer than the
    /// deadline.
    pub fn alive(&self) {
        let mut port = self.port.borrow_mut();
        port.sign();
        port.sign();
    }

    /// Reduces `data` over all ranks, element by element; every rank gets the same bits.
    ///
    /// In a `Tree` world the reduction is the canonical tree over the ranks, in a `Ring` world the
    /// order of the ring. After an error the contents of `data` are lost.
    ///
    /// # Errors
    /// Ranks that brought different counts, types or operations, or a rank that failed.
    pub fn all_reduce<T: Wire>(&self, data: &mut Vec<T>, op: ReduceOp) -> Result<()> {
        self.call(|port| {
            let header = port.reduction(Kind::AllReduce, T::DTYPE, data.len(), op);
            let mut cargo = port.collect(header, std::mem::take(data), true)?;
            *data = std::mem::take(&mut cargo.result);
            port.retire(cargo);
            Ok(())
        })
    }

    /// Reduces `data` as [`Rank::all_reduce`] does, but returns this rank's chunk only, and leaves
    /// `data` as it is. In rank order the chunks make up the whole
    /// (`kernels::ring_all_reduce::Chunks`).
    ///
    /// # Errors
    /// As [`Rank::all_reduce`].
    pub fn reduce_scatter<T: Wire>(&self, data: &mut Vec<T>, op: ReduceOp) -> Result<Vec<T>> {
        self.call(|port| {
            let header = port.reduction(Kind::ReduceScatter, T::DTYPE, data.len(), op);
            let mut cargo = port.collect(header, std::mem::take(data), false)?;
            *data = cargo.parts.pop().unwrap_or_default();
            let chunk = std::mem::take(&mut cargo.result);
            port.retire(cargo);
            Ok(chunk)
        })
    }

    /// What all ranks brought, one after the other in rank order. Lengths may differ.
    ///
    /// # Errors
    /// Ranks that brought different types, or a rank that failed.
    pub fn all_gather<T: Wire>(&self, data: Vec<T>) -> Result<Vec<T>> {
        self.call(|port| {
            let header = Header::new(Kind::AllGather, T::DTYPE, data.len());
            let mut cargo = port.collect(header, data, false)?;
            let gathered = std::mem::take(&mut cargo.result);
            port.retire(cargo);
            Ok(gathered)
        })
    }

    /// Gives every rank the values of rank `root`. All bring equally many; after an error the
    /// contents of `data` are lost.
    ///
    /// # Errors
    /// A `root` that does not exist, ranks that brought different counts, types or roots, or a
    /// rank that failed.
    pub fn broadcast<T: Wire>(&self, data: &mut Vec<T>, root: usize) -> Result<()> {
        self.call(|port| {
            if root >= self.world_size() {
                let brought = format!("root {root} in a world of {} ranks", self.world_size());
                return port.refuse("broadcast", brought, "ranks count from 0: name one of them");
            }
            let header = Header { root, ..Header::new(Kind::Broadcast, T::DTYPE, data.len()) };
            let mut cargo = port.collect(header, std::mem::take(data), false)?;
            *data = std::mem::take(&mut cargo.result);
            port.retire(cargo);
            Ok(())
        })
    }

    /// Waits until all ranks have come here.
    ///
    /// # Errors
    /// A rank that failed.
    pub fn barrier(&self) -> Result<()> {
        self.call(Port::barrier)
    }

    /// Passes a barrier with all ranks or with none: when one rank returns `Ok`, every rank does,
    /// whatever fails and whichever deadline passes meanwhile.
    ///
    /// # Errors
    /// A rank that failed before all had arrived.
    pub fn commit(&self) -> Result<()> {
        self.call(Port::commit)
    }

    /// All ranks' `values`, in rank order. For a few numbers: every rank copies all of them.
    /// Lengths may differ; `label`, which says what the numbers are, must be the same on every
    /// rank.
    ///
    /// # Errors
    /// Ranks that brought different labels, or a rank that failed.
    pub fn share_small(&self, label: &str, values: Vec<f64>) -> Result<Vec<Vec<f64>>> {
        self.call(|port| {
            let header = Header::new(Kind::ShareSmall, kernels::DType::F64, values.len());
            let header = Header { label: label.to_owned(), ..header };
            let mut cargo = port.collect(header, values, false)?;
            let shared = std::mem::take(&mut cargo.parts);
            port.retire(cargo);
            Ok(shared)
        })
    }

    /// Starts the sum of a bucket of gradients over all shards of all ranks, and does not wait.
    ///
    /// `roots` are this rank's sums, one for each canonical subtree that lies inside its
    /// [`shard_range`](Rank::shard_range) (`kernels::tree::roots`), in order, all equally long. A
    /// `Ring` world takes any number of sums, and adds them into the first one, left to right.
    /// `label` says in errors what the bucket is, and must be the same on every rank.
    ///
    /// # Errors
    /// Roots of another number or of different lengths, an element type that is not f32 or f64, or
    /// a rank that failed.
    pub fn start_all_reduce<T: Float>(&self, label: &str, roots: Vec<Vec<T>>) -> Result<Ticket> {
        self.call(|port| port.start_gradients(label, roots))
    }

    /// Moves on all reductions that were started, as far as the other ranks allow. Never waits.
    /// Every other call does the same.
    ///
    /// # Errors
    /// A rank that failed, or brought something else.
    pub fn progress(&self) -> Result<()> {
        self.call(Port::progress)
    }

    /// Waits for a reduction that was started; returns the total, and the `roots` that were
    /// brought, to be filled again. Give the total back with [`Rank::recycle`] when it was used.
    ///
    /// # Errors
    /// A rank that failed or did not come, named with the label; or a ticket of another rank or
    /// element type.
    #[allow(clippy::type_complexity, reason = "a pair of what the caller asked for and brought")]
    pub fn finish<T: Float>(&self, ticket: Ticket) -> Result<(Vec<T>, Vec<Vec<T>>)> {
        self.call(|port| port.finish_gradients(ticket))
    }

    /// Takes a buffer for the total of a later reduction, so that none has to be allocated.
    pub fn recycle<T: Float>(&self, buffer: Vec<T>) {
        self.port.borrow_mut().recycle(buffer);
    }

    /// Elements that this rank has sent to its next in the ring.
    pub fn elements_sent(&self) -> u64 {
        self.port.borrow().sent()
    }

    /// Where this rank's time inside collectives went since the start or the last
    /// [`Rank::reset_times`].
    pub fn times(&self) -> Times {
        self.port.borrow().times()
    }

    /// Starts [`Rank::times`] from zero.
    pub fn reset_times(&self) {
        self.port.borrow_mut().reset_times();
    }
}
