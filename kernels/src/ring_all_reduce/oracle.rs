//! The sum that a ring computes, without a ring: the definition that every transport is held to.

use crate::Float;

use super::{Chunks, Ring};

/// The sum over ranks, added up in the order of the ring: in chunk c, the left fold
/// `((x[c+1] + x[c+2]) + …) + x[c]` of the ranks' contributions.
///
/// # Panics
/// When there are no contributions, they differ in length, or `granule` is 0.
pub fn ring_order_sum<T: Float>(contributions: &[&[T]], granule: usize) -> Vec<T> {
    let world_size = contributions.len();
    let len = contributions[0].len();
    assert!(contributions.iter().all(|own| own.len() == len), "contributions differ in length");
    let chunks = Chunks::new(len, world_size, granule);
    let mut sum = Vec::with_capacity(len);
    for chunk in 0..world_size {
        for i in chunks.range(chunk) {
            let values = Ring { rank: chunk, world_size }.summands().map(|r| contributions[r][i]);
            sum.extend(values.reduce(|sum, value| sum + value));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_starts_at_the_rank_after_its_owner() {
        // 1e8 swallows a 1 that is added to it in f32, so these sums show their order.
        let (a, b, c) = ([1.0_f32, 1e8, 3.0], [1e8_f32, 1.0, -2.0], [-1e8_f32, -1e8, 5.0]);
        assert_eq!(ring_order_sum(&[&a, &b, &c], 1), [1.0, 1.0, 6.0]);
        let in_rank_order: Vec<_> = (0..3).map(|i| (a[i] + b[i]) + c[i]).collect();
        assert_eq!(in_rank_order, [0.0, 0.0, 6.0]);
    }

    #[test]
    fn one_rank_keeps_its_values_and_no_elements_stay_none() {
        assert_eq!(ring_order_sum(&[&[1.5_f64, -0.0]], 256), [1.5, -0.0]);
        assert_eq!(ring_order_sum::<f32>(&[&[], &[]], 1), []);
    }
}
