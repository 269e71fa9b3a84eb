//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod affine;
mod batch_norm;
mod binary;
mod cast;
mod contiguous;
mod convolution;
mod cross_entropy;
mod extreme;
mod dropout;
mod group_norm;
mod layer_norm;
mod linear;
mod logsumexp;
mod matmul;
mod mean;
mod nonzero;
mod nll_loss;
mod norm;
mod soft_cross_entropy;
mod prod;
mod scan;
mod softmax;
mod sort;
mod sum;
mod sum_to;
mod unary;
mod var;
mod rms_norm;

pub use batch_norm::ChannelMoments;
mod max_pool;
mod plane_map;
mod sum;
mod sum_to;
mod unary;
mod window;

pub use convolution::{ConvSettings, Convolution};
pub use max_pool::MaxPlaces;
pub use plane_map::PlaneMap;
pub use window::Window;
