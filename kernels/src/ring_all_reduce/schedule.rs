//! Chunk bounds and hops of the ring: pure functions of ranks, rounds and lengths.

use std::ops::Range;

/// Elements of a granule unless a test asks for another: chunks start at multiples of it, so that
/// vector loads and blocks of threads do not straddle two chunks.
pub const GRANULE: usize = 256;

/// How a buffer is cut into one chunk a rank.
///
/// Chunks lie in order, are disjoint and cover the buffer. Measured in granules their lengths
/// differ by at most one, the longer ones first; only the last non-empty chunk is clipped. A short
/// buffer leaves the last chunks empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    len: usize,
    world_size: usize,
    granule: usize,
}

impl Chunks {
    /// The chunks of a buffer of `len` elements over `world_size` ranks.
    ///
    /// # Panics
    /// When `world_size` or `granule` is 0; the caller ensures that neither is.
    pub fn new(len: usize, world_size: usize, granule: usize) -> Self {
        assert!(world_size > 0 && granule > 0, "{world_size} ranks, granules of {granule}");
        Chunks { len, world_size, granule }
    }

    /// The elements of `chunk`.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn range(&self, chunk: usize) -> Range<usize> {
        assert!(chunk < self.world_size, "chunk {chunk} of {}", self.world_size);
        self.start(chunk)..self.start(chunk + 1)
    }

    fn start(&self, chunk: usize) -> usize {
        let granules = self.len.div_ceil(self.granule);
        let (each, longer) = (granules / self.world_size, granules % self.world_size);
        self.len.min((chunk * each + chunk.min(longer)) * self.granule)
    }

    /// Elements of the longest chunk, which is the first.
    pub fn max_len(&self) -> usize {
        self.range(0).len()
    }

    /// Elements that `rank` sends in a reduce-scatter and an all-gather together:
    /// `2·len - |chunk rank| - |chunk rank + 1|`. All ranks together send `2(N - 1)·len`.
    ///
    /// # Panics
    /// When there is no such rank.
    pub fn elements_sent(&self, rank: usize) -> usize {
        let next = Ring { rank, world_size: self.world_size }.next();
        2 * self.len - self.range(rank).len() - self.range(next).len()
    }
}

/// One rank's place in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Which rank, below `world_size`.
    pub rank: usize,
    /// Of how many.
    pub world_size: usize,
}

/// What a rank does in one round: it sends one chunk to its next and receives one from its prev.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The chunk that leaves.
    pub send: usize,
    /// The chunk that arrives.
    pub receive: usize,
}

impl Ring {
    /// The rank that this rank sends to.
    pub fn next(self) -> usize {
        self.before(self.world_size - 1)
    }

    /// The rank that this rank receives from.
    pub fn prev(self) -> usize {
        self.before(1)
    }

    /// Rounds of a reduce-scatter, and of an all-gather.
    pub fn rounds(self) -> usize {
        self.world_size - 1
    }

    /// Round `round` of the reduce-scatter. What arrives in the last one is the own chunk.
    pub fn reduce_scatter(self, round: usize) -> Hop {
        Hop { send: self.before(1 + round), receive: self.before(2 + round) }
    }

    /// Round `round` of the all-gather. What leaves in the first one is the own chunk.
    pub fn all_gather(self, round: usize) -> Hop {
        Hop { send: self.before(round), receive: self.before(1 + round) }
    }

    /// The rank, or the chunk of the rank, `hops` places against the flow of data.
    fn before(self, hops: usize) -> usize {
        (self.rank + self.world_size - hops % self.world_size) % self.world_size
    }

