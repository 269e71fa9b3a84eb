//! One rank's copy of a model: its parameters, its gradient sync and its recipe, in lockstep
//! with the copies of the other ranks.

use std::error::Error as StdError;

use autograd::{Gradient, LeafArena, LeafId, Sink, StepFacts};
use kernels::hash::fnv1a_words;
use kernels::update::Recipe;
use tensor::{DType, Differentiable, Tensor};

use crate::error::Error;
use crate::grad_sync::GradSync;
use crate::lockstep::lockstep;
use crate::rank::{Rank, Wire};
use crate::replica_error::ReplicaResult;

/// How a replica synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaSettings {
    /// Bytes of a bucket; a larger gradient has a bucket of its own. Never changes a bit of the
    /// result in `Tree`.
    pub bucket_bytes: usize,
    /// A fault to show what synchronisation is for.
    pub break_sync: BreakSync,
}

impl Default for ReplicaSettings {
    /// 256 KiB: large enough to hide what a message costs, small enough to stay in a core's cache
    /// between backward, reduction and step.
    fn default() -> Self {
        ReplicaSettings { bucket_bytes: 256 << 10, break_sync: BreakSync::None }
    }
}

/// Faults for teaching: each lets the replicas drift apart in its own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BreakSync {
    /// None: the replicas stay equal.
    #[default]
    None,
    /// Every rank steps with the gradients of its own shards.
    NoReduce,
    /// The second half of every bucket keeps the rank's own gradients.
    HalfReduced,
    /// Every rank keeps the parameters that it brought; nothing is broadcast at the start.
    RankSeed,
}

/// What a step brought; the same numbers on every rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepped {
    /// The loss of the global batch before the step.
    pub loss: f64,
    /// What it was counted over.
    pub count: f64,
    /// The learning rate of parameters that are in no group.
    pub lr: f64,
    /// The norm of the mean gradient before clipping, where the recipe bounds it.
    pub grad_norm: Option<f64>,
}

/// A model's parameters on one rank.
pub struct Replica {
    arena: LeafArena,
    recipe: Recipe,
    sync: AnySync,
    /// Which replica of its rank: the same on every rank.
    number: u64,
}

/// The sync of the arena's element type.
enum AnySync {
    F32(GradSync<f32>),
    F64(GradSync<f64>),
}

impl Replica {
    /// Compares names, shapes and the recipe with the other ranks, and takes over rank 0's values.
    ///
    /// # Errors
    /// Impossible settings, a group without parameters, parameters that differ from rank 0's in
    /// name, shape or number, another recipe, or a rank that failed.
    pub fn new(
        rank: &Rank,
        mut arena: LeafArena,
        recipe: Recipe,
        settings: ReplicaSettings,
    ) -> ReplicaResult<Self> {
        recipe.validate().map_err(autograd::Error::from)?;
        arena.check_groups(&recipe)?;
        compare(rank, &arena, &recipe)?;
        let ReplicaSettings { bucket_bytes, break_sync } = settings;
        let share = break_sync != BreakSync::RankSeed;
        let sync = match arena.dtype() {
            DType::F64 => {
                broadcast_params::<f64>(rank, &mut arena, share)?;
                AnySync::F64(GradSync::new(&arena, bucket_bytes, break_sync))
            }
            _ => {
                broadcast_params::<f32>(rank, &mut arena, share)?;
                AnySync::F32(GradSync::new(&arena, bucket_bytes, break_sync))
            }
        };
        Ok(Replica { arena, recipe, sync, number: rank.number_replica() })
    }

    /// The parameters.
    pub fn arena(&self) -> &LeafArena {
        &self.arena
    }

    /// Where the backward of the current shard emits its gradients.
    pub fn sink<'a>(&'a mut self, rank: &'a Rank) -> ShardSink<'a> {
        ShardSink { rank, sync: &mut self.sync }
    }

    /// Ends a shard after its backward.
    ///
    /// # Errors
    /// A parameter that got no gradient (all such are named).
    pub fn close_shard(&mut self, loss_sum: f64, count: f64) -> ReplicaResult<()> {
        match &mut self.sync {
            AnySync::F32(sync) => sync.close_shard(loss_sum, count),
            AnySync::F64(sync) => sync.close_shard(loss_sum, count),
        }
    }

    /// A shard that has no samples in this step.
    ///
    /// # Errors
    /// A rank that failed.
    pub fn skip_shard(&mut self, rank: &Rank) -> ReplicaResult<()> {
        match &mut self.sync {
            AnySync::F32(sync) => sync.skip_shard(rank),
            AnySync::F64(sync) => sync.skip_shard(rank),
        }
    }

    /// After all shards: waits for the sums over all ranks, and steps with them in lockstep.
    /// `batch` says which samples were taken, and must be the same on every rank.
    ///
    /// # Errors
    /// Ranks that are in different steps, replicas or batches, a rank that failed or did not come,
    /// a global count that is not positive, or a graph that still holds parameters. The live
    /// parameters are then those of the last committed step.
    pub fn step(&mut self, rank: &Rank, batch: &str) -> ReplicaResult<Stepped> {
        let label = format!("replica {}, step {}, {batch}", self.number, self.arena.steps());
        match &mut self.sync {
            AnySync::F32(sync) => stepped(rank, &label, &mut self.arena, &self.recipe, sync),
            AnySync::F64(sync) => stepped(rank, &label, &mut self.arena, &self.recipe, sync),
        }
    }

