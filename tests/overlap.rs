//! A bucket is reduced while backward goes on: the last layer's gradients have been summed over
//! all ranks before the first layer's exist.

use std::error::Error as StdError;
use std::time::{Duration, Instant};

use ringgrad::autograd::{Gradient, LeafId, Sink};
use ringgrad::dist::{Replica, ReplicaSettings, ShardSink};
use ringgrad::kernels::ring_all_reduce::{Chunks, GRANULE};
use ringgrad::nn::{self, Context, Init, Module, optim};
use ringgrad::{Algorithm, Rank, Result, Tensor, World};

const RANKS: usize = 2;

/// Passes gradients on, and after the first bucket is full lets it travel before the walk goes on.
struct Watching<'a> {
    inner: ShardSink<'a>,
    rank: &'a Rank,
    emitted: usize,
    /// Leaves of the first bucket, and what this rank sends for it.
    first_bucket: (usize, usize),
    sent_after_first_bucket: u64,
}

impl Sink for Watching<'_> {
    fn emit(
        &mut self,
        leaf: LeafId,
        gradient: Gradient<'_>,
    ) -> std::result::Result<(), Box<dyn StdError + Send + Sync>> {
        self.inner.emit(leaf, gradient)?;
        self.emitted += 1;
        let (leaves, elements) = self.first_bucket;
        if self.emitted == leaves {
            let began = Instant::now();
            while self.rank.elements_sent() < elements as u64
                && began.elapsed() < Duration::from_secs(10)
            {
                self.rank.progress()?;
                std::thread::yield_now();
            }
            self.sent_after_first_bucket = self.rank.elements_sent();
        }
        Ok(())
    }
}

fn one_backward(rank: &Rank) -> Result<(u64, u64)> {
    let mut model = nn::mlp(&Init::new(rank.device(), 1), &[8, 6, 4])?;
    let arena = nn::arena_of(&model, 0)?;
    // The last layer's 4 + 24 elements fill a bucket of their own.
    let settings = ReplicaSettings { bucket_bytes: 28 * 4, ..ReplicaSettings::default() };
    let mut replica = Replica::new(rank, arena, optim::sgd(0.1).into(), settings)?;
    nn::bind(&mut model, replica.arena())?;
    let x = Tensor::full(rank.device(), 0.5f32 + rank.rank() as f32, &[3, 8])?;
    let y = Tensor::from_vec(rank.device(), vec![0i64, 1, 2], &[3])?;
    let loss = nn::cross_entropy(&model.forward(&Context::train(0, 0), &x.into())?, &y)?;
    let before = rank.elements_sent();
    let elements = before as usize + Chunks::new(28, RANKS, GRANULE).elements_sent(rank.rank());
    let mut sink = Watching {
        inner: replica.sink(rank),
        rank,
        emitted: 0,
        first_bucket: (2, elements),
        sent_after_first_bucket: 0,
    };
    loss.backward_into(&mut sink)?;
    assert_eq!(sink.emitted, 4);
    let seen = sink.sent_after_first_bucket - before;
    let (sum, count) = (loss.sum_value()?, loss.count());
    drop(loss);
    replica.close_shard(sum, count)?;
    replica.step(rank, "the only batch")?;
    Ok((seen, rank.elements_sent() - before))
}

#[test]
fn the_last_layers_bucket_is_summed_before_the_first_layers_gradients_exist() {
    let world = World::threads(RANKS).algorithm(Algorithm::Ring).deadline(Duration::from_secs(20));
    let sent = world.run(|rank| one_backward(rank)).unwrap();
    for (rank, (early, total)) in sent.into_iter().enumerate() {
        let of = |len| Chunks::new(len, RANKS, GRANULE).elements_sent(rank) as u64;
        assert_eq!(early, of(28), "rank {rank} has finished the first bucket during backward");
        assert_eq!(total, of(28) + of(54), "rank {rank}");
    }
}
