//! Layers, one a file.

mod cnn;
mod conv;
mod linear;
mod mlp;
mod pool;
mod relu;
mod sequential;

pub use cnn::{Cnn, cnn};
pub use conv::{Conv1d, Conv2d, ConvTranspose2d};
pub use linear::Linear;
pub use mlp::{Mlp, mlp};
pub use pool::{AdaptiveAvgPool2d, AvgPool2d, Flatten, MaxPool2d, Upsample};
pub use relu::Relu;
pub use sequential::Sequential;
