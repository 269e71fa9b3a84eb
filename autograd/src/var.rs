//! A tensor that remembers how it was computed.

use std::fmt;
use std::sync::Arc;

use tensor::Tensor;

use crate::node::{Node, Op};

/// A value in a computation: a leaf, the result of an operation, or a constant. Cheap to clone.
///
/// ```
/// use ringgrad_autograd::Var;
/// use tensor::{Device, Tensor};
/// # fn main() -> Result<(), ringgrad_autograd::Error> {
/// let device = Device::cpu();
/// let w = Var::leaf("w", Tensor::from_vec(&device, vec![2.0f32, -3.0], &[2])?);
/// let loss = (&w * &w)?.sum_all()?;
/// let gradients = loss.backward()?;
/// assert_eq!(gradients.get(&w)?.to_vec::<f32>()?, [4.0, -6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Var {
    value: Tensor,
    node: Option<Arc<Node>>,
}

/// Which leaf: equal for all clones of one leaf, different for all others that are alive. Whoever
/// keeps one for longer than the leaf may see it again for another leaf; [`crate::Gradients`]
/// and an arena keep theirs from being used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafId(usize);

impl LeafId {
    /// The address of the leaf's node, which does not move while the leaf is alive.
    pub(crate) fn of(node: &Arc<Node>) -> Self {
        LeafId(Arc::as_ptr(node).addr())
    }
}

impl Var {
    /// A value of type f32 or f64 that gradients are wanted for; one of another type is refused
    /// by `backward`. The name appears in reports and errors.
    pub fn leaf(name: &str, value: Tensor) -> Self {
        let node = Node::leaf(name, &value);
        Var { value, node: Some(node) }
    }

    /// A value that needs no gradient, such as an input.
    pub fn constant(value: Tensor) -> Self {
        Var { value, node: None }
    }

    /// The result of a custom operation: `value`, computed from `inputs`, whose gradients `op`
    /// knows. `op` is dropped at once when no input needs a gradient.
    pub fn from_op(value: Tensor, inputs: &[&Var], op: impl Op) -> Self {
        if inputs.iter().all(|input| input.node.is_none()) {
            return Var::constant(value);
        }
        let inputs = inputs.iter().map(|input| input.node.clone()).collect();
        let node = Node::op(Box::new(op), inputs, &value);
        Var { value, node: Some(node) }
    }

    pub(crate) fn with_node(value: Tensor, node: Arc<Node>) -> Self {
        Var { value, node: Some(node) }
    }

    /// The value.
    pub fn value(&self) -> &Tensor {
        &self.value
    }

    /// The same value as a constant: no gradient flows through it.
    pub fn detach(&self) -> Var {
        Var::constant(self.value.clone())
    }

    /// Whether a gradient of some leaf can reach this value.
    pub fn needs_gradient(&self) -> bool {
        self.node.is_some()
    }

    /// Which leaf this is; `None` for a constant. For the result of an operation it names no
    /// leaf; only [`Var::backward_wrt`] finds gradients under it.
    pub fn id(&self) -> Option<LeafId> {
        self.node.as_ref().map(LeafId::of)
    }

    /// What errors and drawings call it.
    pub(crate) fn name(&self) -> &str {
        self.node.as_ref().map_or("a constant", |node| node.name())
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }
}

impl From<Tensor> for Var {
    fn from(value: Tensor) -> Self {
        Var::constant(value)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.node.as_ref().map_or("constant", |node| node.name());
        write!(f, "Var({name}: {:?})", self.value)
    }
}
