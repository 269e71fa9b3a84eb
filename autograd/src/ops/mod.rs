//! Hop 2 of a gradient's life: one file an operation, with what it saves, its vjp and why.

mod binary;
mod cast;
mod convolution;
mod cross_entropy;
mod linear;
mod matmul;
mod max_pool;
mod plane_map;
mod sum;
mod unary;
mod view;
