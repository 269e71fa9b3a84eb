//! Ranks that are not in the same step, batch, trainer, rule or evaluation: an error on every rank
//! that quotes both sides, before anything is committed. Each case would otherwise sum up what
//! does not belong together.

use std::time::Duration;

use ringgrad::nn::data::{self, Step};
use ringgrad::nn::{self, Context, Init, Mlp, Module, optim};
use ringgrad::{Algorithm, Batch, Rank, RankTrainer, Result, Trainer, World};

type Training = fn(&Rank) -> Result<()>;

/// Runs it on two ranks in both modes; every rank's error must have all `parts`.
fn refused(training: Training, parts: &[&str]) {
    for algorithm in [Algorithm::Tree, Algorithm::Ring] {
        let world = World::threads(2).algorithm(algorithm).deadline(Duration::from_secs(2));
        let outcome = world.run_each(move |rank| training(rank));
        assert_eq!(outcome.detached, 0);
        for (rank, result) in outcome.results.into_iter().enumerate() {
            let message = result.unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "{algorithm:?} rank {rank}: {part}: {message}");
            }
        }
    }
}

fn trainer(rank: &Rank, lr: f64) -> Result<Trainer<'_, Mlp>> {
    let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 16, 10])?;
    rank.trainer(model, optim::sgd(lr).momentum(0.9))
}

fn loss(model: &Mlp, cx: &Context, batch: &Batch) -> nn::Result<nn::Loss> {
    nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
}

fn steps(batch: usize, seed: u64) -> Result<Vec<Step>> {
    Ok(data::digits()?.batches(batch).seed(seed).into_iter().take(6).collect())
}

#[test]
fn a_rank_that_skips_a_step_is_noticed_in_that_step() {
    refused(
        |rank| {
            let mut trainer = trainer(rank, 0.1)?;
            for step in steps(64, 1)? {
                if rank.rank() == 1 && step.index == 2 {
                    continue;
                }
                trainer.step(&step, loss)?;
                assert!(step.index < 2, "a step was committed over different batches");
            }
            Ok(())
        },
        &["rank 0 brought", "batch 2 of", "rank 1 brought", "batch 3 of"],
    );
}

#[test]
fn another_order_or_size_of_batches_is_noticed_in_the_first_step() {
    refused(
        |rank| {
            let mut trainer = trainer(rank, 0.1)?;
            let step = &steps(64, rank.rank() as u64)?[0];
            trainer.step(step, loss).map(|_| panic!("committed over different batches"))
        },
        &["rank 0 brought", "rank 1 brought", "batch 0 of 64 samples"],
    );
    refused(
        |rank| {
            let mut trainer = trainer(rank, 0.1)?;
            let step = &steps(64 + 10 * rank.rank(), 1)?[0];
            trainer.step(step, loss).map(|_| panic!("committed over different batches"))
        },
        &["of 64 samples", "of 74 samples"],
    );
}

#[test]
fn two_trainers_that_a_rank_mixes_up_are_noticed() {
    refused(
        |rank| {
            let (mut a, mut b) = (trainer(rank, 0.1)?, trainer(rank, 0.1)?);
            let step = &steps(64, 1)?[0];
            let (first, second) =
                if rank.rank() == 0 { (&mut a, &mut b) } else { (&mut b, &mut a) };
            first.step(step, loss)?;
            second.step(step, loss)?;
            Ok(())
        },
        &["replica 0, step 0", "replica 1, step 0"],
    );
}

#[test]
fn another_update_rule_is_refused_before_the_first_step() {
    let training: Training = |rank| trainer(rank, 0.1 + 0.1 * rank.rank() as f64).map(drop);
    refused(training, &["rank 0 brought the update rule", "lr: 0.1", "lr: 0.2"]);
}

#[test]
fn evaluations_of_different_data_are_not_added_up() {
    refused(
        |rank| {
            let split = data::digits()?.split(0.8, rank.rank() as u64)?;
            trainer(rank, 0.1)?.evaluate(&split.test, 64).map(drop)
        },
        &["rank 0 brought", "evaluation of 359 samples", "rank 1 brought"],
    );
    refused(
        |rank| trainer(rank, 0.1)?.evaluate(&data::digits()?, 64 + rank.rank()).map(drop),
        &["in batches of 64", "in batches of 65"],
    );
    refused(
        |rank| {
            let trainer = trainer(rank, 0.1)?;
            if rank.rank() == 0 {
                trainer.evaluate(&data::digits()?, 64)?;
            } else {
                rank.share_small("my own numbers", vec![0.0, 0.0, 1e6])?;
            }
            Ok(())
        },
        &["evaluation of 1797 samples", "my own numbers"],
    );
}
