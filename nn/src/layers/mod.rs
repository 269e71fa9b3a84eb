//! Layers, one a file.

mod batch_norm;
mod bn_mlp;
mod cnn;
mod conv;
mod dropout;
mod group_norm;
mod layer_norm;
mod linear;
mod mlp;
mod pool;
mod relu;
mod rms_norm;
mod sequential;

pub use batch_norm::{BatchNorm, BatchNorm1d, BatchNorm2d};
pub use bn_mlp::{BnMlp, bn_mlp};
pub use cnn::{Cnn, cnn};
pub use conv::{Conv1d, Conv2d, ConvTranspose2d};
pub use dropout::Dropout;
pub use group_norm::GroupNorm;
pub use layer_norm::LayerNorm;
pub use linear::Linear;
pub use mlp::{Mlp, mlp};
pub use pool::{AdaptiveAvgPool2d, AvgPool2d, Flatten, MaxPool2d, Upsample};
pub use relu::Relu;
pub use rms_norm::RmsNorm;
pub use sequential::Sequential;
