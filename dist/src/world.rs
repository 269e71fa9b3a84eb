//! Starts the ranks of a world, one thread each, and brings home what they return or why they
//! failed. It never waits without a bound.

use std::error::Error as StdError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::fabric::{Fabric, Settings};
use crate::header::Algorithm;
use crate::rank::Rank;
use crate::supervise::{Desk, join_all, supervise};

/// A world of ranks that is about to run.
///
/// ```
/// use ringgrad_dist::{Error, ReduceOp, World};
///
/// let sums = World::threads(3).run(|rank| {
///     let mut values = vec![rank.rank() as f64, 1.0];
///     rank.all_reduce(&mut values, ReduceOp::Sum)?;
///     Ok::<_, Error>(values)
/// })?;
/// assert_eq!(sums, [[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a world does nothing until it runs"]
pub struct World {
    ranks: usize,
    shards: Option<usize>,
    threads_per_rank: Option<usize>,
    algorithm: Algorithm,
    granule: usize,
    deadline: Duration,
}

/// The most ranks of a world. Each is a thread and looks at all others: a machine has fewer cores.
const RANKS_MAX: usize = 1024;

/// What became of every rank.
#[derive(Debug)]
pub struct Outcome<R> {
    /// By rank: what it returned, or the error that it met.
    pub results: Vec<Result<R>>,
    /// Threads that were left behind, because they were stuck in code that is not ours.
    pub detached: usize,
}

impl World {
    /// A world of `ranks` threads of this process.
    pub fn threads(ranks: usize) -> Self {
        World {
            ranks,
            shards: None,
            threads_per_rank: None,
            algorithm: Algorithm::default(),
            granule: kernels::ring_all_reduce::GRANULE,
            deadline: Duration::from_secs(30),
        }
    }

    /// Cuts the global batch into `shards` shards; one a rank unless set. At least one a rank.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// How long a wait may take, and a rank be silent between two collectives; 30 s unless set.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Kernel threads of each rank; the cores divided by the ranks unless set, and at least one.
    pub fn threads_per_rank(mut self, threads: usize) -> Self {
        self.threads_per_rank = Some(threads.max(1));
        self
    }

    /// How reductions add up; [`Algorithm::Tree`] unless set.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Chunks begin at multiples of `granule` elements; 256 unless set, and at least 1. Changes
    /// the bits of a ring, and of nothing else.
    pub fn granule(mut self, granule: usize) -> Self {
        self.granule = granule.max(1);
        self
    }

    /// Runs `body` on every rank; returns what the ranks return, in rank order.
    ///
    /// A closure that captures data gets it by `move`: a rank that is stuck outlives this call.
    ///
    /// # Errors
    /// The first cause of the first failure, also when it made other ranks fail; or a world
    /// without ranks, or with fewer shards than ranks.
    pub fn run<R, E, F>(&self, body: F) -> Result<Vec<R>>
    where
        R: Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
        F: Fn(&mut Rank) -> Result<R, E> + Send + Sync + 'static,
    {
        let fabric = Arc::new(Fabric::new(self.settings()?));
        let Outcome { results, .. } = launch(&fabric, body);
        let results: Result<Vec<R>> = results.into_iter().collect();
        results.map_err(|error| fabric.barrier.cause().unwrap_or(error))
    }

    /// As [`World::run`]; returns what became of every rank. In a world that cannot be, each rank
    /// gets the reason.
    ///
    /// # Errors
    /// None of its own: they are in the results.
    pub fn run_each<R, E, F>(&self, body: F) -> Outcome<R>
    where
        R: Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
        F: Fn(&mut Rank) -> Result<R, E> + Send + Sync + 'static,
    {
        match self.settings() {
            Ok(settings) => launch(&Arc::new(Fabric::new(settings)), body),
            Err(error) => {
                // No rank has run: one result tells it all.
                let results =
                    (0..self.ranks.clamp(1, RANKS_MAX)).map(|_| Err(error.clone())).collect();
                Outcome { results, detached: 0 }
            }
        }
    }

    fn settings(&self) -> Result<Settings> {
        let ranks = self.ranks;
        let shards = self.shards.unwrap_or(ranks);
        if ranks == 0 || shards < ranks || ranks > RANKS_MAX {
            return Err(Error::World { ranks, shards, max: RANKS_MAX });
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Settings {
            world_size: ranks,
            shards,
            algorithm: self.algorithm,
            granule: self.granule,
            deadline: self.deadline,
            threads: self.threads_per_rank.unwrap_or((cores / ranks).max(1)),
            cores,
        })
    }
}

/// Starts the threads and waits for them.
fn launch<R, E, F>(fabric: &Arc<Fabric>, body: F) -> Outcome<R>
where
    R: Send + 'static,
    E: Into<Box<dyn StdError + Send + Sync>>,
    F: Fn(&mut Rank) -> Result<R, E> + Send + Sync + 'static,
{
    let world_size = fabric.settings.world_size;
    let (body, desk) = (Arc::new(body), Arc::new(Desk::new(world_size)));
    let mut handles = Vec::with_capacity(world_size);
    for rank in 0..world_size {
        let (body, own, desk_of_rank) = (Arc::clone(&body), Arc::clone(fabric), Arc::clone(&desk));
        let name = format!("ringgrad-rank-{rank}");
        let started = thread::Builder::new().name(name).spawn(move || {
            let result = serve(&own, rank, &*body);
            drop(body);
            desk_of_rank.hand_in(rank, result);
        });
        match started {
            Ok(handle) => handles.push(Some(handle)),
            Err(error) => {
                let error = Error::RankFailed { rank, cause: Arc::new(error) };
                fabric.fail(error.clone());
                desk.hand_in(rank, Err(error));
                handles.push(None);
            }
        }
    }
    let stuck = supervise(fabric, &desk);
    let ended = handles.into_iter().enumerate().filter(|(rank, _)| !stuck.contains(rank));
    let detached = stuck.len() + join_all(ended.filter_map(|(_, handle)| handle).collect());
    Outcome { results: desk.take(), detached }
}

/// Runs one rank to its end, and tells the others how it ended.
fn serve<R, E>(
    fabric: &Arc<Fabric>,
    rank: usize,
    body: &dyn Fn(&mut Rank) -> Result<R, E>,
) -> Result<R>
where
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    let ended =
        catch_unwind(AssertUnwindSafe(|| body(&mut Rank::new(fabric, rank)?).map_err(Into::into)));
    let failed = |cause| Error::RankFailed { rank, cause };
    let result = match ended {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => match fabric.check() {
            // It returns what the world failed of, perhaps wrapped in an error type of its own.
            Err(cause) if cause.to_string() == error.to_string() => Err(cause),
            _ => Err(failed(error.into())),
        },
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(ToString::to_string)
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "a value that is no text".to_owned());
            // A payload whose destructor panics is not to take this thread with it.
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                std::mem::forget(second);
            }
            Err(failed(Box::<dyn StdError + Send + Sync>::from(format!("panicked: {text}")).into()))
        }
    };
    if let Err(error) = &result {
        fabric.fail(error.clone());
    }
    fabric.roll.leave(&fabric.beds, rank);
    result
}
