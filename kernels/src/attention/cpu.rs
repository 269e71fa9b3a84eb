//! One head of one sample: products of blocks, with the rows of the softmax between them.

use std::ops::Range;

use super::{Place, Seen, Sizes};
use crate::matmul::{Ends, MatRef, chain};
use crate::reduce::lane_sum;
use crate::simd::simd;
use crate::{Float, Threads};

/// Queries or keys of a block of causal attention; the module above promises it.
const BLOCK: usize = 16;
/// Elements that a vector loop takes at once.
const LANES: usize = 16;

/// The blocks of `0..len`: those of causal attention, or all in one.
fn blocks(causal: bool, len: usize) -> impl Iterator<Item = Range<usize>> {
    let size = if causal { BLOCK } else { len.max(1) };
    (0..len).step_by(size).map(move |start| start..len.min(start + size))
}

/// The keys that chains of the queries of a block run over.
fn keys_of(causal: bool, queries: &Range<usize>, keys: usize) -> usize {
    if causal { keys.min(queries.start + BLOCK) } else { keys }
}

/// `a · b` into rows of a slice, on the calling thread, with the stride of the rows.
fn product<T: Float>(a: MatRef<'_, T>, b: MatRef<'_, T>, out: (&mut [T], usize)) {
    chain(&Threads::serial(), a, b, Ends { resume: false, row_bias: None }, out);
}

