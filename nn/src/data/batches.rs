//! The sample stream of a run: every epoch a permutation of all samples, cut into global batches.
//!
//! Which samples step k sees is a pure function of the number of samples, the size of the batch,
//! the seed and k. It does not depend on who asks: ranks derive it, each on its own.

use std::ops::Range;
use std::sync::Arc;

use kernels::random::Stream;

use super::dataset::Dataset;
use super::error::{Error, Result};

/// The global batches of a run. Iterate over it to get them in order.
///
/// Each epoch has ⌈samples / batch⌉ of them. The last one of an epoch may be smaller: nothing is
/// padded, nothing is dropped.
#[derive(Clone, Debug)]
pub struct Batches {
    data: Dataset,
    batch: usize,
    epochs: usize,
    seed: u64,
    shuffled: bool,
}

impl Batches {
    pub(super) fn new(data: Dataset, batch: usize) -> Self {
        Batches { data, batch, epochs: 1, seed: 0, shuffled: true }
    }

    /// With this many passes over the samples.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = epochs;
        self
    }

    /// With permutations drawn from this seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With the samples in their own order in every epoch.
    pub fn in_order(mut self) -> Self {
        self.shuffled = false;
        self
    }

    /// The same, once it is certain to reach every sample. Iterating needs no such check: it
    /// yields nothing from batches of 0 samples.
    ///
    /// # Errors
    /// Batches of 0 samples.
    pub fn validated(self) -> Result<Self> {
        if self.batch == 0 {
            return Err(Error::Batch { name: self.data.name().to_owned() });
        }
        Ok(self)
    }

    /// Global batches of one epoch: ⌈samples / batch⌉, or 0 if the batch has no samples.
    pub fn steps_per_epoch(&self) -> u64 {
        if self.batch == 0 { 0 } else { self.data.len().div_ceil(self.batch) as u64 }
    }

    /// Global batches of all epochs, at most `u64::MAX`.
    pub fn total_steps(&self) -> u64 {
        self.steps_per_epoch().saturating_mul(self.epochs as u64)
    }

    fn order(&self, epoch: usize) -> Arc<[usize]> {
        let samples = self.data.len();
        if self.shuffled {
            Stream::new(self.seed, "data/epoch", epoch as u64).permutation(samples).into()
        } else {
            (0..samples).collect()
        }
    }
}

impl IntoIterator for Batches {
    type Item = Step;
    type IntoIter = Steps;

    fn into_iter(self) -> Steps {
        Steps { batches: self, index: 0, order: None }
    }
}

/// The iterator over [`Batches`].
#[derive(Clone, Debug)]
pub struct Steps {
    batches: Batches,
    index: u64,
    /// The order of the epoch that `index` lies in; `None` until its first batch is asked for.
    order: Option<Arc<[usize]>>,
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.index >= self.batches.total_steps() {
            return None;
        }
        let per_epoch = self.batches.steps_per_epoch();
        let (epoch, within) =
            ((self.index / per_epoch) as usize, (self.index % per_epoch) as usize);
        let order = self.order.take().unwrap_or_else(|| self.batches.order(epoch));
        // Below the number of samples, because `within < ⌈samples / batch⌉`.
        let start = within * self.batches.batch;
        let end = start.saturating_add(self.batches.batch).min(order.len());
        if end < order.len() {
            self.order = Some(order.clone());
        }
        let data = self.batches.data.clone();
        let earlier = (epoch as u64).saturating_mul(order.len() as u64);
        let first_position = stream_position(earlier.saturating_add(start as u64), end - start);
        let range = start..end;
        let step = Step { epoch, index: self.index, first_position, order, range, data };
        self.index += 1;
        Some(step)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.batches.total_steps() - self.index);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

/// The position after `earlier` samples, where a batch of `len` begins: never so late that the
/// position of one of its samples would not be a u64.
fn stream_position(earlier: u64, len: usize) -> u64 {
    earlier.min(u64::MAX - len as u64)
}

