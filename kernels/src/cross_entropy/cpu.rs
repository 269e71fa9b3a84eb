//! The loops of the cross-entropy, in phases over blocks of rows: each phase is one long loop
//! that vectorises even when there are few classes.

use crate::Float;
use crate::reduce::row_sums;
use crate::simd::simd;

/// Logits of a block: its numbers stay in the first-level cache from phase to phase.
const BLOCK: usize = 2048;
/// Rows of a block.
const BLOCK_ROWS: usize = 256;

/// At least one class, and lengths that fit.
pub(super) fn forward<T: Float>(
    logits: &[T],
    classes: usize,
    targets: &[i64],
    losses: &mut [T],
    probs: &mut [T],
) {
    let rows = (BLOCK / classes).clamp(1, BLOCK_ROWS);
    let inputs = logits.chunks(rows * classes).zip(targets.chunks(rows));
    let outputs = losses.chunks_mut(rows).zip(probs.chunks_mut(rows * classes));
    for ((logits, targets), (losses, probs)) in inputs.zip(outputs) {
        simd(
            #[inline(always)]
            || forward_block(logits, classes, targets, losses, probs),
        );
    }
}

#[inline(always)]
fn forward_block<T: Float>(
    logits: &[T],
    classes: usize,
    targets: &[i64],
    losses: &mut [T],
    probs: &mut [T],
) {
    let rows = logits.chunks_exact(classes).zip(probs.chunks_exact_mut(classes));
    for ((x, p), (loss, &target)) in rows.zip(losses.iter_mut().zip(targets)) {
        let max = largest(x);
        for (p, &x) in p.iter_mut().zip(x) {
            *p = x - max;
        }
        *loss = p[target as usize];
    }
    for p in probs.iter_mut() {
        *p = p.exp();
    }
    let mut sums = [T::ONE; BLOCK_ROWS];
    let sums = &mut sums[..losses.len()];
    row_sums(probs, classes, sums);
    for (p, &sum) in probs.chunks_exact_mut(classes).zip(&*sums) {
        for p in p.iter_mut() {
            *p = *p / sum;
        }
    }
    for (loss, &sum) in losses.iter_mut().zip(&*sums) {
        *loss = sum.ln() - *loss;
    }
}

/// The largest logit of a row, or any when one is NaN: then every difference to be taken with it
/// ends as NaN. In lanes, because the compiler may not reorder comparisons.
#[inline(always)]
fn largest<T: Float>(row: &[T]) -> T {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let (blocks, rest) = row.as_chunks::<16>();
    let mut max = rest.iter().fold(row[0], |max, &x| larger(max, x));
    if let Some((first, blocks)) = blocks.split_first() {
        let mut lanes = *first;
        for block in blocks {
            for (lane, &x) in lanes.iter_mut().zip(block) {
                *lane = larger(*lane, x);
            }
        }
        max = lanes.into_iter().fold(max, larger);
    }
    max
}

/// Lengths that fit.
pub(super) fn backward<T: Float>(
    probs: &[T],
    classes: usize,
    targets: &[i64],
    dy: T,
    dlogits: &mut [T],
) {
    simd(
        #[inline(always)]
        || {
            for (dx, &p) in dlogits.iter_mut().zip(probs) {
                *dx = p * dy;
            }
        },
    );
    for (row, &target) in targets.iter().enumerate() {
        assert!((0..classes as i64).contains(&target), "a target lies within the classes");
        let at = row * classes + target as usize;
        dlogits[at] = (probs[at] - T::ONE) * dy;
    }
}
