//! The ring of threads against the sequential oracle: equal bits, and as many elements sent as the
//! formula says.

mod common;

use common::{bits, lengths, noise, run, slices};
use kernels::ring_all_reduce::{Chunks, Ring, ring_order_sum};
use ringgrad_dist::{Algorithm, ReduceOp, World};

fn ring(ranks: usize, granule: usize) -> World {
    World::threads(ranks).algorithm(Algorithm::Ring).granule(granule)
}

fn contributions(ranks: usize, len: usize) -> Vec<Vec<f32>> {
    (0..ranks).map(|rank| noise(len, (rank * 1000 + len) as u64)).collect()
}

#[test]
fn every_rank_holds_the_ring_order_sum_bit_for_bit_and_sent_what_the_formula_says() {
    for ranks in 1..=8 {
        for granule in [1, 256] {
            let results = run(ring(ranks, granule), move |rank| {
                let mut sums = Vec::new();
                for len in lengths(rank.world_size()) {
                    let mut data = noise(len, (rank.rank() * 1000 + len) as u64);
                    let before = rank.elements_sent();
                    rank.all_reduce(&mut data, ReduceOp::Sum)?;
                    sums.push((data, rank.elements_sent() - before));
                }
                Ok(sums)
            });
            for (i, len) in lengths(ranks).into_iter().enumerate() {
                let wanted = ring_order_sum(&slices(&contributions(ranks, len)), granule);
                let mut total = 0;
                for (rank, result) in results.iter().enumerate() {
                    let (sum, sent) = &result[i];
                    assert_eq!(bits(sum), bits(&wanted), "rank {rank} of {ranks}, {len}");
                    let formula = Chunks::new(len, ranks, granule).elements_sent(rank);
                    assert_eq!(*sent, formula as u64, "rank {rank} of {ranks}, {len}");
                    total += sent;
                }
                assert_eq!(total, (2 * (ranks - 1) * len) as u64);
            }
        }
    }
}

#[test]
fn the_oracle_tells_the_ring_order_from_the_rank_order() {
    let data = contributions(4, 64);
    let in_rank_order: Vec<f32> =
        (0..64).map(|i| data.iter().map(|own| own[i]).fold(0.0, |sum, x| sum + x)).collect();
    assert_ne!(bits(&in_rank_order), bits(&ring_order_sum(&slices(&data), 1)));
}

#[test]
fn reduce_scatter_leaves_each_rank_its_chunk_of_the_ring_order_sum() {
    for ranks in 1..=5 {
        for len in lengths(ranks) {
            let results = run(ring(ranks, 1), move |rank| {
                let own = noise(len, (rank.rank() * 1000 + len) as u64);
                let mut data = own.clone();
                let chunk = rank.reduce_scatter(&mut data, ReduceOp::Sum)?;
                assert_eq!(data, own, "what was brought comes back");
                Ok(chunk)
            });
            let wanted = ring_order_sum(&slices(&contributions(ranks, len)), 1);
            assert_eq!(bits(&results.concat()), bits(&wanted), "{ranks} {len}");
        }
    }
}

#[test]
fn the_largest_values_and_wrapping_integers_go_around_as_well() {
    let results = run(ring(3, 1), |rank| {
        let own = rank.rank() as i64;
        let mut largest = vec![own * 7 - 3, -own, 5];
        rank.all_reduce(&mut largest, ReduceOp::Max)?;
        let mut sum = vec![i64::MAX - own, own];
        rank.all_reduce(&mut sum, ReduceOp::Sum)?;
        Ok((largest, sum))
    });
    let wrapped = i64::MAX.wrapping_add(i64::MAX - 1).wrapping_add(i64::MAX - 2);
    for result in results {
        assert_eq!(result, (vec![11, 0, 5], vec![wrapped, 3]));
    }
}

#[test]
fn gradients_of_several_buckets_in_flight_have_the_bits_of_the_blocking_ring() {
    let (ranks, buckets) = (4, 30);
    let world = ring(ranks, 256).shards(4);
    let results = run(world, move |rank| {
        let own = |bucket: usize| noise(300 + bucket, (rank.rank() * 1000 + bucket) as u64);
        let mut tickets = Vec::new();
        for bucket in 0..buckets {
            tickets.push(rank.start_all_reduce(&format!("b{bucket}"), vec![own(bucket)])?);
            rank.progress()?;
        }
        let mut totals = Vec::new();
        for (bucket, ticket) in tickets.into_iter().enumerate() {
            let (total, roots) = rank.finish::<f32>(ticket)?;
            assert_eq!(roots, [own(bucket)], "what was brought comes back");
            totals.push(total);
        }
        Ok(totals)
    });
    for bucket in 0..buckets {
        let own: Vec<_> =
            (0..ranks).map(|rank| noise(300 + bucket, (rank * 1000 + bucket) as u64)).collect();
        let wanted = bits(&ring_order_sum(&slices(&own), 256));
        for result in &results {
            assert_eq!(bits(&result[bucket]), wanted, "bucket {bucket}");
        }
    }
}

#[test]
fn a_rank_with_several_shards_adds_them_left_to_right_first() {
    let results = run(ring(2, 1).shards(6), |rank| {
        let own: Vec<_> = rank.shard_range().map(|shard| noise(9, shard as u64)).collect();
        let ticket = rank.start_all_reduce("w", own)?;
        Ok(rank.finish::<f32>(ticket)?.0)
    });
    let of_rank = |first: u64| {
        let shards: Vec<_> = (first..first + 3).map(|shard| noise(9, shard)).collect();
        (0..9).map(|i| (shards[0][i] + shards[1][i]) + shards[2][i]).collect::<Vec<f32>>()
    };
    let wanted = ring_order_sum(&slices(&[of_rank(0), of_rank(3)]), 1);
    assert_eq!(results, [wanted.clone(), wanted]);
    assert_eq!(Ring { rank: 0, world_size: 2 }.next(), 1);
}
