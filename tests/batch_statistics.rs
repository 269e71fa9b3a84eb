//! A trainer and what a step leaves beside parameters: running statistics with one shard, a
//! refusal with more, and masks of dropout that are the same at every number of ranks.

use ringgrad::nn::{self, Dropout, Init, Linear, Relu, Sequential, optim};
use ringgrad::{Module, RankTrainer, Result, World};

fn run(shards: usize) -> Result<Vec<(String, Vec<f64>)>> {
    let digits = nn::data::digits()?.split(0.8, 7)?;
    let all = World::threads(1).shards(shards).run(move |rank| -> Result<_> {
        let model = nn::bn_mlp(&Init::new(rank.device(), 1), 64, 16, 10)?;
        let mut trainer = rank.trainer(model, optim::sgd(0.1))?;
        for step in digits.train.batches(64).epochs(4) {
            trainer.step(&step, |model, cx, batch| {
                nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
            })?;
        }
        assert!(trainer.evaluate(&digits.test, 64)?.accuracy > 0.8);
        Ok(trainer.params()?.into_iter().map(|p| (p.name, p.values)).collect::<Vec<_>>())
    })?;
    Ok(all.into_iter().next().unwrap())
}

#[test]
fn one_shard_trains_with_running_statistics_and_several_are_refused() {
    let params = run(1).unwrap();
    let of = |name: &str| &params.iter().find(|(found, _)| found == name).unwrap().1;
    assert!(of("bn.running_mean").iter().any(|x| x.abs() > 0.1));
    assert!(of("bn.running_var").iter().all(|&x| x != 1.0));
    let message = run(2).unwrap_err().to_string();
    assert!(message.contains("2 shards") && message.contains("train with one shard"), "{message}");
}

#[test]
fn masks_of_dropout_do_not_depend_on_the_number_of_ranks() {
    let trained = |ranks: usize, seed: u64| {
        let digits = nn::data::digits().unwrap().split(0.8, 7).unwrap();
        let all = World::threads(ranks).shards(4).run(move |rank| -> Result<_> {
            let init = Init::new(rank.device(), 1);
            let model = Sequential::new()
                .then(Linear::new(&init.at(0), 64, 16)?)
                .then(Relu)
                .then(Dropout::new(&init.at(2), 0.3))
                .then(Linear::new(&init.at(3), 16, 10)?);
            let mut trainer = rank.trainer(model, optim::sgd(0.1))?.seed(seed);
            for step in digits.train.batches(32).epochs(1).into_iter().take(6) {
                trainer.step(&step, |model, cx, batch| {
                    nn::cross_entropy(&model.forward(cx, &batch.x)?, &batch.y)
                })?;
            }
            trainer.params()
        });
        all.unwrap().remove(0)
    };
    let one = trained(1, 5);
    assert_eq!(trained(2, 5), one);
    assert_eq!(trained(3, 5), one);
    assert_ne!(trained(1, 6), one);
}
