//! Hop 5 of a gradient's life: which gradients travel together.
//!
//! The arena holds the leaves in backward order, so a bucket is a range of it: its gradients
//! arrive one after the other, and the update rule later takes the bucket in one pass. The cut is
//! a function of the leaves and of one number; it never changes a bit of the result.

use std::ops::Range;

use autograd::LeafArena;

/// Leaves whose gradients share one buffer and one all-reduce.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Which leaves, by their number in the arena.
    pub leaves: Range<usize>,
    /// Which elements of the arena.
    pub elements: Range<usize>,
}

impl Bucket {
    /// What errors and waits call this bucket: the names of its leaves.
    pub fn label(&self, arena: &LeafArena) -> String {
        self.leaves.clone().map(|leaf| arena.name(leaf)).collect::<Vec<_>>().join(", ")
    }
}

/// Cuts leaves of these lengths into buckets of at most `max_len` elements, in order. A longer
/// leaf has a bucket of its own.
pub fn buckets(lens: impl IntoIterator<Item = usize>, max_len: usize) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    let mut end = 0;
    for (leaf, len) in lens.into_iter().enumerate() {
        let next = end + len;
        match buckets.last_mut() {
            Some(last) if next - last.elements.start <= max_len => {
                last.leaves.end = leaf + 1;
                last.elements.end = next;
            }
            _ => buckets.push(Bucket { leaves: leaf..leaf + 1, elements: end..next }),
        }
        end = next;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_every_leaf_once_and_keep_the_limit_where_they_can() {
        let lens = [3, 0, 5, 12, 1, 1, 7];
        for max_len in [0, 1, 4, 8, 9, 100] {
            let cut = buckets(lens, max_len);
            let mut leaf = 0;
            let mut element = 0;
            for bucket in &cut {
                assert_eq!((bucket.leaves.start, bucket.elements.start), (leaf, element));
                let inside: usize = lens[bucket.leaves.clone()].iter().sum();
                assert_eq!(bucket.elements.len(), inside);
                assert!(inside <= max_len || bucket.leaves.len() == 1, "{max_len} {bucket:?}");
                (leaf, element) = (bucket.leaves.end, bucket.elements.end);
            }
            assert_eq!((leaf, element), (lens.len(), 29), "{max_len}");
        }
        assert_eq!(buckets(lens, 100).len(), 1);
        assert_eq!(buckets([], 10), []);
    }
}
