//! Many small collectives of every kind in a row, at several numbers of ranks.

mod common;

use common::run;
use ringgrad_dist::{Algorithm, Error, Rank, ReduceOp, World};

const CALLS: u64 = 20_000;

/// The same numbers on every rank.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// One collective, and whether its result is right. Sums are of small integers: exact in any order.
fn call(rank: &Rank, dice: &mut Dice) -> Result<(), Error> {
    let (own, n) = (rank.rank() as f64, rank.world_size() as f64);
    let len = [0, 1, 5, 300, 3000][dice.roll(5) as usize];
    let base = dice.roll(100) as f64;
    let (sum, data) = (n * base + n * (n - 1.0) / 2.0, vec![base + own; len]);
    match dice.roll(8) {
        0 => {
            let mut data = data;
            rank.all_reduce(&mut data, ReduceOp::Sum)?;
            assert!(data.len() == len && data.iter().all(|&x| x == sum));
        }
        1 => {
            let mut data = vec![(base + own) as f32; len];
            rank.all_reduce(&mut data, ReduceOp::Max)?;
            assert!(data.len() == len && data.iter().all(|&x| x == (base + n - 1.0) as f32));
        }
        2 => {
            let mut data = data;
            let chunk = rank.reduce_scatter(&mut data, ReduceOp::Sum)?;
            assert!(chunk.iter().all(|&x| x == sum));
            assert!(data.iter().all(|&x| x == base + own));
        }
        3 => {
            let gathered = rank.all_gather(vec![own as i64; len / 10])?;
            assert_eq!(gathered.len(), len / 10 * rank.world_size());
        }
        4 => {
            let (mut data, root) = (data, dice.roll(n as u64) as usize);
            rank.broadcast(&mut data, root)?;
            assert!(data.len() == len && data.iter().all(|&x| x == base + root as f64));
        }
        5 => {
            let shared = rank.share_small("soak", vec![own, base])?;
            assert!(shared.iter().enumerate().all(|(i, x)| *x == [i as f64, base]));
        }
        6 => rank.commit()?,
        _ => buckets(rank, dice, base as f32)?,
    }
    Ok(())
}

/// Up to a dozen reductions in flight, with other collectives between, finished in any order.
fn buckets(rank: &Rank, dice: &mut Dice, base: f32) -> Result<(), Error> {
    let own = rank.shard_range().len() as f32;
    let mut tickets = Vec::new();
    for bucket in 0..dice.roll(12) {
        let value = (base + bucket as f32) * own;
        let ticket = rank.start_all_reduce("bucket", vec![vec![value; 50 * bucket as usize]])?;
        tickets.push((bucket, ticket));
        match dice.roll(4) {
            0 => rank.progress()?,
            1 => rank.barrier()?,
            _ => {}
        }
    }
    if dice.roll(2) == 0 {
        tickets.reverse();
    }
    for (bucket, ticket) in tickets {
        let (total, roots) = rank.finish::<f32>(ticket)?;
        let wanted = (base + bucket as f32) * rank.shards() as f32;
        assert!(total.len() == 50 * bucket as usize && total.iter().all(|&x| x == wanted));
        assert_eq!(roots.len(), 1);
        rank.recycle(total);
    }
    Ok(())
}

#[test]
fn twenty_thousand_mixed_collectives_are_right_at_one_to_five_ranks() {
    for algorithm in [Algorithm::Tree, Algorithm::Ring] {
        for ranks in 1..=5 {
            run(World::threads(ranks).algorithm(algorithm), move |rank| {
                let mut dice = Dice(7 + ranks as u64);
                (0..CALLS / 2).try_for_each(|_| call(rank, &mut dice))
            });
        }
    }
}
