//! The loops of layer normalization, in phases over a few rows.

use super::Moments;
use crate::Float;
use crate::lanes::{PHASE_ROWS, lane_sums, moments};
use crate::simd::simd;

/// Rows of at least one element.
pub(super) fn forward<T: Float>(
    x: &[T],
    affine: [Option<&[T]>; 2],
    (len, eps): (usize, T),
    [y, mean, rstd]: [&mut [T]; 3],
) {
    let n = T::from_f64(len as f64);
    simd(
        #[inline(always)]
        || {
            let moments_of = mean.chunks_mut(PHASE_ROWS).zip(rstd.chunks_mut(PHASE_ROWS));
            let rows = x.chunks(PHASE_ROWS * len).zip(y.chunks_mut(PHASE_ROWS * len));
            for ((x, y), (mean, rstd)) in rows.zip(moments_of) {
                moments(x, (len, n), eps, [&mut *mean, &mut *rstd]);
                let rows = x.chunks_exact(len).zip(y.chunks_exact_mut(len));
                for ((x, y), (&m, &r)) in rows.zip(mean.iter().zip(&*rstd)) {
                    scaled(x, affine, [m, r], y);
                }
            }
        },
    );
}

/// `y = (x − m) · r · w + b` for one row; the lengths are equal.
#[inline(always)]
fn scaled<T: Float>(x: &[T], [weight, bias]: [Option<&[T]>; 2], [m, r]: [T; 2], y: &mut [T]) {
    match (weight, bias) {
        (Some(w), Some(b)) => {
            for (((y, &x), &w), &b) in y.iter_mut().zip(x).zip(w).zip(b) {
                *y = (x - m) * r * w + b;
            }
        }
        (Some(w), None) => {
            for ((y, &x), &w) in y.iter_mut().zip(x).zip(w) {
                *y = (x - m) * r * w;
            }
        }
        (None, Some(b)) => {
            for ((y, &x), &b) in y.iter_mut().zip(x).zip(b) {
                *y = (x - m) * r + b;
            }
        }
        (None, None) => {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = (x - m) * r;
            }
        }
    }
}

/// The rows of dx from number `first` on, of at least one element.
pub(super) fn backward<T: Float>(
    [x, dy]: [&[T]; 2],
    weight: Option<&[T]>,
    Moments { mean, rstd }: Moments<T>,
    (first, dx): (usize, &mut [T]),
) {
    let len = x.len() / mean.len();
    let n = T::from_f64(len as f64);
    let (mean, rstd) = (&mean[first..], &rstd[first..]);
    simd(
        #[inline(always)]
        || {
            let inputs = x[first * len..].chunks(PHASE_ROWS * len);
            let inputs = inputs.zip(dy[first * len..].chunks(PHASE_ROWS * len));
            let moments = mean.chunks(PHASE_ROWS).zip(rstd.chunks(PHASE_ROWS));
            let outputs = dx.chunks_mut(PHASE_ROWS * len);
            for (((x, dy), (mean, rstd)), dx) in inputs.zip(moments).zip(outputs) {
                backward_block([x, dy], weight, Moments { mean, rstd }, (len, n), dx);
            }
        },
    );
}

/// At most [`PHASE_ROWS`] rows.
#[inline(always)]
fn backward_block<T: Float>(
    [x, dy]: [&[T]; 2],
    weight: Option<&[T]>,
    Moments { mean, rstd }: Moments<T>,
    (len, n): (usize, T),
    dx: &mut [T],
) {
    let rows = x.chunks_exact(len).zip(dy.chunks_exact(len)).zip(mean.iter().zip(rstd));
    let mut means = [[T::ZERO; 2]; PHASE_ROWS];
    for (((x, dy), (&m, &r)), means) in rows.clone().zip(&mut means) {
        let sums = match weight {
            Some(w) => lane_sums(
                [x, dy, w],
                #[inline(always)]
                |[x, dy, w]| [dy * w, dy * w * ((x - m) * r)],
            ),
            None => lane_sums(
                [x, dy],
                #[inline(always)]
                |[x, dy]| [dy, dy * ((x - m) * r)],
            ),
        };
        *means = sums.map(|sum| sum / n);
    }
    let outputs = dx.chunks_exact_mut(len).zip(&means);
    for (((x, dy), (&m, &r)), (dx, &[g, gx])) in rows.zip(outputs) {
        match weight {
            Some(w) => {
                for (((dx, &x), &dy), &w) in dx.iter_mut().zip(x).zip(dy).zip(w) {
                    *dx = r * ((dy * w - g) - (x - m) * r * gx);
                }
            }
            None => {
                for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
                    *dx = r * ((dy - g) - (x - m) * r * gx);
                }
            }
        }
    }
}

/// The elements of dw from number `first` on, summed over rows of `len` elements.
pub(super) fn weight_backward<T: Float>(
    [x, dy]: [&[T]; 2],
    Moments { mean, rstd }: Moments<T>,
    len: usize,
    (first, dw): (usize, &mut [T]),
) {
    dw.fill(T::ZERO);
    if len == 0 {
        return;
    }
    let columns = first..first + dw.len();
    simd(
        #[inline(always)]
        || {
            let rows = x.chunks_exact(len).zip(dy.chunks_exact(len)).zip(mean.iter().zip(rstd));
            for ((x, dy), (&m, &r)) in rows {
                let (x, dy) = (&x[columns.clone()], &dy[columns.clone()]);
                for ((dw, &x), &dy) in dw.iter_mut().zip(x).zip(dy) {
                    *dw += dy * ((x - m) * r);
                }
            }
        },
    );
}
