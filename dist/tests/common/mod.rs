//! What several tests of the collectives need: asymmetric data and bits.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::time::Duration;

use ringgrad_dist::{Error, Rank, World};

/// Far longer than any of these tests waits, and short enough to end a broken one.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Floats of very different magnitude and sign, so that another order of addition has other bits.
/// A function of `seed` and of the position.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..len).map(|_| (next() as i32 as f32) * 2f32.powi((next() % 24) as i32 - 40)).collect()
}

pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Lengths around every boundary of a world of `ranks`.
pub(crate) fn lengths(ranks: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, ranks - 1, ranks, ranks + 1, 257, 256 * ranks, 1021, 2048];
    lengths.dedup();
    lengths
}

pub(crate) fn slices<T>(vectors: &[Vec<T>]) -> Vec<&[T]> {
    vectors.iter().map(Vec::as_slice).collect()
}

/// Runs `body` on every rank and expects all to succeed.
pub(crate) fn run<R: Send + 'static>(
    world: World,
    body: impl Fn(&mut Rank) -> Result<R, Error> + Send + Sync + 'static,
) -> Vec<R> {
    world.deadline(DEADLINE).run(body).unwrap_or_else(|error| panic!("{error}"))
}
