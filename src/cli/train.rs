//! `ringgrad train`: the run, and the two runs it is compared with.

use std::path::Path;
use std::time::Duration;

use nn::data::{self, Split};
use ringgrad::dist::BreakSync;
use ringgrad::hash::params_sha256;
use ringgrad::ulps::distance;
use ringgrad::{Algorithm, Device, TimeShare};

use super::Failure;
use super::args::{AlgorithmName, BreakName, DataSpec, TrainOptions};
use super::model;
use super::progress::Progress;
use super::report::TrainReport;
use super::training::{Outcome, Plan};

/// Share of the samples that trains, where the data has no test set of its own.
const TRAIN_FRACTION: f64 = 0.8;

/// Runs the command.
pub(crate) fn train(options: &TrainOptions) -> Result<(), Failure> {
    let plan = plan(options)?;
    let progress = Progress::new(options.epochs, options.quiet, options.json);
    let outcomes = plan.run(&progress)?;
    progress.finish();
    let [first, ..] = &outcomes[..] else { return Ok(()) };
    if let Some(path) = &options.save {
        model::write(path, &first.params)?;
    }
    let intact = Plan { ranks: 1, break_sync: BreakSync::None, ..plan.clone() };
    let one_worker = only(intact.run(&Progress::Silent)?);
    let one_pass = only(Plan { shards: 1, ..intact }.run(&Progress::Silent)?);
    let compared = |other: &Option<Outcome>| {
        other.as_ref().map(|other| distance(&first.params, &other.params)).unwrap_or_default()
    };
    let report = TrainReport {
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
        time_share: mean_share(&outcomes),
        equivalence: compared(&one_worker),
        large_batch: compared(&one_pass),
        params_sha256: params_sha256(&first.params),
        drift: first.drift,
        broken: plan.break_sync != BreakSync::None,
    };
    report.print(options.json);
    if report.broken { Err(Failure::Drift) } else { Ok(()) }
}

/// Checks everything that can be checked before a thread starts or a file is written.
fn plan(options: &TrainOptions) -> Result<Plan, Failure> {
    check_counts(options)?;
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
    if let Some(path) = &options.save {
        check_writable(path)?;
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
        lr: options.lr,
        momentum: options.momentum,
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

fn check_counts(options: &TrainOptions) -> Result<(), Failure> {
    let TrainOptions { ranks, shards, batch, epochs, .. } = *options;
    if ranks == 0 || shards == 0 || epochs == 0 {
        return refuse(format!(
            "--ranks {ranks} --shards {shards} --epochs {epochs}: each must be at least 1"
        ));
    }
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
    if options.threads_per_rank == Some(0) {
        return refuse("--threads-per-rank 0: a rank computes on at least one thread".to_owned());
    }
    if !(options.deadline > 0.0 && options.deadline <= DEADLINE_MAX) {
        return refuse(format!(
            "--deadline {}: give seconds above 0, at most {DEADLINE_MAX}",
            options.deadline
        ));
    }
    let rule: nn::optim::UpdateRule = nn::optim::sgd(options.lr).momentum(options.momentum).into();
    rule.validate().map_err(|error| Failure::Input(error.to_string()))
}

/// A day: far beyond any step, and far below what a clock can add.
const DEADLINE_MAX: f64 = 86_400.0;

fn read_data(spec: &DataSpec, seed: u64) -> Result<Split, data::Error> {
    match spec {
        DataSpec::Digits => data::digits()?.split(TRAIN_FRACTION, seed),
        DataSpec::Idx(dir) => data::idx(dir),
        DataSpec::Csv(file) => data::csv(file)?.split(TRAIN_FRACTION, seed),
    }
}

/// Refuses a path that could not be written after the training.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if path.is_dir() || path.file_name().is_none() || !folder.is_dir() {
        return refuse(format!(
            "--save {}: a file in an existing folder is needed; make the folder or name another",
            path.display()
        ));
    }
    Ok(())
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
