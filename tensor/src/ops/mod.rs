//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod binary;
mod cast;
mod contiguous;
mod cross_entropy;
mod extreme;
mod linear;
mod logsumexp;
mod matmul;
mod mean;
mod nonzero;
mod norm;
mod prod;
mod scan;
mod softmax;
mod sort;
mod sum;
mod sum_to;
mod unary;
mod var;
