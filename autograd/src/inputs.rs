//! The inputs of an operation as values of the graph: what a differentiable vjp computes with.

use std::sync::Arc;

use tensor::Tensor;

use crate::node::Node;
use crate::order::Visit;
use crate::var::Var;

/// The places in the graph of one operation's inputs and output. The graph keeps no values; an
/// operation has those that it saved.
pub struct Inputs<'a> {
    visit: &'a Visit,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(visit: &'a Visit) -> Self {
        Inputs { visit }
    }

    /// Input `input`, whose `value` the operation saved, as a variable through which gradients
    /// flow; a constant where the input is one.
    pub fn var(&self, input: usize, value: &Tensor) -> Var {
        match self.visit.node.inputs.get(input) {
            Some(Some(node)) => Var::with_node(value.clone(), Arc::clone(node)),
            _ => Var::constant(value.clone()),
        }
    }

    /// The operation's result, whose `value` it saved, as a variable through which gradients flow:
    /// for a vjp that is cheaper in y than in x.
    pub fn output(&self, value: &Tensor) -> Var {
        Var::with_node(value.clone(), Arc::clone(&self.visit.node))
    }

    /// Whether the gradient of this input is wanted. What `vjp_var` returns for one that is not
    /// is dropped, so any variable will do, such as `dy`.
    pub fn wanted(&self, input: usize) -> bool {
        self.visit.inputs.get(input).is_some_and(Option::is_some)
    }

    /// The operation's inputs; `None` for a constant.
    pub(crate) fn nodes(&self) -> &'a [Option<Arc<Node>>] {
        &self.visit.node.inputs
    }
}
