//! Whole recipes on several ranks: rule, schedule, clipping and groups give the same bits at every
//! number of ranks, and without ranks.

use std::time::Duration;

use ringgrad::dist::ReplicaSettings;
use ringgrad::hash::params_sha256;
use ringgrad::nn::data::{self, Step};
use ringgrad::nn::optim::{Group, Optimizer, Recipe, Schedule, adagrad, adam, adamw, rmsprop};
use ringgrad::nn::{self, Context, Init, Mlp, Module};
use ringgrad::tensor::DType;
use ringgrad::{Batch, Device, RankTrainer, Result, StepReport, Trainer, World};

const SIZES: [usize; 3] = [64, 20, 10];
const STEPS: usize = 25;

fn steps() -> Vec<Step> {
    data::digits().unwrap().batches(48).seed(3).into_iter().take(STEPS).collect()
}

fn loss(model: &Mlp, cx: &Context, batch: &Batch) -> nn::Result<nn::Loss> {
    nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
}

fn full_recipe() -> Recipe {
    adamw(0.01)
        .weight_decay(0.1)
        .amsgrad()
        .schedule(Schedule::Cosine { steps: 20, min_lr: 1e-4 }.after_warmup(5, 0.1))
        .clip_norm(0.5)
        .groups([
            Group::ending("bias").weight_decay(0.0),
            Group::starting("layers.1").lr_scale(0.5),
        ])
        .into()
}

/// The hash of rank 0's parameters and the reports of its steps.
fn train(
    (ranks, shards): (usize, usize),
    recipe: &Recipe,
    dtype: DType,
    bucket_bytes: usize,
) -> (String, Vec<StepReport>) {
    let recipe = recipe.clone();
    let world = World::threads(ranks).shards(shards).deadline(Duration::from_secs(20));
    let outcomes = world.run(move |rank| -> Result<_> {
        let model = nn::mlp(&Init::new(rank.device(), 1).dtype(dtype), &SIZES)?;
        let settings = ReplicaSettings { bucket_bytes, ..Default::default() };
        let mut trainer = Trainer::new(rank, model, recipe.clone(), settings)?;
        let reports: Result<Vec<_>> = steps().iter().map(|step| trainer.step(step, loss)).collect();
        assert_eq!(trainer.first_drifted_rank()?, None);
        Ok((params_sha256(&trainer.params()?), reports?))
    });
    outcomes.unwrap().swap_remove(0)
}

#[test]
fn a_full_recipe_has_the_same_bits_at_every_number_of_ranks() {
    for dtype in [DType::F32, DType::F64] {
        let (one, reports) = train((1, 6), &full_recipe(), dtype, 1 << 20);
        for (ranks, bucket_bytes) in [(2, 1 << 20), (2, 512), (3, 1 << 20), (4, 512), (6, 64)] {
            let (got, told) = train((ranks, 6), &full_recipe(), dtype, bucket_bytes);
            assert_eq!(got, one, "{ranks} {bucket_bytes}");
            let numbers = |report: &StepReport| (report.loss, report.lr, report.grad_norm);
            assert!(told.iter().map(numbers).eq(reports.iter().map(numbers)), "{ranks}");
        }
        let recipe = full_recipe();
        assert!(reports.iter().all(|report| report.grad_norm > Some(0.0)));
        assert!(reports.iter().any(|report| report.grad_norm > Some(0.5)), "nothing was clipped");
        assert!((0..).zip(&reports).all(|(step, report)| report.lr == recipe.lr(step)));
        assert!(reports[STEPS - 1].loss < reports[0].loss);
    }
}

#[test]
fn every_part_of_the_recipe_changes_the_bits() {
    let hash = |recipe: &Recipe| train((1, 2), recipe, DType::F32, 1 << 20).0;
    let full = full_recipe();
    let one = hash(&full);
    assert_ne!(hash(&Recipe { schedule: Schedule::Constant, ..full.clone() }), one);
    assert_ne!(hash(&Recipe { clip: None, ..full.clone() }), one);
    assert_ne!(hash(&Recipe { groups: Vec::new(), ..full.clone() }), one);
    assert_ne!(hash(&Recipe { rule: full.rule.with(0.02, None), ..full }), one);
    // A bound that is never reached changes nothing.
    let free: Recipe = adam(0.01).into();
    let bounded = [adam(0.01).clip_norm(1e6), adam(0.01).clip_value(1e6)];
    for bounded in bounded {
        assert_eq!(hash(&bounded.into()), hash(&free));
    }
}

