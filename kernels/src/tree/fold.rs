//! Carrying out a postfix program over slices, block by block, so that what is in between stays
//! in the nearest cache.

use super::TreeOp;
use crate::{Element, Float};

/// Elements of a block.
const BLOCK: usize = 256;

/// Blocks in between that lie on the stack; a program that needs more takes them from the heap.
/// Eight are enough for 256 shards.
const FEW: usize = 8;

/// `out = program(sources)`: the sum that the program describes, element by element.
///
/// # Panics
/// As [`combine`].
pub fn fold<T: Float>(program: &[TreeOp], sources: &[&[T]], out: &mut [T]) {
    combine(program, sources, 0, out, |left, right| left + right);
}

/// As [`fold`] for any operation in the place of the addition, over the elements of the sources
/// that begin at `from`: `out[i]` combines the elements `from + i`.
///
/// # Panics
/// When a source ends before `from + out.len()`, or `program` is not one that
/// [`super::program`] made for as many sources.
pub fn combine<T: Element, S: AsRef<[T]>>(
    program: &[TreeOp],
    sources: &[S],
    from: usize,
    out: &mut [T],
    join: impl Fn(T, T) -> T + Copy,
) {
    let part = |source: usize, at: usize, len: usize| {
        let start = from + at;
        &sources[source].as_ref()[start..start + len]
    };
    match *program {
        [TreeOp::Push(only)] => out.copy_from_slice(part(only, 0, out.len())),
        [TreeOp::Push(left), TreeOp::Push(right), TreeOp::Add] => {
            let len = out.len();
            join_into(out, part(left, 0, len), part(right, 0, len), join);
        }
        _ => {
            let mut few = [[T::default(); BLOCK]; FEW];
            let mut many = Vec::new();
            let needed = blocks_needed(program);
            let between = if needed <= FEW {
                &mut few[..]
            } else {
                many.resize(needed, [T::default(); BLOCK]);
                &mut many[..]
            };
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let len = out.len();
                let source = |number| part(number, block * BLOCK, len);
                run_block(program, source, between, join);
                out.copy_from_slice(&between[0][..len]);
            }
        }
    }
}

/// `sum = sum + addend`, element by element: the sum on the left is the one that came first.
///
/// # Panics
/// When the lengths differ.
pub fn add_right<T: Float>(sum: &mut [T], addend: &[T]) {
    assert_eq!(sum.len(), addend.len(), "sums differ in length");
    for (sum, &addend) in sum.iter_mut().zip(addend) {
        *sum += addend;
    }
}

fn join_into<T: Element>(out: &mut [T], left: &[T], right: &[T], join: impl Fn(T, T) -> T) {
    for ((out, &left), &right) in out.iter_mut().zip(left).zip(right) {
        *out = join(left, right);
    }
}

