//! Networks: layers, losses, optimizers and data. Nothing here communicates: a layer does not
//! know how many ranks there are.

#![forbid(unsafe_code)]

mod binding;
mod buffer;
pub mod checkpoint;
mod context;
pub mod data;
mod error;
mod init;
mod layers;
mod loss;
mod losses;
mod module;
pub mod optim;
mod parameter;
mod regular;
mod summary;

pub use binding::{arena_of, bind, named_state, named_values};
pub use buffer::{Buffer, update_buffers};
pub use context::{Context, Mode};
pub use error::{Error, Result};
pub use init::{Init, fans};
pub use layers::{
    Activation, AdaptiveAvgPool2d, AvgPool2d, BatchNorm, BatchNorm1d, BatchNorm2d, BnMlp,
    Checkpointed, Cnn, Conv1d, Conv2d, ConvTranspose2d, Dropout, Embedding, Flatten, Gpt,
    GptSettings, GroupNorm, LayerNorm, Linear, MaxPool2d, Mlp, MultiHeadAttention, Relu, RmsNorm,
    Sequential, TransformerBlock, Unflatten, Upsample, bn_mlp, cnn, gpt, mlp,
};
pub use loss::Loss;
pub use losses::{
    CrossEntropy, bce_loss, bce_with_logits, cross_entropy, huber_loss, kl_div, l1_loss, mse_loss,
    nll_loss,
};
pub use module::{Module, numel};
pub use parameter::Parameter;
pub use summary::{Part, Summary, summary};
