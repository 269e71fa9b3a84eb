//! What can go wrong while gradients are computed or stepped.

use tensor::{DType, Shape};

/// A refused or failed gradient computation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor operation was refused, in a forward or inside a vjp.
    #[error(transparent)]
    Tensor(#[from] tensor::Error),
    /// Backward was started from something that is not a scalar.
    #[error(
        "backward: the loss has shape {shape}; a gradient is defined for one element: sum the \
         loss first"
    )]
    NotScalar {
        /// The shape that was brought.
        shape: Shape,
    },
    /// Backward was started from a constant.
    #[error(
        "backward: the loss does not depend on any leaf; make the parameters leaves with \
         `Var::leaf`, and do not detach on the way"
    )]
    NoLeaf,
    /// Leaves that got no gradient.
    #[error(
        "backward: no gradient reached {}; the loss does not depend on it: use the leaf in the \
         forward, or leave it out of the step", names.join(", ")
    )]
    NoGradient {
        /// Their names, in leaf order.
        names: Vec<String>,
    },
    /// A vjp returned a gradient that does not fit its input.
    #[error(
        "{op}: the vjp gave a gradient {found_dtype} {found} for an input {dtype} {shape}; a \
         gradient has the shape and type of its input: mend the vjp"
    )]
    Vjp {
        /// The operation.
        op: &'static str,
        /// The gradient's shape.
        found: Shape,
        /// The gradient's element type.
        found_dtype: DType,
        /// The input's shape.
        shape: Shape,
        /// The input's element type.
        dtype: DType,
    },
    /// Leaves of several element types, or of one that has no gradients, in one arena.
    #[error(
        "parameters: {name} has elements of type {found}, {first} of type {wanted}; all \
         parameters of a model share one type, f32 or f64: cast it"
    )]
    MixedLeaves {
        /// The leaf that differs.
        name: String,
        /// Its type.
        found: DType,
        /// The leaf that decided.
        first: String,
        /// The type of the others.
        wanted: DType,
    },
    /// Two parameters of one name, or a model without any.
    #[error(
        "parameters: {name:?} is given {count} times; every parameter has a path of its own, and \
         a model has at least one"
    )]
    LeafNames {
        /// The name.
        name: String,
        /// How often it occurs.
        count: usize,
    },
    /// A step while something still reads the parameters' other buffer set.
    #[error(
        "step: {holders} of the parameters' previous values are still held (leaves: {}); drop \
         the graph or the views before the next step", names.join(", ")
    )]
    StillHeld {
        /// Views beyond the arena's own.
        holders: usize,
        /// The leaves that a living graph refers to.
        names: Vec<String>,
    },
    /// A new value or gradient for a leaf that does not fit it.
    #[error(
        "{name}: a value {found_dtype} {found} was given for a parameter {dtype} {shape}; both \
         must agree"
    )]
    LeafMismatch {
        /// The leaf.
        name: String,
        /// The shape that was brought.
        found: Shape,
        /// The type that was brought.
        found_dtype: DType,
        /// The leaf's shape.
        shape: Shape,
        /// The leaf's type.
        dtype: DType,
    },
    /// The sink that receives the gradients refused one; it holds the reason.
    #[error("backward: the gradient of {leaf} was refused: {source}")]
    Sink {
        /// The leaf whose gradient was final.
        leaf: String,
        /// The sink's reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The result of a gradient computation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
