//! The loops of the normalization by the root mean square, in phases over a few rows.

use crate::Float;
use crate::lanes::{PHASE_ROWS, lane_sums};
use crate::simd::simd;

/// Rows of at least one element.
pub(super) fn forward<T: Float>(
    x: &[T],
    weight: Option<&[T]>,
    (len, eps): (usize, T),
    [y, rstd]: [&mut [T]; 2],
) {
    let n = T::from_f64(len as f64);
    simd(
        #[inline(always)]
        || {
            let outputs = y.chunks_mut(PHASE_ROWS * len).zip(rstd.chunks_mut(PHASE_ROWS));
            for (x, (y, rstd)) in x.chunks(PHASE_ROWS * len).zip(outputs) {
                for (x, rstd) in x.chunks_exact(len).zip(&mut *rstd) {
                    [*rstd] = lane_sums(
                        [x],
                        #[inline(always)]
                        |[x]| [x * x],
                    );
                }
                for rstd in &mut *rstd {
                    *rstd = T::ONE / (*rstd / n + eps).sqrt();
                }
                for ((x, y), &r) in x.chunks_exact(len).zip(y.chunks_exact_mut(len)).zip(&*rstd) {
                    scaled(x, weight, r, y);
                }
            }
        },
    );
}

/// `y = x · r · w` for one row.
#[inline(always)]
fn scaled<T: Float>(x: &[T], weight: Option<&[T]>, r: T, y: &mut [T]) {
    match weight {
        Some(w) => {
            for ((y, &x), &w) in y.iter_mut().zip(x).zip(w) {
                *y = x * r * w;
            }
        }
        None => {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = x * r;
            }
        }
    }
}

/// The rows of dx from number `first` on, of at least one element.
pub(super) fn backward<T: Float>(
    [x, dy]: [&[T]; 2],
    weight: Option<&[T]>,
    rstd: &[T],
    (first, dx): (usize, &mut [T]),
) {
    let len = x.len() / rstd.len();
    let n = T::from_f64(len as f64);
    simd(
        #[inline(always)]
        || {
            let rows = x.chunks_exact(len).zip(dy.chunks_exact(len)).zip(rstd);
            for (((x, dy), &r), dx) in rows.skip(first).zip(dx.chunks_exact_mut(len)) {
                match weight {
                    Some(w) => {
                        let [sum] = lane_sums(
                            [x, dy, w],
                            #[inline(always)]
                            |[x, dy, w]| [dy * w * (x * r)],
                        );
                        let along = sum / n;
                        for (((dx, &x), &dy), &w) in dx.iter_mut().zip(x).zip(dy).zip(w) {
                            *dx = r * (dy * w - x * r * along);
                        }
                    }
                    None => {
                        let [sum] = lane_sums(
                            [x, dy],
                            #[inline(always)]
                            |[x, dy]| [dy * (x * r)],
                        );
                        let along = sum / n;
                        for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
                            *dx = r * (dy - x * r * along);
                        }
                    }
                }
            }
        },
    );
}

/// The elements of dw from number `first` on, summed over rows of `len` elements, at least one.
pub(super) fn weight_backward<T: Float>(
    [x, dy]: [&[T]; 2],
    rstd: &[T],
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
            for ((x, dy), &r) in x.chunks_exact(len).zip(dy.chunks_exact(len)).zip(rstd) {
                let (x, dy) = (&x[columns.clone()], &dy[columns.clone()]);
                for ((dw, &x), &dy) in dw.iter_mut().zip(x).zip(dy) {
                    *dw += dy * (x * r);
                }
            }
        },
    );
}
