//! The sample stream: every epoch a permutation, cut without padding or loss, the same for whoever
//! asks; and the splits and shards that cut it further.

use ringgrad_nn::data::{Batches, Dataset, Error, Step};

/// Feature `c` of sample `s` is `100 s + c`, its class `s mod 3`: no two features are equal.
fn numbered(samples: usize, columns: usize) -> Dataset {
    let feature = |k: usize| (100 * (k / columns) + k % columns) as f32;
    let features = (0..samples * columns).map(feature).collect();
    let labels = (0..samples).map(|s| s as i64 % 3).collect();
    Dataset::new("numbered", features, &[columns], labels, 3).unwrap()
}

fn orders(batches: Batches) -> Vec<Vec<usize>> {
    batches.into_iter().map(|step| step.samples().to_vec()).collect()
}

fn is_permutation(order: &[usize], samples: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..samples)
}

#[test]
fn the_permutation_check_sees_a_lost_a_repeated_and_an_invented_sample() {
    assert!(is_permutation(&[2, 0, 1], 3));
    for bad in [&[2, 0][..], &[2, 0, 0], &[2, 0, 1, 1], &[3, 0, 1]] {
        assert!(!is_permutation(bad, 3), "{bad:?}");
    }
}

#[test]
fn every_epoch_is_a_permutation_cut_without_padding_or_loss() {
    for samples in [0, 1, 6, 7, 8, 13, 64] {
        for batch in [1, 2, 7, 8, 13, 100, usize::MAX] {
            let batches = numbered(samples, 2).batches(batch).epochs(3).seed(5);
            let per_epoch = samples.div_ceil(batch);
            assert_eq!(batches.steps_per_epoch(), per_epoch as u64);
            assert_eq!(batches.total_steps(), 3 * per_epoch as u64);
            let steps: Vec<Step> = batches.into_iter().collect();
            assert_eq!(steps.len(), 3 * per_epoch);
            let mut position = 0;
            for (index, step) in steps.iter().enumerate() {
                let epoch = (step.epoch, step.index);
                assert_eq!(epoch, (index / per_epoch, index as u64));
                assert_eq!(step.first_position(), position);
                position += step.len() as u64;
                let last = (index + 1) % per_epoch == 0;
                assert!(last || step.len() == batch, "only the last batch may be smaller");
            }
            for epoch in steps.chunks(per_epoch.max(1)) {
                let order: Vec<usize> = epoch.iter().flat_map(Step::samples).copied().collect();
                assert!(is_permutation(&order, samples), "{samples} by {batch}: {order:?}");
            }
        }
    }
}

#[test]
fn the_stream_depends_on_seed_and_epoch_and_not_on_the_batch() {
    let data = numbered(13, 1);
    let stream = |batch: usize, seed| orders(data.batches(batch).epochs(2).seed(seed)).concat();
    assert_eq!(stream(4, 7), stream(4, 7));
    assert_eq!(stream(4, 7), stream(5, 7));
    assert_ne!(stream(4, 7), stream(4, 8));
    let two_epochs = stream(4, 7);
    assert_ne!(two_epochs[..13], two_epochs[13..]);
    assert_eq!(orders(data.batches(4)), orders(data.batches(4).epochs(1).seed(0)));
}

#[test]
fn a_run_that_starts_late_sees_the_same_batches() {
    let batches = numbered(13, 1).batches(4).epochs(3).seed(2);
    let all = orders(batches.clone());
    for start in 0..=all.len() {
        let late: Vec<Vec<usize>> =
            batches.clone().into_iter().skip(start).map(|step| step.samples().to_vec()).collect();
        assert_eq!(late, all[start..]);
        assert_eq!(batches.clone().into_iter().skip(start).size_hint().0, all.len() - start);
    }
}

