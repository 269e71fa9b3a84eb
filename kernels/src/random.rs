//! Random numbers as pure functions of seed, site, step and index.
//!
//! The generator is Philox 4x32 with 10 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random
//! numbers: as easy as 1, 2, 3", 2011): a bijection of a 128-bit counter under a 64-bit key. No
//! state is carried along, so it does not matter who draws a number, when, or how many others
//! are drawn.
//!
//! A stream has a name of 128 bits: Philox of the counter `(FNV-1a of the site, step)` under the
//! key `seed`. Half of it is the stream's key, half the upper half of its counters; the lower
//! half counts blocks of four words.

use std::convert::Infallible;

use rand::TryRng;

use crate::math;

/// The multipliers of Philox 4x32.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What is added to the key after each round: the golden ratio and √3 − 1.
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// The random numbers of one site in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
    upper: [u32; 2],
}

impl Stream {
    /// The numbers of the site `site`, such as the path of a parameter, in step `step`.
    pub fn new(seed: u64, site: &str, step: u64) -> Self {
        let ([a, b], [c, d]) = (words_of(fnv1a(site.as_bytes())), words_of(step));
        let [k0, k1, u0, u1] = philox([a, b, c, d], words_of(seed));
        Stream { key: [k0, k1], upper: [u0, u1] }
    }

    /// Four random words.
    pub fn u32x4(&self, block: u64) -> [u32; 4] {
        let ([low, high], [u0, u1]) = (words_of(block), self.upper);
        philox([low, high, u0, u1], self.key)
    }

    /// A uniform 64-bit word: two words of block `index / 2`, the first one low.
    pub fn u64(&self, index: u64) -> u64 {
        let [a, b, c, d] = self.u32x4(index / 2).map(u64::from);
        if index.is_multiple_of(2) { a | b << 32 } else { c | d << 32 }
    }

    /// A multiple of 2⁻⁵³ in `[0, 1)`, each equally likely. Rounded to f32 it may be 1.
    pub fn uniform(&self, index: u64) -> f64 {
        unit(self.u64(index))
    }

    /// A number of the standard normal distribution, at most 8.6 in magnitude: Box and Muller
    /// 1958, of whose pairs an even index takes the cosine and the next one the sine.
    pub fn normal(&self, index: u64) -> f64 {
        let first = index & !1;
        // 1 − u lies in (0, 1], where the logarithm is finite.
        let radius = (-2.0 * math::ln(1.0 - self.uniform(first))).sqrt();
        let (cos, sin) = math::cos_sin_of_turn(self.uniform(first + 1));
        radius * if index == first { cos } else { sin }
    }

    /// A whole number below `n`: the upper half of a product of 64-bit words. The likelihoods
    /// of two numbers differ by less than `n / 2⁶⁴` of themselves.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn below(&self, index: u64, n: u64) -> u64 {
        assert!(n > 0, "no number is below 0");
        ((u128::from(self.u64(index)) * u128::from(n)) >> 64) as u64
    }

    /// The numbers `0..n` in random order (Fisher and Yates, from the back): position i is
    /// exchanged with position `below(i, i + 1)`.
    pub fn permutation(&self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let j = self.below(i as u64, i as u64 + 1) as usize;
            order.swap(i, j);
        }
        order
    }

    /// The stream's words one after another, as a generator for the distributions of `rand`.
    pub fn cursor(&self) -> Cursor {
        Cursor { stream: *self, block: 0, words: [0; 4], left: 0 }
    }
}

/// A place in a [`Stream`], from which words are drawn in order; a `rand` generator.
#[derive(Clone, Debug)]
pub struct Cursor {
    stream: Stream,
    /// The block to be drawn next.
    block: u64,
    words: [u32; 4],
    /// Words of `words` that are still to come.
    left: usize,
}

impl Cursor {
    fn word(&mut self) -> u32 {
        if self.left == 0 {
            self.words = self.stream.u32x4(self.block);
            self.block = self.block.wrapping_add(1);
            self.left = self.words.len();
        }
        self.left -= 1;
        self.words[self.words.len() - 1 - self.left]
    }
}

impl TryRng for Cursor {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let low = u64::from(self.word());
        Ok(low | u64::from(self.word()) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(4) {
            let word = self.word().to_le_bytes();
            part.copy_from_slice(&word[..part.len()]);
        }
        Ok(())
    }
}

/// A multiple of 2⁻⁵³ in `[0, 1)`.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// Low word first.
fn words_of(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// The 64-bit hash of Fowler, Noll and Vo, variant 1a.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}

fn philox([mut a, mut b, mut c, mut d]: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let [low0, high0] = words_of(u64::from(a) * u64::from(MULTIPLIERS[0]));
        let [low1, high1] = words_of(u64::from(c) * u64::from(MULTIPLIERS[1]));
        [a, b, c, d] = [high1 ^ b ^ key[0], low1, high0 ^ d ^ key[1], low0];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    [a, b, c, d]
}
