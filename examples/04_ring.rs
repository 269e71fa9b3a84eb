//! The ring all-reduce, round by round and for real: who sends which chunk when, in which order a
//! chunk is added up, and how much travels.
//!
//! `cargo run --release --example 04_ring`

use ringgrad::dist::{Error, ReduceOp};
use ringgrad::kernels::ring_all_reduce::{Chunks, GRANULE, Ring, ring_order_sum};
use ringgrad::{Algorithm, World};

const RANKS: usize = 4;
const LEN: usize = 1000;

/// What each rank brings.
fn contribution(rank: usize) -> Vec<f32> {
    (0..LEN).map(|i| 0.1 + (rank * LEN + i) as f32 / 3.0).collect()
}

fn main() -> Result<(), Error> {
    // Every rank cuts its buffer into as many chunks as there are ranks; rank r owns chunk r.
    let chunks = Chunks::new(LEN, RANKS, GRANULE);
    for chunk in 0..RANKS {
        println!("chunk {chunk}: elements {:?}", chunks.range(chunk));
    }

    // Reduce-scatter: in each round every rank sends one partial sum to its next, which adds its
    // own part. What a rank sends in a round is what its next receives in it.
    let ring = |rank| Ring { rank, world_size: RANKS };
    for round in 0..ring(0).rounds() {
        for rank in 0..RANKS {
            let (next, hop) = (ring(rank).next(), ring(rank).reduce_scatter(round));
            assert_eq!(hop.send, ring(next).reduce_scatter(round).receive);
            println!("round {round}: rank {rank} sends its sum of chunk {} to {next}", hop.send);
        }
    }
    // After the last round each rank holds the whole sum of its own chunk. All-gather passes the
    // finished chunks round in the same way.
    let last = ring(0).rounds() - 1;
    assert!((0..RANKS).all(|rank| ring(rank).reduce_scatter(last).receive == rank));
    assert!((0..RANKS).all(|rank| ring(rank).all_gather(0).send == rank));

    // A rank sends everything twice but for two chunks, however many ranks there are.
    let sent: usize = (0..RANKS).map(|rank| chunks.elements_sent(rank)).sum();
    assert_eq!(sent, 2 * (RANKS - 1) * LEN);

    // For real: four threads, each with numbers of its own.
    let world = World::threads(RANKS).algorithm(Algorithm::Ring);
    let results = world.run(|rank| -> Result<Vec<f32>, Error> {
        let mut data = contribution(rank.rank());
        rank.all_reduce(&mut data, ReduceOp::Sum)?;
        Ok(data)
    })?;

    // Chunk c is summed in the order c + 1, c + 2, …, c. The oracle adds one after the other in
    // that order, and every rank holds exactly its bits.
    let contributions: Vec<Vec<f32>> = (0..RANKS).map(contribution).collect();
    let slices: Vec<&[f32]> = contributions.iter().map(Vec::as_slice).collect();
    let wanted = ring_order_sum(&slices, GRANULE);
    assert!(results.iter().all(|result| *result == wanted));
    println!("every rank holds the same {LEN} sums: {:?} …", &wanted[..4]);
    Ok(())
}
