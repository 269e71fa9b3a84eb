//! The inputs of an operation as values of the graph: what a differentiable vjp computes with.

use std::sync::Arc;

use tensor::Tensor;

use crate::node::Node;
use crate::var::Var;

/// The places in the graph of one operation's inputs. The graph keeps no values of inputs; an
/// operation has those that it saved.
pub struct Inputs<'a> {
    nodes: &'a [Option<Arc<Node>>],
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(nodes: &'a [Option<Arc<Node>>]) -> Self {
        Inputs { nodes }
    }

    /// Input `input`, whose `value` the operation saved, as a variable through which gradients
    /// flow; a constant where the input is one.
    pub fn var(&self, input: usize, value: &Tensor) -> Var {
        match self.nodes.get(input) {
            Some(Some(node)) => Var::with_node(value.clone(), Arc::clone(node)),
            _ => Var::constant(value.clone()),
        }
    }
}
