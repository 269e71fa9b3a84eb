//! Where a model of `nn` meets a rank of `dist`: the training loop's inside.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use autograd::Var;
use dist::{Rank, Replica, ReplicaSettings, Stepped};
use kernels::hash::fnv1a_words;
use kernels::update::Recipe;
use nn::data::{Dataset, Step};
use nn::{Context, Loss, Module};

use crate::batch::Batch;
use crate::batch_statistics;
use crate::error::Result;
use crate::hash::NamedValues;

/// A model on one rank, in lockstep with its replicas on the other ranks.
pub struct Trainer<'r, M> {
    rank: &'r Rank,
    model: M,
    replica: Replica,
    started: Instant,
    /// Keys the randomness of forwards.
    seed: u64,
    /// Why an earlier step failed, if one did.
    failed: Option<String>,
}

/// Makes a [`Trainer`] of a rank.
pub trait RankTrainer {
    /// Puts `model` in lockstep with the other ranks: its parameters' names and shapes are
    /// compared, and every rank gets the values of rank 0.
    ///
    /// # Errors
    /// A model or recipe that differs from another rank's, impossible settings, a group without
    /// parameters, or a rank that failed.
    fn trainer<M: Module>(&self, model: M, recipe: impl Into<Recipe>) -> Result<Trainer<'_, M>>;
}

impl RankTrainer for Rank {
    fn trainer<M: Module>(&self, model: M, recipe: impl Into<Recipe>) -> Result<Trainer<'_, M>> {
        Trainer::new(self, model, recipe, ReplicaSettings::default())
    }
}

/// What a step tells: numbers of the whole global batch, the same on every rank.
#[derive(Clone, Copy, Debug)]
pub struct StepReport {
    /// The loss before the step, sum over count of all shards.
    pub loss: f64,
    /// What it was counted over.
    pub count: f64,
    /// The learning rate of parameters that are in no group.
    pub lr: f64,
    /// The norm of the mean gradient before clipping, where the recipe bounds it.
    pub grad_norm: Option<f64>,
}

/// How a model does on a data set; each sample is counted once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Cross-entropy, the mean over all samples.
    pub loss: f64,
    /// The share of samples whose largest logit is their class.
    pub accuracy: f64,
    /// Number of samples.
    pub samples: usize,
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Evaluation { loss, accuracy, samples } = self;
        write!(f, "loss {loss:.4}, accuracy {:.2} % of {samples} samples", accuracy * 100.0)
    }
}

/// Where a rank's time went since its trainer was made, in shares that add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeShare {
    /// Forward, backward and step.
    pub compute: f64,
    /// Adding up and copying gradients.
    pub reduce: f64,
    /// Waiting for other ranks.
    pub wait: f64,
}

impl<'r, M: Module> Trainer<'r, M> {
    /// As [`RankTrainer::trainer`], with settings.
    ///
    /// # Errors
    /// As there.
    pub fn new(
        rank: &'r Rank,
        mut model: M,
        recipe: impl Into<Recipe>,
        settings: ReplicaSettings,
    ) -> Result<Self> {
        let recipe = recipe.into();
        recipe.validate().map_err(nn::Error::from)?;
        let arena = nn::arena_of(&model, recipe.state_buffers())?;
        let replica = Replica::new(rank, arena, recipe, settings)?;
        nn::bind(&mut model, replica.arena())?;
        rank.reset_times();
        Ok(Trainer { rank, model, replica, started: Instant::now(), seed: 0, failed: None })
    }

    /// The same with this seed of the run, which keys the randomness of forwards, such as masks of
    /// dropout; 0 unless set. All ranks set the same.
    pub fn seed(self, seed: u64) -> Self {
        Trainer { seed, ..self }
    }

    /// One step: `loss` of each shard that this rank hosts, backward with the gradients on their
    /// way while it runs, and the same update on every rank. All ranks call it with the same
    /// `step`.
    ///
    /// # Errors
    /// What `loss` returns, a parameter without gradient (named), a global count of 0, or a rank
    /// that failed (named). After an error the parameters are those of the last committed step,
    /// and the trainer takes no further one: gradients of the failed step may have reached other
    /// ranks already.
    pub fn step<E>(
        &mut self,
        step: &Step,
        loss: impl Fn(&M, &Context, &Batch) -> Result<Loss, E>,
    ) -> Result<StepReport>
    where
        crate::Error: From<E>,
    {
        if let Some(cause) = &self.failed {
            return Err(crate::Error::Stopped { cause: cause.clone() });
        }
        // Stands until the step has ended well: a panic in `loss` may be caught further up.
        self.failed = Some("it panicked".to_owned());
        let result = self.try_step(step, loss);
        self.failed = result.as_ref().err().map(ToString::to_string);
        result
    }

