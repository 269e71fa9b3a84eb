//! ringgrad: tensors, reverse-mode autograd, and synchronous data parallelism that is equal in
//! bits at every number of ranks.
//!
//! The crates, from the bottom up: [`kernels`] has the numbers, [`tensor`] shapes and views,
//! [`autograd`] the gradients, [`nn`] layers and data, [`dist`] ranks and collectives. Here the
//! two siblings meet: a [`Trainer`] runs a model of `nn` on a rank of `dist`.
//!
//! # Five minutes
//!
//! Four ranks, which are threads here, train one network. The global batch of each step is cut
//! into eight shards; each rank hosts two. Every gradient goes to the other ranks while the
//! backward is still running, and all ranks take the same step at one barrier.
//!
//! ```
//! use ringgrad::{Module, RankTrainer, Result, World, nn, nn::data, nn::optim};
//!
//! fn main() -> Result<()> {
//!     let digits = data::digits()?.split(0.8, 7)?;
//!     let reports = World::threads(4).shards(8).run(move |rank| -> Result<_> {
//!         let model = nn::mlp(&nn::Init::new(rank.device(), 1), &[64, 48, 10])?;
//!         let mut trainer = rank.trainer(model, optim::sgd(0.1).momentum(0.9))?;
//!         for step in digits.train.batches(64).epochs(8) {
//!             trainer.step(&step, |model, cx, batch| {
//!                 nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
//!             })?;
//!         }
//!         trainer.evaluate(&digits.test, 64)
//!     })?;
//!     println!("{}", reports[0]);
//!     assert!(reports[0].accuracy > 0.9);
//!     Ok(())
//! }
//! ```

#![forbid(unsafe_code)]

mod batch;
mod batch_statistics;
mod error;
pub mod hash;
mod trainer;
pub mod ulps;

pub use autograd::{self, Var};
pub use batch::Batch;
pub use dist::{self, Algorithm, Rank, World};
pub use error::{Error, Result};
pub use kernels;
pub use nn::{self, Module};
pub use tensor::{self, Device, Tensor};
pub use trainer::{Evaluation, RankTrainer, StepReport, TimeShare, Trainer};

/// The program in the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
