//! Networks: layers, losses, optimizers and data. Nothing here communicates: a layer does not
//! know how many ranks there are.

#![forbid(unsafe_code)]

mod binding;
pub mod checkpoint;
mod context;
pub mod data;
mod error;
mod init;
mod layers;
mod loss;
mod module;
pub mod optim;
mod parameter;
mod regular;

pub use binding::{arena_of, bind, named_values};
pub use context::{Context, Mode};
pub use error::{Error, Result};
pub use init::Init;
pub use layers::{Linear, Mlp, Relu, Sequential, Unflatten, mlp};
pub use loss::{Loss, cross_entropy};
pub use module::{Module, numel};
pub use parameter::Parameter;
