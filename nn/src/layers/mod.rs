//! Layers, one a file.

mod linear;
mod mlp;
mod relu;
mod sequential;

pub use linear::Linear;
pub use mlp::{Mlp, mlp};
pub use relu::Relu;
pub use sequential::Sequential;
