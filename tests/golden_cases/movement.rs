//! Ops that move elements, or pick them by index.

use ringgrad::{Var, autograd};

use super::ops::{Case, Outputs};

pub(crate) fn run(case: &Case<'_>) -> Option<Outputs> {
    views(case).or_else(|| copies(case)).or_else(|| indexed(case))
}

fn one(y: autograd::Result<Var>) -> Option<Outputs> {
    Some(y.map(|y| vec![y]).map_err(Into::into))
}

fn counts(case: &Case<'_>, name: &str) -> Vec<usize> {
    case.ints(name).into_iter().map(|n| usize::try_from(n).unwrap()).collect()
}

fn views(case: &Case<'_>) -> Option<Outputs> {
    let x = || case.var("x");
    let ndim = || x().value().ndim();
    one(match case.op {
        "reshape" => reshape(case),
        "transpose" => x().transpose(case.axis("dim0", ndim()), case.axis("dim1", ndim())),
        "permute" => x().permute(&counts(case, "dims")),
        "expand" => x().broadcast_to(&counts(case, "shape")),
        "squeeze" => x().squeeze(case.axis("dim", ndim())),
        "unsqueeze" => x().unsqueeze(case.axis("dim", ndim() + 1)),
        "flatten" => x().flatten(case.int("start"), case.int("end")),
        "narrow" => x().narrow(case.axis("dim", ndim()), case.int("start"), case.int("length")),
        "slice" => {
            let range = case.int("start")..case.int("end");
            x().slice(case.axis("dim", ndim()), range, case.int("step"))
        }
        _ => return None,
    })
}

/// A negative length is whatever is left.
fn reshape(case: &Case<'_>) -> autograd::Result<Var> {
    let x = case.var("x");
    let x = if case.flag("transposed_first") { x.transpose(0, 1)? } else { x.clone() };
    let lens = case.ints("shape").into_iter().map(|len| usize::try_from(len).ok());
    x.reshape_infer(&lens.collect::<Vec<_>>())
}

fn copies(case: &Case<'_>) -> Option<Outputs> {
    let x = || case.var("x");
    let ndim = || x().value().ndim();
    one(match case.op {
        "flip" => x().flip(&counts(case, "dims")),
        "repeat" => x().repeat(&counts(case, "repeats")),
        "pad" => {
            let pads = case.attr("pads").as_array().unwrap().iter();
            let pad =
                |pair: &serde_json::Value| [0, 1].map(|side| pair[side].as_u64().unwrap() as usize);
            x().pad(&pads.map(pad).collect::<Vec<_>>(), case.float("value"))
        }
        "cat" => Var::cat(&[x(), case.var("y")], case.axis("dim", ndim())),
        "stack" => Var::stack(&[x(), case.var("y")], case.axis("dim", ndim() + 1)),
        "tril" => x().tril(case.attr("diagonal").as_i64().unwrap()),
        "triu" => x().triu(case.attr("diagonal").as_i64().unwrap()),
        "chunk" => {
            let chunks = x().chunk(case.int("chunks"), case.axis("dim", ndim()));
            return Some(chunks.map_err(Into::into));
        }
        _ => return None,
    })
}

fn indexed(case: &Case<'_>) -> Option<Outputs> {
    let (x, i) = (|| case.var("x"), || case.tensor("i"));
    let axis = || case.axis("dim", x().value().ndim());
    one(match case.op {
        "index_select" => x().index_select(axis(), i()),
        "gather" => x().gather(axis(), i()),
        "scatter_add" => x().scatter_add(axis(), i(), case.var("s")),
        "embedding" => case.var("w").embedding(i()),
        "one_hot" => i()
            .one_hot(case.int("classes"), ringgrad::tensor::DType::F32)
            .map(Var::constant)
            .map_err(Into::into),
        _ => return None,
    })
}
