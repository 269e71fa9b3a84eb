//! Losses: each is a sum and a count here, and a reduction of the two in the golden files.

use ringgrad::nn::{self, CrossEntropy, Loss};
use ringgrad::tensor::DType;
use ringgrad::{Tensor, Var};

use super::ops::{Case, Outputs};

/// Losses one by one, and what their mean divides by.
type Each = nn::Result<(Var, f64)>;

pub(crate) fn run(case: &Case<'_>) -> Option<Outputs> {
    let each = match case.op {
        "cross_entropy" => cross_entropy(case),
        "nll_loss" => nll_loss(case),
        "kl_div" => kl_div(case),
        _ => pairs(case)?,
    };
    let reduced = each.and_then(|(each, count)| reduced(case, each, count));
    Some(reduced.map(|y| vec![y]).map_err(Into::into))
}

/// The golden files have means; a loss divides once, at the end of a step.
fn reduced(case: &Case<'_>, each: Var, count: f64) -> nn::Result<Var> {
    let reduction = case.attr("reduction").as_str().expect("a reduction");
    if reduction == "none" {
        return Ok(each);
    }
    let loss = Loss::new(each.sum_all()?, count)?;
    if reduction == "sum" {
        return Ok(loss.sum().clone());
    }
    let count = Tensor::scalar(each.value().device(), loss.count()).cast(each.value().dtype())?;
    Ok((loss.sum() / &Var::constant(count))?)
}

fn cross_entropy(case: &Case<'_>) -> Each {
    let (x, t) = (case.var("x"), case.tensor("t"));
    let mut settings = CrossEntropy::new();
    if let Some(share) = case.attr("label_smoothing").as_f64() {
        settings = settings.label_smoothing(share);
    }
    if let Some(index) = case.attr("ignore_index").as_i64() {
        settings = settings.ignore_index(index);
    }
    if case.flag("weighted") {
        let weights = case.tensor("w").cast(DType::F64)?.to_vec::<f64>()?;
        settings = settings.class_weights(&weights);
    }
    Ok((settings.each(x, t)?, settings.loss(x, t)?.count()))
}

fn nll_loss(case: &Case<'_>) -> Each {
    let (x, t) = (case.var("x"), case.tensor("t"));
    let ones = Tensor::full(t.device(), 1.0f64, t.shape())?;
    Ok((x.nll_loss(t, &ones)?, nn::nll_loss(x, t)?.count()))
}

fn kl_div(case: &Case<'_>) -> Each {
    let (x, t) = (case.var("x").log_softmax(1)?, case.var("t").softmax(1)?);
    Ok((x.kl_div(&t)?, nn::kl_div(&x, &t)?.count()))
}

fn pairs(case: &Case<'_>) -> Option<Each> {
    let (x, t) = (|| case.var("x"), || case.var("t"));
    let each = match case.op {
        "mse_loss" => x().mse_loss(t()),
        "l1_loss" => x().l1_loss(t()),
        "huber_loss" => x().huber_loss(t(), case.float("delta")),
        "bce_with_logits" => x().bce_with_logits(t()),
        _ => return None,
    };
    let counted = each.map(|each| {
        let count = each.value().numel() as f64;
        (each, count)
    });
    Some(counted.map_err(Into::into))
}
