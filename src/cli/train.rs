//! `ringgrad train`: the run, and the two runs it is compared with.

use std::path::Path;
use std::time::Duration;

use nn::data::{self, Split, Vocabulary};
use ringgrad::dist::BreakSync;
use ringgrad::hash::params_sha256;
use ringgrad::ulps::{Distance, distance};
use ringgrad::{Algorithm, Device, TimeShare};

use super::Failure;
use super::args::{AlgorithmName, BreakName, TrainOptions};
use super::bounds;
use super::model;
use super::network::Network;
use super::progress::Progress;
use super::report::TrainReport;
use super::training::{Outcome, Plan};
use super::values::{DataSpec, ModelSpec, THREADS_MAX};

/// Share of the samples that trains, where the data has no test set of its own.
const TRAIN_FRACTION: f64 = 0.8;
/// Characters of the sample that a trained network writes.
const SAMPLE_LEN: usize = 300;
/// How it chooses among them: below 1 the likely ones get likelier.
const SAMPLE_TEMPERATURE: f64 = 0.8;

/// Runs the command.
pub(crate) fn train(options: &TrainOptions) -> Result<(), Failure> {
    let plan = plan(options)?;
    let progress = Progress::new(options.epochs(), options.quiet, options.json);
    let outcomes = plan.run(&progress);
    progress.finish();
    let outcomes = outcomes?;
    let [first, ..] = &outcomes[..] else { return Ok(()) };
    let sample = sample_text(&plan, first)?;
    let finite = outcomes.iter().all(Outcome::is_finite);
    let saved = match &options.save {
        Some(path) if finite => model::write(path, &first.params),
        _ => Ok(()),
    };
    let compare = !options.no_compare;
    report(&plan, &outcomes, sample, compare)?.print(options.json)?;
    saved?;
    if !finite {
        return Err(diverged(&outcomes, options.save.as_deref()));
    }
    if plan.break_sync == BreakSync::None { Ok(()) } else { Err(Failure::Drift) }
}

/// The figures of the run that had these outcomes, and of the two that it is compared with.
fn report(
    plan: &Plan,
    outcomes: &[Outcome],
    sample: Option<String>,
    compare: bool,
) -> Result<TrainReport, Failure> {
    let first = &outcomes[0];
    let compared = |other: Plan| -> Result<Option<Distance>, Failure> {
        if !compare {
            return Ok(None);
        }
        let outcomes = other.run(&Progress::Silent)?;
        Ok(outcomes.first().map(|other| distance(&first.params, &other.params)))
    };
    let intact = Plan { ranks: 1, break_sync: BreakSync::None, ..plan.clone() };
    let one_pass = Plan { shards: 1, ..intact.clone() };
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
        equivalence: compared(intact)?,
        large_batch: compared(one_pass)?,
        params_sha256: params_sha256(&first.params),
        drift: first.drift,
        broken: plan.break_sync != BreakSync::None,
        diverged: !outcomes.iter().all(Outcome::is_finite),
        sample,
    })
}

/// What the trained network writes, when it is one that writes.
fn sample_text(plan: &Plan, outcome: &Outcome) -> Result<Option<String>, Failure> {
    let (Network::Gpt(settings), Some(vocabulary)) = (&plan.network, &plan.vocabulary) else {
        return Ok(None);
    };
    if !outcome.is_finite() {
        return Ok(None);
    }
    let written = || -> ringgrad::Result<String> {
        let mut gpt = nn::gpt(&nn::Init::new(&Device::cpu(), plan.seed), settings)?;
        model::fill(&mut gpt, &model::arrays(&outcome.params))?;
        let tokens = gpt.sample(&[0], SAMPLE_LEN, SAMPLE_TEMPERATURE, plan.seed)?;
        Ok(vocabulary.decode(&tokens))
    };
    Ok(Some(written()?))
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
    let (data, vocabulary) = read_data(options).map_err(|e| Failure::Input(e.to_string()))?;
    let network = Network::fitted(options.model.as_ref(), &data).map_err(Failure::Input)?;
    let optim = options.optim.settled(network.family()).map_err(Failure::Input)?;
    let rows = bounds::rows(&data, options.batch(), network.evaluation_batch());
    bounds::check(&network, options.ranks, rows).map_err(Failure::Input)?;
    if let Some(path) = &options.save {
        let tried = nn::checkpoint::check_writable(path);
        tried.map_err(|error| Failure::Input(format!("--save {error}")))?;
    }
    let start = match &options.load {
        Some(path) => {
            let like = network.build(&nn::Init::new(&Device::cpu(), 0));
            let like = like.map_err(|e| Failure::Input(e.to_string()))?;
            let arrays = model::read(path, &*like).map_err(|e| Failure::Input(e.to_string()))?;
            Some(arrays.into())
        }
        None => None,
    };
    Ok(Plan {
        data,
        vocabulary,
        network,
        start,
        ranks: options.ranks,
        shards: options.shards,
        epochs: options.epochs(),
        batch: options.batch(),
        optim,
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
    let &TrainOptions { ranks, shards, .. } = options;
    let batch = options.batch();
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

/// The samples, and of a text what its tokens stand for.
fn read_data(options: &TrainOptions) -> Result<(Split, Option<Vocabulary>), data::Error> {
    let split = match &options.data {
        DataSpec::Digits => data::digits()?.split(TRAIN_FRACTION, options.seed)?,
        DataSpec::Idx(dir) => data::idx(dir)?,
        DataSpec::Csv(file) => data::csv(file)?.split(TRAIN_FRACTION, options.seed)?,
        DataSpec::Text(file) => {
            let model = options.model.as_ref().unwrap_or(&ModelSpec::GPT);
            let text = data::text(file, model.context().unwrap_or(1))?;
            return Ok((text.split, Some(text.vocabulary)));
        }
    };
    Ok((split, None))
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