    fn try_step<E>(
        &mut self,
        step: &Step,
        loss: impl Fn(&M, &Context, &Batch) -> Result<Loss, E>,
    ) -> Result<StepReport>
    where
        crate::Error: From<E>,
    {
        let statistics = batch_statistics::of_shards(self.rank.shards());
        let mut contexts = Vec::new();
        for shard in self.rank.shard_range() {
            let positions = step.shard(shard, self.rank.shards());
            if positions.is_empty() {
                self.replica.skip_shard(self.rank)?;
                continue;
            }
            let first = step.first_position().saturating_add(positions.start as u64);
            let cx = Context::train(step.index, first)
                .with_seed(self.seed)
                .with_batch_reduce(Arc::clone(&statistics));
            let loss = loss(&self.model, &cx, &self.batch(step, positions)?)?;
            let sum = loss.sum_value()?;
            loss.backward_into(&mut self.replica.sink(self.rank))?;
            self.replica.close_shard(sum, loss.count())?;
            self.rank.alive();
            contexts.push(cx);
        }
        let Stepped { loss, count, lr, grad_norm } =
            self.replica.step(self.rank, &batch_label(step))?;
        nn::bind(&mut self.model, self.replica.arena())?;
        contexts.iter().try_for_each(|cx| nn::update_buffers(&mut self.model, cx))?;
        Ok(StepReport { loss, count, lr, grad_norm })
    }

    /// A shard's samples in the element type of the model.
    fn batch(&self, step: &Step, positions: Range<usize>) -> Result<Batch> {
        let batch = Batch::gather(step, positions, self.rank.device())?;
        batch.cast(self.replica.arena().dtype())
    }

    /// The cross-entropy and accuracy of the model's logits on `data`, cut into batches of
    /// `batch` samples and those into shards: each sample counts once, at any number of ranks.
    ///
    /// # Errors
    /// An empty data set or a batch of 0, a model whose output is not logits, or a rank that
    /// failed.
    pub fn evaluate(&self, data: &Dataset, batch: usize) -> Result<Evaluation> {
        let mut small = Vec::new();
        for shard in self.rank.shard_range() {
            let (mut loss, mut correct, mut samples) = (0.0, 0.0, 0.0);
            for step in data.batches(batch).in_order().validated()? {
                let positions = step.shard(shard, self.rank.shards());
                if positions.is_empty() {
                    continue;
                }
                let batch = self.batch(&step, positions)?;
                let logits = self.model.forward(&Context::eval().no_grad(), &batch.x)?;
                loss += nn::cross_entropy(&logits, &batch.y)?.sum_value()?;
                correct += count_correct(&logits, &batch)?;
                samples += batch.y.numel() as f64;
                // Also a sign of life, and the place to hear that another rank has failed.
                self.rank.progress()?;
            }
            small.extend([loss, correct, samples]);
        }
        let label = format!(
            "evaluation of {} samples in batches of {batch}, labels {:016x}",
            data.len(),
            fnv1a_words(data.labels().iter().map(|label| label.cast_unsigned()))
        );
        let gathered = self.rank.share_small(&label, small)?.concat();
        let total = |k: usize| gathered.iter().skip(k).step_by(3).sum::<f64>();
        let samples = total(2);
        if samples == 0.0 {
            return Err(nn::Error::Count { count: samples }.into());
        }
        Ok(Evaluation {
            loss: total(0) / samples,
            accuracy: total(1) / samples,
            samples: samples as usize,
        })
    }

    /// The model, with the parameters of the last committed step.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Committed steps.
    pub fn steps(&self) -> u64 {
        self.replica.arena().steps()
    }

    /// Copies of the parameters, in the order of the model, and behind them of its buffers.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn params(&self) -> Result<Vec<NamedValues>> {
        let mut params = Vec::new();
        for (name, value) in nn::named_state(&self.model) {
            let values = value.cast(tensor::DType::F64)?.to_vec()?;
            params.push(NamedValues { name, shape: value.shape().to_vec(), values });
        }
        Ok(params)
    }

    /// Whether all replicas hold the same bits: the first rank whose parameters differ from rank
    /// 0's, if any. All ranks call it together.
    ///
    /// # Errors
    /// A rank that failed.
    pub fn first_drifted_rank(&self) -> Result<Option<usize>> {
        Ok(self.replica.first_drifted_rank(self.rank)?)
    }

    /// Where this rank's time went.
    pub fn time_share(&self) -> TimeShare {
        let total = self.started.elapsed().as_secs_f64();
        let times = self.rank.times();
        let (reduce, wait) = (times.reduce.as_secs_f64(), times.wait.as_secs_f64());
        let compute = (total - reduce - wait).max(0.0);
        let whole = (compute + reduce + wait).max(f64::MIN_POSITIVE);
        TimeShare { compute: compute / whole, reduce: reduce / whole, wait: wait / whole }
    }
}

/// What ranks must agree in before they step together: the place of the batch in the run, its
/// samples and their labels.
fn batch_label(step: &Step) -> String {
    let words = |&sample: &usize| {
        let labels = step.dataset().labels_of(sample).iter().map(|label| label.cast_unsigned());
        std::iter::once(sample as u64).chain(labels)
    };
    let samples = fnv1a_words(step.samples().iter().flat_map(words));
    let position = step.first_position();
    format!("batch {} of {} samples from {position}, {samples:016x}", step.index, step.len())
}

/// How many of the logits `[.., classes]` are largest at their target `[..]`; the loss has seen to
/// it that their shapes agree.
fn count_correct(logits: &Var, batch: &Batch) -> Result<f64> {
    let classes = logits.value().shape().len().saturating_sub(1);
    let found = logits.value().argmax(classes, false)?.to_vec::<i64>()?;
    let wanted = batch.y.to_vec::<i64>()?;
    Ok(found.iter().zip(&wanted).filter(|(found, wanted)| found == wanted).count() as f64)
}
