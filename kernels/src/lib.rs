//! The numbers of ringgrad: loops over flat slices, and (from the CUDA work on) their twins.
//!
//! A kernel knows slices, lengths and strides. It knows no tensor, no gradient and no rank. The
//! contract that every kernel obeys:
//!
//! * **Bits.** The result depends on values, shape and dtype only: never on the number of
//!   threads, on alignment, on strides or on what a buffer held before. Every sum states its
//!   order; a fused multiply-add happens only where it is written.
//! * **Checks.** Lengths are asserted here and established by the tensor layer, which turns a
//!   user's mistake into an error before a kernel is called.
//! * **Unsafe.** This is the only crate that may contain it.

pub mod attention;
pub mod band;
pub mod batch_norm;
pub mod binary;
mod channels;
pub mod compare;
pub mod conv;
pub mod copy;
pub mod cross_entropy;
pub mod dropout;
mod element;
pub mod embedding;
mod float;
pub mod group_norm;
pub mod hash;
pub mod index;
mod lanes;
pub mod layer_norm;
mod math;
pub mod matmul;
pub mod nll_loss;
mod per_op;
pub mod pool;
mod promote;
pub mod random;
pub mod reduce;
pub mod remap;
pub mod ring_all_reduce;
pub mod rms_norm;
pub mod scan;
mod simd;
pub mod soft_cross_entropy;
pub mod softmax;
pub mod sort;
mod strided;
mod threads;
pub mod tree;
pub mod unary;
pub mod update;
pub mod upsample;
mod walk;
pub mod where_mask;
mod window;

pub use element::{DType, Element};
pub use float::Float;
pub use matmul::{MatRef, matmul};
pub(crate) use per_op::PerOp;
pub use strided::Strided;
pub use threads::Threads;
pub use window::{Sliding, Window};
