//! The graph: nodes that know their inputs, and are dropped without recursion.

use std::sync::Arc;

use tensor::{DType, Shape, Tensor};

use crate::error::{Error, Result};
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::var::Var;

/// One operation in a graph, with what it saved for its vjp.
///
/// `vjp` is the vector-Jacobian product: from `dy`, the gradient of the loss with respect to the
/// output, it makes the gradient with respect to each input that wants one.
pub trait Op: Send + Sync + 'static {
    /// The operation's name, as in `tensor` and `kernels`.
    fn name(&self) -> &'static str;

    /// Gives `grads` exactly one gradient for each wanted input, also where it is zero. `backward`
    /// refuses a vjp that gives none or two.
    ///
    /// # Errors
    /// A refused tensor operation, or a gradient that the receiver refuses.
    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()>;

    /// The vjp as a computation that can be differentiated again: the gradient of every input, in
    /// their order, computed from `dy` and from saved values that [`Inputs::var`] gives their
    /// place in the graph.
    ///
    /// # Errors
    /// [`Error::NotTwiceDifferentiable`] where an operation does not define it; a refused
    /// operation.
    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let _ = (dy, inputs);
        Err(Error::NotTwiceDifferentiable { op: self.name() })
    }
}

/// What a node stands for.
pub(crate) enum Kind {
    /// A value that gradients are wanted for; its name is unique among its arena's leaves.
    Leaf { name: Arc<str> },
    /// The result of an operation.
    Op(Box<dyn Op>),
}

/// A value in the graph. Edges point to inputs, so a graph lives as long as its results.
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// One entry an input; `None` for a constant.
    pub(crate) inputs: Vec<Option<Arc<Node>>>,
    /// Longest path to a leaf: every node is deeper than its inputs.
    pub(crate) depth: usize,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
}

impl Node {
    pub(crate) fn leaf(name: &str, value: &Tensor) -> Arc<Self> {
        Arc::new(Node {
            kind: Kind::Leaf { name: name.into() },
            inputs: Vec::new(),
            depth: 0,
            shape: *value.shape(),
            dtype: value.dtype(),
        })
    }

    pub(crate) fn op(op: Box<dyn Op>, inputs: Vec<Option<Arc<Node>>>, value: &Tensor) -> Arc<Self> {
        let depth = inputs.iter().flatten().map(|node| node.depth + 1).max().unwrap_or(0);
        let (shape, dtype) = (*value.shape(), value.dtype());
        Arc::new(Node { kind: Kind::Op(op), inputs, depth, shape, dtype })
    }

    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf { .. })
    }

    /// The operation's or leaf's name.
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            Kind::Leaf { name } => name,
            Kind::Op(op) => op.name(),
        }
    }
}

impl Drop for Node {
    /// Unlinks the inputs that nobody else holds from a list of its own: a chain of any length is
    /// dropped on a small stack.
    fn drop(&mut self) {
        let mut orphans = std::mem::take(&mut self.inputs);
        while let Some(input) = orphans.pop() {
            if let Some(mut node) = input.and_then(Arc::into_inner) {
                orphans.append(&mut node.inputs);
            }
        }
    }
}
