//! One training run of the command: the same function makes the main run and both comparisons.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nn::checkpoint::Array;
use nn::data::{Split, Vocabulary};
use nn::{Init, Module};
use ringgrad::dist::{BreakSync, ReplicaSettings};
use ringgrad::hash::NamedValues;
use ringgrad::{Algorithm, Evaluation, Rank, Result, TimeShare, Trainer, World};

use super::model;
use super::network::Network;
use super::optimizer::OptimSettings;
use super::progress::{EpochLine, Progress};

/// Everything that decides the bits of a run, and how it is carried out.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) data: Split,
    /// What the tokens of a text stand for.
    pub(crate) vocabulary: Option<Vocabulary>,
    pub(crate) network: Network,
    pub(crate) start: Option<Arc<[Array]>>,
    pub(crate) ranks: usize,
    pub(crate) shards: usize,
    pub(crate) epochs: usize,
    pub(crate) batch: usize,
    pub(crate) optim: OptimSettings,
    pub(crate) seed: u64,
    pub(crate) algorithm: Algorithm,
    pub(crate) threads_per_rank: Option<usize>,
    pub(crate) deadline: Duration,
    pub(crate) break_sync: BreakSync,
}

/// What every rank brings back.
pub(crate) struct Outcome {
    pub(crate) params: Vec<NamedValues>,
    pub(crate) test: Evaluation,
    /// Mean loss of the last epoch's steps, weighted by their counts.
    pub(crate) train_loss: f64,
    pub(crate) step_times: Vec<Duration>,
    pub(crate) time_share: TimeShare,
    /// The first epoch after which a replica differed from rank 0's, and its rank.
    pub(crate) drift: Option<(usize, usize)>,
    /// The first epoch, counted from 0, in which the loss of a step was not finite.
    pub(crate) loss_lost: Option<usize>,
}

impl Outcome {
    /// Whether all that it computed is finite.
    pub(crate) fn is_finite(&self) -> bool {
        let mut values = self.params.iter().flat_map(|param| &param.values);
        self.loss_lost.is_none()
            && self.test.loss.is_finite()
            && self.train_loss.is_finite()
            && values.all(|value| value.is_finite())
    }
}

impl Plan {
    /// Runs the plan; one outcome a rank.
    pub(crate) fn run(&self, progress: &Progress) -> Result<Vec<Outcome>> {
        let mut world = World::threads(self.ranks)
            .shards(self.shards)
            .algorithm(self.algorithm)
            .deadline(self.deadline);
        if let Some(threads) = self.threads_per_rank {
            world = world.threads_per_rank(threads);
        }
        let (plan, progress) = (self.clone(), progress.clone());
        Ok(world.run(move |rank| plan.train(rank, &progress))?)
    }

    fn train(&self, rank: &Rank, progress: &Progress) -> Result<Outcome> {
        let own_seed = self.break_sync == BreakSync::RankSeed;
        let seed = self.seed.wrapping_add(if own_seed { rank.rank() as u64 } else { 0 });
        let mut model = self.network.build(&Init::new(rank.device(), seed))?;
        if let Some(start) = &self.start {
            model::fill(&mut *model, start)?;
        }
        let settings = ReplicaSettings { break_sync: self.break_sync, ..Default::default() };
        let steps = self.data.train.batches(self.batch).epochs(self.epochs).seed(self.seed);
        let per_epoch = steps.steps_per_epoch();
        let recipe = self.optim.recipe(per_epoch.saturating_mul(self.epochs as u64));
        let mut trainer = Trainer::new(rank, model, recipe, settings)?.seed(self.seed);
        let (mut step_times, mut drift, mut loss_lost) = (Vec::new(), None, None);
        let (mut loss_sum, mut count, mut train_loss) = (0.0, 0.0, f64::NAN);
        let mut epoch_started = Instant::now();
        for step in steps {
            let started = Instant::now();
            let report = trainer.step(&step, |model, cx, batch| {
                nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
            })?;
            step_times.push(started.elapsed());
            if loss_lost.is_none() && !report.loss.is_finite() {
                loss_lost = Some(step.epoch);
            }
            loss_sum += report.loss * report.count;
            count += report.count;
            if (step.index + 1) % per_epoch != 0 {
                continue;
            }
            train_loss = loss_sum / count;
            let seconds = epoch_started.elapsed().as_secs_f64();
            if self.break_sync != BreakSync::None && drift.is_none() {
                drift = trainer.first_drifted_rank()?.map(|rank| (step.epoch, rank));
            }
            if progress.is_shown() {
                let test = trainer.evaluate(&self.data.test, self.network.evaluation_batch())?;
                progress.epoch(
                    rank.rank(),
                    &EpochLine {
                        epoch: step.epoch + 1,
                        epochs: self.epochs,
                        loss: train_loss,
                        accuracy: test.accuracy,
                        samples_per_second: count / seconds,
                        time_share: trainer.time_share(),
                    },
                );
            }
            (loss_sum, count) = (0.0, 0.0);
            epoch_started = Instant::now();
        }
        let test = trainer.evaluate(&self.data.test, self.network.evaluation_batch())?;
        let time_share = trainer.time_share();
        let params = trainer.params()?;
        Ok(Outcome { params, test, train_loss, step_times, time_share, drift, loss_lost })
    }
}
