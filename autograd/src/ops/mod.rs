//! Hop 2 of a gradient's life: one file an operation, with what it saves, its vjp and why.

mod affine;
mod batch_norm;
mod binary;
mod cast;
mod convolution;
mod cross_entropy;
mod dropout;
mod group_norm;
mod layer_norm;
mod extreme;
mod linear;
mod logsumexp;
mod matmul;
mod nll_loss;
mod soft_cross_entropy;
mod rms_norm;
mod mean;
mod norm;
mod prod;
mod scan;
mod softmax;
mod sort;
mod max_pool;
mod plane_map;
mod sum;
mod unary;
mod var;
mod view;

pub use batch_norm::BatchStatistics;
