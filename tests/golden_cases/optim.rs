//! Optimizers, schedules and clipping: `optim.json`.

use ringgrad::nn::optim::{self, Optimizer, Recipe, Schedule};
use ringgrad::nn::{self, Context, Module, Parameter};
use ringgrad::tensor::{DType, Device};
use ringgrad::{Tensor, Var};
use serde_json::Value;

use super::bounds::{Tally, error, tolerance};
use super::files::Golden;

/// Parameters whose gradient is the input: `p · x`.
struct Given(Vec<Parameter>);

impl Module for Given {
    fn describe(&self) -> String {
        "Given".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> nn::Result<Var> {
        Ok((&cx.var(&self.0[0]) * x)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.0.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.0.iter_mut().for_each(visitor);
    }
}

fn vector(values: &[f64], dtype: DType) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap().cast(dtype).unwrap()
}

fn values(x: &Tensor) -> Vec<f64> {
    x.cast(DType::F64).unwrap().to_vec().unwrap()
}

pub(crate) fn optimizers(dtype: DType) {
    let golden = Golden::open("optim");
    let mut tally = Tally::default();
    for case in golden.list["optimizers"].as_array().unwrap() {
        let (id, kind) = (case["id"].as_str().unwrap(), case["kind"].as_str().unwrap());
        tally.note(id, kind, Ok(worst_step(&golden, case, id, dtype)));
    }
    tally.finish(&format!("optimizers in {dtype}"));
}

/// The largest error of the parameters after any step.
fn worst_step(golden: &Golden, case: &Value, id: &str, dtype: DType) -> f64 {
    let start = vector(golden.values(&format!("{id}/p0")), dtype);
    let n = start.numel();
    let mut model = Given(vec![Parameter::new("p".to_owned(), start)]);
    let mut optimizer = Optimizer::new(&mut model, recipe(case)).unwrap();
    let grads = golden.values(&format!("{id}/grads")).chunks(n);
    let wanted = golden.values(&format!("{id}/params")).chunks(n);
    let steps = grads.zip(wanted).map(|(grad, wanted)| {
        let x = Var::constant(vector(grad, dtype));
        let loss = model.forward(&Context::train(0, 0), &x).unwrap().sum_all().unwrap();
        let gradients = loss.backward().unwrap();
        drop(loss);
        optimizer.step(&mut model, &gradients, 1.0).unwrap();
        error(&values(model.0[0].value()), wanted, tolerance(dtype))
    });
    steps.fold(0.0, f64::max)
}

fn recipe(case: &Value) -> Recipe {
    let hyper = &case["hyper"];
    let number = |name: &str, default: f64| hyper[name].as_f64().unwrap_or(default);
    let flag = |name: &str| hyper[name].as_bool().unwrap_or(false);
    let (lr, decay) = (number("lr", f64::NAN), number("weight_decay", 0.0));
    match case["kind"].as_str().unwrap() {
        "sgd" => {
            let sgd = optim::sgd(lr).momentum(number("momentum", 0.0)).weight_decay(decay);
            let sgd = sgd.dampening(number("dampening", 0.0));
            if flag("nesterov") { sgd.nesterov().into() } else { sgd.into() }
        }
        kind @ ("adam" | "adamw") => {
            let adam = if kind == "adam" { optim::adam(lr) } else { optim::adamw(lr) };
            let beta = |i: usize, default| hyper["betas"][i].as_f64().unwrap_or(default);
            let adam = adam.betas(beta(0, 0.9), beta(1, 0.999)).eps(number("eps", 1e-8));
            let usual = if kind == "adam" { 0.0 } else { 0.01 };
            let adam = adam.weight_decay(number("weight_decay", usual));
            if flag("amsgrad") { adam.amsgrad().into() } else { adam.into() }
        }
        "rmsprop" => {
            let rmsprop = optim::rmsprop(lr).momentum(number("momentum", 0.0));
            if flag("centered") { rmsprop.centered().into() } else { rmsprop.into() }
        }
        "adagrad" => optim::adagrad(lr).into(),
        other => panic!("the runner does not know the optimizer {other:?}"),
    }
}

pub(crate) fn schedules() {
    let golden = Golden::open("optim");
    let mut tally = Tally::default();
    for case in golden.list["schedules"].as_array().unwrap() {
        let (name, base) = (case["name"].as_str().unwrap(), case["base_lr"].as_f64().unwrap());
        let schedule = schedule(name, &case["attrs"]);
        schedule.validate().unwrap();
        let wanted: Vec<f64> =
            case["lrs"].as_array().unwrap().iter().map(|lr| lr.as_f64().unwrap()).collect();
        let found: Vec<f64> = (0..wanted.len()).map(|t| schedule.lr(base, t as u64)).collect();
        tally.note(name, name, Ok(error(&found, &wanted, tolerance(DType::F64))));
    }
    tally.finish("schedules");
}

fn schedule(name: &str, attrs: &Value) -> Schedule {
    let number = |name: &str| attrs[name].as_f64().unwrap();
    let count = |name: &str| attrs[name].as_u64().unwrap();
    let cosine = || Schedule::Cosine { steps: count("t_max"), min_lr: number("eta_min") };
    match name {
        "step" => Schedule::Step { every: count("step_size"), gamma: number("gamma") },
        "multi_step" => {
            let milestones = attrs["milestones"].as_array().unwrap().iter();
            let milestones = milestones.map(|step| step.as_u64().unwrap()).collect();
            Schedule::MultiStep { milestones, gamma: number("gamma") }
        }
        "exponential" => Schedule::Exponential { gamma: number("gamma") },
        "cosine" => cosine(),
        "linear" => Schedule::Linear {
            start: number("start_factor"),
            end: number("end_factor"),
            steps: count("total_iters"),
        },
        "warmup_cosine" => cosine().after_warmup(count("warmup"), number("start_factor")),
        "one_cycle" => Schedule::OneCycle {
            max_lr: number("max_lr"),
            steps: count("total_steps"),
            rise: number("pct_start"),
            div: number("div_factor"),
            final_div: number("final_div_factor"),
        },
        "polynomial" => {
            Schedule::Polynomial { steps: count("total_iters"), power: number("power") }
        }
        other => panic!("the runner does not know the schedule {other:?}"),
    }
}

/// From parameters 0 and with a learning rate of 1 a step is the clipped gradient, negated.
pub(crate) fn clipping() {
    let golden = Golden::open("optim");
    let array = |name: &str, i: usize| golden.values(&format!("clip/{name}/{i}"));
    let zeros = |i: usize| vector(&vec![0.0; array("in", i).len()], DType::F64);
    let mut model = Given((0..2).map(|i| Parameter::new(format!("p{i}"), zeros(i))).collect());
    let mut optimizer = Optimizer::new(&mut model, optim::sgd(1.0).clip_norm(1.0)).unwrap();
    let term = |i: usize| {
        (model.0[i].var() * &Var::constant(vector(array("in", i), DType::F64))).unwrap().sum_all()
    };
    let loss = (&term(0).unwrap() + &term(1).unwrap()).unwrap();
    let gradients = loss.backward().unwrap();
    drop(loss);
    let facts = optimizer.step(&mut model, &gradients, 1.0).unwrap();
    let mut tally = Tally::default();
    let norm = [facts.grad_norm.expect("the norm of what was clipped")];
    tally.note("clip", "norm", Ok(error(&norm, golden.values("clip/norm"), tolerance(DType::F64))));
    for (i, parameter) in model.0.iter().enumerate() {
        let clipped: Vec<f64> = values(parameter.value()).iter().map(|x| -x).collect();
        tally.note("clip", "out", Ok(error(&clipped, array("out", i), tolerance(DType::F64))));
    }
    tally.finish("clipping");
}
