//! `ringgrad train`: the run, and the two runs it is compared with.

use std::path::Path;
use std::time::Duration;

use nn::data::{self, Split};
use ringgrad::dist::BreakSync;
use ringgrad::hash::params_sha256;
use ringgrad::ulps::distance;
use ringgrad::{Algorithm, Device, TimeShare};

use super::Failure;
use super::args::{AlgorithmName, BreakName, TrainOptions};
use super::bounds;
use super::model;
use super::progress::Progress;
use super::report::TrainReport;
use super::training::{EVALUATION_BATCH, Outcome, Plan};
use super::values::{DataSpec, THREADS_MAX};

/// Share of the samples that trains, where the data has no test set of its own.
const TRAIN_FRACTION: f64 = 0.8;

/// Runs the command.
pub(crate) fn train(options: &TrainOptions) -> Result<(), Failure> {
    let plan = plan(options)?;
    let progress = Progress::new(options.epochs, options.quiet, options.json);
    let outcomes = plan.run(&progress);
    progress.finish();
    let outcomes = outcomes?;
    let [first, ..] = &outcomes[..] else { return Ok(()) };
    let finite = outcomes.iter().all(Outcome::is_finite);
    let saved = match &options.save {
        Some(path) if finite => model::write(path, &first.params),
        _ => Ok(()),
    };
    report(&plan, &outcomes)?.print(options.json)?;
    saved?;
    if !finite {
        return Err(diverged(&outcomes, options.save.as_deref()));
    }
    if plan.break_sync == BreakSync::None { Ok(()) } else { Err(Failure::Drift) }
}

/// The figures of the run that had these outcomes, and of the two that it is compared with.
fn report(plan: &Plan, outcomes: &[Outcome]) -> Result<TrainReport, Failure> {
    let first = &outcomes[0];
    let intact = Plan { ranks: 1, break_sync: BreakSync::None, ..plan.clone() };
    let one_worker = only(intact.run(&Progress::Silent)?);
    let one_pass = only(Plan { shards: 1, ..intact }.run(&Progress::Silent)?);
    let compared = |other: &Option<Outcome>| {
        other.as_ref().map(|other| distance(&first.params, &other.params)).unwrap_or_default()
    };
    Ok(TrainReport {
        test_accuracy: first.test.accuracy,
        test_loss: first.test.loss,
        train_loss: first.train_loss,
        steps: first.step_times.len(),
        step_ms: median_ms(&first.step_times),
        ranks: plan.ranks,
        shards: plan.shards,
        algorithm: match plan.algorithm {
            Algorithm::Tree => "tree",
            Algorithm::Ring => "ring",
        },
        time_share: mean_share(outcomes),
        equivalence: compared(&one_worker),
        large_batch: compared(&one_pass),
        params_sha256: params_sha256(&first.params),
        drift: first.drift,
        broken: plan.break_sync != BreakSync::None,
        diverged: !outcomes.iter().all(Outcome::is_finite),
    })
}

/// The failure of a run that has left the finite numbers, with the place where it did.
fn diverged(outcomes: &[Outcome], save: Option<&Path>) -> Failure {
    let place = match outcomes.iter().filter_map(|outcome| outcome.loss_lost).min() {
        Some(epoch) => format!("the loss stopped being finite in epoch {}", epoch + 1),
        None => "after the last epoch the test loss or a parameter was not finite".to_owned(),
    };
    let kept = save.map(|path| format!(", and {path:?} was not written")).unwrap_or_default();
    Failure::Run(format!(
        "the run diverged: {place}{kept}; losses and parameters are finite numbers: use a smaller \
         --lr or --momentum"
    ))
}

