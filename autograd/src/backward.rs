//! Hop 1 of a gradient's life: the reverse walk, from the loss's seed to the leaves. It calls the
//! vjps (hop 2, `ops/`), and `input_grads.rs` hands each final gradient to the sink (hop 3).

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
        let root = self.node().ok_or(Error::NoLeaf)?;
        let seed = one_like(root.name(), self.value())?;
        let order = Order::from_root(root);
        order.visits.iter().try_for_each(|visit| check_dtype(&visit.node))?;
        let mut grads = InputGrads::new(&order, sink, seed)?;
        order.operations.iter().try_for_each(|&visit| grads.walk(visit))
    }
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

/// Leaves are f32 or f64, as parameters and gradients are; halves are values in between.
fn check_dtype(node: &Node) -> Result<()> {
    match node.dtype {
        DType::F32 | DType::F64 => Ok(()),
        DType::F16 | DType::BF16 if !node.is_leaf() => Ok(()),
        dtype => Err(Error::NotDifferentiable { name: node.name().to_owned(), dtype }),
    }
}