/// How many blocks in between a program needs: its deepest stack.
fn blocks_needed(program: &[TreeOp]) -> usize {
    let mut deepest = 0;
    let mut depth = 0;
    for op in program {
        match op {
            TreeOp::Push(_) => depth += 1,
            TreeOp::Add => depth -= 1,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// One block: level d of the stack is either a source, or the first elements of `between[d]`. The
/// result is left in `between[0]`.
fn run_block<'a, T: Element>(
    program: &[TreeOp],
    source: impl Fn(usize) -> &'a [T],
    between: &mut [[T; BLOCK]],
    join: impl Fn(T, T) -> T + Copy,
) {
    let mut depth = 0;
    // The topmost source that was pushed and not yet added to anything: it is read in place.
    let mut pending: Option<&[T]> = None;
    for op in program {
        match (*op, pending.take()) {
            (TreeOp::Push(number), before) => {
                if let Some(before) = before {
                    between[depth - 1][..before.len()].copy_from_slice(before);
                }
                pending = Some(source(number));
                depth += 1;
            }
            (TreeOp::Add, Some(right)) => {
                depth -= 1;
                for (left, &right) in between[depth - 1].iter_mut().zip(right) {
                    *left = join(*left, right);
                }
            }
            (TreeOp::Add, None) => {
                depth -= 1;
                let (lower, upper) = between.split_at_mut(depth);
                for (left, &right) in lower[depth - 1].iter_mut().zip(&upper[0]) {
                    *left = join(*left, right);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{program, roots, shard_range};
    use super::*;

    /// Floats of very different magnitude, so that another grouping rounds differently.
    fn noise(len: usize, seed: u64) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        (0..len).map(|_| (next() as i32 as f32) * 2f32.powi((next() % 24) as i32 - 40)).collect()
    }

    fn slices(shards: &[Vec<f32>]) -> Vec<&[f32]> {
        shards.iter().map(Vec::as_slice).collect()
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    fn whole(shards: &[Vec<f32>]) -> Vec<f32> {
        let leaves: Vec<_> = (0..shards.len()).map(|i| i..i + 1).collect();
        let mut out = vec![f32::NAN; shards[0].len()];
        fold(&program(&leaves, &(0..shards.len())), &slices(shards), &mut out);
        out
    }

    /// Every worker's roots, then the sum over them.
    fn by_workers(shards: &[Vec<f32>], world_size: usize) -> Vec<f32> {
        let mut from = Vec::new();
        let mut sums = Vec::new();
        for rank in 0..world_size {
            for root in roots(shard_range(rank, world_size, shards.len()), shards.len()) {
                let leaves: Vec<_> = root.clone().map(|i| i..i + 1).collect();
                let mut sum = vec![f32::NAN; shards[0].len()];
                fold(&program(&leaves, &root), &slices(&shards[root.clone()]), &mut sum);
                from.push(root);
                sums.push(sum);
            }
        }
        let mut out = vec![f32::NAN; shards[0].len()];
        fold(&program(&from, &(0..shards.len())), &slices(&sums), &mut out);
        out
    }

    #[test]
    fn folding_by_workers_equals_folding_at_once_bit_for_bit() {
        for count in 1..=9 {
            for len in [0, 1, 255, 256, 257, 521] {
                let shards: Vec<_> = (0..count).map(|i| noise(len, i as u64 + 1)).collect();
                let wanted = bits(&whole(&shards));
                for world_size in 1..=count {
                    assert_eq!(bits(&by_workers(&shards, world_size)), wanted, "{count} {len}");
                }
            }
        }
    }

    #[test]
    fn the_blocks_give_what_plain_recursion_gives() {
        fn node(shards: &[Vec<f32>], i: usize) -> f32 {
            if shards.len() == 1 {
                return shards[0][i];
            }
            let (left, right) = shards.split_at(1 << (shards.len() - 1).ilog2());
            node(left, i) + node(right, i)
        }
        // 600 shards need more blocks than lie on the stack.
        for count in [3, 7, 8, 9, 33, 600] {
            let shards: Vec<_> = (0..count).map(|i| noise(300, i as u64 + 7)).collect();
            let wanted: Vec<_> = (0..300).map(|i| node(&shards, i)).collect();
            assert_eq!(bits(&whole(&shards)), bits(&wanted), "{count}");
        }
    }

    #[test]
    fn a_plain_left_fold_has_other_bits() {
        let shards: Vec<_> = (0..5).map(|i| noise(64, i + 3)).collect();
        let mut left = shards[0].clone();
        shards[1..].iter().for_each(|shard| add_right(&mut left, shard));
        assert_ne!(bits(&left), bits(&whole(&shards)));
    }

    #[test]
    fn a_range_of_the_sources_is_combined_by_any_operation() {
        let (a, b, c) = ([9_i64, 1, 7, 2], [3_i64, 5, 6, 8], [4_i64, 4, 4, 4]);
        let leaves = [0..1, 1..2, 2..3];
        let mut out = [0; 2];
        combine(&program(&leaves, &(0..3)), &[&a[..], &b, &c], 1, &mut out, i64::max);
        assert_eq!(out, [5, 7]);
        combine(&program(&leaves[..2], &(0..2)), &[&a[..], &b], 2, &mut out, |x, y| x - y);
        assert_eq!(out, [1, -6]);
    }

    #[test]
    #[should_panic]
    fn sources_that_end_too_early_are_refused() {
        fold(&[TreeOp::Push(0)], &[&[1.0_f32]], &mut [0.0, 0.0]);
    }
}
