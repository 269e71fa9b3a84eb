//! Planes with their padding, and the rows of the unfolded matrix.

use std::ops::Range;

use crate::{Float, Sliding, Window};

/// Writes the given rows of the padded plane of `x`, the padding as +0.
#[inline(always)]
pub(super) fn pad<T: Float>(x: &[T], sliding: &Sliding, rows: Range<usize>, plane: &mut [T]) {
    let ([height, width], [_, padded]) = (sliding.input(), sliding.padded());
    let [top, left] = sliding.window().padding;
    for (row, out) in rows.zip(plane.chunks_exact_mut(padded)) {
        match row.checked_sub(top).filter(|&y| y < height) {
            Some(y) => {
                out[..left].fill(T::ZERO);
                copy_row(&x[y * width..][..width], &mut out[left..][..width]);
                out[left + width..].fill(T::ZERO);
            }
            None => out.fill(T::ZERO),
        }
    }
}

/// Writes what the outputs of whole rows see at the kernel's place `[ky, kx]`; `plane` begins with
/// the padded row that the first output sees at ky = 0.
#[inline(always)]
pub(super) fn unfold<T: Float>(
    plane: &[T],
    sliding: &Sliding,
    [ky, kx]: [usize; 2],
    out: &mut [T],
) {
    let Window { stride, dilation, .. } = *sliding.window();
    let ([_, width], [_, padded]) = (sliding.output(), sliding.padded());
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        let seen = &plane[(row * stride[0] + ky * dilation[0]) * padded + kx * dilation[1]..];
        if stride[1] == 1 {
            copy_row(&seen[..width], out);
        } else {
            for (out, &x) in out.iter_mut().zip(seen.iter().step_by(stride[1])) {
                *out = x;
            }
        }
    }
}

/// Adds to the padded plane what all outputs send to the kernel's place `[ky, kx]`.
#[inline(always)]
pub(super) fn fold<T: Float>(y: &[T], sliding: &Sliding, [ky, kx]: [usize; 2], plane: &mut [T]) {
    let Window { stride, dilation, .. } = *sliding.window();
    let ([_, width], [_, padded]) = (sliding.output(), sliding.padded());
    for (row, y) in y.chunks_exact(width).enumerate() {
        let start = (row * stride[0] + ky * dilation[0]) * padded + kx * dilation[1];
        let seen = &mut plane[start..];
        if stride[1] == 1 {
            add_row(y, &mut seen[..width]);
        } else {
            for (seen, &y) in seen.iter_mut().step_by(stride[1]).zip(y) {
                *seen += y;
            }
        }
    }
}

/// Writes a padded plane without its padding, plus a bias.
#[inline(always)]
pub(super) fn crop<T: Float>(plane: &[T], sliding: &Sliding, bias: Option<T>, x: &mut [T]) {
    let ([_, width], [_, padded]) = (sliding.input(), sliding.padded());
    let [top, left] = sliding.window().padding;
    for (row, out) in x.chunks_exact_mut(width).enumerate() {
        copy_row(&plane[(top + row) * padded + left..][..width], out);
    }
    if let Some(bias) = bias {
        x.iter_mut().for_each(|x| *x += bias);
    }
}

/// `to = from`, of one length. Rows are short and many, so a call of the general copy would cost
/// more than the elements do: whole registers, the last one over the one before.
#[inline(always)]
fn copy_row<T: Float>(from: &[T], to: &mut [T]) {
    match from.len() {
        0..4 => from.iter().zip(to).for_each(|(&x, to)| *to = x),
        4..8 => copy_blocks::<T, 4>(from, to),
        8..16 => copy_blocks::<T, 8>(from, to),
        _ => copy_blocks::<T, 16>(from, to),
    }
}

/// At least one block of `W`.
#[inline(always)]
fn copy_blocks<T: Float, const W: usize>(from: &[T], to: &mut [T]) {
    for (from, to) in from.as_chunks::<W>().0.iter().zip(to.as_chunks_mut::<W>().0) {
        *to = *from;
    }
    if let (Some(from), Some(to)) = (from.last_chunk::<W>(), to.last_chunk_mut::<W>()) {
        *to = *from;
    }
}

/// `to += from`, of one length.
#[inline(always)]
fn add_row<T: Float>(from: &[T], to: &mut [T]) {
    let (from, to) = add_blocks::<T, 16>(from, to);
    let (from, to) = add_blocks::<T, 8>(from, to);
    let (from, to) = add_blocks::<T, 4>(from, to);
    from.iter().zip(to).for_each(|(&x, to)| *to += x);
}

/// `to += from` for whole blocks of `W`; the rest of both.
#[inline(always)]
fn add_blocks<'a, T: Float, const W: usize>(
    from: &'a [T],
    to: &'a mut [T],
) -> (&'a [T], &'a mut [T]) {
    let ((blocks, from), (sums, to)) = (from.as_chunks::<W>(), to.as_chunks_mut::<W>());
    for (block, sums) in blocks.iter().zip(sums) {
        for (&x, sum) in block.iter().zip(sums) {
            *sum += x;
        }
    }
    (from, to)
}
