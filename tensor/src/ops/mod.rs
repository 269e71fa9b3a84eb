//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod affine;
mod attention;
mod batch_norm;
mod binary;
mod cast;
mod cat;
mod compare;
mod contiguous;
mod convolution;
mod create;
mod cross_entropy;
mod dropout;
mod embedding;
mod extreme;
mod gather;
mod group_norm;
mod layer_norm;
mod linear;
mod logsumexp;
mod matmul;
mod max_pool;
mod mean;
mod nll_loss;
mod nonzero;
mod norm;
mod pairwise_loss;
mod plane_map;
mod prod;
mod remap;
mod rms_norm;
mod scan;
mod soft_cross_entropy;
mod softmax;
mod sort;
mod sum;
mod sum_to;
mod triangle;
mod unary;
mod var;
mod where_mask;
mod window;

pub use attention::{Attention, AttentionSettings};
pub use batch_norm::ChannelMoments;

pub use convolution::{ConvSettings, Convolution};
pub use max_pool::MaxPlaces;
pub use plane_map::PlaneMap;
pub use window::Window;