/// One global batch. Clones share the order and the samples.
#[derive(Clone, Debug)]
pub struct Step {
    /// The epoch, from 0.
    pub epoch: usize,
    /// The number of the step in the run, from 0.
    pub index: u64,
    first_position: u64,
    /// The order of the samples in this epoch; every number in it is a sample of `data`.
    order: Arc<[usize]>,
    /// The part of `order` that this batch is; within it and not empty.
    range: Range<usize>,
    data: Dataset,
}

impl Step {
    /// The batch of these samples of `data` as step `index`, for a run whose stream is not that of
    /// [`Batches`]: epoch 0, at the position in the stream where earlier batches of the same size
    /// end. A sample may be named twice.
    ///
    /// # Errors
    /// No samples, or one that `data` does not have.
    pub fn new(data: &Dataset, index: u64, samples: Vec<usize>) -> Result<Self> {
        let name = || data.name().to_owned();
        if samples.is_empty() {
            return Err(Error::Batch { name: name() });
        }
        if let Some(&sample) = samples.iter().find(|&&sample| sample >= data.len()) {
            return Err(Error::Sample { name: name(), sample, samples: data.len() });
        }
        let earlier = index.saturating_mul(samples.len() as u64);
        let first_position = stream_position(earlier, samples.len());
        let (range, order, data) = (0..samples.len(), samples.into(), data.clone());
        Ok(Step { epoch: 0, index, first_position, order, range, data })
    }

    /// Samples of the batch; at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a batch is never empty")]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The batch: numbers of samples in the data set.
    pub fn samples(&self) -> &[usize] {
        &self.order[self.range.clone()]
    }

    /// The data set that [`Step::samples`] counts in.
    pub fn dataset(&self) -> &Dataset {
        &self.data
    }

    /// The position of the batch's first sample in the sample stream of the run: samples of all
    /// earlier batches, at most `u64::MAX` less the samples of this one.
    pub fn first_position(&self) -> u64 {
        self.first_position
    }

    /// The positions in the batch that make up shard `shard` of `shards`: contiguous, of lengths
    /// that differ by at most one, the longer ones first. A shard is empty when there are fewer
    /// samples than shards before it, and also when `shard` is not below `shards`.
    pub fn shard(&self, shard: usize, shards: usize) -> Range<usize> {
        let len = self.len();
        if shard >= shards {
            return len..len;
        }
        let (short, longer) = (len / shards, len % shards);
        let start = shard * short + shard.min(longer);
        start..start + short + usize::from(shard < longer)
    }

    /// Writes the samples at `positions` of a batch of numbers, one after another.
    ///
    /// **Shapes**: `features` is `[positions, ..sample shape]`, `labels` is `[positions]`.
    ///
    /// # Panics
    /// Positions beyond the end of the batch, slices of other lengths, or a text.
    pub fn gather(&self, positions: Range<usize>, features: &mut [f32], labels: &mut [i64]) {
        let len = self.data.features_per_sample();
        assert!(!self.data.is_text(), "a text has no features");
        assert_eq!(features.len(), positions.len() * len, "features hold other than the samples");
        assert_eq!(labels.len(), positions.len(), "labels hold other than the samples");
        for (k, &sample) in self.samples()[positions].iter().enumerate() {
            features[k * len..(k + 1) * len].copy_from_slice(self.data.sample(sample));
            labels[k] = self.data.labels()[sample];
        }
    }

    /// [`Step::gather`] for a text: `tokens` and `labels` are both `[positions, context]`.
    ///
    /// # Panics
    /// Positions beyond the end of the batch, slices of other lengths, or a batch of numbers.
    pub fn gather_tokens(&self, positions: Range<usize>, tokens: &mut [i64], labels: &mut [i64]) {
        let len = self.data.features_per_sample();
        assert!(self.data.is_text(), "numbers have no tokens");
        assert_eq!(tokens.len(), positions.len() * len, "tokens hold other than the samples");
        assert_eq!(labels.len(), tokens.len(), "one label a token");
        for (k, &sample) in self.samples()[positions].iter().enumerate() {
            tokens[k * len..(k + 1) * len].copy_from_slice(self.data.tokens_of(sample));
            labels[k * len..(k + 1) * len].copy_from_slice(self.data.labels_of(sample));
        }
    }
}
