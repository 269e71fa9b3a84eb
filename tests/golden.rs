//! Training runs against PyTorch's, from the same start over the same samples. The bounds are
//! those of `tests/golden/README.md`. Another folder of the same format may be named by
//! `RINGGRAD_GOLDEN`.

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::{Outcome, Run};
use ringgrad::Algorithm;
use ringgrad::hash::NamedValues;
use ringgrad::nn::data::{self, Step};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

struct Golden {
    arrays: BTreeMap<String, NamedValues>,
    traces: Vec<Value>,
}

fn folder() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    std::env::var_os("RINGGRAD_GOLDEN").map_or(own, PathBuf::from)
}

fn golden() -> Golden {
    let bytes = std::fs::read(folder().join("traces.safetensors")).unwrap();
    let arrays = SafeTensors::deserialize(&bytes).unwrap();
    let list = std::fs::read(folder().join("traces.json")).unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    Golden {
        arrays: arrays.iter().map(|(name, view)| (name.to_owned(), decoded(name, &view))).collect(),
        traces: list["traces"].as_array().unwrap().clone(),
    }
}

fn decoded(name: &str, view: &safetensors::tensor::TensorView<'_>) -> NamedValues {
    let eight = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).unwrap();
    let values = match view.dtype() {
        Dtype::F64 => view.data().chunks(8).map(|b| f64::from_le_bytes(eight(b))).collect(),
        Dtype::I64 => view.data().chunks(8).map(|b| i64::from_le_bytes(eight(b)) as f64).collect(),
        Dtype::F32 => view
            .data()
            .chunks(4)
            .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
            .collect(),
        other => panic!("{name}: an array of {other:?}"),
    };
    NamedValues { name: name.to_owned(), shape: view.shape().to_vec(), values }
}

impl Golden {
    fn values(&self, name: &str) -> &[f64] {
        &self.arrays.get(name).unwrap_or_else(|| panic!("no array {name}")).values
    }

    /// The arrays under `prefix`, named without it.
    fn under(&self, prefix: &str) -> Vec<NamedValues> {
        let inside = |(name, array): (&String, &NamedValues)| {
            let name = name.strip_prefix(prefix)?.to_owned();
            Some(NamedValues { name, ..array.clone() })
        };
        self.arrays.iter().filter_map(inside).collect()
    }

    /// The largest error of a run in units of its bound, for losses and for parameters.
    fn errors(&self, trace: &Value, outcome: &Outcome) -> (f64, f64) {
        let id = trace["id"].as_str().unwrap();
        let (f64s, f32s) =
            (self.values(&format!("{id}/loss/f64")), self.values(&format!("{id}/loss/f32")));
        let spread = f64s.iter().zip(f32s).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert_eq!(outcome.losses.len(), f64s.len());
        let loss = outcome.losses.iter().zip(f64s).map(|(got, want)| {
            let bound = 4.0 * spread + 1e-6 * want.abs();
            (got - want).abs() / bound
        });
        let drift = trace["drift"].as_object().unwrap().values();
        let bound = 4.0 * drift.map(|d| d.as_f64().unwrap()).fold(0.0, f64::max);
        let wanted = self.under(&format!("{id}/final/"));
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
}

fn mlp_run(golden: &Golden, trace: &Value) -> Run {
    let id = trace["id"].as_str().unwrap();
    let batch = trace["batch"].as_u64().unwrap() as usize;
    let digits = data::digits().unwrap();
    let numbers = golden.values(&format!("{id}/batches"));
    let steps = numbers.chunks(batch).enumerate().map(|(index, samples)| {
        let samples = samples.iter().map(|&sample| sample as usize).collect();
        Step::new(&digits, index as u64, samples).unwrap()
    });
    let sizes = trace["args"][0].as_array().unwrap();
    let sizes: Vec<usize> = sizes.iter().map(|size| size.as_u64().unwrap() as usize).collect();
    Run::new(&sizes, steps.collect())
}

#[test]
fn the_mlp_trace_is_followed_at_1_2_and_4_ranks_in_both_modes() {
    let golden = golden();
    let trace = golden.traces.iter().find(|trace| trace["id"] == "mlp_sgd").unwrap();
    let run = mlp_run(&golden, trace);
    let start = golden.under("mlp_sgd/init/");
    for algorithm in [Algorithm::Tree, Algorithm::Ring] {
        for ranks in [1, 2, 4] {
            let run = Run { ranks, shards: ranks, algorithm, ..run.clone() };
            let (loss, params) = golden.errors(trace, &run.train(Some(start.clone())).unwrap());
            println!("mlp_sgd {algorithm:?} {ranks} ranks: loss {loss:.3}, params {params:.3}");
            assert!(loss <= 1.0 && params <= 1.0, "{algorithm:?} {ranks}: {loss} {params}");
        }
    }
}

#[test]
fn a_run_that_loses_one_sample_of_one_step_is_caught() {
    let golden = golden();
    let trace = golden.traces.iter().find(|trace| trace["id"] == "mlp_sgd").unwrap();
    let mut run = mlp_run(&golden, trace);
    let (digits, step) = (data::digits().unwrap(), &run.steps[30]);
    run.steps[30] = Step::new(&digits, 30, step.samples()[1..].to_vec()).unwrap();
    let outcome = run.train(Some(golden.under("mlp_sgd/init/"))).unwrap();
    let (loss, params) = golden.errors(trace, &outcome);
    assert!(loss > 1.0 && params > 1.0, "{loss} {params}");
}
