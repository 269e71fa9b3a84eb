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

use crate::hash::fnv1a;
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

fn philox([mut a, mut b, mut c, mut d]: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let [low0, high0] = words_of(u64::from(a) * u64::from(MULTIPLIERS[0]));
        let [low1, high1] = words_of(u64::from(c) * u64::from(MULTIPLIERS[1]));
        [a, b, c, d] = [high1 ^ b ^ key[0], low1, high0 ^ d ^ key[1], low0];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::distr::{Bernoulli, Distribution, Uniform};
    use rand::{Rng, RngExt};

    #[test]
    fn philox_gives_the_published_answers() {
        // Known answers of the authors' reference implementation, for 10 rounds.
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in cases {
            assert_eq!(philox(counter, key), answer);
        }
    }

    #[test]
    fn seed_site_step_and_index_each_change_the_numbers() {
        let base = Stream::new(1, "layers.0.weight", 2);
        let others = [
            Stream::new(2, "layers.0.weight", 2),
            Stream::new(1 << 40 | 1, "layers.0.weight", 2),
            Stream::new(1, "layers.1.weight", 2),
            Stream::new(1, "layers.0.weight", 3),
            Stream::new(1, "layers.0.weight", 1 << 40 | 2),
        ];
        assert!(others.iter().all(|other| other.u64(5) != base.u64(5)));
        assert_eq!(Stream::new(1, "layers.0.weight", 2).u64(5), base.u64(5));
        let mut words: Vec<u64> = (0..1000).map(|i| base.u64(i)).collect();
        words.push(base.u64(1 << 40));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 1001);
    }

    /// Bits of a release must not move: runs are repeated from their seed.
    #[test]
    fn the_bits_of_a_stream_are_fixed() {
        let stream = Stream::new(42, "data/epoch", 3);
        assert_eq!(stream.u32x4(1), [0x5234_a36c, 0xeb2f_aa9a, 0x6c88_e791, 0x3ae7_2e31]);
        assert_eq!(stream.permutation(8), [3, 1, 5, 0, 4, 6, 2, 7]);
        assert_eq!(stream.normal(5).to_bits(), 0x4000_7679_25c8_e73b);
    }

    #[test]
    fn uniform_numbers_fill_the_unit_interval_evenly() {
        let stream = Stream::new(7, "uniform", 0);
        let (mut bins, n) = ([0u32; 16], 160_000);
        for i in 0..n {
            let u = stream.uniform(i);
            assert!((0.0..1.0).contains(&u));
            bins[(u * 16.0) as usize] += 1;
        }
        // 15 degrees of freedom: above 45 with a likelihood below 10⁻⁴.
        let expected = n as f64 / 16.0;
        let chi2: f64 = bins.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi2 < 45.0, "{chi2}");
        assert_eq!((unit(0), unit(u64::MAX)), (0.0, 1.0 - f64::EPSILON / 2.0));
    }

    #[test]
    fn normal_numbers_have_the_moments_of_their_distribution() {
        let stream = Stream::new(7, "normal", 0);
        let n = 200_000;
        let x: Vec<f64> = (0..n).map(|i| stream.normal(i)).collect();
        let moment = |k: i32| x.iter().map(|x| x.powi(k)).sum::<f64>() / n as f64;
        // Four standard errors of each moment.
        assert!(moment(1).abs() < 0.009 && (moment(2) - 1.0).abs() < 0.013);
        assert!(moment(3).abs() < 0.035 && (moment(4) - 3.0).abs() < 0.09);
        let within = x.iter().filter(|x| x.abs() < 1.0).count() as f64 / n as f64;
        assert!((within - 0.682_689).abs() < 0.004);
        let products = x.chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        assert!((products / (n / 2) as f64).abs() < 0.013);
    }

    #[test]
    fn permutations_hold_every_number_once_and_differ_by_step() {
        for n in [0, 1, 2, 3, 17, 1000] {
            let mut order = Stream::new(3, "data/epoch", 1).permutation(n);
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..n));
        }
        let orders = [1, 2].map(|step| Stream::new(3, "data/epoch", step).permutation(100));
        assert_ne!(orders[0], orders[1]);
        // Each of the six orders of three about equally often.
        let mut counts = std::collections::BTreeMap::new();
        for step in 0..6000 {
            *counts.entry(Stream::new(3, "three", step).permutation(3)).or_insert(0) += 1;
        }
        assert!(
            counts.len() == 6 && counts.values().all(|&c| (850..1150).contains(&c)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_cursor_reads_the_words_of_its_stream_in_order() {
        let stream = Stream::new(9, "cursor", 0);
        let mut cursor = stream.cursor();
        let words: Vec<u64> = (0..5).map(|_| cursor.next_u64()).collect();
        assert_eq!(words, (0..5).map(|i| stream.u64(i)).collect::<Vec<_>>());
        let (mut cursor, mut bytes) = (stream.cursor(), [0; 11]);
        cursor.fill_bytes(&mut bytes);
        let all: Vec<u8> = (0..2).flat_map(|i| stream.u64(i).to_le_bytes()).collect();
        assert_eq!(bytes, all[..11]);
        // The twelfth byte is dropped with its word.
        assert_eq!(cursor.next_u32(), stream.u32x4(0)[3]);
    }

    #[test]
    fn the_distributions_of_rand_run_on_a_cursor() {
        let mut cursor = Stream::new(9, "rand", 0).cursor();
        assert!((0..1000).all(|_| (-3..8).contains(&cursor.random_range(-3..8))));
        let uniform = Uniform::new(2.0, 5.0).unwrap();
        let mean = (0..10_000).map(|_| uniform.sample(&mut cursor)).sum::<f64>() / 10_000.0;
        assert!((mean - 3.5).abs() < 0.04, "{mean}");
        let coin = Bernoulli::new(0.3).unwrap();
        let heads = (0..10_000).filter(|_| coin.sample(&mut cursor)).count();
        assert!((2800..3200).contains(&heads), "{heads}");
    }
}
