//! Ops that work element by element.

use ringgrad::Var;

use super::ops::{Case, Outputs};

pub(crate) fn run(case: &Case<'_>) -> Option<Outputs> {
    unary(case).or_else(|| binary(case)).or_else(|| masks(case))
}

fn unary(case: &Case<'_>) -> Option<Outputs> {
    let x = || case.var("x");
    let y = match case.op {
        "neg" => x().neg(),
        "exp" => x().exp(),
        "abs" => x().abs(),
        "sin" => x().sin(),
        "cos" => x().cos(),
        "tanh" => x().tanh(),
        "sigmoid" => x().sigmoid(),
        "relu" => x().relu(),
        "gelu" => x().gelu(),
        "gelu_tanh" => x().gelu_tanh(),
        "silu" => x().silu(),
        "softplus" => x().softplus(),
        "square" => x().square(),
        "erf" => x().erf(),
        "elu" => x().elu(1.0),
        "leaky_relu" => x().leaky_relu(case.float("negative_slope")),
        "sign" => x().sign(),
        "floor" => x().floor(),
        "log" => x().ln(),
        "log1p" => x().log1p(),
        "sqrt" => x().sqrt(),
        "rsqrt" => x().rsqrt(),
        "reciprocal" => x().recip(),
        "powf" => x().powf(case.float("exponent")),
        "clamp" => x().clamp(case.float("min"), case.float("max")),
        _ => return None,
    };
    Some(y.map(|y| vec![y]).map_err(Into::into))
}

fn binary(case: &Case<'_>) -> Option<Outputs> {
    let (x, y) = (|| case.var("x"), || case.var("y"));
    let z = match case.op {
        "add" => x() + y(),
        "sub" => x() - y(),
        "mul" => x() * y(),
        "div" => x() / y(),
        "maximum" => x().maximum(y()),
        "minimum" => x().minimum(y()),
        "pow" => x().pow(y()),
        "where" => x().where_mask(case.tensor("c"), y()),
        "masked_fill" => x().masked_fill(case.tensor("m"), case.float("value")),
        _ => return None,
    };
    Some(z.map(|z| vec![z]).map_err(Into::into))
}

fn masks(case: &Case<'_>) -> Option<Outputs> {
    let (x, y) = (|| case.tensor("x"), || case.tensor("y"));
    let mask = match case.op {
        "eq" => x().eq(y()),
        "ne" => x().ne(y()),
        "lt" => x().lt(y()),
        "le" => x().le(y()),
        "gt" => x().gt(y()),
        "ge" => x().ge(y()),
        _ => return None,
    };
    Some(mask.map(|mask| vec![Var::constant(mask)]).map_err(Into::into))
}
