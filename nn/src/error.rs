//! What can go wrong while a network is built or trained.

use kernels::update::RuleError;
use tensor::Shape;

use crate::layers::GptSettings;

/// A refused network, loss, optimizer, data set or checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor operation was refused.
    #[error(transparent)]
    Tensor(#[from] tensor::Error),
    /// A gradient computation was refused.
    #[error(transparent)]
    Autograd(#[from] autograd::Error),
    /// A data set could not be read or used.
    #[error(transparent)]
    Data(#[from] crate::data::Error),
    /// A checkpoint could not be written, read or matched.
    #[error(transparent)]
    Checkpoint(#[from] crate::checkpoint::Error),
    /// An update rule with impossible settings.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A multi-layer perceptron without a layer.
    #[error(
        "mlp: sizes {sizes:?} describe no network; give at least an input and an output size, \
         none of them 0, such as 64-48-10"
    )]
    Sizes {
        /// The sizes that were brought.
        sizes: Vec<usize>,
    },
    /// A convolutional network without a layer, or with planes too small for its pools.
    #[error(
        "cnn: an input {input:?} with channels {channels:?} and {classes} classes describes no \
         network; each entry of the channels halves height and width, and none may become 0"
    )]
    Cnn {
        /// `[channels, height, width]` of the input.
        input: [usize; 3],
        /// The channels of each convolution.
        channels: Vec<usize>,
        /// The outputs.
        classes: usize,
    },
    /// A convolution layer of impossible sizes.
    #[error(
        "convolution: channels {axes:?}, kernel {kernel:?} and {groups} groups describe no layer; \
         none may be 0, and the groups must divide both channels"
    )]
    Convolution {
        /// The channels of the weight's first two axes, before they fall into groups.
        axes: [usize; 2],
        /// The kernel's lengths.
        kernel: Vec<usize>,
        /// The groups.
        groups: usize,
    },
    /// Heads that do not divide the features.
    #[error(
        "attention: {dim} features do not fall into {heads} heads; neither is 0, and the heads \
         divide the features"
    )]
    Heads {
        /// The features of a position.
        dim: usize,
        /// The heads.
        heads: usize,
    },
    /// A language model of impossible sizes.
    #[error("gpt: {settings:?} describes no network; none of its sizes may be 0")]
    Gpt {
        /// The sizes that were brought.
        settings: GptSettings,
    },
    /// Tokens that are no sequences, or longer ones than the model has positions for.
    #[error(
        "gpt: tokens of shape {shape} were given; they are [b, l] with l at most the context, \
         {context}: cut them, or make a model with a longer context"
    )]
    Sequence {
        /// The shape that was brought.
        shape: Shape,
        /// The longest sequence.
        context: usize,
    },
    /// A text that begins with nothing.
    #[error("sample: the prompt is empty; the first token follows another: give at least one")]
    EmptyPrompt,
    /// A model that is not the one that its optimizer or trainer was made for.
    #[error(
        "the model has the parameter {found:?} where {wanted:?} was bound; step the model that \
         the optimizer was made for, with the parameters that it had then"
    )]
    ForeignModel {
        /// The parameter of the model, or `none`.
        found: String,
        /// The parameter that was bound, or `none`.
        wanted: String,
    },
    /// Weights that are not one a class.
    #[error(
        "cross_entropy: class weights {weights:?} were given for {classes} classes; there is one \
         for each class, finite and not negative: correct them"
    )]
    ClassWeights {
        /// The weights that were brought.
        weights: Vec<f64>,
        /// How many classes there are.
        classes: usize,
    },
    /// A loss that was counted over nothing, or over something that is not a number.
    #[error(
        "loss: the count is {count}; a loss is a sum divided by a positive count: give it at \
         least one sample"
    )]
    Count {
        /// The count that was brought.
        count: f64,
    },
}

/// The result of a network operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
