//! Elementwise functions of tensors and of numbers that belong to their reductions: how what a
//! reduction found gets back to the elements.

use super::Axis;
use crate::simd::simd;
use crate::{Float, Threads};

/// `out = f(xs, p)` of each element of the `K` tensors xs, where p are the `N` numbers of the
/// result that the element was reduced to.
///
/// **Shapes**: xs, out `[outer, len, inner]`, params `[outer, inner]`; the caller ensures them.
pub(crate) fn spread<T: Float, const K: usize, const N: usize>(
    threads: &Threads,
    (xs, axis): ([&[T]; K], Axis),
    params: [&[T]; N],
    out: &mut [T],
    f: impl Fn([T; K], [T; N]) -> T + Copy + Sync,
) {
    if out.is_empty() {
        return;
    }
    let parts = threads.parts(out.len(), super::MIN_PART);
    let Axis { len, inner, .. } = axis;
    // In units of one row: of the last axis, or of what lies inside the reduced one.
    let unit = if inner == 1 { len } else { inner };
    threads.split_mut(out, unit, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                for (row, out) in (first..).zip(run.chunks_exact_mut(unit)) {
                    let xs = xs.map(|x| &x[row * unit..][..unit]);
                    if inner == 1 {
                        let p = params.map(|p| p[row]);
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = f(xs.map(|x| x[i]), p);
                        }
                    } else {
                        let params = params.map(|p| &p[row / len * inner..][..unit]);
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = f(xs.map(|x| x[i]), params.map(|p| p[i]));
                        }
                    }
                }
            },
        );
    });
}
