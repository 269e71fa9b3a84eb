//! The tree over shards: the same bits at every number of ranks, and the other collectives.

mod common;

use common::{bits, lengths, noise, run, slices};
use kernels::tree::{fold, program, roots};
use ringgrad_dist::{Algorithm, Rank, ReduceOp, World};

/// The sum over `shards` in one go.
fn whole(shards: &[Vec<f32>]) -> Vec<f32> {
    let leaves: Vec<_> = (0..shards.len()).map(|i| i..i + 1).collect();
    let mut out = vec![f32::NAN; shards[0].len()];
    fold(&program(&leaves, &(0..shards.len())), &slices(shards), &mut out);
    out
}

fn shard(shard: usize, len: usize) -> Vec<f32> {
    noise(len, (shard * 1000 + len) as u64)
}

/// The sums that `rank` brings: its shards, added up to the roots of its range.
fn own_roots(rank: &Rank, len: usize) -> Vec<Vec<f32>> {
    let own = roots(rank.shard_range(), rank.shards());
    own.into_iter()
        .map(|root| {
            let leaves: Vec<_> = root.clone().map(|i| i..i + 1).collect();
            let shards: Vec<_> = root.clone().map(|i| shard(i, len)).collect();
            let mut sum = vec![f32::NAN; len];
            fold(&program(&leaves, &root), &slices(&shards), &mut sum);
            sum
        })
        .collect()
}

#[test]
fn gradients_have_the_bits_of_one_rank_at_every_number_of_ranks() {
    for shards in 1..=9 {
        for ranks in 1..=shards {
            for granule in [1, 256] {
                let world = World::threads(ranks).shards(shards).granule(granule);
                let results = run(world, move |rank| {
                    let lens = lengths(shards);
                    let tickets: Vec<_> = lens
                        .iter()
                        .map(|&len| rank.start_all_reduce("bucket", own_roots(rank, len)))
                        .collect::<Result<_, _>>()?;
                    let mut totals = Vec::new();
                    for (ticket, len) in tickets.into_iter().zip(lens) {
                        let (total, brought) = rank.finish::<f32>(ticket)?;
                        assert_eq!(brought, own_roots(rank, len), "what was brought comes back");
                        totals.push(total);
                    }
                    Ok(totals)
                });
                for (i, len) in lengths(shards).into_iter().enumerate() {
                    let all: Vec<_> = (0..shards).map(|i| shard(i, len)).collect();
                    let wanted = bits(&whole(&all));
                    for result in &results {
                        assert_eq!(bits(&result[i]), wanted, "{ranks} of {shards}, {len}");
                    }
                }
            }
        }
    }
}

#[test]
fn all_reduce_folds_one_contribution_a_rank_along_the_tree() {
    for ranks in 1..=8 {
        let results = run(World::threads(ranks).shards(11), move |rank| {
            let mut sums = Vec::new();
            for len in lengths(rank.world_size()) {
                let mut data = shard(rank.rank(), len);
                rank.all_reduce(&mut data, ReduceOp::Sum)?;
                sums.push(data);
            }
            assert_eq!(rank.elements_sent(), 0, "nothing goes around a ring");
            Ok(sums)
        });
        for (i, len) in lengths(ranks).into_iter().enumerate() {
            let all: Vec<_> = (0..ranks).map(|i| shard(i, len)).collect();
            for result in &results {
                assert_eq!(bits(&result[i]), bits(&whole(&all)), "{ranks} {len}");
            }
        }
    }
}

#[test]
fn the_ring_has_other_bits_from_three_ranks_on() {
    let sum = |ranks, algorithm| {
        let world = World::threads(ranks).algorithm(algorithm).granule(1);
        let results = run(world, |rank| {
            let mut data = shard(rank.rank(), 500);
            rank.all_reduce(&mut data, ReduceOp::Sum)?;
            Ok(bits(&data))
        });
        results[0].clone()
    };
    assert_eq!(sum(2, Algorithm::Tree), sum(2, Algorithm::Ring), "two numbers have one sum");
    assert_ne!(sum(3, Algorithm::Tree), sum(3, Algorithm::Ring));
}

