//! What can go wrong while a replica steps: failures of ranks, and mistakes around gradients.

/// A step that did not happen. The live parameters are those of the last committed step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicaError {
    /// A rank failed, was late, or disagreed.
    #[error(transparent)]
    Dist(#[from] crate::Error),
    /// A parameter without gradient, a graph that still holds parameters, or another refusal of
    /// the gradient engine.
    #[error(transparent)]
    Autograd(#[from] autograd::Error),
    /// A tensor operation was refused while a gradient was written.
    #[error(transparent)]
    Tensor(#[from] tensor::Error),
    /// A gradient for a leaf that is not a parameter of this replica.
    #[error(
        "a gradient came for a leaf that is no parameter of this model; compute the loss with the \
         parameters that are bound to the trainer, and with no other leaves"
    )]
    UnknownLeaf,
    /// A second gradient for a parameter in one shard.
    #[error(
        "{name} got two final gradients in one shard; run one backward a shard, and close the \
         shard after it"
    )]
    EmittedTwice {
        /// The parameter.
        name: String,
    },
    /// A step after too few shards.
    #[error(
        "step: {closed} of this rank's {expected} shards were closed; run, or skip, each shard of \
         the rank before the step"
    )]
    OpenShards {
        /// Shards that were closed.
        closed: usize,
        /// Shards that the rank hosts.
        expected: usize,
    },
    /// A loss that was counted over nothing.
    #[error(
        "step: the loss of the global batch was counted over {count}; the count must be positive \
         and finite: bring at least one sample that is not ignored"
    )]
    Count {
        /// The count over all shards.
        count: f64,
    },
}

/// The result of a part of a step.
pub type ReplicaResult<T> = std::result::Result<T, ReplicaError>;
