//! One case of `ops.json`: its inputs as variables, the op by its name, outputs and gradients
//! against the golden ones.

use std::collections::BTreeMap;

use ringgrad::tensor::{DType, Device};
use ringgrad::{Tensor, Var, autograd};
use serde_json::Value;

use super::bounds::{error, tolerance};
use super::files::{Array, Golden};
use super::{elementwise, layers, losses, movement, reductions, second_order};

/// What an op made of a case: its outputs.
pub(crate) type Outputs = Result<Vec<Var>, Box<dyn std::error::Error>>;

/// A case with its inputs in one element type.
pub(crate) struct Case<'a> {
    pub(crate) op: &'a str,
    attrs: &'a Value,
    inputs: BTreeMap<&'a str, Var>,
}

impl Case<'_> {
    pub(crate) fn var(&self, name: &str) -> &Var {
        self.inputs.get(name).unwrap_or_else(|| panic!("no input {name}"))
    }

    pub(crate) fn tensor(&self, name: &str) -> &Tensor {
        self.var(name).value()
    }

    pub(crate) fn attr(&self, name: &str) -> &Value {
        &self.attrs[name]
    }

    pub(crate) fn float(&self, name: &str) -> f64 {
        self.attr(name).as_f64().unwrap_or_else(|| panic!("no number {name}"))
    }

    pub(crate) fn int(&self, name: &str) -> usize {
        self.attr(name).as_u64().unwrap_or_else(|| panic!("no count {name}")) as usize
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.attr(name).as_bool().unwrap_or(false)
    }

    /// An axis of a tensor with `ndim` axes; negative ones count from the end.
    pub(crate) fn axis(&self, name: &str, ndim: usize) -> usize {
        axis(self.attr(name), ndim)
    }

    /// Whole numbers.
    pub(crate) fn ints(&self, name: &str) -> Vec<i64> {
        let list = self.attr(name).as_array().unwrap_or_else(|| panic!("no list {name}"));
        list.iter().map(|n| n.as_i64().unwrap()).collect()
    }
}

pub(crate) fn axis(value: &Value, ndim: usize) -> usize {
    let axis = value.as_i64().expect("an axis");
    usize::try_from(if axis < 0 { axis + ndim as i64 } else { axis }).expect("an axis")
}

/// Runs the op of a case, which exactly one of the files knows.
fn outputs(case: &Case<'_>) -> Outputs {
    let known = [
        elementwise::run,
        reductions::run,
        movement::run,
        layers::run,
        losses::run,
        second_order::run,
    ];
    let found = known.iter().find_map(|run| run(case));
    found.unwrap_or_else(|| Err(format!("the runner does not know the op {:?}", case.op).into()))
}

/// The largest error of a case in units of its bound.
pub(crate) fn run(golden: &Golden, entry: &Value, dtype: DType) -> Result<f64, String> {
    let id = entry["id"].as_str().ok_or("a case without id")?;
    let names = |key: &str| -> Vec<&str> {
        entry[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let grads = names("grads");
    let device = Device::cpu();
    let mut inputs = BTreeMap::new();
    for name in names("inputs") {
        let value = tensor(&device, golden.array(&format!("{id}/in/{name}")), dtype);
        let leaf = grads.contains(&name) || entry["op"] == "hvp";
        inputs.insert(name, if leaf { Var::leaf(name, value) } else { Var::constant(value) });
    }
    let case = Case {
        op: entry["op"].as_str().ok_or("a case without op")?,
        attrs: &entry["attrs"],
        inputs,
    };
    let outputs = outputs(&case).map_err(|e| e.to_string())?;
    if outputs.len() != entry["outputs"].as_u64().unwrap_or(0) as usize {
        return Err(format!("{} outputs", outputs.len()));
    }
    let mut worst = 0.0f64;
    for (i, output) in outputs.iter().enumerate() {
        let wanted = golden.array(&format!("{id}/out/{i}"));
        worst = worst.max(compare(&format!("output {i}"), output.value(), wanted, dtype)?);
    }
    if !grads.is_empty() {
        worst = worst.max(gradient_error(golden, id, (&case, &grads), &outputs, dtype)?);
    }
    Ok(worst)
}

/// The gradients of `Σ outputs · gy` against the golden ones.
fn gradient_error(
    golden: &Golden,
    id: &str,
    (case, grads): (&Case<'_>, &[&str]),
    outputs: &[Var],
    dtype: DType,
) -> Result<f64, String> {
    let mut loss: Option<Var> = None;
    for (i, output) in outputs.iter().enumerate() {
        // Outputs that are not differentiable have none.
        let Some(gy) = golden.find(&format!("{id}/gy/{i}")) else { continue };
        let gy = Var::constant(tensor(output.value().device(), gy, dtype));
        let term = (output * &gy).and_then(|term| term.sum_all());
        let sum = match loss {
            Some(loss) => term.and_then(|term| &loss + &term),
            None => term,
        };
        loss = Some(sum.map_err(|e| e.to_string())?);
    }
    let found = loss.ok_or("no output has an upstream gradient")?.backward();
    let found = found.map_err(|e: autograd::Error| e.to_string())?;
    let mut worst = 0.0f64;
    for name in grads {
        let gradient = found.get(case.var(name)).map_err(|e| e.to_string())?;
        let wanted = golden.array(&format!("{id}/grad/{name}"));
        worst = worst.max(compare(&format!("the gradient of {name}"), gradient, wanted, dtype)?);
    }
    Ok(worst)
}

/// A golden array as a tensor: floats in the type under test, indices and masks as they are.
fn tensor(device: &Device, array: &Array, dtype: DType) -> Tensor {
    let x = Tensor::from_slice(device, &array.values, &array.shape).unwrap();
    x.cast(if array.dtype.is_float() { dtype } else { array.dtype }).unwrap()
}

fn compare(what: &str, found: &Tensor, wanted: &Array, dtype: DType) -> Result<f64, String> {
    if found.shape()[..] != wanted.shape[..] {
        return Err(format!("{what} has shape {}, not {:?}", found.shape(), wanted.shape));
    }
    let values = found.cast(DType::F64).and_then(|x| x.to_vec::<f64>());
    let error = error(&values.map_err(|e| e.to_string())?, &wanted.values, tolerance(dtype));
    if error.is_finite() {
        Ok(error)
    } else {
        Err(format!("{what} is not finite where it must be, or not what it must be"))
    }
}
