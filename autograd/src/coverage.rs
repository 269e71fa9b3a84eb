//! Which elements of a step have been written: each must be, exactly once.

use std::ops::Range;

/// Disjoint ranges that do not touch, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Coverage(Vec<Range<usize>>);

impl Coverage {
    /// Nothing is covered; the memory stays for the next step.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Covers `range`, whose start is not behind its end. `false`, and no change, when a part of
    /// it was covered before.
    ///
    /// Ranges that come in ascending order join the last one, so a step that goes through the
    /// arena from its start costs nothing to follow.
    pub(crate) fn add(&mut self, range: &Range<usize>) -> bool {
        if range.is_empty() {
            return true;
        }
        let at = self.0.partition_point(|held| held.end <= range.start);
        if self.0.get(at).is_some_and(|next| next.start < range.end) {
            return false;
        }
        let joins_next = self.0.get(at).is_some_and(|next| next.start == range.end);
        let joins_last = at > 0 && self.0[at - 1].end == range.start;
        match (joins_last, joins_next) {
            (true, true) => self.0[at - 1].end = self.0.remove(at).end,
            (true, false) => self.0[at - 1].end = range.end,
            (false, true) => self.0[at].start = range.start,
            (false, false) => self.0.insert(at, range.clone()),
        }
        true
    }

    /// The first element of `0..numel` that is not covered, and how many are not.
    pub(crate) fn missing(&self, numel: usize) -> Option<(usize, usize)> {
        let covered: usize = self.0.iter().map(ExactSizeIterator::len).sum();
        let first = self.0.first().filter(|held| held.start == 0).map_or(0, |held| held.end);
        (covered < numel).then(|| (first, numel - covered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_any_order_join_to_the_whole() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [0, 2, 1, 3], [1, 3, 0, 2]] {
            let parts = [0..2, 2..3, 3..7, 7..11];
            let mut coverage = Coverage::default();
            for (done, part) in order.into_iter().enumerate() {
                assert!(coverage.missing(11).is_some(), "{order:?} after {done}");
                assert!(coverage.add(&parts[part]));
                assert!(!coverage.add(&parts[part]));
            }
            assert_eq!((coverage.missing(11), coverage.0.len()), (None, 1), "{order:?}");
        }
    }

    #[test]
    fn an_overlap_is_refused_and_the_first_gap_is_found() {
        let mut coverage = Coverage::default();
        assert_eq!(coverage.missing(0), None);
        assert_eq!(coverage.missing(9), Some((0, 9)));
        assert!(coverage.add(&(2..5)) && coverage.add(&(7..7)) && coverage.add(&(3..3)));
        for overlap in [2..5, 0..3, 4..6, 3..4, 1..7] {
            assert!(!coverage.add(&overlap), "{overlap:?}");
        }
        assert_eq!(coverage.missing(9), Some((0, 6)));
        assert!(coverage.add(&(0..2)));
        assert_eq!(coverage.missing(9), Some((5, 4)));
        coverage.clear();
        assert!(coverage.add(&(0..9)));
        assert_eq!(coverage.missing(9), None);
    }
}