    /// The first rank whose parameters differ from rank 0's in any bit.
    ///
    /// # Errors
    /// A rank that failed.
    pub fn first_drifted_rank(&self, rank: &Rank) -> ReplicaResult<Option<usize>> {
        let hash = match self.arena.dtype() {
            DType::F64 => hash_of::<f64>(self.arena.params()),
            _ => hash_of::<f32>(self.arena.params()),
        };
        let hashes = rank.all_gather(vec![hash.cast_signed()])?;
        Ok(hashes.iter().position(|hash| *hash != hashes[0]))
    }
}

fn stepped<T: Differentiable>(
    rank: &Rank,
    label: &str,
    arena: &mut LeafArena,
    recipe: &Recipe,
    sync: &mut GradSync<T>,
) -> ReplicaResult<Stepped> {
    let averaged = sync.reduce(rank, label)?;
    let StepFacts { lr, grad_norm } = lockstep(rank, arena, recipe, &averaged)?;
    let stepped = Stepped { loss: averaged.loss(), count: averaged.count(), lr, grad_norm };
    sync.recycle(rank, averaged);
    Ok(stepped)
}

/// The sink of one shard.
pub struct ShardSink<'a> {
    rank: &'a Rank,
    sync: &'a mut AnySync,
}

impl Sink for ShardSink<'_> {
    fn emit(
        &mut self,
        leaf: LeafId,
        gradient: Gradient<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        match self.sync {
            AnySync::F32(sync) => sync.emit(self.rank, leaf, gradient)?,
            AnySync::F64(sync) => sync.emit(self.rank, leaf, gradient)?,
        }
        Ok(())
    }
}

/// Fails on every rank when any rank's leaves or recipe differ from rank 0's, quoting the first
/// difference.
fn compare(rank: &Rank, arena: &LeafArena, recipe: &Recipe) -> ReplicaResult<()> {
    let describe = |leaf| {
        format!("the parameter {} {} {}", arena.name(leaf), arena.dtype(), arena.shape(leaf))
    };
    let leaves = (0..arena.len()).map(describe);
    let own: Vec<String> = leaves.chain(described(recipe)).collect();
    // Texts travel as one number a byte: this happens once, before the first step.
    let bytes = own.join("\n").bytes().map(i64::from).collect::<Vec<_>>();
    let lens = rank.all_gather(vec![bytes.len() as i64])?;
    let all = rank.all_gather(bytes)?;
    let mut start = 0;
    let mut texts = lens.iter().map(|&len| {
        let end = start + len as usize;
        let bytes = all[start..end].iter().map(|&byte| byte as u8).collect();
        start = end;
        String::from_utf8(bytes).unwrap_or_default()
    });
    let first = texts.next().unwrap_or_default();
    for (other, text) in texts.enumerate().map(|(i, text)| (i + 1, text)) {
        if text != first {
            let brought = first_difference(&first, &text);
            let error = Error::Mismatch { ranks: [0, other], brought };
            rank.fail(error.clone());
            return Err(error.into());
        }
    }
    Ok(())
}

/// What must be the same on every rank, a line each; a schedule's numbers show all their digits.
fn described(recipe: &Recipe) -> Vec<String> {
    let Recipe { rule, schedule, clip, groups } = recipe;
    let mut lines = vec![format!("the update rule {rule:?}"), format!("the schedule {schedule:?}")];
    lines.push(format!("the bound of the gradient {clip:?}"));
    lines.extend(groups.iter().map(|group| format!("the group {group:?}")));
    lines
}

/// The first line in which two lists differ, as each of them has it.
fn first_difference(left: &str, right: &str) -> [String; 2] {
    let (mut left, mut right) = (left.lines(), right.lines());
    loop {
        let pair = [left.next(), right.next()];
        if pair[0] != pair[1] || pair[0].is_none() {
            return pair.map(|line| match line {
                Some(line) => line.to_owned(),
                None => "nothing more".to_owned(),
            });
        }
    }
}

/// Rank 0's parameters on every rank.
fn broadcast_params<T>(rank: &Rank, arena: &mut LeafArena, share: bool) -> ReplicaResult<()>
where
    T: Differentiable + Wire,
{
    let mut values = arena.params().to_vec::<T>()?;
    if share {
        rank.broadcast(&mut values, 0)?;
    }
    Ok(arena.set_params(&values)?)
}

/// A hash of the values' bits, NaNs counted as one.
fn hash_of<T: Differentiable>(params: &Tensor) -> u64 {
    let bits = |value: &T| if value.is_nan() { f64::NAN } else { value.to_f64() }.to_bits();
    fnv1a_words(params.as_slice::<T>().unwrap_or_default().iter().map(bits))
}
