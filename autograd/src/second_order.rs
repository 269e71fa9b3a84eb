//! Gradients that can be differentiated again: the reverse walk over variables.
//!
//! The walk of `backward.rs` computes tensors. This one calls `Op::vjp_var`, so the gradients are
//! computed by operations of the graph, from the same leaves, and their derivatives are had the
//! same way. Every order of derivative works alike.

use std::sync::Arc;

use crate::backward::check_dtypes;
use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::node::{Kind, Node, Op};
use crate::order::{Order, Visit};
use crate::var::Var;

impl Var {
    /// The gradients of this scalar with respect to `wrt`, leaves or results of operations, as
    /// variables that depend on the same leaves: they can be used in a further loss, and
    /// differentiated again. One that depends on no leaf any more, as that of a linear function,
    /// is a constant.
    ///
    /// ```
    /// use ringgrad_autograd::Var;
    /// use tensor::{Device, Tensor};
    /// # fn main() -> Result<(), ringgrad_autograd::Error> {
    /// // The Hessian of f = Σ x²·x² times v: 12·x²·v.
    /// let device = Device::cpu();
    /// let x = Var::leaf("x", Tensor::from_vec(&device, vec![1.0f32, 2.0], &[2])?);
    /// let v = Var::constant(Tensor::from_vec(&device, vec![1.0f32, -1.0], &[2])?);
    /// let square = (&x * &x)?;
    /// let f = (&square * &square)?.sum_all()?;
    /// let gradient = f.gradients(&[&x])?.remove(0);
    /// let product = (&gradient * &v)?.sum_all()?.backward()?;
    /// assert_eq!(product.get(&x)?.to_vec::<f32>()?, [12.0, -48.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Var::backward`], a variable of `wrt` that this value does not depend on (all are
    /// named), or an operation on the way that defines no differentiable vjp.
    pub fn gradients(&self, wrt: &[&Var]) -> Result<Vec<Var>> {
        let (root, seed) = self.seeded()?;
        let targets: Vec<_> = wrt.iter().map(|var| var.node()).collect();
        let order = Order::from_root(root).towards(&some(&targets));
        let found = gradients_from(&order, Var::constant(seed), &targets)?;
        let missing = wrt.iter().zip(&found).filter(|(_, found)| found.is_none());
        let names: Vec<_> = missing.map(|(var, _)| var.name().to_owned()).collect();
        if !names.is_empty() {
            return Err(Error::NoGradient { names });
        }
        Ok(found.into_iter().flatten().collect())
    }
}

/// The targets that are no constants.
pub(crate) fn some<'a>(targets: &[Option<&'a Arc<Node>>]) -> Vec<&'a Arc<Node>> {
    targets.iter().copied().flatten().collect()
}

/// The gradient of each target, in a walk from the root's gradient `seed`; `None` where the root
/// does not depend on it. `order` was made towards them.
pub(crate) fn gradients_from(
    order: &Order,
    seed: Var,
    targets: &[Option<&Arc<Node>>],
) -> Result<Vec<Option<Var>>> {
    check_dtypes(order)?;
    let mut sums: Vec<Option<Var>> = order.visits.iter().map(|_| None).collect();
    sums[0] = Some(seed);
    for &number in &order.operations {
        let visit = &order.visits[number];
        let sum = if visit.target { sums[number].clone() } else { sums[number].take() };
        let (Kind::Op(op), Some(dy)) = (&visit.node.kind, sum) else { continue };
        if visit.inputs.iter().all(Option::is_none) {
            continue;
        }
        let gradients = op.vjp_var(&dy, &Inputs::new(visit))?;
        check_count(op.as_ref(), visit, gradients.len())?;
        for (input, (gradient, edge)) in gradients.into_iter().zip(&visit.inputs).enumerate() {
            let Some(edge) = *edge else { continue };
            check_fit(op.as_ref(), input, &gradient, &order.visits[edge].node)?;
            sums[edge] = Some(match sums[edge].take() {
                None => gradient,
                Some(sum) => (&sum + &gradient)?,
            });
        }
    }
    let find = |target: &Option<&Arc<Node>>| {
        let visit = target.and_then(|node| order.find(node))?;
        sums[visit].clone()
    };
    Ok(targets.iter().map(find).collect())
}

/// Fails unless there is one gradient an input.
fn check_count(op: &dyn Op, visit: &Visit, count: usize) -> Result<()> {
    let (op, inputs) = (op.name(), visit.inputs.len());
    match count.cmp(&inputs) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(Error::VjpCount { op, input: count, count: 0 }),
        std::cmp::Ordering::Greater => Err(Error::VjpInput { op, input: inputs, inputs }),
    }
}

/// Fails unless the gradient has the shape and type of its input.
fn check_fit(op: &dyn Op, input: usize, gradient: &Var, node: &Node) -> Result<()> {
    let (shape, dtype) = (node.shape, node.dtype);
    let (found, found_dtype) = (*gradient.value().shape(), gradient.value().dtype());
    if (found, found_dtype) == (shape, dtype) {
        return Ok(());
    }
    Err(Error::Vjp { op: op.name(), input, found, found_dtype, shape, dtype })
}
