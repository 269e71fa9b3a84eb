//! The same bits at every number of workers: `Tree` over fixed shards, for any number of ranks,
//! bucket size and thread count; and the negative controls that show the comparison can fail.

mod common;

use common::{Outcome, Run};
use ringgrad::Algorithm;
use ringgrad::hash::{NamedValues, params_sha256};
use ringgrad::nn::data;
use ringgrad::tensor::DType;
use ringgrad::ulps::distance;

const SIZES: [usize; 4] = [64, 24, 16, 10];

/// The first `count` steps over the shuffled digits, in batches of `batch`.
fn digits_run(batch: usize, count: usize) -> Run {
    let digits = data::digits().unwrap();
    let epochs = count.div_ceil(digits.len().div_ceil(batch));
    let steps = digits.batches(batch).epochs(epochs).seed(3);
    Run::new(&SIZES, steps.into_iter().take(count).collect())
}

fn hash(outcome: &Outcome) -> String {
    params_sha256(&outcome.params)
}

fn hash_of(run: &Run) -> String {
    hash(&run.train(None).unwrap())
}

fn params(run: &Run) -> Vec<NamedValues> {
    run.train(None).unwrap().params
}

#[test]
fn over_8_shards_every_number_of_workers_has_the_same_bits_after_60_steps() {
    let run = Run { shards: 8, ranks: 1, ..digits_run(64, 60) };
    let one = run.train(None).unwrap();
    for bucket_bytes in [512, 1 << 20] {
        for threads_per_rank in [1, 2] {
            for ranks in [1, 2, 3, 4, 5, 8] {
                let run = Run { ranks, bucket_bytes, threads_per_rank, ..run.clone() };
                let got = run.train(None).unwrap();
                let case = format!("{ranks} ranks, {bucket_bytes} bytes, {threads_per_rank} thr");
                assert_eq!(hash(&got), hash(&one), "{case}");
                assert_eq!(got.losses, one.losses, "{case}");
            }
        }
    }
}

#[test]
fn over_6_shards_every_number_of_workers_has_the_same_bits_after_60_steps() {
    let run = Run { shards: 6, ranks: 1, ..digits_run(64, 60) };
    let one = hash_of(&run);
    for bucket_bytes in [512, 1 << 20] {
        for threads_per_rank in [1, 2] {
            for ranks in [1, 3, 4, 6] {
                let run = Run { ranks, bucket_bytes, threads_per_rank, ..run.clone() };
                assert_eq!(hash_of(&run), one, "{ranks} {bucket_bytes} {threads_per_rank}");
            }
        }
    }
}

#[test]
fn uneven_and_empty_shards_keep_the_equality() {
    // 13 samples over 5 shards are 3, 3, 3, 2, 2; 3 samples leave two of five shards empty.
    for batch in [13, 3] {
        let run = Run { shards: 5, ranks: 1, ..digits_run(batch, 12) };
        let one = hash_of(&run);
        for ranks in [2, 3, 4, 5] {
            let run = Run { ranks, ..run.clone() };
            assert_eq!(hash_of(&run), one, "{batch} {ranks}");
        }
    }
}

#[test]
fn f64_parameters_keep_the_equality_and_lie_near_the_f32_run() {
    let run = Run { shards: 8, ranks: 1, dtype: DType::F64, ..digits_run(64, 20) };
    let one = run.train(None).unwrap();
    for ranks in [3, 8] {
        assert_eq!(hash_of(&Run { ranks, ..run.clone() }), hash(&one));
    }
    let single = params(&Run { dtype: DType::F32, ..run });
    let far = distance(&one.params, &single).max_abs;
    assert!(far > 0.0 && far < 1e-5, "{far}");
}

#[test]
fn a_rerun_has_the_same_bits_in_both_modes() {
    for algorithm in [Algorithm::Tree, Algorithm::Ring] {
        let run = Run { algorithm, ranks: 3, shards: 3, ..digits_run(48, 30) };
        assert_eq!(hash_of(&run), hash_of(&run));
    }
}

#[test]
fn the_ring_lies_near_the_tree_but_not_on_it() {
    let tree = Run { ranks: 4, shards: 4, ..digits_run(64, 40) };
    let ring = Run { algorithm: Algorithm::Ring, ..tree.clone() };
    let far = distance(&params(&tree), &params(&ring));
    assert!(far.max_ulps > 0, "two orders of addition cannot have rounded alike throughout");
    assert!(far.max_abs < 1e-5, "{far:?}");
}

#[test]
fn another_number_of_shards_is_another_computation() {
    let four = Run { shards: 4, ..digits_run(64, 40) };
    let eight = Run { shards: 8, ..four.clone() };
    let far = distance(&params(&four), &params(&eight));
    assert!(far.max_ulps > 0 && far.max_abs < 1e-5, "{far:?}");
}