/// `out`: the row of query 0 on, with its stride.
pub(super) fn forward<T: Float>(
    sizes: Sizes,
    [q, k, v]: [MatRef<'_, T>; 3],
    seen: Seen<'_>,
    probs: &mut [T],
    (out, row): (&mut [T], usize),
) {
    let Sizes { queries, keys, d, .. } = sizes;
    let scale = T::ONE / T::from_f64(d as f64).sqrt();
    for block in blocks(seen.causal, queries) {
        let end = keys_of(seen.causal, &block, keys);
        let probs = &mut probs[block.start * keys..block.end * keys];
        let (q, k) = (q.block(block.clone(), 0..d), k.block(0..end, 0..d));
        product(q, k.transposed(), (probs, keys));
        let rows = (block.clone()).zip(probs.chunks_exact_mut(keys.max(1)));
        simd(
            #[inline(always)]
            || {
                for (query, p) in rows {
                    let count = if seen.causal { keys.min(query + 1) } else { keys };
                    softmax(p, count, seen.mask, scale);
                }
            },
        );
        let p = MatRef::new(probs, block.len(), end, keys, 1);
        let out = &mut out[block.start * row..];
        product(p, v.block(0..end, 0..d), (out, row));
    }
}

/// Turns products of a query with its first `count` keys into their softmax, in place; the others
/// become +0.
#[inline(always)]
fn softmax<T: Float>(p: &mut [T], count: usize, mask: Option<&[u8]>, scale: T) {
    let unseen = T::from_f64(f64::NEG_INFINITY);
    let whole = p.len().min(count.next_multiple_of(LANES));
    p[count..whole].fill(unseen);
    p[whole..].fill(T::ZERO);
    let seen = &mut p[..whole];
    for s in seen.iter_mut() {
        *s = *s * scale;
    }
    if let Some(mask) = mask {
        if mask[..count].iter().all(|&m| m == 0) {
            return p.fill(T::ZERO);
        }
        for (s, &m) in seen.iter_mut().zip(mask) {
            *s = if m == 0 { unseen } else { *s };
        }
    }
    let max = largest(seen);
    for s in seen.iter_mut() {
        *s = (*s - max).exp();
    }
    let sum = lane_sum(seen);
    for s in seen.iter_mut() {
        *s = *s / sum;
    }
    // Zeros already, except in a row of NaN.
    p[count..whole].fill(T::ZERO);
    if let Some(mask) = mask {
        for (s, &m) in p.iter_mut().zip(mask) {
            *s = if m == 0 { T::ZERO } else { *s };
        }
    }
}

/// The largest score, or any when one is NaN. In lanes, because the compiler may not reorder
/// comparisons.
#[inline(always)]
fn largest<T: Float>(row: &[T]) -> T {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let (blocks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [T::from_f64(f64::NEG_INFINITY); LANES];
    for block in blocks {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane = larger(*lane, x);
        }
    }
    lanes.iter().chain(rest).fold(lanes[0], |max, &x| larger(max, x))
}

/// What the derivative of one head is computed from.
pub(super) struct Head<'a, T> {
    pub(super) sizes: Sizes,
    pub(super) operands: [MatRef<'a, T>; 3],
    pub(super) dout: MatRef<'a, T>,
    pub(super) probs: &'a [T],
    pub(super) causal: bool,
}

/// Writes the gradients of q, k and v that have a place; `ds` has room for `[lq, lk]`.
pub(super) fn backward<T: Float>(
    head: Head<'_, T>,
    ds: &mut [T],
    slices: &mut [&mut [T]; 3],
    places: [Option<Place>; 3],
) {
    let [q, k, _] = head.operands;
    let [dq, dk, dv] = places;
    if let Some(place) = dv {
        head.over_queries(head.probs, head.dout, (&mut *slices[place.slice], place));
    }
    if dq.is_some() || dk.is_some() {
        head.scores(ds);
    }
    if let Some(place) = dq {
        let Sizes { queries, keys, d, .. } = head.sizes;
        for block in blocks(head.causal, queries) {
            let end = keys_of(head.causal, &block, keys);
            let ds = MatRef::new(&ds[block.start * keys..], block.len(), end, keys, 1);
            let out = &mut slices[place.slice][place.offset + block.start * place.row..];
            product(ds, k.block(0..end, 0..d), (out, place.row));
        }
    }
    if let Some(place) = dk {
        head.over_queries(ds, q, (&mut *slices[place.slice], place));
    }
}

impl<T: Float> Head<'_, T> {
    /// `pairsᵀ · x`, for pairs `[lq, lk]` and x `[lq, d]`.
    fn over_queries(&self, pairs: &[T], x: MatRef<'_, T>, (out, place): (&mut [T], Place)) {
        let Sizes { queries, keys, d, .. } = self.sizes;
        for block in blocks(self.causal, keys) {
            let start = if self.causal { queries.min(block.start) } else { 0 };
            let from = if start < queries { start * keys + block.start } else { pairs.len() };
            let pairs = MatRef::new(&pairs[from..], queries - start, block.len(), keys, 1);
            let out = &mut out[place.offset + block.start * place.row..];
            let x = x.block(start..queries, 0..d);
            product(pairs.transposed(), x, (out, place.row));
        }
    }

    /// The gradient of the products of queries with keys.
    fn scores(&self, ds: &mut [T]) {
        let Sizes { queries, keys, d, .. } = self.sizes;
        let scale = T::ONE / T::from_f64(d as f64).sqrt();
        let [_, _, v] = self.operands;
        for block in blocks(self.causal, queries) {
            let end = keys_of(self.causal, &block, keys);
            let pairs = block.start * keys..block.end * keys;
            let (probs, ds) = (&self.probs[pairs.clone()], &mut ds[pairs]);
            let (dout, v) = (self.dout.block(block, 0..d), v.block(0..end, 0..d));
            product(dout, v.transposed(), (ds, keys));
            let rows = ds.chunks_exact_mut(keys.max(1)).zip(probs.chunks_exact(keys.max(1)));
            simd(
                #[inline(always)]
                || {
                    for (ds, p) in rows {
                        softmax_vjp(&mut ds[..end], &p[..end], scale);
                    }
                },
            );
        }
    }
}

/// Turns the gradient of a row of probabilities into that of the products, in place.
#[inline(always)]
fn softmax_vjp<T: Float>(ds: &mut [T], p: &[T], scale: T) {
    let sum = dot(ds, p);
    for (ds, &p) in ds.iter_mut().zip(p) {
        // An unseen pair has the gradient +0, whatever its values are.
        *ds = if p == T::ZERO { T::ZERO } else { p * (*ds - sum) * scale };
    }
}

/// The sum of products over pairs that are seen, in the order of [`lane_sum`].
#[inline(always)]
fn dot<T: Float>(dp: &[T], p: &[T]) -> T {
    let product = |dp: T, p: T| if p == T::ZERO { T::ZERO } else { p * dp };
    let mut sums = [T::ZERO; LANES];
    let (blocks, rest) = dp.as_chunks::<LANES>();
    let (p_blocks, p_rest) = p.as_chunks::<LANES>();
    for (dp, p) in blocks.iter().zip(p_blocks) {
        for ((sum, &dp), &p) in sums.iter_mut().zip(dp).zip(p) {
            *sum += product(dp, p);
        }
    }
    for ((sum, &dp), &p) in sums.iter_mut().zip(rest).zip(p_rest) {
        *sum += product(dp, p);
    }
    lane_sum(&sums)
}