#[test]
fn a_group_without_learning_rate_keeps_its_parameters() {
    let device = Device::cpu();
    let mut model = nn::mlp(&Init::new(&device, 1), &SIZES).unwrap();
    let before = nn::named_values(&model);
    let recipe = adamw(0.1).groups([Group::starting("layers.0").lr_scale(0.0)]);
    let mut optimizer = Optimizer::new(&mut model, recipe).unwrap();
    one_step(&mut optimizer, &mut model, &steps()[0]);
    for ((name, old), (_, new)) in before.iter().zip(nn::named_values(&model)) {
        let same = old.to_vec::<f32>().unwrap() == new.to_vec::<f32>().unwrap();
        assert_eq!(same, name.starts_with("layers.0"), "{name}");
    }
}

fn one_step(optimizer: &mut Optimizer, model: &mut Mlp, step: &Step) -> nn::optim::StepFacts {
    let batch = Batch::gather(step, 0..step.len(), &Device::cpu()).unwrap();
    let cx = Context::train(step.index, step.first_position());
    let loss = loss(model, &cx, &batch).unwrap();
    let (gradients, count) = (loss.backward().unwrap(), loss.count());
    drop(loss);
    optimizer.step(model, &gradients, count).unwrap()
}

#[test]
fn without_ranks_every_rule_has_the_bits_of_one_rank_with_one_shard() {
    let clip = 0.5;
    for recipe in [
        full_recipe(),
        adam(0.01).weight_decay(0.1).clip_value(1e-3).into(),
        rmsprop(0.01).momentum(0.9).centered().clip_norm(clip).into(),
        adagrad(0.05).lr_decay(0.1).initial_accumulator_value(0.1).into(),
    ] {
        let (hash, reports) = train((1, 1), &recipe, DType::F32, 1 << 20);
        let mut model = nn::mlp(&Init::new(&Device::cpu(), 1), &SIZES).unwrap();
        let mut optimizer = Optimizer::new(&mut model, recipe.clone()).unwrap();
        for (step, report) in steps().iter().zip(&reports) {
            let facts = one_step(&mut optimizer, &mut model, step);
            assert_eq!((facts.lr, facts.grad_norm), (report.lr, report.grad_norm));
        }
        let named = nn::named_values(&model).into_iter().map(|(name, value)| {
            let values = value.cast(DType::F64).unwrap().to_vec().unwrap();
            ringgrad::hash::NamedValues { name, shape: value.shape().to_vec(), values }
        });
        assert_eq!(params_sha256(&named.collect::<Vec<_>>()), hash, "{recipe:?}");
    }
}

#[test]
fn a_gradient_without_a_finite_norm_is_refused_by_name_and_changes_nothing() {
    let device = Device::cpu();
    let mut model = nn::mlp(&Init::new(&device, 1), &SIZES).unwrap();
    let mut optimizer = Optimizer::new(&mut model, adam(0.01).clip_norm(1.0)).unwrap();
    let before = nn::named_values(&model);
    let batch = Batch::gather(&steps()[0], 0..4, &device).unwrap();
    let x = ringgrad::Tensor::full(&device, f32::NAN, &[4, 64]).unwrap();
    let logits = model.forward(&Context::train(0, 0), &x.into()).unwrap();
    let gradients = nn::cross_entropy(&logits, &batch.y).unwrap().backward().unwrap();
    drop(logits);
    let refused = optimizer.step(&mut model, &gradients, 4.0).unwrap_err().to_string();
    assert!(refused.contains("the norm of the gradient is NaN"), "{refused}");
    assert!(refused.contains("layers.1.bias"), "{refused}");
    assert_eq!(optimizer.steps(), 0);
    for ((_, old), (_, new)) in before.iter().zip(nn::named_values(&model)) {
        assert_eq!(old.to_vec::<f32>().unwrap(), new.to_vec::<f32>().unwrap());
    }
}

#[test]
fn ranks_with_other_recipes_and_groups_without_parameters_are_refused() {
    let refused = |recipe: fn(usize) -> Recipe| {
        let world = World::threads(2).deadline(Duration::from_secs(10));
        let result = world.run(move |rank| {
            let model = nn::mlp(&Init::new(rank.device(), 1), &SIZES)?;
            rank.trainer(model, recipe(rank.rank())).map(drop)
        });
        result.unwrap_err().to_string()
    };
    let schedules = refused(|rank| {
        adam(0.1).schedule(Schedule::Exponential { gamma: 1.0 - 0.1 * rank as f64 }).into()
    });
    assert!(schedules.contains("the schedule Exponential { gamma: 0.9 }"), "{schedules}");
    let groups = refused(|rank| adam(0.1).groups(vec![Group::ending("bias"); rank]).into());
    assert!(groups.contains("the group") && groups.contains("nothing more"), "{groups}");
    let empty = refused(|_| adam(0.1).groups([Group::ending("bais")]).into());
    assert!(empty.contains("no parameter is called …bais"), "{empty}");
}
