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
        "{op}: the vjp gave a gradient {found_dtype} {found} for input {input}, which is {dtype} \
         {shape}; a gradient has the shape and type of its input: mend the vjp"
    )]
    Vjp {
        /// The operation.
        op: &'static str,
        /// The number of the input, from 0.
        input: usize,
        /// The gradient's shape.
        found: Shape,
        /// The gradient's element type.
        found_dtype: DType,
        /// The input's shape.
        shape: Shape,
        /// The input's element type.
        dtype: DType,
    },
    /// A vjp that did not give exactly one gradient to a wanted input.
    #[error(
        "{op}: the vjp gave {count} gradients for input {input}; every wanted input gets exactly \
         one, also one that is zero: mend the vjp"
    )]
    VjpCount {
        /// The operation.
        op: &'static str,
        /// The number of the input, from 0.
        input: usize,
        /// Gradients that came for it; a closure that wrote nothing counts as none.
        count: usize,
    },
    /// A vjp that gave a gradient to an input that its operation does not have.
    #[error(
        "{op}: the vjp gave a gradient for input {input}; the operation has {inputs} inputs, \
         counted from 0: mend the vjp"
    )]
    VjpInput {
        /// The operation.
        op: &'static str,
        /// The number that was named.
        input: usize,
        /// How many inputs there are.
        inputs: usize,
    },
    /// A second derivative through an operation that defines only the first.
    #[error(
        "{op}: its vjp cannot be differentiated again; compose the value from operations whose vjp \
         can, or implement `Op::vjp_var`"
    )]
    NotTwiceDifferentiable {
        /// The operation.
        op: &'static str,
    },
    /// A gradient with an element that is not a finite number, in a backward that checks them.
    #[error(
        "backward: {op}, downstream of {leaf}, made the gradient of its input {input} {value} at \
         element {element}; the gradients before it in the walk were finite: look at the values \
         that it was computed from"
    )]
    Anomaly {
        /// The operation whose vjp made it.
        op: String,
        /// The leaf upstream that is nearest to it.
        leaf: String,
        /// The number of the operation's input, from 0.
        input: usize,
        /// The first such element, in row-major order.
        element: usize,
        /// Its value.
        value: f64,
    },
    /// A checkpointed function that computed something else the second time.
    #[error(
        "checkpoint: the second forward {difference}; a checkpointed function computes the same \
         each time: take what changes out of it, or do not checkpoint it"
    )]
    CheckpointChanged {
        /// What differed.
        difference: String,
    },
    /// The error of a function that was given to this crate, such as a checkpointed forward.
    #[error(transparent)]
    Function(Box<dyn std::error::Error + Send + Sync>),
    /// A leaf, or a value that was computed from one, of a type that has no gradients.
    #[error(
        "{name}: elements of type {dtype} have no gradients; a leaf is f32 or f64, and what is \
         computed from it a float: cast it before it becomes a leaf, or use a constant"
    )]
    NotDifferentiable {
        /// The leaf or operation.
        name: String,
        /// Its element type.
        dtype: DType,
    },
    /// A second gradient for a leaf in one set of gradients.
    #[error(
        "gradients: {name} has one already; one `Gradients` takes one backward: use a new one, \
         or add the losses first"
    )]
    SecondGradient {
        /// The leaf.
        name: String,
    },
    /// Leaves of several element types in one arena.
    #[error(
        "parameters: {name} has elements of type {found}, {first} of type {wanted}; all \
         parameters of a model share one type: cast it"
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
        "step: the parameters' values are still held ({}); a step changes no value that others \
         can see: drop the graph and the views before it",
        held_by(*views, names)
    )]
    StillHeld {
        /// Tensors beyond the arena's own that see the values.
        views: usize,
        /// The leaves that a living graph refers to; none when only views are held.
        names: Vec<String>,
    },
    /// A leaf number that the arena does not have.
    #[error("leaf {leaf} does not exist; the arena has {leaves}, counted from 0: name one of them")]
    LeafNumber {
        /// The number that was named.
        leaf: usize,
        /// How many leaves there are.
        leaves: usize,
    },
    /// A count that gradients cannot be divided by.
    #[error(
        "step: the count is {count}; gradient sums are divided by a positive, finite count: \
         count at least one sample"
    )]
    Count {
        /// The count that was brought.
        count: f64,
    },
    /// An update rule with impossible settings.
    #[error(transparent)]
    Rule(#[from] kernels::update::RuleError),
    /// An update rule that keeps another number of buffers than the arena was made with.
    #[error(
        "step: the rule keeps {wanted} state buffers, the arena has {have}; both must agree: \
         make the arena with `rule.state_buffers()`"
    )]
    StateBuffers {
        /// Buffers that the rule needs.
        wanted: usize,
        /// Buffers that the arena has.
        have: usize,
    },
    /// A range that is no range of the arena, or not as long as its gradients.
    #[error(
        "step: {len} gradients were brought for elements {start}..{end} of {numel}; a range lies \
         within the arena and has one gradient an element: use `LeafArena::range`"
    )]
    UpdateRange {
        /// First element.
        start: usize,
        /// The element behind the last.
        end: usize,
        /// Gradients that were brought.
        len: usize,
        /// Elements of the arena.
        numel: usize,
    },
    /// A range of which a part was written before in the same step.
    #[error(
        "step: elements {start}..{end} were written before, at least in part; a step writes every \
         element once: leave out the second"
    )]
    WrittenTwice {
        /// First element.
        start: usize,
        /// The element behind the last.
        end: usize,
    },
    /// A step that is to be taken before all elements were written.
    #[error(
        "step: {missing} of {numel} elements were not written, the first of them in {name}; a \
         step writes every element once: write the missing ranges"
    )]
    Unwritten {
        /// Elements that are missing.
        missing: usize,
        /// Elements of the arena.
        numel: usize,
        /// The leaf of the first one.
        name: String,
    },
    /// A gradient whose norm is to be bounded, and is no finite number.
    #[error(
        "step: the norm of the gradient is {norm}, and the gradient of {name} the first that is \
         not finite; a norm is clipped where it is finite: use a smaller learning rate, or look \
         for the operation that overflows"
    )]
    GradientNotFinite {
        /// The first parameter in the order of the arena whose gradient's square is not finite.
        name: String,
        /// The norm: infinite or NaN.
        norm: f64,
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
    /// A reduction over the global batch, in the middle of a graph, was refused.
    #[error("{op}: the sums over the whole batch were refused: {source}")]
    BatchReduce {
        /// The operation that needs them.
        op: &'static str,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
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

/// Who holds values, for [`Error::StillHeld`].
fn held_by(views: usize, names: &[String]) -> String {
    match names {
        [] => format!("{views} plain views of them, and no graph"),
        _ => format!("by a graph with the leaves {}", names.join(", ")),
    }
}

/// The result of a gradient computation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