    /// The ranks in the order in which the chunk of this rank is summed: this rank comes last.
    pub fn summands(self) -> impl Iterator<Item = usize> {
        (1..=self.world_size).map(move |hop| (self.rank + hop) % self.world_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worlds() -> impl Iterator<Item = Chunks> {
        (1..=9).flat_map(|world_size| {
            (0..=40).flat_map(move |len| {
                [1, 4, 256].map(|granule| Chunks::new(len, world_size, granule))
            })
        })
    }

    #[test]
    fn chunks_are_disjoint_in_order_cover_all_and_differ_by_at_most_one_granule() {
        for chunks in worlds() {
            let Chunks { len, world_size, granule } = chunks;
            let mut end = 0;
            let mut granules = Vec::new();
            for chunk in 0..world_size {
                let range = chunks.range(chunk);
                assert_eq!(range.start, end, "{chunks:?}");
                assert!(range.is_empty() || range.start % granule == 0, "{chunks:?}");
                assert!(range.len() <= chunks.max_len(), "{chunks:?}");
                granules.push(range.len().div_ceil(granule));
                end = range.end;
            }
            assert_eq!(end, len);
            assert!(granules.iter().max().unwrap() - granules.iter().min().unwrap() <= 1);
            assert!(granules.is_sorted_by(|a, b| a >= b), "{granules:?}");
        }
    }

    #[test]
    fn what_a_rank_sends_is_what_its_next_receives() {
        for world_size in 1..=9 {
            for rank in 0..world_size {
                let here = Ring { rank, world_size };
                let next = Ring { rank: here.next(), world_size };
                assert_eq!(next.prev(), rank);
                for round in 0..here.rounds() {
                    let (sent, got) = (here.reduce_scatter(round), next.reduce_scatter(round));
                    assert_eq!(sent.send, got.receive);
                    assert_eq!(here.all_gather(round).send, next.all_gather(round).receive);
                    // A rank passes on what it received the round before.
                    if round > 0 {
                        assert_eq!(sent.send, here.reduce_scatter(round - 1).receive);
                    }
                }
            }
        }
    }

    /// What every rank holds of every chunk, as lists of contributors, after both phases.
    fn symbolic_run(world_size: usize) -> Vec<Vec<Vec<usize>>> {
        let ring = |rank| Ring { rank, world_size };
        let mut held: Vec<Vec<Vec<usize>>> = vec![Vec::new(); world_size];
        for (rank, chunks) in held.iter_mut().enumerate() {
            chunks.resize(world_size, vec![rank]);
        }
        for round in 0..world_size - 1 {
            let before = held.clone();
            for (rank, chunks) in held.iter_mut().enumerate() {
                let chunk = ring(rank).reduce_scatter(round).receive;
                let mut sum = before[ring(rank).prev()][chunk].clone();
                sum.extend(&chunks[chunk]);
                chunks[chunk] = sum;
            }
        }
        for round in 0..world_size - 1 {
            let before = held.clone();
            for (rank, chunks) in held.iter_mut().enumerate() {
                let chunk = ring(rank).all_gather(round).receive;
                chunks[chunk].clone_from(&before[ring(rank).prev()][chunk]);
            }
        }
        held
    }

    #[test]
    fn every_rank_ends_with_each_contribution_once_in_the_order_of_the_ring() {
        for world_size in 1..=9 {
            for chunks in symbolic_run(world_size) {
                for (chunk, sum) in chunks.iter().enumerate() {
                    let order: Vec<_> = Ring { rank: chunk, world_size }.summands().collect();
                    assert_eq!(*sum, order);
                    let mut once = sum.clone();
                    once.sort_unstable();
                    assert!(once.into_iter().eq(0..world_size));
                }
            }
        }
    }

    #[test]
    fn the_elements_sent_are_counted_by_the_formula() {
        for chunks in worlds() {
            let Chunks { len, world_size, .. } = chunks;
            let sent = |rank| {
                let ring = Ring { rank, world_size };
                let hops = (0..ring.rounds())
                    .flat_map(|round| [ring.reduce_scatter(round), ring.all_gather(round)]);
                hops.map(|hop| chunks.range(hop.send).len()).sum::<usize>()
            };
            for rank in 0..world_size {
                assert_eq!(sent(rank), chunks.elements_sent(rank), "{chunks:?} {rank}");
            }
            assert_eq!((0..world_size).map(sent).sum::<usize>(), 2 * (world_size - 1) * len);
        }
    }
}
