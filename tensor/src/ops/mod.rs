//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod affine;
mod batch_norm;
mod binary;
mod cast;
mod cat;
mod contiguous;
mod convolution;
mod cross_entropy;
mod create;
mod extreme;
mod gather;
mod dropout;
mod group_norm;
mod layer_norm;
mod linear;
mod logsumexp;
mod matmul;
mod mean;
mod nll_loss;
mod nonzero;
mod norm;
mod remap;
mod soft_cross_entropy;
mod prod;
mod rms_norm;
mod scan;
mod softmax;
mod sort;
mod sum;
mod sum_to;
mod triangle;
mod unary;
mod var;

pub use batch_norm::ChannelMoments;
mod max_pool;
mod plane_map;
mod window;

pub use convolution::{ConvSettings, Convolution};
pub use max_pool::MaxPlaces;
pub use plane_map::PlaneMap;
pub use window::Window;

pub use cat::chunk_ranges;
pub use remap::{From, flipped, padded_map, rolled, selected};
