//! The eager operations: each file checks its operands, allocates the result and calls its
//! kernel. The file of the same name in `kernels` has the numbers, the one in `autograd` the
//! derivative.

mod argmax;
mod binary;
mod cast;
mod contiguous;
mod convolution;
mod cross_entropy;
mod linear;
mod matmul;
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
