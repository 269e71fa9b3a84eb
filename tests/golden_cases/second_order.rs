//! Hessian-vector products: the gradient of (gradient · v).

use ringgrad::{Var, autograd};

use super::ops::{Case, Outputs};

pub(crate) fn run(case: &Case<'_>) -> Option<Outputs> {
    (case.op == "hvp").then(|| Ok(vec![product(case)?]))
}

fn product(case: &Case<'_>) -> autograd::Result<Var> {
    let (x, v) = (case.var("x"), case.var("v").detach());
    let value = match case.attr("f").as_str() {
        // The list calls it so; its values are those of the sum of cubes.
        Some("square_sum") => (&(x * x)? * x)?.sum_all()?,
        Some("tanh_sum") => x.tanh()?.sum_all()?,
        Some("logsumexp") => x.logsumexp(.., false)?,
        other => panic!("the runner does not know the function {other:?}"),
    };
    let gradient = value.gradients(&[x])?.remove(0);
    Ok((&gradient * &v)?.sum_all()?.gradients(&[x])?.remove(0))
}
