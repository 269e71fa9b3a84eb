//! The same training on one, three and eight workers: the same bits.
//!
//! `cargo run --release --example 05_data_parallel`

use ringgrad::hash::params_sha256;
use ringgrad::nn::{self, Init, Module, data, optim};
use ringgrad::{RankTrainer, Result, World};

/// Trains on `ranks` workers; returns the hash of the parameters and the accuracy.
fn train(ranks: usize) -> Result<(String, f64)> {
    let digits = data::digits()?.split(0.8, 7)?;
    // The shards are part of the computation, the ranks are not: they only host the shards.
    let reports = World::threads(ranks).shards(8).run(move |rank| -> Result<_> {
        let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 48, 10])?;
        let mut trainer = rank.trainer(model, optim::sgd(0.1).momentum(0.9))?;
        for step in digits.train.batches(64).epochs(10) {
            // The closure runs once a shard. It has no `1/N` in it: the loss knows its count.
            trainer.step(&step, |model, cx, batch| {
                nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
            })?;
        }
        // Every replica holds the same parameters, and this says so if one does not.
        assert_eq!(trainer.first_drifted_rank()?, None);
        let accuracy = trainer.evaluate(&digits.test, 64)?.accuracy;
        Ok((params_sha256(&trainer.params()?), accuracy))
    })?;
    // One report a rank, in rank order.
    assert!(reports.iter().all(|report| *report == reports[0]));
    Ok(reports[0].clone())
}

fn main() -> Result<()> {
    let (one, accuracy) = train(1)?;
    for ranks in [1, 3, 8] {
        let (hash, _) = train(ranks)?;
        println!("{ranks} ranks: {} {}", &hash[..16], if hash == one { "equal" } else { "other" });
        assert_eq!(hash, one);
    }
    println!("test accuracy {:.1} %", accuracy * 100.0);
    assert!(accuracy > 0.95);
    Ok(())
}
