//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod affine;
mod batch_norm;
mod binary;
mod cast;
mod cat;
mod contiguous;
mod create;
mod cross_entropy;
mod extreme;
mod gather;
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
mod remap;
mod soft_cross_entropy;
mod prod;
mod scan;
mod softmax;
mod sort;
mod sum;
mod sum_to;
mod triangle;
mod unary;
mod var;
mod rms_norm;

pub use batch_norm::ChannelMoments;

pub use cat::chunk_ranges;
pub use remap::{From, flipped, padded_map, rolled, selected};
