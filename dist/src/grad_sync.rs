//! Hop 4 of a gradient's life: the sink that writes it into its place in a bucket. When the last
//! shard of this rank has filled a bucket, its all-reduce starts, while backward goes on.
//!
//! A rank hosts several shards and runs them one after the other. Their buckets are added by a
//! binary counter along the canonical tree (`kernels::tree`), never by a plain `+=`: what a rank
//! adds up is a part of the one expression that defines the sum over all shards.

use std::collections::HashMap;
use std::ops::Range;

use autograd::{Gradient, LeafArena, LeafId};
use kernels::tree;
use tensor::{Differentiable, Shape, TensorMut};

use crate::bucket::{Bucket, buckets};
use crate::rank::{Rank, Ticket};
use crate::replica::BreakSync;
use crate::replica_error::{ReplicaError, ReplicaResult};

/// The gradients of one model on one rank, on their way to the other ranks.
pub struct GradSync<T> {
    buckets: Vec<Filling<T>>,
    places: HashMap<LeafId, Place>,
    /// Names by leaf, for errors.
    names: Vec<String>,
    arrived: Vec<bool>,
    /// Shards of this step that have been closed.
    closed: usize,
    /// Loss sum and count of each closed shard.
    small: Vec<f64>,
    break_sync: BreakSync,
}

/// Where a leaf's gradient goes.
struct Place {
    leaf: usize,
    bucket: usize,
    range: Range<usize>,
    shape: Shape,
}

/// A bucket, its buffers, and where its reduction stands.
struct Filling<T> {
    bucket: Bucket,
    label: String,
    /// The gradients of the current shard.
    current: Vec<T>,
    /// Leaves of the current shard that have not arrived.
    missing: usize,
    /// Sums of the closed shards: canonical subtrees, left to right.
    roots: Vec<(Range<usize>, Vec<T>)>,
    /// Buffers to be used again.
    spare: Vec<Vec<T>>,
    ticket: Option<Ticket>,
}

/// Gradients summed over all shards of the global batch, and the batch's loss: the same bits on
/// every rank. Only [`GradSync::reduce`] makes one, and a step takes nothing else.
///
/// ```
/// use ringgrad_dist::{Averaged, GradSync, Rank, ReplicaResult};
/// fn reduced(sync: &mut GradSync<f32>, rank: &Rank) -> ReplicaResult<Averaged<f32>> {
///     sync.reduce(rank, "step 0")
/// }
/// ```
///
/// Gradients that were not reduced do not fit:
///
/// ```compile_fail
/// use ringgrad_dist::{Averaged, GradSync, Rank, ReplicaResult};
/// fn reduced(sync: &mut GradSync<f32>, rank: &Rank) -> ReplicaResult<Averaged<f32>> {
///     Ok(sync)
/// }
/// ```
#[derive(Debug)]
pub struct Averaged<T> {
    /// By bucket: the sums, in the arena's order.
    pub(crate) sums: Vec<(Range<usize>, Vec<T>)>,
    pub(crate) loss_sum: f64,
    pub(crate) count: f64,
}

impl<T> Averaged<T> {
    /// What the sums were taken over; a step divides by it, once.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The loss of the global batch.
    pub fn loss(&self) -> f64 {
        self.loss_sum / self.count
    }
}

impl<T: Differentiable> GradSync<T> {
    /// The sync for the leaves of `arena`, in buckets of at most `bucket_bytes`.
    pub fn new(arena: &LeafArena, bucket_bytes: usize, break_sync: BreakSync) -> Self {
        let lens = (0..arena.len()).map(|leaf| arena.range(leaf).len());
        let cut = buckets(lens, bucket_bytes / size_of::<T>());
        let mut places = HashMap::new();
        for (number, bucket) in cut.iter().enumerate() {
            for leaf in bucket.leaves.clone() {
                let Range { start, end } = arena.range(leaf);
                let first = bucket.elements.start;
                let range = start - first..end - first;
                let place = Place { leaf, bucket: number, range, shape: *arena.shape(leaf) };
                places.insert(arena.id(leaf), place);
            }
        }
        let filling = |bucket: Bucket| Filling {
            label: bucket.label(arena),
            current: vec![T::ZERO; bucket.elements.len()],
            missing: bucket.leaves.len(),
            roots: Vec::new(),
            spare: Vec::new(),
            ticket: None,
            bucket,
        };
        GradSync {
            buckets: cut.into_iter().map(filling).collect(),
            places,
            names: (0..arena.len()).map(|leaf| arena.name(leaf).to_owned()).collect(),
            arrived: vec![false; arena.len()],
            closed: 0,
            small: Vec::new(),
            break_sync,
        }
    }

    /// Takes a final gradient of the current shard: the vjp writes it into the bucket.
    ///
    /// # Errors
    /// A leaf that is not the model's or came twice, a refused vjp, or a rank that failed.
    pub fn emit(&mut self, rank: &Rank, leaf: LeafId, gradient: Gradient<'_>) -> ReplicaResult<()> {
        let place = self.places.get(&leaf).ok_or(ReplicaError::UnknownLeaf)?;
        if std::mem::replace(&mut self.arrived[place.leaf], true) {
            return Err(ReplicaError::EmittedTwice { name: self.names[place.leaf].clone() });
        }
        let filling = &mut self.buckets[place.bucket];
        let slice = &mut filling.current[place.range.clone()];
        gradient.write_into(&mut TensorMut::new(slice, place.shape)?)?;
        filling.missing -= 1;
        if filling.missing == 0 {
            let bucket = place.bucket;
            self.fill(rank, bucket)?;
        }
        Ok(())
    }

