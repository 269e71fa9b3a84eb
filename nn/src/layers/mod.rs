//! Layers, one a file.

mod linear;
mod mlp;
mod relu;
mod sequential;
mod unflatten;

pub use linear::Linear;
pub use mlp::{Mlp, mlp};
pub use relu::Relu;
pub use sequential::Sequential;
pub use unflatten::Unflatten;
