//! Ranks that fail in the middle of a training: every rank gets an error that names the first
//! cause, in bounded time, and holds the parameters of the last committed step.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use ringgrad::hash::params_sha256;
use ringgrad::nn::data::{self, Step};
use ringgrad::nn::{self, Init, Module, optim};
use ringgrad::{Algorithm, Error, Rank, RankTrainer, Result, World};

const RANKS: usize = 4;
const GOOD_STEPS: usize = 5;
const DEADLINE: Duration = Duration::from_millis(400);

/// What a rank does in place of step `GOOD_STEPS`, before its own forward.
type Fault = fn(&Rank) -> Result<()>;

/// A rank's own view after the fault: which rank, its parameters' hash, its error.
type Seen = (usize, String, String);

fn steps() -> Vec<Step> {
    data::digits().unwrap().batches(64).seed(1).into_iter().take(GOOD_STEPS + 1).collect()
}

/// Trains; rank 2 has the fault. Returns what ranks saw, `run`'s error, and the time it took.
fn run(algorithm: Algorithm, fault: Fault) -> (Vec<Seen>, String, Duration) {
    let (sender, receiver) = channel();
    let began = Instant::now();
    let world = World::threads(RANKS).shards(RANKS).algorithm(algorithm).deadline(DEADLINE);
    let steps = steps();
    let result = world.run(move |rank| train(rank, &steps, fault, &sender.clone()));
    let error = result.map(drop).unwrap_err().to_string();
    let took = began.elapsed();
    let mut seen: Vec<Seen> = receiver.try_iter().collect();
    seen.sort();
    (seen, error, took)
}

fn train(rank: &Rank, steps: &[Step], fault: Fault, sender: &Sender<Seen>) -> Result<()> {
    let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 16, 10])?;
    let mut trainer = rank.trainer(model, optim::sgd(0.1).momentum(0.9))?;
    for step in steps {
        let faulty = rank.rank() == 2 && step.index == GOOD_STEPS as u64;
        let result = trainer.step(step, |model, cx, batch| -> Result<_> {
            if faulty {
                fault(rank)?;
            }
            Ok(nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)?)
        });
        if let Err(error) = result {
            let hash = params_sha256(&trainer.params()?);
            // The receiver may be gone when a late rank wakes up after the run.
            let _ = sender.send((rank.rank(), hash, error.to_string()));
            return Err(error);
        }
    }
    Ok(())
}

/// The hash after the good steps, from a run that has no more of them.
fn hash_of_last_good_step(algorithm: Algorithm) -> String {
    let world = World::threads(RANKS).shards(RANKS).algorithm(algorithm);
    let steps = steps()[..GOOD_STEPS].to_vec();
    let hashes = world.run(move |rank| -> Result<String> {
        let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 16, 10])?;
        let mut trainer = rank.trainer(model, optim::sgd(0.1).momentum(0.9))?;
        for step in &steps {
            trainer.step(step, |model, cx, batch| {
                nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
            })?;
        }
        Ok(params_sha256(&trainer.params()?))
    });
    hashes.unwrap().swap_remove(0)
}

fn check(fault: Fault, ranks_that_see_it: &[usize], cause: &str) {
    for algorithm in [Algorithm::Tree, Algorithm::Ring] {
        let (seen, error, took) = run(algorithm, fault);
        assert!(took < DEADLINE + Duration::from_secs(1), "{algorithm:?}: {took:?}");
        assert!(error.contains("rank 2") && error.contains(cause), "{algorithm:?}: {error}");
        let last_good = hash_of_last_good_step(algorithm);
        let ranks: Vec<usize> = seen.iter().map(|(rank, ..)| *rank).collect();
        assert_eq!(ranks, ranks_that_see_it, "{algorithm:?}");
        for (rank, hash, message) in seen {
            assert_eq!(hash, last_good, "rank {rank} does not hold the last committed step");
            assert!(rank == 2 || message.contains("rank 2"), "rank {rank}: {message}");
        }
    }
}

#[test]
fn a_rank_that_panics_is_named_by_all_others_and_no_parameter_changes() {
    check(|_| panic!("a bug in the user's layer"), &[0, 1, 3], "a bug in the user's layer");
}

#[test]
fn a_rank_that_returns_an_error_is_named_by_all_others_and_no_parameter_changes() {
    check(|_| Err(Error::Tensor(wrong_shape())), &[0, 1, 2, 3], "matmul");
}

fn wrong_shape() -> ringgrad::tensor::Error {
    let device = ringgrad::Device::cpu();
    let x = ringgrad::Tensor::zeros(&device, ringgrad::tensor::DType::F32, &[2, 3]).unwrap();
    x.matmul(&x).unwrap_err()
}

#[test]
fn a_rank_that_is_late_past_the_deadline_is_named_and_no_parameter_changes() {
    let late: Fault = |_| {
        std::thread::sleep(DEADLINE * 4);
        Ok(())
    };
    check(late, &[0, 1, 3], "");
}

