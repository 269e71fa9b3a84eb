//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod affine;
mod argmax;
mod batch_norm;
mod binary;
mod cast;
mod contiguous;
mod cross_entropy;
mod dropout;
mod group_norm;
mod layer_norm;
mod linear;
mod matmul;
mod rms_norm;
mod sum;
mod sum_to;
mod unary;

pub use batch_norm::ChannelMoments;
