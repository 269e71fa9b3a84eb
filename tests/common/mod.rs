//! What several integration tests need: a small training run, described as data.

use std::sync::Arc;
use std::time::Duration;

use ringgrad::dist::ReplicaSettings;
use ringgrad::hash::NamedValues;
use ringgrad::nn::data::Step;
use ringgrad::nn::optim::{self, Recipe};
use ringgrad::nn::{self, Init, Module};
use ringgrad::{Algorithm, Result, Trainer, World};

/// Makes a model.
pub(crate) type Build = dyn Fn(&Init) -> nn::Result<Box<dyn Module>> + Send + Sync;

/// A training run.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) build: Arc<Build>,
    pub(crate) recipe: Recipe,
    pub(crate) steps: Vec<Step>,
    pub(crate) ranks: usize,
    pub(crate) shards: usize,
    pub(crate) algorithm: Algorithm,
    pub(crate) bucket_bytes: usize,
    pub(crate) threads_per_rank: usize,
    pub(crate) dtype: ringgrad::tensor::DType,
}

/// What rank 0 brings back; every rank's parameters are compared with it first.
pub(crate) struct Outcome {
    pub(crate) losses: Vec<f64>,
    pub(crate) params: Vec<NamedValues>,
}

impl Run {
    /// A perceptron of `sizes` on two ranks, two shards, the tree.
    pub(crate) fn new(sizes: &[usize], steps: Vec<Step>) -> Self {
        let sizes = sizes.to_vec();
        Run {
            build: Arc::new(move |init| Ok(Box::new(nn::mlp(init, &sizes)?))),
            recipe: optim::sgd(0.1).momentum(0.9).weight_decay(1e-4).into(),
            steps,
            ranks: 2,
            shards: 2,
            algorithm: Algorithm::Tree,
            bucket_bytes: ReplicaSettings::default().bucket_bytes,
            threads_per_rank: 1,
            dtype: ringgrad::tensor::DType::F32,
        }
    }

    /// Trains from `start`, or from seed 1, and returns rank 0's outcome.
    pub(crate) fn train(&self, start: Option<Vec<NamedValues>>) -> Result<Outcome> {
        let run = self.clone();
        let world = World::threads(self.ranks)
            .shards(self.shards)
            .algorithm(self.algorithm)
            .threads_per_rank(self.threads_per_rank)
            .deadline(Duration::from_secs(20));
        let outcomes = world.run(move |rank| -> Result<Outcome> {
            let init = Init::new(rank.device(), 1).dtype(run.dtype);
            let mut model = (run.build)(&init)?;
            if let Some(start) = &start {
                model.visit_mut(&mut |parameter| set(parameter, start));
            }
            let settings =
                ReplicaSettings { bucket_bytes: run.bucket_bytes, ..ReplicaSettings::default() };
            let mut trainer = Trainer::new(rank, model, run.recipe.clone(), settings)?;
            let mut losses = Vec::new();
            for step in &run.steps {
                let report = trainer.step(step, |model, cx, batch| {
                    nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
                })?;
                losses.push(report.loss);
            }
            assert_eq!(trainer.first_drifted_rank()?, None);
            Ok(Outcome { losses, params: trainer.params()? })
        })?;
        let first = outcomes.into_iter().next();
        Ok(first.expect("a world has a rank 0"))
    }
}

fn set(parameter: &mut nn::Parameter, start: &[NamedValues]) {
    let found = start.iter().find(|values| values.name == parameter.name());
    let NamedValues { name, shape, values } = found.expect("a start for every parameter");
    let (device, dtype) = (parameter.value().device().clone(), parameter.value().dtype());
    let value = ringgrad::Tensor::from_slice(&device, values, shape).unwrap().cast(dtype).unwrap();
    parameter.bind(ringgrad::Var::leaf(name, value)).unwrap();
}