#[test]
fn a_rank_with_another_model_is_refused_before_the_first_step_with_both_sides() {
    let world = World::threads(3).deadline(DEADLINE);
    let result = world.run(|rank| -> Result<()> {
        let hidden = if rank.rank() == 1 { 17 } else { 16 };
        let model = nn::mlp(&Init::new(rank.device(), 1), &[64, hidden, 10])?;
        rank.trainer(model, optim::sgd(0.1)).map(drop)
    });
    let error = result.unwrap_err().to_string();
    for part in ["rank 0 brought", "[10, 16]", "rank 1 brought", "layers.1.weight f32 [10, 17]"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_parameter_that_the_loss_ignores_is_an_error_in_the_same_step_with_its_path() {
    let result = World::threads(2).run(|rank| -> Result<()> {
        let init = Init::new(rank.device(), 1);
        let used = nn::Linear::new(&init.at("used"), 64, 10)?;
        let model = nn::Sequential::new().then(used).then(Bystander::new(&init)?);
        let mut trainer = rank.trainer(model, optim::sgd(0.1))?;
        let step = data::digits()?.batches(8).into_iter().next().expect("a batch");
        trainer.step(&step, |model, cx, batch| {
            nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
        })?;
        Ok(())
    });
    let error = result.unwrap_err().to_string();
    assert!(error.contains("unused.weight") && !error.contains("used.bias"), "{error}");
}

/// A layer that has a parameter and does not use it.
struct Bystander(nn::Parameter);

impl Bystander {
    fn new(init: &Init) -> Result<Self> {
        Ok(Bystander(init.at("unused").uniform("weight", &[3], 1.0)?))
    }
}

impl Module for Bystander {
    fn describe(&self) -> String {
        "Bystander".to_owned()
    }

    fn forward(&self, _: &nn::Context, x: &ringgrad::Var) -> nn::Result<ringgrad::Var> {
        Ok(x.clone())
    }

    fn visit(&self, visitor: &mut dyn FnMut(&nn::Parameter)) {
        visitor(&self.0);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut nn::Parameter)) {
        visitor(&mut self.0);
    }
}

#[test]
fn a_graph_that_outlives_its_step_is_an_error_that_names_its_parameters() {
    let result = World::threads(1).run(|rank| -> Result<()> {
        let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 10])?;
        let mut trainer = rank.trainer(model, optim::sgd(0.1))?;
        let kept = std::cell::RefCell::new(Vec::new());
        for step in data::digits()?.batches(64).into_iter().take(2) {
            trainer.step(&step, |model, cx, batch| -> nn::Result<_> {
                let logits = model.forward(cx, &batch.x)?;
                kept.borrow_mut().push(logits.clone());
                nn::cross_entropy(&logits, &batch.y)
            })?;
        }
        Ok(())
    });
    let error = result.unwrap_err().to_string();
    assert!(error.contains("still held") && error.contains("layers.0.weight"), "{error}");
}

#[test]
fn a_trainer_whose_step_failed_says_so_and_keeps_the_last_committed_parameters() {
    let result = World::threads(1).shards(2).run(|rank| -> Result<()> {
        let model = nn::mlp(&Init::new(rank.device(), 1), &[64, 10])?;
        let mut trainer = rank.trainer(model, optim::sgd(0.1))?;
        let steps: Vec<Step> = data::digits()?.batches(64).into_iter().take(2).collect();
        let loss = |model: &nn::Mlp, cx: &nn::Context, batch: &ringgrad::Batch| {
            nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
        };
        trainer.step(&steps[0], loss)?;
        let before = trainer.params()?;
        let shards_seen = std::cell::Cell::new(0);
        let failed = trainer.step(&steps[1], |model, cx, batch| {
            shards_seen.set(shards_seen.get() + 1);
            if shards_seen.get() == 2 {
                return Err(Error::Tensor(wrong_shape()));
            }
            Ok(loss(model, cx, batch)?)
        });
        assert!(matches!(failed, Err(Error::Tensor(_))), "{failed:?}");
        for _ in 0..2 {
            let message = trainer.step(&steps[1], loss).unwrap_err().to_string();
            assert!(message.contains("an earlier step") && message.contains("matmul"), "{message}");
        }
        assert_eq!(trainer.params()?, before);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn an_f64_model_trains_and_is_evaluated() {
    let result = World::threads(2).run(|rank| -> Result<ringgrad::Evaluation> {
        let init = Init::new(rank.device(), 1).dtype(ringgrad::tensor::DType::F64);
        let mut trainer = rank.trainer(nn::mlp(&init, &[64, 16, 10])?, optim::sgd(0.2))?;
        let digits = data::digits()?.split(0.8, 1)?;
        for step in digits.train.batches(32).epochs(5) {
            trainer.step(&step, |model, cx, batch| {
                nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
            })?;
        }
        trainer.evaluate(&digits.test, 100)
    });
    let reports = result.unwrap();
    assert!(reports[0].accuracy > 0.8 && reports[0] == reports[1], "{reports:?}");
}
