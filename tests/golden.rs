//! PyTorch's values: every op with its gradients, every optimizer and schedule, and training runs,
//! within the bounds of `tests/golden/README.md`. Another folder of the same format may be named
//! by `RINGGRAD_GOLDEN`.
//!
//! `cargo test --release --test golden -- --nocapture` prints how many cases ran and how close
//! each op is.

mod common;
mod golden_cases;

use golden_cases::bounds::Tally;
use golden_cases::files::Golden;
use golden_cases::{ops, optim, traces};
use ringgrad::Algorithm;
use ringgrad::nn::data::Step;
use ringgrad::tensor::DType;
use serde_json::{Value, json};

fn ops_in(dtype: DType) {
    let golden = Golden::open("ops");
    let mut tally = Tally::default();
    for entry in golden.list.as_array().unwrap() {
        let (id, op) = (entry["id"].as_str().unwrap(), entry["op"].as_str().unwrap());
        tally.note(id, op, ops::run(&golden, entry, dtype));
    }
    tally.finish(&format!("ops in {dtype}"));
}

#[test]
fn every_op_has_its_golden_values_and_gradients_in_f32() {
    ops_in(DType::F32);
}

#[test]
fn every_op_has_its_golden_values_and_gradients_in_f64() {
    ops_in(DType::F64);
}

#[test]
fn an_unknown_op_a_wrong_value_and_a_wrong_setting_are_failures() {
    let golden = Golden::open("ops");
    let list = golden.list.as_array().unwrap();
    let case = |id: &str| list.iter().find(|entry| entry["id"] == id).unwrap().clone();
    let outcome = |entry: &Value| ops::run(&golden, entry, DType::F64);
    assert!(outcome(&case("exp.0")).unwrap() <= 1.0);
    let with = |mut entry: Value, key: &str, value: Value| {
        entry[key] = value;
        entry
    };
    let unknown = outcome(&with(case("exp.0"), "op", json!("exponential"))).unwrap_err();
    assert!(unknown.contains("does not know the op \"exponential\""), "{unknown}");
    // Another op of the same shape: its values are wrong.
    assert!(outcome(&with(case("exp.0"), "op", json!("sin"))).map_or(true, |error| error > 1.0));
    let setting = with(case("clamp.0"), "attrs", json!({ "min": -0.5, "max": 0.8 }));
    assert!(outcome(&setting).unwrap() > 1.0);
}

#[test]
fn every_optimizer_takes_its_golden_steps_in_f32() {
    optim::optimizers(DType::F32);
}

#[test]
fn every_optimizer_takes_its_golden_steps_in_f64() {
    optim::optimizers(DType::F64);
}

#[test]
fn every_schedule_has_its_golden_rates() {
    optim::schedules();
}

#[test]
fn clipping_to_a_global_norm_has_its_golden_values() {
    optim::clipping();
}

/// The numbers of ranks at which a trace is run: batch norm over a global batch of several shards
/// is not there yet.
fn ranks(trace: &Value) -> &'static [usize] {
    if trace["model"] == "bn_mlp" { &[1] } else { &[1, 2, 4] }
}

#[test]
fn every_trace_is_followed_at_its_numbers_of_ranks_in_both_modes() {
    let golden = Golden::open("traces");
    for trace in golden.list["traces"].as_array().unwrap() {
        let id = trace["id"].as_str().unwrap();
        let (run, start) = (traces::run(&golden, trace), golden.under(&format!("{id}/init/")));
        for algorithm in [Algorithm::Tree, Algorithm::Ring] {
            for &ranks in ranks(trace) {
                let run = common::Run { ranks, shards: ranks, algorithm, ..run.clone() };
                let outcome = run.train(Some(start.clone())).unwrap();
                let (loss, params) = traces::errors(&golden, trace, &outcome);
                println!("{id} {algorithm:?} {ranks} ranks: loss {loss:.3}, params {params:.3}");
                assert!(
                    loss <= 1.0 && params <= 1.0,
                    "{id} {algorithm:?} {ranks}: {loss} {params}"
                );
            }
        }
    }
}

#[test]
fn a_run_that_loses_one_sample_of_one_step_is_caught() {
    let golden = Golden::open("traces");
    let list = golden.list["traces"].as_array().unwrap();
    let trace = list.iter().find(|trace| trace["id"] == "mlp_sgd").unwrap();
    let mut run = traces::run(&golden, trace);
    let step = &run.steps[30];
    run.steps[30] = Step::new(step.dataset(), 30, step.samples()[1..].to_vec()).unwrap();
    let outcome = run.train(Some(golden.under("mlp_sgd/init/"))).unwrap();
    let (loss, params) = traces::errors(&golden, trace, &outcome);
    assert!(loss > 1.0 && params > 1.0, "{loss} {params}");
}
