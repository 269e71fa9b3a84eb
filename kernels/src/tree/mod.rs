//! The sum over S shards as one fixed binary tree, so that its bits do not depend on who adds.
//!
//! Addition of floats is commutative but not associative: a sum is defined by its grouping. Here
//! the grouping is a function of S alone. The node over shards `lo..hi` is a leaf when it holds
//! one shard; else it is cut at `mid = lo + (the largest power of two below hi - lo)`:
//!
//! ```text
//! node(lo..hi) = node(lo..mid) + node(mid..hi)         S = 6:   ((0+1)+(2+3)) + (4+5)
//! ```
//!
//! N workers host the shards in contiguous ranges ([`shard_range`]). A worker adds up the largest
//! subtrees that lie inside its range ([`roots`]), as its shards arrive; whoever finishes the sum
//! adds the workers' roots the rest of the way ([`program`], [`fold`]). Every addition is one of
//! the tree's, so N does not occur in the result.

#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are the subject here")]

mod fold;
mod program;

use std::ops::Range;

pub use fold::{add_right, combine, fold};
pub use program::{TreeOp, program};

/// The shards that worker `rank` of `world_size` hosts: contiguous ranges in rank order whose
/// lengths differ by at most one, the longer ones first.
///
/// # Panics
/// When there is no such rank.
pub fn shard_range(rank: usize, world_size: usize, shards: usize) -> Range<usize> {
    assert!(rank < world_size, "rank {rank} of {world_size}");
    let (each, longer) = (shards / world_size, shards % world_size);
    let start = |rank: usize| rank * each + rank.min(longer);
    start(rank)..start(rank + 1)
}

/// Where the node over `lo..hi`, of at least two shards, is cut.
fn mid(node: &Range<usize>) -> usize {
    let len = node.len();
    node.start + (1 << (len - 1).ilog2())
}

/// The maximal nodes of the tree over `shards` shards that lie inside `range`, in order. Together
/// they cover it.
///
/// # Panics
/// When `range` reaches beyond `shards`.
pub fn roots(range: Range<usize>, shards: usize) -> Vec<Range<usize>> {
    assert!(range.end <= shards, "shards {range:?} of {shards}");
    let mut found = Vec::new();
    // Nodes still to be looked at, the leftmost on top; at most one a level.
    let mut open = vec![0..shards];
    while let Some(node) = open.pop() {
        let inside = range.start <= node.start && node.end <= range.end;
        let apart = node.end <= range.start || range.end <= node.start;
        if inside && !node.is_empty() {
            found.push(node);
        } else if !apart && node.len() > 1 {
            let mid = mid(&node);
            open.push(mid..node.end);
            open.push(node.start..mid);
        }
    }
    found
}

/// Whether `left` and `right` are the two halves of one node of the tree over `shards` shards.
///
/// A worker keeps its sums as a list and adds the last two as long as they are siblings; after its
/// last shard the list is [`roots`] of its range. That is a binary counter: few sums are alive.
pub fn are_siblings(left: &Range<usize>, right: &Range<usize>, shards: usize) -> bool {
    let mut node = 0..shards;
    while node.len() > 1 {
        let mid = mid(&node);
        if node.start == left.start && node.end == right.end {
            return left.end == mid && right.start == mid;
        }
        node = if right.end <= mid { node.start..mid } else { mid..node.end };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_the_largest_power_of_two_below_the_length() {
        for (len, left) in [(2, 1), (3, 2), (4, 2), (5, 4), (6, 4), (7, 4), (8, 4), (9, 8)] {
            assert_eq!(mid(&(10..10 + len)), 10 + left);
        }
    }

    #[test]
    fn workers_host_every_shard_once_in_order() {
        for shards in 0..=12 {
            for world_size in 1..=9 {
                let ranges: Vec<_> =
                    (0..world_size).map(|r| shard_range(r, world_size, shards)).collect();
                assert!(ranges.iter().cloned().flatten().eq(0..shards));
                let lens = || ranges.iter().map(Range::len);
                assert!(lens().max().unwrap() - lens().min().unwrap() <= 1);
            }
        }
        assert_eq!(shard_range(1, 3, 8), 3..6);
    }

    #[test]
    fn roots_are_known_by_hand() {
        assert_eq!(roots(0..8, 8), [0..8]);
        assert_eq!(roots(1..8, 8), [1..2, 2..4, 4..8]);
        assert_eq!(roots(3..6, 8), [3..4, 4..6]);
        assert_eq!(roots(4..6, 6), [4..6]);
        assert_eq!(roots(4..7, 7), [4..7]);
        assert_eq!(roots(2..2, 4), []);
        assert_eq!(roots(0..0, 0), []);
    }

    #[test]
    fn adding_siblings_as_shards_arrive_leaves_the_roots_and_few_sums_alive() {
        for shards in 1..=33_usize {
            let levels = shards.next_power_of_two().ilog2() as usize;
            for start in 0..shards {
                for end in start..=shards {
                    let mut sums: Vec<Range<usize>> = Vec::new();
                    let mut alive = 0;
                    for shard in start..end {
                        sums.push(shard..shard + 1);
                        alive = alive.max(sums.len());
                        while let [.., left, right] = &sums[..]
                            && are_siblings(left, right, shards)
                        {
                            let end = right.end;
                            sums.pop();
                            sums.last_mut().unwrap().end = end;
                        }
                    }
                    assert_eq!(sums, roots(start..end, shards), "{start}..{end} of {shards}");
                    // A range that starts inside the tree has roots on its way up, too.
                    let bound = if start == 0 { levels + 1 } else { 2 * levels };
                    assert!(alive <= bound, "{alive} alive for {start}..{end} of {shards}");
                }
            }
        }
    }

    #[test]
    fn neighbours_that_no_node_unites_are_not_siblings() {
        assert!(are_siblings(&(0..4), &(4..6), 6));
        assert!(!are_siblings(&(1..2), &(2..3), 8));
        assert!(!are_siblings(&(0..2), &(2..3), 8));
        assert!(!are_siblings(&(0..1), &(2..3), 8));
        assert!(!are_siblings(&(0..1), &(0..1), 1));
    }
}
