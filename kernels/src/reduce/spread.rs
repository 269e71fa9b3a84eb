//! Elementwise functions of a tensor and of numbers that belong to its reductions: how what a
//! reduction found gets back to the elements.

use super::Axis;
use crate::simd::simd;
use crate::{Float, Threads};

/// `out = f(x, p)`, where `p` are the `N` numbers of the result that `x` was reduced to.
///
/// **Shapes**: x, out `[outer, len, inner]`, each of params `[outer, inner]`; the caller ensures
/// them.
pub(crate) fn spread<T: Float, const N: usize>(
    threads: &Threads,
    (x, axis): (&[T], Axis),
    params: [&[T]; N],
    out: &mut [T],
    f: impl Fn(T, [T; N]) -> T + Copy + Sync,
) {
    if out.is_empty() {
        return;
    }
    let parts = threads.parts(out.len(), super::MIN_PART);
    let Axis { len, inner, .. } = axis;
    // In units of one row: of the last axis, or of what lies inside the reduced one.
    let unit = if inner == 1 { len } else { inner };
    threads.split_mut(out, unit, parts, |first, run| {
        let x = &x[first * unit..][..run.len()];
        simd(
            #[inline(always)]
            || {
                for (row, (x, out)) in x.chunks_exact(unit).zip(run.chunks_mut(unit)).enumerate() {
                    let row = first + row;
                    if inner == 1 {
                        let p = params.map(|p| p[row]);
                        for (out, &x) in out.iter_mut().zip(x) {
                            *out = f(x, p);
                        }
                    } else {
                        let from = row / len * inner;
                        let params = params.map(|p| &p[from..from + inner]);
                        for (i, (out, &x)) in out.iter_mut().zip(x).enumerate() {
                            *out = f(x, params.map(|p| p[i]));
                        }
                    }
                }
            },
        );
    });
}
