//! The norm of a gradient that comes in pieces.

use std::array;

use super::MIN_PART;
use crate::simd::simd;
use crate::{Float, Threads};

/// Elements of a block.
const BLOCK: usize = 256;
/// Lanes of a block.
const LANES: usize = 16;

/// The sum of squares of a mean gradient, over all parameters in the order of flat memory.
///
/// An element is divided by the count in its own type, then squared and added in f64. Element i of
/// a block of 256 is added to lane i mod 16, from the first on; the lanes are added in pairs, 8
/// apart, then 4, 2, 1; the blocks are added one after the other. A block is a place in flat
/// memory: in which pieces the memory comes, and on how many threads, cannot change a bit.
#[derive(Clone, Debug, Default)]
pub struct SquareSum {
    /// The sum of all blocks that are full.
    closed: f64,
    /// The block that is being filled.
    lanes: [f64; LANES],
    /// Elements in it.
    filled: usize,
}

impl SquareSum {
    /// Adds the elements that follow those before; `grad_sum` are sums over `count`.
    pub fn add<T: Float>(&mut self, threads: &Threads, grad_sum: &[T], count: f64) {
        let count = T::from_f64(count);
        let missing = (BLOCK - self.filled) % BLOCK;
        let (head, rest) = grad_sum.split_at(missing.min(grad_sum.len()));
        self.fill(head, count);
        let (blocks, tail) = rest.as_chunks::<BLOCK>();
        let parts = threads.parts(rest.len(), MIN_PART);
        if parts == 1 {
            let mut closed = self.closed;
            simd(
                #[inline(always)]
                || blocks.iter().for_each(|block| closed += block_sum(block, count)),
            );
            self.closed = closed;
        } else {
            let mut sums = vec![0.0; blocks.len()];
            threads.split_mut(&mut sums, 1, parts, |first, sums| {
                simd(
                    #[inline(always)]
                    || {
                        for (sum, block) in sums.iter_mut().zip(&blocks[first..]) {
                            *sum = block_sum(block, count);
                        }
                    },
                );
            });
            self.closed = sums.into_iter().fold(self.closed, |sum, block| sum + block);
        }
        self.fill(tail, count);
    }

    /// Adds elements that do not reach beyond the block.
    fn fill<T: Float>(&mut self, part: &[T], count: T) {
        for &x in part {
            self.lanes[self.filled % LANES] += square(x, count);
            self.filled += 1;
        }
        if self.filled == BLOCK {
            self.closed += fold(self.lanes);
            (self.lanes, self.filled) = ([0.0; LANES], 0);
        }
    }

    /// The root of the sum: the Euclidean norm.
    pub fn norm(&self) -> f64 {
        let last = if self.filled > 0 { fold(self.lanes) } else { 0.0 };
        (self.closed + last).sqrt()
    }
}

#[inline(always)]
fn square<T: Float>(x: T, count: T) -> f64 {
    let g = (x / count).to_f64();
    g * g
}

#[inline(always)]
fn block_sum<T: Float>(block: &[T; BLOCK], count: T) -> f64 {
    let mut lanes = [0.0; LANES];
    for row in block.as_chunks::<LANES>().0 {
        for (lane, &x) in lanes.iter_mut().zip(row) {
            *lane += square(x, count);
        }
    }
    fold(lanes)
}

#[inline(always)]
fn fold(lanes: [f64; LANES]) -> f64 {
    let eight: [f64; 8] = array::from_fn(|l| lanes[l] + lanes[l + 8]);
    let four: [f64; 4] = array::from_fn(|l| eight[l] + eight[l + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave<T: Float>(len: usize) -> Vec<T> {
        (0..len).map(|i| T::from_f64((0.7 * i as f64).sin())).collect()
    }

    /// The sum in the order that the doc states, block by block and lane by lane.
    fn naive<T: Float>(x: &[T], count: f64) -> f64 {
        let mut sum = 0.0;
        for block in x.chunks(BLOCK) {
            let mut lanes = [0.0; LANES];
            for (i, &x) in block.iter().enumerate() {
                let g = (x / T::from_f64(count)).to_f64();
                lanes[i % LANES] += g * g;
            }
            for half in [8, 4, 2, 1] {
                for l in 0..half {
                    lanes[l] += lanes[l + half];
                }
            }
            sum += lanes[0];
        }
        sum.sqrt()
    }

    fn check<T: Float>() {
        let serial = Threads::serial();
        for len in (0..=33).chain([255, 256, 257, 511, 512, 1000]) {
            let x = wave::<T>(len);
            let mut whole = SquareSum::default();
            whole.add(&serial, &x, 7.0);
            assert_eq!(whole.norm().to_bits(), naive(&x, 7.0).to_bits(), "{len}");
            for cut in [0, 1, 15, 16, 100, 255, 256, 300] {
                let (left, right) = x.split_at(cut.min(len));
                let mut pieces = SquareSum::default();
                for piece in [left, &[], right] {
                    pieces.add(&serial, piece, 7.0);
                }
                assert_eq!(pieces.norm().to_bits(), whole.norm().to_bits(), "{len} {cut}");
            }
        }
    }

    #[test]
    fn the_order_of_the_sum_is_the_stated_one_whatever_the_pieces() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn threads_change_no_bit_and_values_do() {
        let mut x = wave::<f32>(3 * MIN_PART + 77);
        let norm = |threads: &Threads, x: &[f32]| {
            let mut sum = SquareSum::default();
            sum.add(threads, &x[..5], 3.0);
            sum.add(threads, &x[5..], 3.0);
            sum.norm()
        };
        let one = norm(&Threads::serial(), &x);
        assert_eq!(norm(&Threads::new(3).unwrap(), &x).to_bits(), one.to_bits());
        let last = x.len() - 1;
        x[last] += 1.0;
        assert_ne!(norm(&Threads::serial(), &x), one);
        x[last] = f32::NAN;
        assert!(norm(&Threads::new(3).unwrap(), &x).is_nan());
    }
}
