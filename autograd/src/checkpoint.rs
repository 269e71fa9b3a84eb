//! Checkpointing: a part of a forward that keeps its inputs only, and is computed again when its
//! gradients are wanted (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost").

use std::sync::Arc;

use tensor::Tensor;

use crate::backward::run;
use crate::error::{Error, Result};
use crate::gradients::Gradients;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::{Node, Op};
use crate::order::Order;
use crate::second_order::{gradients_from, some};
use crate::var::{LeafId, Var};

const CHECKPOINT: &str = "checkpoint";

/// `f(inputs)`, without what its operations save: backward runs `f` again. Values are the same
/// bits as without checkpointing. So are gradients, as long as no value is used both outside `f`
/// and several times inside: its contributions from inside are then added up first.
///
/// `f` must compute the same each time. Leaves that it captures, as parameters, get their gradients
/// as if they were inputs. A value that it captures from a graph keeps that graph.
///
/// ```
/// use ringgrad_autograd::{Var, checkpoint};
/// use tensor::{Device, Tensor};
/// # fn main() -> Result<(), ringgrad_autograd::Error> {
/// let device = Device::cpu();
/// let x = Var::leaf("x", Tensor::from_vec(&device, vec![0.5f32, -1.0], &[2])?);
/// let w = Var::leaf("w", Tensor::scalar(&device, 2.0f32));
/// let captured = w.clone();
/// let y = checkpoint(&[&x], move |x| (&x[0] * &captured)?.exp())?;
/// let gradients = y.sum_all()?.backward()?;
/// assert!(gradients.get(&x).is_ok() && gradients.get(&w).is_ok());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// What `f` returns. Backward fails with [`Error::CheckpointChanged`] when the second `f` has a
/// result of another shape or type, or uses a leaf that the first did not.
pub fn checkpoint(
    inputs: &[&Var],
    f: impl Fn(&[Var]) -> Result<Var> + Send + Sync + 'static,
) -> Result<Var> {
    let values: Vec<Tensor> = inputs.iter().map(|input| input.value().clone()).collect();
    // The graph of the first forward tells which inputs and which leaves the result depends on,
    // so that one that gets no gradient is found out as it is without checkpointing.
    let stands: Vec<Stand> = inputs.iter().map(|input| Stand::new(input)).collect();
    let y = f(&arguments(&stands))?;
    let Some(root) = y.node() else { return Ok(y) };
    let order = Order::from_root(root);
    let used = |stand: &Stand| stand.var.node().is_some_and(|node| order.find(node).is_some());
    let edges = inputs.iter().zip(&stands);
    let edges = edges.map(|(input, stand)| input.node().filter(|_| used(stand)).cloned());
    let captured = captured_leaves(&order, &stands);
    let edges = edges.chain(captured.into_iter().map(Some)).collect();
    let saved = Checkpoint { f, values };
    Ok(Var::with_node(y.value().clone(), Node::op(Box::new(saved), edges, y.value())))
}

/// The operation's inputs are those that `f` is given, and behind them the leaves that it
/// captures.
struct Checkpoint<F> {
    f: F,
    values: Vec<Tensor>,
}