    /// Ends the current shard: every leaf must have arrived.
    ///
    /// # Errors
    /// [`autograd::Error::NoGradient`] with the names of the leaves that did not.
    pub fn close_shard(&mut self, loss_sum: f64, count: f64) -> ReplicaResult<()> {
        let missing = self.names.iter().zip(&self.arrived).filter(|(_, arrived)| !**arrived);
        let names: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
        if !names.is_empty() {
            return Err(autograd::Error::NoGradient { names }.into());
        }
        self.arrived.fill(false);
        self.closed += 1;
        self.small.extend([loss_sum, count]);
        Ok(())
    }

    /// A shard without samples: its gradients are +0, its count is 0.
    ///
    /// # Errors
    /// A rank that failed.
    pub fn skip_shard(&mut self, rank: &Rank) -> ReplicaResult<()> {
        for bucket in 0..self.buckets.len() {
            self.buckets[bucket].current.fill(T::ZERO);
            self.fill(rank, bucket)?;
        }
        self.arrived.fill(true);
        self.close_shard(0.0, 0.0)
    }

    /// Bucket `bucket` of the current shard is complete: adds it to its neighbours in the tree,
    /// and after the last shard sends it on its way.
    fn fill(&mut self, rank: &Rank, bucket: usize) -> ReplicaResult<()> {
        let own = rank.shard_range();
        let shard = own.start + self.closed;
        let filling = &mut self.buckets[bucket];
        filling.missing = filling.bucket.leaves.len();
        let len = filling.bucket.elements.len();
        let empty = filling.spare.pop().unwrap_or_else(|| vec![T::ZERO; len]);
        let full = std::mem::replace(&mut filling.current, empty);
        filling.roots.push((shard..shard + 1, full));
        filling.join(rank.shards());
        if shard + 1 == own.end && self.break_sync != BreakSync::NoReduce {
            let roots = filling.roots.drain(..).map(|(_, sum)| sum).collect();
            filling.ticket = Some(rank.start_all_reduce(&filling.label, roots)?);
            rank.progress()?;
        }
        Ok(())
    }

    /// Waits until every bucket is the sum over all shards of all ranks. `label` says which step of
    /// which replica over which samples this is; it must be the same on every rank.
    ///
    /// # Errors
    /// Shards of this step that were not closed, ranks that are in different steps, a rank that
    /// failed or did not come (named, with the bucket's leaves), or a global count that is not
    /// positive.
    pub fn reduce(&mut self, rank: &Rank, label: &str) -> ReplicaResult<Averaged<T>> {
        let expected = rank.shard_range().len();
        if self.closed != expected {
            return Err(ReplicaError::OpenShards { closed: self.closed, expected });
        }
        self.closed = 0;
        let small = std::mem::take(&mut self.small);
        let small = if self.break_sync == BreakSync::NoReduce {
            small
        } else {
            rank.share_small(label, small)?.concat()
        };
        let total = |first| small.iter().skip(first).step_by(2).fold(0.0, |sum, x| sum + x);
        let (loss_sum, count) = (total(0), total(1));
        let mut sums = Vec::with_capacity(self.buckets.len());
        for filling in &mut self.buckets {
            let sum = filling.finish(rank, self.break_sync)?;
            sums.push((filling.bucket.elements.clone(), sum));
        }
        // `!(… > 0)` also catches NaN.
        if !(count > 0.0 && count.is_finite()) {
            return Err(ReplicaError::Count { count });
        }
        Ok(Averaged { sums, loss_sum, count })
    }

    /// Takes the buffers of a step back, to be filled again.
    pub(crate) fn recycle(&mut self, rank: &Rank, averaged: Averaged<T>) {
        for (filling, (_, sum)) in self.buckets.iter_mut().zip(averaged.sums) {
            if self.break_sync == BreakSync::NoReduce {
                filling.spare.push(sum);
            } else {
                rank.recycle(sum);
            }
        }
    }
}

impl<T: Differentiable> Filling<T> {
    /// Adds neighbours as long as they are the two halves of a subtree.
    fn join(&mut self, shards: usize) {
        while let [.., (left, _), (right, _)] = &self.roots[..]
            && tree::are_siblings(left, right, shards)
        {
            let (Some((right, addend)), Some((left, sum))) =
                (self.roots.pop(), self.roots.last_mut())
            else {
                return;
            };
            tree::add_right(sum, &addend);
            left.end = right.end;
            self.spare.push(addend);
        }
    }

    /// The finished sum.
    fn finish(&mut self, rank: &Rank, break_sync: BreakSync) -> ReplicaResult<Vec<T>> {
        let Some(ticket) = self.ticket.take() else {
            // Broken on purpose: this rank's own shards only.
            let mut own = self.roots.drain(..).map(|(_, sum)| sum);
            let mut sum = own.next().unwrap_or_default();
            own.for_each(|part| tree::add_right(&mut sum, &part));
            return Ok(sum);
        };
        let (mut sum, roots) = rank.finish::<T>(ticket)?;
        if break_sync == BreakSync::HalfReduced
            && let Some(own) = roots.first()
        {
            let half = sum.len() / 2;
            sum[half..].copy_from_slice(&own[half..]);
        }
        self.spare.extend(roots);
        Ok(sum)
    }
}
