//! Hop 2 of a gradient's life: one file an operation, with what it saves, its vjp and why.

mod affine;
mod batch_norm;
mod binary;
mod cast;
mod cat;
mod convolution;
mod cross_entropy;
mod dropout;
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
mod triangle;
mod unary;
mod var;
mod view;
mod where_mask;

pub use batch_norm::BatchStatistics;
