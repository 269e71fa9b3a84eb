//! Products, convolutions, pools, norms and attention.

use ringgrad::nn::{self, BatchNorm, BatchNorm1d, BatchNorm2d, Context, Init, Module};
use ringgrad::tensor::{AttentionSettings, ConvSettings, Window};
use ringgrad::{Var, autograd};

use super::ops::{Case, Outputs};

pub(crate) fn run(case: &Case<'_>) -> Option<Outputs> {
    products(case).or_else(|| convolutions(case)).or_else(|| pools(case)).or_else(|| norms(case))
}

fn one(y: autograd::Result<Var>) -> Option<Outputs> {
    Some(y.map(|y| vec![y]).map_err(Into::into))
}

fn products(case: &Case<'_>) -> Option<Outputs> {
    let (x, y) = (|| case.var("x"), || case.var("y"));
    one(match case.op {
        "matmul" => x().matmul(y()),
        "matmul_t" => x().transpose(0, 1).and_then(|x| x.matmul(y())),
        "linear" => case.var("input").linear(case.var("weight"), Some(case.var("bias"))),
        "attention" => {
            let settings = AttentionSettings { causal: case.flag("causal"), ..Default::default() };
            case.var("q").attention(case.var("k"), case.var("v"), &settings)
        }
        _ => return None,
    })
}

fn settings<const N: usize>(case: &Case<'_>) -> ConvSettings<N> {
    ConvSettings {
        stride: [case.int("stride"); N],
        padding: [case.int("padding"); N],
        dilation: [case.int("dilation"); N],
        groups: case.int("groups"),
    }
}

fn convolutions(case: &Case<'_>) -> Option<Outputs> {
    let inputs = || (case.var("x"), case.var("w"), Some(case.var("b")));
    one(match case.op {
        "conv1d" => {
            let (x, w, b) = inputs();
            x.conv1d(w, b, settings(case))
        }
        "conv2d" => {
            let (x, w, b) = inputs();
            x.conv2d(w, b, settings(case))
        }
        "conv_transpose2d" => {
            let (x, w, b) = inputs();
            x.conv_transpose2d(w, b, settings(case), [case.int("output_padding"); 2])
        }
        _ => return None,
    })
}

fn pools(case: &Case<'_>) -> Option<Outputs> {
    let x = || case.var("x");
    let window = || Window {
        stride: [case.int("stride"); 2],
        padding: [case.int("padding"); 2],
        ..Window::new([case.int("kernel"); 2])
    };
    one(match case.op {
        "max_pool2d" => x().max_pool2d(window()),
        "avg_pool2d" => x().avg_pool2d(window(), case.flag("count_include_pad")),
        "adaptive_avg_pool2d" => {
            let size = case.ints("size");
            x().adaptive_avg_pool2d([size[0] as usize, size[1] as usize])
        }
        _ => return None,
    })
}

fn norms(case: &Case<'_>) -> Option<Outputs> {
    let (x, w, b) = (|| case.var("x"), || Some(case.var("w")), || Some(case.var("b")));
    let eps = || case.float("eps");
    one(match case.op {
        "layer_norm" => x().layer_norm(case.int("dims"), w(), b(), eps()),
        "rms_norm" => x().rms_norm(1, w(), eps()),
        "group_norm" => x().group_norm(case.int("groups"), w(), b(), eps()),
        "batch_norm" => return Some(batch_norm(case)),
        _ => return None,
    })
}

/// The layer's output, and its running statistics after a step.
fn batch_norm(case: &Case<'_>) -> Outputs {
    let x = case.var("x");
    let init = Init::new(x.value().device(), 1).dtype(x.value().dtype());
    let channels = x.value().shape()[1];
    if x.value().ndim() == 4 {
        stepped(case, BatchNorm2d::new(&init, channels)?.with_eps(case.float("eps")))
    } else {
        stepped(case, BatchNorm1d::new(&init, channels)?.with_eps(case.float("eps")))
    }
}

fn stepped<const AXES: usize>(case: &Case<'_>, layer: BatchNorm<AXES>) -> Outputs {
    let mut layer = layer.with_momentum(case.float("momentum"));
    let mut leaves = ["w", "b"].into_iter();
    layer.visit_mut(&mut |parameter| {
        let leaf = case.var(leaves.next().expect("two parameters"));
        parameter.bind(leaf.clone()).expect("a leaf of the parameter's shape");
    });
    let mut running = ["rm", "rv"].into_iter();
    layer.visit_buffers_mut(&mut |buffer| {
        let value = case.tensor(running.next().expect("two buffers"));
        buffer.set(value.clone()).expect("a value of the buffer's shape");
    });
    let cx = if case.flag("training") { Context::train(0, 0) } else { Context::eval() };
    let mut outputs = vec![layer.forward(&cx, case.var("x"))?];
    nn::update_buffers(&mut layer, &cx)?;
    layer.visit_buffers(&mut |buffer| outputs.push(Var::constant(buffer.value().clone())));
    Ok(outputs)
}
