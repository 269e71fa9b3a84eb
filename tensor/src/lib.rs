//! Tensors: shape, strides, storage and views, and eager operations on them.
//!
//! A tensor knows no gradient, no layer and no rank. It knows its [`Device`], which is a value
//! that the user passes on: there is no current device and no other global state.

#![forbid(unsafe_code)]

mod axes;
mod axis_map;
mod device;
mod display;
mod error;
mod layout;
mod ops;
mod pool;
mod shape;
mod storage;
mod tensor;
mod tensor_mut;
mod view;

pub use axes::Axes;
pub use axis_map::AxisMap;
pub use device::{Cpu, Device};
pub use error::{Error, Result};
pub use kernels::DType;
pub use kernels::band::Triangle;
pub use kernels::binary::{BinaryOp, Side};
pub use kernels::compare::{CompareOp, LogicalOp};
pub use kernels::unary::UnaryOp;
pub use kernels::upsample::Sampling;
pub use layout::Layout;
pub use ops::{Attention, AttentionSettings, ChannelMoments};
pub use ops::{ConvSettings, Convolution, MaxPlaces, PlaneMap, Window};
pub use shape::{Shape, broadcast};
pub use storage::Stored;
pub use tensor::Tensor;
pub use tensor_mut::{DataMut, Differentiable, TensorMut};

/// Tensors cross threads: ranks are threads, and a panic in one must not poison another's data.
const _: () = {
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<Tensor>();
    crosses_threads::<Device>();
    crosses_threads::<Error>();
};
