//! Training runs against PyTorch's, from the same start over the same samples.

use ringgrad::nn::data::{self, Dataset, Step};
use ringgrad::nn::optim::{self, Recipe};
use ringgrad::nn::{self, GptSettings, Init, Module, Sequential, Unflatten};
use serde_json::Value;

use super::files::Golden;
use crate::common::{Outcome, Run};

/// PyTorch counts a batch norm's batches for averages without momentum, which no run here has.
const UNUSED_BUFFER: &str = "num_batches_tracked";

/// The run of a trace on one rank, and its id.
pub(crate) fn run(golden: &Golden, trace: &Value) -> Run {
    let id = trace["id"].as_str().unwrap();
    let batch = trace["batch"].as_u64().unwrap() as usize;
    let data = samples(golden, trace);
    let numbers = golden.values(&format!("{id}/batches"));
    let steps = numbers.chunks(batch).enumerate().map(|(index, samples)| {
        let samples = samples.iter().map(|&sample| sample as usize).collect();
        Step::new(&data, index as u64, samples).unwrap()
    });
    let mut run = Run::new(&[1, 1], steps.collect());
    run.recipe = recipe(trace);
    let (kind, args) = (trace["model"].as_str().unwrap().to_owned(), trace["args"].clone());
    run.build = std::sync::Arc::new(move |init| build(&kind, &args, init));
    run
}

fn samples(golden: &Golden, trace: &Value) -> Dataset {
    if trace["model"] != "gpt" {
        return data::digits().unwrap();
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/text/shakespeare8.txt");
    let bytes = golden.list["text_bytes"].as_u64().unwrap() as usize;
    let text = std::fs::read(file).unwrap();
    let vocabulary: Vec<char> = golden.list["vocab"].as_str().unwrap().chars().collect();
    let token = |&byte: &u8| {
        let place = vocabulary.iter().position(|&c| c == char::from(byte));
        place.expect("a character of the vocabulary") as i64
    };
    let tokens: Vec<i64> = text[..bytes].iter().map(token).collect();
    Dataset::tokens("text", &tokens, size(&trace["args"][1]), 1, vocabulary.len()).unwrap()
}

fn size(value: &Value) -> usize {
    value.as_u64().expect("a size") as usize
}

fn sizes(list: &Value) -> Vec<usize> {
    list.as_array().expect("a list").iter().map(size).collect()
}

fn build(kind: &str, args: &Value, init: &Init) -> nn::Result<Box<dyn Module>> {
    Ok(match kind {
        "mlp" => Box::new(nn::mlp(init, &sizes(&args[0]))?),
        "cnn" => {
            let cnn = nn::cnn(init, [1, 8, 8], &sizes(args), 10)?;
            Box::new(Sequential::new().then(Unflatten::new(&[1, 8, 8])).then(cnn))
        }
        "bn_mlp" => Box::new(nn::bn_mlp(init, 64, size(&args[0]), 10)?),
        "gpt" => {
            let [vocabulary, context, dim, heads, layers] = [0, 1, 2, 3, 4].map(|i| size(&args[i]));
            let settings = GptSettings { vocabulary, context, dim, heads, layers };
            Box::new(nn::gpt(init, &settings)?)
        }
        other => panic!("the runner does not know the model {other:?}"),
    })
}

fn recipe(trace: &Value) -> Recipe {
    let hyper = |name: &str, default: f64| trace["hyper"][name].as_f64().unwrap_or(default);
    let clip = trace["clip"].as_f64();
    match trace["optim"].as_str().unwrap() {
        "sgd" => {
            let sgd = optim::sgd(hyper("lr", 0.0)).momentum(hyper("momentum", 0.0));
            let sgd = sgd.weight_decay(hyper("weight_decay", 0.0));
            clip.map_or(sgd.clone().into(), |clip| sgd.clip_norm(clip).into())
        }
        "adamw" => {
            let beta = |i: usize, default| trace["hyper"]["betas"][i].as_f64().unwrap_or(default);
            let adamw = optim::adamw(hyper("lr", 0.0)).betas(beta(0, 0.9), beta(1, 0.999));
            let adamw = adamw.weight_decay(hyper("weight_decay", 0.01));
            clip.map_or(adamw.clone().into(), |clip| adamw.clip_norm(clip).into())
        }
        other => panic!("the runner does not know the optimizer {other:?}"),
    }
}

/// The largest error of a run in units of its bound, for losses and for parameters.
pub(crate) fn errors(golden: &Golden, trace: &Value, outcome: &Outcome) -> (f64, f64) {
    let id = trace["id"].as_str().unwrap();
    let (f64s, f32s) =
        (golden.values(&format!("{id}/loss/f64")), golden.values(&format!("{id}/loss/f32")));
    let spread = f64s.iter().zip(f32s).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert_eq!(outcome.losses.len(), f64s.len());
    let loss = outcome.losses.iter().zip(f64s).map(|(got, want)| {
        let bound = 4.0 * spread + 1e-6 * want.abs();
        (got - want).abs() / bound
    });
    let drift = trace["drift"].as_object().unwrap().values();
    let bound = 4.0 * drift.map(|d| d.as_f64().unwrap()).fold(0.0, f64::max);
    let mut wanted = golden.under(&format!("{id}/final/"));
    wanted.retain(|want| !want.name.ends_with(UNUSED_BUFFER));
    assert_eq!(wanted.len(), outcome.params.len());
    let params = wanted.iter().flat_map(|want| {
        let got = outcome.params.iter().find(|got| got.name == want.name);
        let got = got.unwrap_or_else(|| panic!("no parameter {}", want.name));
        assert_eq!(got.shape, want.shape);
        got.values.iter().zip(&want.values).map(|(g, w)| (g - w).abs() / bound)
    });
    // A NaN is an infinite error; `f64::max` would swallow it.
    let largest = |e: f64, x: f64| if x.is_nan() { f64::INFINITY } else { e.max(x) };
    (loss.fold(0.0, largest), params.fold(0.0, largest))
}
