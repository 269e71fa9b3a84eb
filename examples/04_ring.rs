//! The ring all-reduce, step by step and for real: who sends which chunk in which round, in which
//! order a chunk is added up, and how much travels.
//!
//! `cargo run --release --example 04_ring`

use ringgrad::dist::{Error, ReduceOp};
use ringgrad::kernels::ring_all_reduce::{oracle, schedule};
use ringgrad::{Algorithm, World};

const RANKS: usize = 4;
const LEN: usize = 10;

fn main() -> Result<(), Error> {
    // Every rank cuts its data into as many chunks as there are ranks; rank r owns chunk r.
    let chunks: Vec<_> = (0..RANKS).map(|c| schedule::chunk_range(c, LEN, RANKS, 1)).collect();
    println!("chunks of {LEN} elements: {chunks:?}");
    assert_eq!(chunks.iter().map(|chunk| chunk.len()).sum::<usize>(), LEN);

    // Reduce-scatter: in each round every rank sends one partial sum to the next rank, which adds
    // its own part. What rank r sends in one round, rank r + 1 receives in the same.
    for round in 0..RANKS - 1 {
        for rank in 0..RANKS {
            let sent = schedule::reduce_scatter_send(rank, round, RANKS);
            let next = (rank + 1) % RANKS;
            assert_eq!(sent, schedule::reduce_scatter_receive(next, round, RANKS));
            println!("round {round}: rank {rank} sends its sum of chunk {sent} to rank {next}");
        }
    }

    // For real: four threads, each with numbers of its own.
    let data = |rank: usize| (0..LEN).map(|i| 0.1 + (rank * LEN + i) as f32 / 3.0).collect();
    let all: Vec<Vec<f32>> = (0..RANKS).map(data).collect();
    let world = World::threads(RANKS).algorithm(Algorithm::Ring);
    let results = world.run(move |rank| -> Result<Vec<f32>, Error> {
        let mut own = data(rank.rank());
        rank.all_reduce(&mut own, ReduceOp::Sum)?;
        Ok(own)
    })?;

    // Chunk c is summed in the order c + 1, c + 2, …, c: the oracle adds in that order, one after
    // the other, and every rank holds exactly its bits.
    let wanted = oracle::all_reduce(&all, 256);
    assert!(results.iter().all(|result| *result == wanted));
    println!("every rank holds {wanted:?}");
    Ok(())
}
