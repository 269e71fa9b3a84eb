//! The loops of the scans over one plane `[len, inner]`, row by row.

use crate::Float;
use crate::simd::simd;

/// `out[i] = step(out[i − 1], x[i])` from `start` on; `backward`: from the end.
pub(super) fn scan<X: Copy, A: Copy>(
    (x, inner, backward): (&[X], usize, bool),
    start: A,
    step: impl Fn(A, X) -> A + Copy,
    out: &mut [A],
) {
    if inner == 1 {
        let mut total = start;
        let mut next = |(out, &x): (&mut A, &X)| {
            total = step(total, x);
            *out = total;
        };
        let pairs = out.iter_mut().zip(x);
        return if backward { pairs.rev().for_each(next) } else { pairs.for_each(&mut next) };
    }
    simd(
        #[inline(always)]
        || {
            let len = x.len() / inner;
            for i in 0..len {
                let (row, last) = if backward { (len - 1 - i, len - i) } else { (i, i.max(1) - 1) };
                let x = &x[row * inner..][..inner];
                if i == 0 {
                    for (out, &x) in out[row * inner..][..inner].iter_mut().zip(x) {
                        *out = step(start, x);
                    }
                    continue;
                }
                let (head, tail) = out.split_at_mut(row.max(last) * inner);
                let (out, last) = if backward {
                    (&mut head[row * inner..], &tail[..inner])
                } else {
                    (&mut tail[..inner], &head[last * inner..])
                };
                for ((out, &last), &x) in out.iter_mut().zip(last).zip(x) {
                    *out = step(last, x);
                }
            }
        },
    );
}

/// `out[i]` is the product of the elements before i.
pub(super) fn products_before<T: Float>(x: &[T], inner: usize, out: &mut [T]) {
    let (first, rest) = out.split_at_mut(inner);
    first.fill(T::ONE);
    let x = &x[..rest.len()];
    scan((x, inner, false), T::ONE, |product, x| product * x, rest);
}

/// `out[i] *= dy[i] + behind` from the last row on, where `behind` then becomes that factor times
/// `x[i]`; without dy, the factor is `behind` alone.
pub(super) fn times_behind<T: Float>(x: &[T], dy: Option<&[T]>, behind: &mut [T], out: &mut [T]) {
    let inner = behind.len();
    simd(
        #[inline(always)]
        || {
            for row in (0..out.len() / inner).rev() {
                let part = row * inner..(row + 1) * inner;
                if let Some(dy) = dy {
                    for (behind, &dy) in behind.iter_mut().zip(&dy[part.clone()]) {
                        *behind = dy + *behind;
                    }
                }
                let rows = out[part.clone()].iter_mut().zip(&x[part]);
                for ((out, &x), behind) in rows.zip(&mut *behind) {
                    *out = *out * *behind;
                    *behind = *behind * x;
                }
            }
        },
    );
}
