//! Hop 1 of a gradient's life: the reverse walk, from the loss's seed to the leaves. It calls the
//! vjps (hop 2, `ops/`), and `input_grads.rs` hands each final gradient to the sink (hop 3).

use std::sync::Arc;

use tensor::{DType, Shape, Tensor};

use crate::error::{Error, Result};
use crate::gradients::Gradients;
use crate::input_grads::InputGrads;
use crate::node::Node;
use crate::order::Order;
use crate::sink::Sink;
use crate::var::Var;

impl Var {
    /// The gradient of this scalar with respect to every leaf that it depends on.
    ///
    /// # Errors
    /// A value that is not one element or depends on no leaf, a leaf or value on the way that is
    /// not f32 or f64, a refused operation in a vjp, or a vjp that does not give every wanted
    /// input exactly one gradient.
    pub fn backward(&self) -> Result<Gradients> {
        let mut gradients = Gradients::default();
        self.backward_into(&mut gradients)?;
        Ok(gradients)
    }

    /// Like [`Var::backward`], but every gradient goes to `sink` the moment it is final, while
    /// the walk goes on.
    ///
    /// The graph is not consumed. The walk keeps a list of its own, so its depth needs no stack.
    ///
    /// # Errors
    /// As [`Var::backward`], and whatever the sink refuses.
    pub fn backward_into(&self, sink: &mut dyn Sink) -> Result<()> {
        let (root, seed) = self.seeded()?;
        run(&Order::from_root(root), sink, seed, Checks::Contract)
    }

    /// Like [`Var::backward`] with respect to `wrt` alone, which may be leaves or results of
    /// operations: how the gradient of an intermediate value is read. What leads to none of them
    /// is not walked.
    ///
    /// ```
    /// use ringgrad_autograd::Var;
    /// use tensor::{Device, Tensor};
    /// # fn main() -> Result<(), ringgrad_autograd::Error> {
    /// let x = Var::leaf("x", Tensor::from_vec(&Device::cpu(), vec![2.0f32, -3.0], &[2])?);
    /// let squares = (&x * &x)?;
    /// let loss = (&squares * &squares)?.sum_all()?;
    /// let gradients = loss.backward_wrt(&[&squares])?;
    /// assert_eq!(gradients.get(&squares)?.to_vec::<f32>()?, [8.0, 18.0]);
    /// assert!(gradients.get(&x).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Var::backward`], and a variable of `wrt` that this value does not depend on; the error
    /// names them all.
    pub fn backward_wrt(&self, wrt: &[&Var]) -> Result<Gradients> {
        let (root, seed) = self.seeded()?;
        let targets: Vec<_> = wrt.iter().filter_map(|var| var.node()).collect();
        let mut gradients = Gradients::default();
        let order = Order::from_root(root).towards(&targets);
        run(&order, &mut gradients, seed, Checks::Contract)?;
        let missing = wrt.iter().filter(|var| gradients.get(var).is_err());
        let names: Vec<_> = missing.map(|var| var.name().to_owned()).collect();
        if names.is_empty() { Ok(gradients) } else { Err(Error::NoGradient { names }) }
    }

    /// [`Var::backward`] that stops at the first gradient with a NaN or an infinity, and says
    /// which operation made it and where in the model that stands. It costs a pass over every
    /// gradient.
    ///
    /// What the vjps make is checked, in the order of the walk; values are not: a forward's are
    /// checked by a context that detects anomalies.
    ///
    /// # Errors
    /// As [`Var::backward`], and [`Error::Anomaly`].
    pub fn backward_checked(&self) -> Result<Gradients> {
        let mut gradients = Gradients::default();
        self.backward_checked_into(&mut gradients)?;
        Ok(gradients)
    }

    /// [`Var::backward_into`] with the checks of [`Var::backward_checked`].
    ///
    /// # Errors
    /// As [`Var::backward_into`], and [`Error::Anomaly`].
    pub fn backward_checked_into(&self, sink: &mut dyn Sink) -> Result<()> {
        let (root, seed) = self.seeded()?;
        run(&Order::from_root(root), sink, seed, Checks::Finite)
    }

    /// Where a walk starts, and the derivative of this value with respect to itself.
    pub(crate) fn seeded(&self) -> Result<(&Arc<Node>, Tensor)> {
        let root = self.node().ok_or(Error::NoLeaf)?;
        Ok((root, one_like(root.name(), self.value())?))
    }
}

/// What a walk looks at in the gradients that vjps give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Checks {
    /// Number, shape and type.
    Contract,
    /// These, and that every element is a finite number.
    Finite,
}

/// Walks `order` from `seed`, the gradient with respect to the root.
pub(crate) fn run(order: &Order, sink: &mut dyn Sink, seed: Tensor, checks: Checks) -> Result<()> {
    check_dtypes(order)?;
    if order.visits[0].uses == 0 {
        // The root leads to none of the targets.
        return Ok(());
    }
    let mut grads = InputGrads::new(order, sink, seed, checks)?;
    order.operations.iter().try_for_each(|&visit| grads.walk(visit))
}

/// The derivative of the loss with respect to itself.
fn one_like(name: &str, value: &Tensor) -> Result<Tensor> {
    let shape: &Shape = value.shape();
    if shape.numel() != 1 {
        return Err(Error::NotScalar { shape: *shape });
    }
    Ok(match value.dtype() {
        DType::F32 => Tensor::full(value.device(), 1.0f32, shape)?,
        DType::F64 => Tensor::full(value.device(), 1.0f64, shape)?,
        dtype => return Err(Error::NotDifferentiable { name: name.to_owned(), dtype }),
    })
}

/// Fails unless every node that `order` visits has a type that its gradient can have.
pub(crate) fn check_dtypes(order: &Order) -> Result<()> {
    let mut visited = order.visits.iter().filter(|visit| visit.uses > 0);
    visited.try_for_each(|visit| check_dtype(&visit.node))
}

/// Leaves are f32 or f64, as parameters and gradients are; halves are values in between.
fn check_dtype(node: &Node) -> Result<()> {
    match node.dtype {
        DType::F32 | DType::F64 => Ok(()),
        DType::F16 | DType::BF16 if !node.is_leaf() => Ok(()),
        dtype => Err(Error::NotDifferentiable { name: node.name().to_owned(), dtype }),
    }
}
