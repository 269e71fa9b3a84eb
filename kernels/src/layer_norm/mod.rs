//! Layer normalization of rows (Ba, Kiros and Hinton 2016, "Layer normalization"), and its
//! derivative.
//!
//! For a row x of n elements, with weight w and bias b of as many:
//!
//! ```text
//! μ = mean x      r = 1 / √(mean (x − μ)² + eps)      x̂ = (x − μ) · r      y = x̂ · w + b
//! g = dy · w      dx = r · ((g − mean g) − x̂ · mean (g · x̂))
//! dw = Σ dy · x̂ over rows      db = Σ dy over rows
//! ```
//!
//! Without a weight the factor, without a bias the term is left out. Every operation is rounded by
//! itself, with a division and a square root that are exact to the last bit.
//!
//! The sums within a row have the order of [`lane_sum`](crate::reduce::lane_sum); the mean counts
//! from the row's first element, so a constant row has the variance 0 and the result b. The sums
//! over rows start from +0 and go in the order of the rows. A row's result and its dx do not
//! depend on the rows beside it.
//!
//! A row with a NaN or an infinity becomes NaN as a whole. With eps = 0 a constant row is NaN.

mod cpu;

use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 15;

/// What a normalization saves for its derivative, one number of each for a row.
#[derive(Clone, Copy, Debug)]
pub struct Moments<'a, T> {
    /// The means.
    pub mean: &'a [T],
    /// The factors `1 / √(variance + eps)`.
    pub rstd: &'a [T],
}

/// The normalized rows of `len` elements, and the moments of each.
///
/// **Shapes**: x `[rows, len]`, weight and bias `[len] -> y [rows, len], mean [rows], rstd [rows]`.
///
/// # Panics
/// When the lengths do not fit: the tensor layer establishes that they do.
pub fn layer_norm<T: Float>(
    threads: &Threads,
    x: &[T],
    affine: [Option<&[T]>; 2],
    (len, eps): (usize, f64),
    [y, mean, rstd]: [&mut [T]; 3],
) {
    let rows = mean.len();
    assert!(rstd.len() == rows && x.len() == rows * len, "x is [rows, len]");
    assert_eq!(y.len(), x.len(), "y is [rows, len]");
    assert!(affine.iter().flatten().all(|a| a.len() == len), "weight and bias are [len]");
    if x.is_empty() {
        return;
    }
    let eps = T::from_f64(eps);
    let parts = threads.parts(x.len(), MIN_PART);
    let per_part = rows.div_ceil(parts);
    let moments = mean.chunks_mut(per_part).zip(rstd.chunks_mut(per_part));
    let inputs = x.chunks(per_part * len);
    let mut jobs: Vec<_> = inputs.zip(y.chunks_mut(per_part * len)).zip(moments).collect();
    threads.split_mut(&mut jobs, 1, parts, |_, jobs| {
        for ((x, y), (mean, rstd)) in jobs {
            cpu::forward(x, affine, (len, eps), [y, mean, rstd]);
        }
    });
}

/// The derivative with respect to x.
///
/// **Shapes**: x and dy `[rows, len]`, weight `[len] -> dx [rows, len]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn layer_norm_vjp<T: Float>(
    threads: &Threads,
    [x, dy]: [&[T]; 2],
    weight: Option<&[T]>,
    moments: Moments<T>,
    dx: &mut [T],
) {
    let len = row_len([x, dy], moments);
    assert_eq!(dx.len(), x.len(), "dx is [rows, len]");
    if dx.is_empty() {
        return;
    }
    assert!(weight.is_none_or(|weight| weight.len() == len), "the weight is [len]");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(dx, len, parts, |first, run| {
        cpu::backward([x, dy], weight, moments, (first, run));
    });
}

/// The derivative with respect to the weight.
///
/// **Shapes**: x and dy `[rows, len] -> dw [len]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn layer_norm_weight_vjp<T: Float>(
    threads: &Threads,
    [x, dy]: [&[T]; 2],
    moments: Moments<T>,
    dw: &mut [T],
) {
    assert!(x.is_empty() || row_len([x, dy], moments) == dw.len(), "dw is [len]");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(dw, 1, parts, |first, run| {
        cpu::weight_backward([x, dy], moments, x.len() / moments.mean.len().max(1), (first, run));
    });
}

/// The length of the rows, once all have been found to fit; 0 without rows.
fn row_len<T>([x, dy]: [&[T]; 2], Moments { mean, rstd }: Moments<T>) -> usize {
    let len = x.len().checked_div(mean.len()).unwrap_or(0);
    assert!(mean.len() == rstd.len() && mean.len() * len == x.len(), "x is [rows, len]");
    assert_eq!(dy.len(), x.len(), "dy is [rows, len]");
    len
}

#[cfg(test)]
mod tests;