#[test]
fn reduce_scatter_and_all_gather_make_up_an_all_reduce() {
    for ranks in 1..=5 {
        for len in lengths(ranks) {
            run(World::threads(ranks).granule(4), move |rank| {
                let own = shard(rank.rank(), len);
                let (mut scattered, mut reduced) = (own.clone(), own.clone());
                let chunk = rank.reduce_scatter(&mut scattered, ReduceOp::Sum)?;
                assert_eq!(scattered, own, "what was brought comes back");
                let gathered = rank.all_gather(chunk)?;
                rank.all_reduce(&mut reduced, ReduceOp::Sum)?;
                assert_eq!(bits(&gathered), bits(&reduced), "{ranks} {len}");
                Ok(())
            });
        }
    }
}

#[test]
fn all_gather_and_share_small_keep_rank_order_and_take_any_lengths() {
    for ranks in 1..=5_i64 {
        run(World::threads(ranks as usize), move |rank| {
            let own = |rank: i64| (0..rank % 3).map(move |i| rank * 10 + i);
            let gathered = rank.all_gather(own(rank.rank() as i64).collect::<Vec<_>>())?;
            assert!(gathered.into_iter().eq((0..ranks).flat_map(own)));
            let small = own(rank.rank() as i64).map(|x| x as f64).collect();
            let shared = rank.share_small("few", small)?;
            let wanted: Vec<Vec<f64>> =
                (0..ranks).map(|rank| own(rank).map(|x| x as f64).collect()).collect();
            assert_eq!(shared, wanted);
            Ok(())
        });
    }
}

#[test]
fn broadcast_gives_every_rank_the_values_of_any_root() {
    for ranks in 1..=5 {
        run(World::threads(ranks), move |rank| {
            for root in 0..ranks {
                for len in [0, 1, 300] {
                    let mut data = shard(rank.rank(), len);
                    rank.broadcast(&mut data, root)?;
                    assert_eq!(bits(&data), bits(&shard(root, len)), "{ranks} {root} {len}");
                }
            }
            Ok(())
        });
    }
}

#[test]
fn the_largest_value_is_nan_if_any_is() {
    let results = run(World::threads(3).granule(1), |rank| {
        let own = rank.rank() as f64;
        let mut data = vec![own, -own, if own == 1.0 { f64::NAN } else { own }];
        rank.all_reduce(&mut data, ReduceOp::Max)?;
        Ok(data)
    });
    for data in results {
        assert_eq!(data[..2], [2.0, 0.0]);
        assert!(data[2].is_nan());
    }
}

#[test]
fn buffers_are_used_again_and_the_time_is_accounted_for() {
    run(World::threads(2), |rank| {
        let mut data = vec![1.0_f32; 1000];
        let address = data.as_ptr();
        for _ in 0..20 {
            rank.all_reduce(&mut data, ReduceOp::Sum)?;
            assert_eq!(data.as_ptr(), address, "the result is written over the contribution");
        }
        let before = rank.times();
        assert!(before.reduce > std::time::Duration::ZERO);
        rank.reset_times();
        assert!(rank.times().reduce < before.reduce);
        if rank.rank() == 1 {
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        rank.barrier()?;
        if rank.rank() == 0 {
            assert!(rank.times().wait > std::time::Duration::from_millis(15));
        }
        // A total that is given back is the memory of the next one.
        let mut addresses = Vec::new();
        for _ in 0..3 {
            let ticket = rank.start_all_reduce("w", vec![vec![1.0_f32; 64]])?;
            let (total, _) = rank.finish::<f32>(ticket)?;
            assert_eq!(total, [2.0; 64]);
            addresses.push(total.as_ptr());
            rank.recycle(total);
        }
        assert!(addresses.iter().all(|&address| address == addresses[0]));
        Ok(())
    });
}
