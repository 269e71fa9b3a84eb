//! Training without ranks has the bits of one rank with one shard: the same kernels over the same
//! memory, whoever launches them.

mod common;

use common::Run;
use ringgrad::nn::optim::{Optimizer, sgd};
use ringgrad::nn::{self, Context, Init, Module, data};
use ringgrad::{Batch, Device};

#[test]
fn the_local_optimizer_and_one_rank_with_one_shard_have_the_same_bits() {
    let steps: Vec<_> = data::digits().unwrap().batches(50).seed(3).into_iter().take(25).collect();
    let run = Run { ranks: 1, shards: 1, ..Run::new(&[64, 12, 10], steps.clone()) };
    let ranked = run.train(None).unwrap();

    let device = Device::cpu();
    let mut model = nn::mlp(&Init::new(&device, 1), &[64, 12, 10]).unwrap();
    let rule = sgd(0.1).momentum(0.9).weight_decay(1e-4);
    let mut optimizer = Optimizer::new(&mut model, rule).unwrap();
    for (step, loss_of_rank) in steps.iter().zip(&ranked.losses) {
        let batch = Batch::gather(step, 0..step.len(), &device).unwrap();
        let cx = Context::train(step.index, step.first_position());
        let loss = nn::cross_entropy(&model.forward(&cx, &batch.x).unwrap(), &batch.y).unwrap();
        assert_eq!(loss.mean().unwrap(), *loss_of_rank);
        let (gradients, count) = (loss.backward().unwrap(), loss.count());
        drop(loss);
        optimizer.step(&mut model, &gradients, count).unwrap();
    }
    for (name, value) in nn::named_values(&model) {
        let ranked = ranked.params.iter().find(|param| param.name == name).unwrap();
        let bits: Vec<u32> = value.to_vec::<f32>().unwrap().iter().map(|x| x.to_bits()).collect();
        let wanted: Vec<u32> = ranked.values.iter().map(|&x| (x as f32).to_bits()).collect();
        assert_eq!(bits, wanted, "{name}");
    }
}
