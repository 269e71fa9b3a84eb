//! Losses, one a file. Each function gives a [`Loss`](crate::Loss), a sum and its count; what it
//! sums is an operation of [`Var`](autograd::Var) with one loss an element or row, for those who
//! want them unreduced.
//!
//! | loss | one an | unreduced | counted over |
//! | --- | --- | --- | --- |
//! | [`cross_entropy`], [`CrossEntropy`] | row | [`CrossEntropy::each`] | rows, or class weights |
//! | [`nll_loss`] | row | `Var::nll_loss` | rows |
//! | [`mse_loss`] | element | `Var::mse_loss` | elements |
//! | [`l1_loss`] | element | `Var::l1_loss` | elements |
//! | [`huber_loss`] | element | `Var::huber_loss` | elements |
//! | [`bce_loss`] | element | `Var::bce_loss` | elements |
//! | [`bce_with_logits`] | element | `Var::bce_with_logits` | elements |
//! | [`kl_div`] | element | `Var::kl_div` | rows of axis 0 |
//!
//! `loss.sum()` is PyTorch's reduction `sum`, `loss.mean()` its `mean` (`batchmean` of [`kl_div`]).

mod cross_entropy;
mod nll_loss;
mod pairwise;

pub use cross_entropy::{CrossEntropy, cross_entropy};
pub use nll_loss::nll_loss;
pub use pairwise::{bce_loss, bce_with_logits, huber_loss, kl_div, l1_loss, mse_loss};