#[test]
fn in_order_means_in_order_in_every_epoch() {
    let found = orders(numbered(5, 1).batches(2).epochs(2).seed(9).in_order());
    let epoch = [vec![0, 1], vec![2, 3], vec![4]];
    assert_eq!(found, [&epoch[..], &epoch[..]].concat());
}

#[test]
fn batches_of_nothing_are_refused_and_never_run_forever() {
    let batches = numbered(5, 1).batches(0);
    assert_eq!((batches.steps_per_epoch(), batches.total_steps()), (0, 0));
    assert_eq!(batches.clone().into_iter().count(), 0);
    assert!(matches!(batches.validated(), Err(Error::Batch { .. })));
    assert!(numbered(5, 1).batches(1).validated().is_ok());
    let endless = numbered(5, 1).batches(1).epochs(usize::MAX);
    assert_eq!(endless.total_steps(), u64::MAX);
    assert_eq!(endless.into_iter().take(11).count(), 11);
}

#[test]
fn shards_cover_the_batch_in_order_and_differ_by_one_at_most() {
    for len in [1, 2, 7, 8, 9, 13, 16] {
        let step = numbered(len, 1).batches(len).into_iter().next().unwrap();
        for shards in 1..=9 {
            let mut next = 0;
            let mut lens = Vec::new();
            for shard in 0..shards {
                let positions = step.shard(shard, shards);
                assert_eq!(positions.start, next);
                next = positions.end;
                lens.push(positions.len());
            }
            assert_eq!(next, len);
            assert!(lens.is_sorted_by(|a, b| a >= b), "longer shards come first: {lens:?}");
            assert!(lens[0] - lens[shards - 1] <= 1, "{lens:?}");
            assert!(step.shard(shards, shards).is_empty());
        }
        assert!(step.shard(0, 0).is_empty());
    }
}

#[test]
fn a_shard_gathers_its_own_samples() {
    let step = numbered(11, 3).batches(7).seed(3).into_iter().nth(1).unwrap();
    assert_eq!(step.len(), 4);
    let positions = step.shard(1, 3);
    assert_eq!(positions, 2..3);
    let (mut x, mut y) = ([0.0; 6], [0; 2]);
    step.gather(1..3, &mut x, &mut y);
    let (a, b) = (step.samples()[1], step.samples()[2]);
    let row = |s: usize| [0, 1, 2].map(|c| (100 * s + c) as f32);
    assert_eq!(x, [row(a), row(b)].concat()[..]);
    assert_eq!(y, [a as i64 % 3, b as i64 % 3]);
    step.gather(4..4, &mut [], &mut []);
}

#[test]
#[should_panic(expected = "features hold other than the samples")]
fn a_shard_does_not_gather_into_too_little_room() {
    let step = numbered(5, 3).batches(5).into_iter().next().unwrap();
    step.gather(0..2, &mut [0.0; 5], &mut [0; 2]);
}

#[test]
fn a_batch_of_named_samples_is_that_batch() {
    let data = numbered(5, 2);
    let step = Step::new(&data, 3, vec![4, 0, 4]).unwrap();
    assert_eq!((step.epoch, step.index, step.first_position()), (0, 3, 9));
    assert_eq!((step.len(), step.samples()), (3, &[4, 0, 4][..]));
    let (mut x, mut y) = ([0.0; 6], [0; 3]);
    step.gather(0..3, &mut x, &mut y);
    assert_eq!((x, y), ([400., 401., 0., 1., 400., 401.], [1, 0, 1]));
    assert!(matches!(Step::new(&data, 0, vec![]), Err(Error::Batch { .. })));
    let late = Step::new(&data, u64::MAX, vec![4, 0, 4]).unwrap();
    assert_eq!(late.first_position(), u64::MAX - 3, "its last sample has a position too");
    let refused = Step::new(&data, 0, vec![4, 5, 0]);
    assert!(matches!(refused, Err(Error::Sample { sample: 5, samples: 5, .. })));
}

