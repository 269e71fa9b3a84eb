//! Hop 2 of a gradient's life: one file an operation, with what it saves, its vjp and why.

mod binary;
mod cast;
mod cross_entropy;
mod extreme;
mod linear;
mod logsumexp;
mod matmul;
mod mean;
mod norm;
mod prod;
mod scan;
mod softmax;
mod sort;
mod sum;
mod unary;
mod var;
mod view;
