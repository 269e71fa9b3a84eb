//! A perceptron learns the digits on one device, without ranks.
//!
//! `cargo run --release --example 03_mlp`

use ringgrad::nn::optim::{Optimizer, sgd};
use ringgrad::nn::{self, Context, Init, Module, data};
use ringgrad::{Batch, Device, Result};

fn main() -> Result<()> {
    let device = Device::cpu();
    let digits = data::digits()?.split(0.8, 7)?;

    // Each parameter's start is a function of the seed, its path and the element's number.
    let mut model = nn::mlp(&Init::new(&device, 1), &[64, 48, 10])?;
    let mut names = Vec::new();
    model.visit(&mut |parameter| names.push(parameter.name().to_owned()));
    assert_eq!(names, ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]);
    assert_eq!(nn::numel(&model), 64 * 48 + 48 + 48 * 10 + 10);

    let mut optimizer = Optimizer::new(&mut model, sgd(0.2).momentum(0.9))?;
    let mut losses = Vec::new();
    for step in digits.train.batches(64).epochs(25) {
        let batch = Batch::gather(&step, 0..step.len(), &device)?;
        let cx = Context::train(step.index, step.first_position());
        // A loss is a sum and a count. Backward differentiates the sum; the step divides, once.
        let loss = nn::cross_entropy(&model.forward(&cx, &batch.x)?, &batch.y)?;
        losses.push(loss.mean()?);
        let (gradients, count) = (loss.backward()?, loss.count());
        // The graph holds the parameters as they were: it has to go before they change.
        drop(loss);
        optimizer.step(&mut model, &gradients, count)?;
    }
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    println!("loss {first:.3} at the start, {last:.3} after {} steps", losses.len());
    assert!(last < first / 10.0);

    let mut whole = digits.test.batches(digits.test.len()).in_order().into_iter();
    let test = whole.next().expect("a split leaves samples to test with");
    let batch = Batch::gather(&test, 0..test.len(), &device)?;
    let logits = model.forward(&Context::eval(), &batch.x)?;
    let found = logits.value().argmax(1, false)?.to_vec::<i64>()?;
    let wanted = batch.y.to_vec::<i64>()?;
    let right = found.iter().zip(&wanted).filter(|(found, wanted)| found == wanted).count();
    println!("{right} of {} test digits recognised", wanted.len());
    assert!(right * 100 >= wanted.len() * 95);
    Ok(())
}