/// Checks everything that can be checked before a thread starts or a file is written.
fn plan(options: &TrainOptions) -> Result<Plan, Failure> {
    check_options(options)?;
    let data = read_data(&options.data, options.seed).map_err(|e| Failure::Input(e.to_string()))?;
    let (features, classes) = (data.train.features_per_sample(), data.train.classes());
    let sizes = match &options.model {
        Some(model) => model.sizes.clone(),
        None => vec![features, 48, classes],
    };
    if sizes[0] != features || sizes[sizes.len() - 1] != classes {
        return refuse(format!(
            "--model {sizes:?} does not fit the data of {features} features and {classes} \
             classes; the first size is the number of features and the last that of classes"
        ));
    }
    let rows = bounds::rows(&data, options.batch, EVALUATION_BATCH);
    bounds::check(&sizes, options.ranks, rows).map_err(Failure::Input)?;
    if let Some(path) = &options.save {
        let tried = nn::checkpoint::check_writable(path);
        tried.map_err(|error| Failure::Input(format!("--save {error}")))?;
    }
    let start = match &options.load {
        Some(path) => {
            let like = nn::mlp(&nn::Init::new(&Device::cpu(), 0), &sizes);
            let like = like.map_err(|e| Failure::Input(e.to_string()))?;
            let arrays = model::read(path, &like).map_err(|e| Failure::Input(e.to_string()))?;
            Some(arrays.into())
        }
        None => None,
    };
    Ok(Plan {
        data,
        sizes,
        start,
        ranks: options.ranks,
        shards: options.shards,
        epochs: options.epochs,
        batch: options.batch,
        optim: options.optim.clone(),
        seed: options.seed,
        algorithm: match options.algorithm {
            AlgorithmName::Tree => Algorithm::Tree,
            AlgorithmName::Ring => Algorithm::Ring,
        },
        threads_per_rank: options.threads_per_rank,
        deadline: Duration::from_secs_f64(options.deadline),
        break_sync: match options.break_sync {
            BreakName::None => BreakSync::None,
            BreakName::NoReduce => BreakSync::NoReduce,
            BreakName::HalfReduced => BreakSync::HalfReduced,
            BreakName::RankSeed => BreakSync::RankSeed,
        },
    })
}

fn refuse<T>(message: String) -> Result<T, Failure> {
    Err(Failure::Input(message))
}

/// Checks options that are fine by themselves, but not with each other.
fn check_options(options: &TrainOptions) -> Result<(), Failure> {
    let TrainOptions { ranks, shards, batch, .. } = *options;
    if ranks > shards {
        return refuse(format!(
            "--ranks {ranks} exceeds --shards {shards}; every rank hosts at least one shard: use \
             fewer ranks or more shards"
        ));
    }
    if batch < shards {
        return refuse(format!(
            "--batch {batch} is smaller than --shards {shards}; every shard of a full batch holds \
             at least one sample: use a larger batch or fewer shards"
        ));
    }
    options.optim.check().map_err(Failure::Input)?;
    if let Some(threads) = options.threads_per_rank
        && ranks * threads > THREADS_MAX
    {
        return refuse(format!(
            "--ranks {ranks} with --threads-per-rank {threads} make {} threads; there may be at \
             most {THREADS_MAX}: use fewer ranks or threads",
            ranks * threads
        ));
    }
    if options.break_sync == BreakName::RankSeed && options.load.is_some() {
        return refuse(
            "--break-sync rank-seed with --load: loaded parameters are the same on every rank, \
             and rank-seed needs a start of its own for each: leave one of the two out"
                .to_owned(),
        );
    }
    Ok(())
}

fn read_data(spec: &DataSpec, seed: u64) -> Result<Split, data::Error> {
    match spec {
        DataSpec::Digits => data::digits()?.split(TRAIN_FRACTION, seed),
        DataSpec::Idx(dir) => data::idx(dir),
        DataSpec::Csv(file) => data::csv(file)?.split(TRAIN_FRACTION, seed),
    }
}

fn only(mut outcomes: Vec<Outcome>) -> Option<Outcome> {
    outcomes.pop()
}

fn median_ms(times: &[std::time::Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map_or(0.0, |median| median.as_secs_f64() * 1e3)
}

fn mean_share(outcomes: &[Outcome]) -> TimeShare {
    let mean = |part: fn(&TimeShare) -> f64| {
        outcomes.iter().map(|o| part(&o.time_share)).sum::<f64>() / outcomes.len() as f64
    };
    TimeShare { compute: mean(|t| t.compute), reduce: mean(|t| t.reduce), wait: mean(|t| t.wait) }
}
