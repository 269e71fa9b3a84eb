//! One error for programs that use the whole of ringgrad.

use dist::ReplicaError;

/// Whatever a layer below refused; the message is that layer's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor operation.
    #[error(transparent)]
    Tensor(#[from] tensor::Error),
    /// A gradient computation.
    #[error(transparent)]
    Autograd(autograd::Error),
    /// A network, data set or checkpoint.
    #[error(transparent)]
    Nn(nn::Error),
    /// A rank or a collective.
    #[error(transparent)]
    Dist(#[from] dist::Error),
    /// A step of a trainer whose earlier step failed.
    #[error(
        "step: an earlier step of this trainer failed ({cause}); its gradients may have reached \
         other ranks, so it cannot go on: return that error from the rank's closure"
    )]
    Stopped {
        /// The message of the first failure.
        cause: String,
    },
    /// A step of a replica.
    #[error(transparent)]
    Replica(dist::ReplicaError),
}

/// The result of a program.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<autograd::Error> for Error {
    /// A backward that was stopped by the gradient sync is an error of the sync: it names a rank.
    fn from(error: autograd::Error) -> Self {
        match error {
            autograd::Error::Sink { leaf, source } => match source.downcast::<ReplicaError>() {
                Ok(error) => (*error).into(),
                Err(source) => Error::Autograd(autograd::Error::Sink { leaf, source }),
            },
            other => Error::Autograd(other),
        }
    }
}

impl From<ReplicaError> for Error {
    fn from(error: ReplicaError) -> Self {
        match error {
            ReplicaError::Dist(error) => Error::Dist(error),
            ReplicaError::Autograd(error) => error.into(),
            ReplicaError::Tensor(error) => Error::Tensor(error),
            other => Error::Replica(other),
        }
    }
}

impl From<nn::Error> for Error {
    fn from(error: nn::Error) -> Self {
        match error {
            nn::Error::Autograd(error) => error.into(),
            nn::Error::Tensor(error) => Error::Tensor(error),
            other => Error::Nn(other),
        }
    }
}

impl From<nn::data::Error> for Error {
    fn from(error: nn::data::Error) -> Self {
        Error::Nn(error.into())
    }
}

impl From<nn::checkpoint::Error> for Error {
    fn from(error: nn::checkpoint::Error) -> Self {
        Error::Nn(error.into())
    }
}