#[test]
fn a_split_loses_nothing_and_depends_on_its_seed_alone() {
    let data = numbered(13, 2);
    let ids = |part: &Dataset| -> Vec<usize> {
        part.features().chunks(2).map(|row| row[0] as usize / 100).collect()
    };
    for (fraction, train) in [(0.05, 1), (0.5, 7), (0.8, 10), (0.96, 12)] {
        let split = data.split(fraction, 7).unwrap();
        assert_eq!((split.train.len(), split.test.len()), (train, 13 - train));
        let (seen, kept) = (ids(&split.train), ids(&split.test));
        assert!(is_permutation(&[&seen[..], &kept[..]].concat(), 13));
        for (part, ids) in [(&split.train, &seen), (&split.test, &kept)] {
            assert_eq!((part.sample_shape(), part.classes()), (&[2][..], 3));
            assert!(part.labels().iter().zip(ids).all(|(&class, &s)| class == s as i64 % 3));
        }
        assert_eq!(ids(&data.split(fraction, 7).unwrap().train), seen);
    }
    let train = |seed| ids(&data.split(0.8, seed).unwrap().train);
    assert_ne!(train(7), train(8));
    assert_eq!(data.split(0.8, 7).unwrap().train.name(), "numbered/train");
}

#[test]
fn a_split_with_an_empty_part_is_refused() {
    let bad = [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 0.03, 0.97];
    for fraction in bad {
        let refused = numbered(13, 1).split(fraction, 0);
        assert!(matches!(refused, Err(Error::Split { samples: 13, .. })), "{fraction}");
    }
    for samples in [0, 1] {
        assert!(numbered(samples, 1).split(0.5, 0).is_err());
    }
    assert!(numbered(2, 1).split(0.5, 0).is_ok());
}

#[test]
fn standardized_columns_have_mean_0_and_standard_deviation_1() {
    // Columns: 1, 3, 5, 7 with mean 4 and variance 5; all 6; 10⁶ and three times 10⁶ + 4.
    let features = vec![1., 6., 1e6, 3., 6., 1e6 + 4., 5., 6., 1e6 + 4., 7., 6., 1e6 + 4.];
    let data = Dataset::new("table", features, &[3], vec![0, 1, 1, 0], 2).unwrap();
    let (a, b, c) = (3.0 / 5f64.sqrt(), 1.0 / 5f64.sqrt(), 3f64.sqrt());
    let want = [-a, 0., -c, -b, 0., 1. / c, b, 0., 1. / c, a, 0., 1. / c].map(|x| x as f32);
    let found = data.standardized();
    assert_eq!(found.features(), want);
    assert_eq!((found.labels(), found.classes()), (data.labels(), 2));
    assert!(numbered(0, 3).standardized().is_empty());
}

#[test]
fn samples_that_do_not_fit_their_labels_are_refused() {
    let new = |features: usize, shape: &[usize], labels: &[i64], classes| {
        Dataset::new("made", vec![0.5; features], shape, labels.to_vec(), classes)
    };
    assert!(new(12, &[2, 3], &[0, 4], 5).is_ok());
    assert!(new(2, &[], &[0, 1], 2).is_ok());
    assert!(new(0, &[2, 3], &[], 0).is_ok());
    assert!(new(0, &[0], &[0, 1], 2).is_ok());
    for (features, shape, samples) in
        [(11, &[2, 3][..], 2), (13, &[2, 3], 2), (6, &[2, 3], 0), (0, &[usize::MAX, 2], 1)]
    {
        let refused = new(features, shape, &vec![0; samples], 1);
        assert!(matches!(refused, Err(Error::Features { .. })), "{features} of {shape:?}");
    }
    for class in [-1, 5, i64::MIN, i64::MAX] {
        let refused = new(2, &[1], &[4, class], 5).unwrap_err();
        assert!(matches!(refused, Error::Class { sample: 1, classes: 5, .. }));
        assert!(refused.to_string().contains(&class.to_string()));
    }
}
