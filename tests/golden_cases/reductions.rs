//! Ops that reduce axes, or run along one.

use ringgrad::Var;

use super::ops::{Case, Outputs, axis};

pub(crate) fn run(case: &Case<'_>) -> Option<Outputs> {
    over_axes(case).or_else(|| along(case))
}

/// The axes that `dims` names; all of them when it is null.
fn axes(case: &Case<'_>, ndim: usize) -> Vec<usize> {
    match case.attr("dims").as_array() {
        Some(dims) => dims.iter().map(|dim| axis(dim, ndim)).collect(),
        None => (0..ndim).collect(),
    }
}

fn over_axes(case: &Case<'_>) -> Option<Outputs> {
    if !["sum", "mean", "var", "std", "norm", "logsumexp", "amax", "amin"].contains(&case.op) {
        return None;
    }
    let (x, keep) = (case.var("x"), case.flag("keepdim"));
    let axes = &axes(case, x.value().ndim())[..];
    let y = match case.op {
        "sum" => x.sum(axes, keep),
        "mean" => x.mean(axes, keep),
        "var" => x.var(axes, case.int("correction"), keep),
        "std" => x.std(axes, case.int("correction"), keep),
        "norm" => x.norm(axes, keep),
        "logsumexp" => x.logsumexp(axes, keep),
        "amax" => x.amax(axes, keep),
        _ => x.amin(axes, keep),
    };
    Some(y.map(|y| vec![y]).map_err(Into::into))
}

fn along(case: &Case<'_>) -> Option<Outputs> {
    let x = || case.var("x");
    let axis = || case.axis("dim", x().value().ndim());
    let y = match case.op {
        "softmax" => x().softmax(axis()),
        "log_softmax" => x().log_softmax(axis()),
        "cumsum" => x().cumsum(axis()),
        "argmax" => x().value().argmax(axis(), false).map(Var::constant).map_err(Into::into),
        "argmin" => x().value().argmin(axis(), false).map(Var::constant).map_err(Into::into),
        _ => return None,
    };
    Some(y.map(|y| vec![y]).map_err(Into::into))
}