impl<F> Op for Checkpoint<F>
where
    F: Fn(&[Var]) -> Result<Var> + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        CHECKPOINT
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let edges = grads.inputs();
        let stand = |(i, value): (usize, &Tensor)| {
            if grads.wanted(i) { Stand::wanted(value) } else { Stand::constant(value) }
        };
        let stands: Vec<Stand> = self.values.iter().enumerate().map(stand).collect();
        let y = self.again(&stands, dy)?;
        let root = y.node().ok_or_else(|| changed("depends on no leaf".to_owned()))?;
        let order = Order::from_root(root);
        let (given, captured) = edges.split_at(self.values.len());
        for leaf in captured_leaves(&order, &stands) {
            if !captured.iter().flatten().any(|known| Arc::ptr_eq(known, &leaf)) {
                return Err(changed(format!("uses {}, which the first did not", leaf.name())));
            }
        }
        let stands = stands.iter().map(|stand| stand.var.node());
        let targets = stands.chain(captured.iter().map(Option::as_ref)).enumerate();
        let targets: Vec<_> =
            targets.map(|(i, target)| target.filter(|_| grads.wanted(i))).collect();
        let mut gradients = Gradients::default();
        let order = order.towards(&some(&targets));
        run(&order, &mut gradients, dy.clone(), grads.checks())?;
        targets.iter().enumerate().try_for_each(|(i, target)| {
            let Some(node) = target else { return Ok(()) };
            let unused = || changed(format!("does not use {}", place(i, given.len(), node)));
            let gradient = gradients.find(LeafId::of(node)).cloned();
            grads.give(i, gradient.ok_or_else(unused)?)
        })
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let stand = |(i, value): (usize, &Tensor)| match inputs.wanted(i) {
            true => Stand { var: same(&inputs.var(i, value)), leaf: None },
            false => Stand::constant(value),
        };
        let stands: Vec<Stand> = self.values.iter().enumerate().map(stand).collect();
        let y = self.again(&stands, dy.value())?;
        let root = y.node().ok_or_else(|| changed("depends on no leaf".to_owned()))?;
        let (given, captured) = inputs.nodes().split_at(self.values.len());
        let stops: Vec<_> = stands.iter().map(|stand| stand.var.node()).collect();
        let targets: Vec<_> =
            stops.iter().copied().chain(captured.iter().map(Option::as_ref)).collect();
        // The walk ends where the inputs come in: what lies behind them is not this operation's.
        let order = Order::until(root, &some(&stops)).towards(&some(&targets));
        let found = gradients_from(&order, dy.clone(), &targets)?;
        let each = found.into_iter().zip(&targets).enumerate();
        each.map(|(i, found)| match found {
            (Some(gradient), _) => Ok(gradient),
            (None, Some(node)) if inputs.wanted(i) => {
                Err(changed(format!("does not use {}", place(i, given.len(), node))))
            }
            (None, _) => Ok(dy.clone()),
        })
        .collect()
    }
}

impl<F: Fn(&[Var]) -> Result<Var>> Checkpoint<F> {
    /// The second forward, whose result must look as the first one's, which `dy` looks like.
    fn again(&self, stands: &[Stand], dy: &Tensor) -> Result<Var> {
        let y = (self.f)(&arguments(stands))?;
        let (shape, dtype) = (y.value().shape(), y.value().dtype());
        if (shape, dtype) == (dy.shape(), dy.dtype()) {
            return Ok(y);
        }
        let (wanted, wanted_dtype) = (dy.shape(), dy.dtype());
        Err(changed(format!("gives {dtype} {shape}, the first gave {wanted_dtype} {wanted}")))
    }
}

fn changed(difference: String) -> Error {
    Error::CheckpointChanged { difference }
}

/// What an error calls input `i` of a checkpoint that was given `given` inputs.
fn place(i: usize, given: usize, node: &Node) -> String {
    if i < given { format!("input {i}") } else { node.name().to_owned() }
}

/// What stands for an input while `f` runs: a variable whose gradient is asked for, above a leaf
/// of its own, which ends the walk.
struct Stand {
    var: Var,
    leaf: Option<Var>,
}

impl Stand {
    fn new(input: &Var) -> Self {
        match input.needs_gradient() {
            true => Stand::wanted(input.value()),
            false => Stand::constant(input.value()),
        }
    }

    fn constant(value: &Tensor) -> Self {
        Stand { var: Var::constant(value.clone()), leaf: None }
    }

    fn wanted(value: &Tensor) -> Self {
        let leaf = Var::leaf("an input of a checkpoint", value.clone());
        Stand { var: same(&leaf), leaf: Some(leaf) }
    }
}

fn arguments(stands: &[Stand]) -> Vec<Var> {
    stands.iter().map(|stand| stand.var.clone()).collect()
}

/// The identity: a node that is nothing but a place where the gradient is read.
struct Same;

impl Op for Same {
    fn name(&self) -> &'static str {
        "same"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.clone())
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.clone()])
    }
}

fn same(x: &Var) -> Var {
    Var::from_op(x.value().clone(), &[x], Same)
}

/// The leaves of a forward that none of `stands` brought in, as their values are in it.
fn captured_leaves(order: &Order, stands: &[Stand]) -> Vec<Arc<Node>> {
    let own = |node: &Arc<Node>| {
        let mut leaves = stands.iter().filter_map(|stand| stand.leaf.as_ref()?.node());
        leaves.any(|leaf| Arc::ptr_eq(leaf, node))
    };
    let leaves = order.visits.iter().map(|visit| &visit.node).filter(|node| node.is_leaf());
    leaves.filter(|node| !own(node)).map(Arc::clone).collect()
}
