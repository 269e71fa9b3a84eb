//! Ranks that fail, each in its own way: an error that names the rank, on every rank, in bounded
//! time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ringgrad_dist::{Algorithm, Error, Outcome, Rank, ReduceOp, Result, World};

/// Longer than any of these tests may take: whoever waits for it has failed.
const NEVER: Duration = Duration::from_secs(60);
/// A deadline that is meant to pass.
const SHORT: Duration = Duration::from_millis(250);

/// What every rank got, and that it took less than `limit`.
fn errors<R: std::fmt::Debug>(
    outcome: Outcome<R>,
    started: Instant,
    limit: Duration,
) -> Vec<Error> {
    let took = started.elapsed();
    assert!(took < limit, "{took:?}");
    assert_eq!(outcome.detached, 0);
    outcome.results.into_iter().map(|result| result.unwrap_err()).collect()
}

fn both() -> [Algorithm; 2] {
    [Algorithm::Tree, Algorithm::Ring]
}

fn all_reduce(rank: &Rank, len: usize) -> Result<Vec<f32>> {
    let mut data = vec![1.0; len];
    rank.all_reduce(&mut data, ReduceOp::Sum).map(|()| data)
}

#[test]
fn a_panic_reaches_every_rank_at_once_with_its_text() {
    for algorithm in both() {
        let world = World::threads(4).algorithm(algorithm).deadline(NEVER);
        let started = Instant::now();
        let body = |rank: &mut Rank| {
            all_reduce(rank, 5000)?;
            assert!(rank.rank() != 2, "no such luck");
            all_reduce(rank, 5000)
        };
        for error in errors(world.run_each(body), started, Duration::from_secs(5)) {
            assert!(matches!(error, Error::RankFailed { rank: 2, .. }), "{error}");
            assert!(error.to_string().contains("no such luck"), "{error}");
        }
        assert!(matches!(world.run(body).unwrap_err(), Error::RankFailed { rank: 2, .. }));
    }
}

#[test]
fn an_error_of_a_rank_reaches_every_rank_and_is_the_source() {
    let world = World::threads(3).deadline(NEVER);
    let started = Instant::now();
    let outcome = world.run_each(|rank| {
        if rank.rank() == 1 {
            return Err(io::Error::other("the disk is full"));
        }
        rank.barrier().map_err(io::Error::other)
    });
    let errors = errors(outcome, started, Duration::from_secs(5));
    let text = errors[1].to_string();
    assert!(text.starts_with("rank 1 failed: the disk is full; "), "{text}");
    let source = std::error::Error::source(&errors[1]).expect("a source");
    assert_eq!(source.to_string(), "the disk is full");
    // The others got it from the barrier and wrapped it, as their bodies said.
    assert!(errors[0].to_string().contains("rank 1 failed: the disk is full"), "{}", errors[0]);
}

#[test]
fn run_returns_the_first_cause_and_not_a_follower() {
    let error = World::threads(4)
        .deadline(NEVER)
        .run(|rank| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            if rank.rank() == 3 {
                return Err("rank 3 was first".into());
            }
            rank.barrier().map_err(|_| "a follower".into())
        })
        .unwrap_err();
    assert!(error.to_string().contains("rank 3 was first"), "{error}");
}

#[test]
fn late_ranks_are_all_named_within_the_deadline_with_the_collective() {
    for algorithm in both() {
        let world = World::threads(5).algorithm(algorithm).deadline(SHORT);
        let (sender, waits) = std::sync::mpsc::channel();
        let body = move |rank: &mut Rank| {
            if rank.rank() == 1 || rank.rank() == 3 {
                sleep(3 * SHORT / 2);
            }
            let started = Instant::now();
            let result = all_reduce(rank, 7);
            sender.send(started.elapsed()).unwrap();
            result
        };
        let outcome = errors(world.run_each(body), Instant::now(), 4 * SHORT);
        for error in outcome {
            let Error::Late { ranks, collective, deadline } = &error else { panic!("{error}") };
            assert_eq!((&ranks[..], *deadline), (&[1, 3][..], SHORT));
            assert!(collective.starts_with("all_reduce (sum, "), "{collective}");
        }
        assert!(waits.into_iter().all(|wait| wait < 2 * SHORT));
    }
}

#[test]
fn a_bucket_that_never_comes_is_named_by_its_label() {
    for algorithm in both() {
        let world = World::threads(3).algorithm(algorithm).deadline(SHORT);
        let outcome = world.run_each(|rank| {
            let mut tickets = Vec::new();
            for bucket in ["0.weight", "0.bias"] {
                if rank.rank() == 2 && bucket == "0.bias" {
                    sleep(2 * SHORT);
                }
                tickets.push(rank.start_all_reduce(bucket, vec![vec![1.0_f32; 3000]])?);
            }
            for ticket in tickets {
                rank.finish::<f32>(ticket)?;
            }
            Ok::<_, Error>(())
        });
        for error in errors(outcome, Instant::now(), 4 * SHORT) {
            let Error::Late { ranks, collective, .. } = &error else { panic!("{error}") };
            assert_eq!(ranks, &[2]);
            // The ring cannot even finish the first bucket, since rank 2 does not pass it on.
            assert!(collective.contains("[0."), "{collective}");
        }
    }
}

/// Every rank calls `same`, but rank 1 calls `other`; all get an error that quotes both.
fn disagree(
    world: &World,
    same: fn(&Rank) -> Result<()>,
    other: fn(&Rank) -> Result<()>,
    quotes: [&str; 2],
) {
    let started = Instant::now();
    let outcome = world.clone().deadline(NEVER).run_each(move |rank| {
        all_reduce(rank, 2000)?;
        if rank.rank() == 1 { other(rank) } else { same(rank) }
    });
    for error in errors(outcome, started, Duration::from_secs(5)) {
        let Error::Mismatch { ranks, brought } = &error else { panic!("{error}") };
        let [first, second] = if ranks[0] == 1 { [1, 0] } else { [0, 1] };
        assert!(ranks.contains(&1), "{error}");
        assert!(brought[0].starts_with(quotes[first]), "{error}");
        assert!(brought[1].starts_with(quotes[second]), "{error}");
    }
}

#[test]
fn ranks_that_disagree_in_anything_get_both_sides_quoted() {
    for algorithm in both() {
        let by = format!("{algorithm:?}").to_lowercase();
        for ranks in [2, 4] {
            let world = World::threads(ranks).algorithm(algorithm);
            let sum = format!("all_reduce (sum, {by}) of 8 f32");
            disagree(
                &world,
                |rank| all_reduce(rank, 8).map(drop),
                |rank| all_reduce(rank, 9).map(drop),
                [&sum, &format!("all_reduce (sum, {by}) of 9 f32")],
            );
            disagree(
                &world,
                |rank| all_reduce(rank, 8).map(drop),
                |rank| rank.all_reduce(&mut vec![1.0_f64; 8], ReduceOp::Sum),
                [&sum, &format!("all_reduce (sum, {by}) of 8 f64")],
            );
            disagree(
                &world,
                |rank| all_reduce(rank, 8).map(drop),
                |rank| rank.all_reduce(&mut vec![1.0_f32; 8], ReduceOp::Max),
                [&sum, &format!("all_reduce (max, {by}) of 8 f32")],
            );
            disagree(
                &world,
                |rank| all_reduce(rank, 8).map(drop),
                |rank| rank.broadcast(&mut vec![1.0_f32; 8], 0),
                [&sum, "broadcast of 8 f32 from rank 0"],
            );
        }
    }
}

#[test]
fn ranks_that_meet_in_different_places_get_both_sides_quoted() {
    let world = World::threads(3);
    disagree(
        &world,
        |rank| rank.broadcast(&mut vec![1_i64], 0),
        |rank| rank.broadcast(&mut vec![1_i64], 2),
        ["broadcast of 1 i64 from rank 0", "broadcast of 1 i64 from rank 2"],
    );
    disagree(&world, Rank::commit, Rank::barrier, ["commit", "barrier"]);
    // All are at the commit's barrier, but rank 1 counts a reduction more.
    disagree(
        &world,
        |rank| rank.commit().and_then(|()| rank.commit()),
        |rank| {
            let _ticket = rank.start_all_reduce("extra", vec![vec![1.0_f32]])?;
            rank.commit()
        },
        ["commit as collective 1", "all_reduce (sum, tree) of 1 f32 gradients [extra]"],
    );
    disagree(
        &world,
        |rank| {
            let ticket = rank.start_all_reduce("w", vec![vec![1.0_f32; 4000]])?;
            rank.finish::<f32>(ticket).map(drop)
        },
        |rank| {
            let ticket = rank.start_all_reduce("v", vec![vec![1.0_f32; 4000]])?;
            rank.finish::<f32>(ticket).map(drop)
        },
        [
            "all_reduce (sum, tree) of 4000 f32 gradients [w]",
            "all_reduce (sum, tree) of 4000 f32 gradients [v]",
        ],
    );
}

#[test]
fn a_rank_that_returns_early_is_named_at_once_by_those_who_need_it() {
    for algorithm in both() {
        let world = World::threads(3).algorithm(algorithm).deadline(NEVER);
        let started = Instant::now();
        let outcome = world
            .run_each(|rank| if rank.rank() == 0 { Ok(vec![]) } else { all_reduce(rank, 4000) });
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(outcome.results[0].as_deref().unwrap(), []);
        for result in &outcome.results[1..] {
            let error = result.as_ref().unwrap_err();
            assert!(matches!(error, Error::Left { rank: 0, .. }), "{error}");
        }
    }
}

#[test]
fn a_rank_that_is_stuck_is_given_up_and_counted() {
    let released = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&released);
    let started = Instant::now();
    let outcome = World::threads(3).deadline(SHORT).run_each(move |rank| {
        while rank.rank() == 1 && !flag.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(5));
        }
        Ok::<_, Error>(rank.rank())
    });
    let took = started.elapsed();
    assert!(took >= SHORT + Duration::from_millis(500), "{took:?}");
    assert!(took < 10 * SHORT, "{took:?}");
    assert_eq!(outcome.detached, 1);
    assert!(matches!(outcome.results[1], Err(Error::Stuck { rank: 1, .. })));
    assert_eq!(*outcome.results[0].as_ref().unwrap(), 0);
    released.store(true, Ordering::Relaxed);
}

#[test]
fn a_rank_that_shows_signs_of_life_may_take_as_long_as_it_likes() {
    let outcome = World::threads(2).deadline(SHORT).run_each(|rank| {
        for _ in 0..50 {
            sleep(SHORT / 10);
            rank.alive();
        }
        Ok::<_, Error>(())
    });
    assert_eq!(outcome.detached, 0);
    assert!(outcome.results.iter().all(Result::is_ok));
}

#[test]
fn a_death_among_overlapping_reductions_reaches_every_rank() {
    for algorithm in both() {
        for at in [0, 3, 9, 19] {
            let world = World::threads(4).algorithm(algorithm).deadline(NEVER);
            let started = Instant::now();
            let outcome = world.run_each(move |rank| {
                let mut tickets = Vec::new();
                for bucket in 0..20 {
                    let dies = rank.rank() == 3 && bucket == at;
                    assert!(!dies, "dies at bucket {bucket}");
                    let roots = vec![vec![1.0_f32; 100 * bucket]];
                    tickets.push(rank.start_all_reduce("bucket", roots)?);
                    rank.progress()?;
                }
                for ticket in tickets {
                    rank.finish::<f32>(ticket)?;
                }
                rank.commit()
            });
            for error in errors(outcome, started, Duration::from_secs(5)) {
                assert!(matches!(error, Error::RankFailed { rank: 3, .. }), "{error}");
            }
        }
    }
}

#[test]
fn every_survivor_has_committed_the_same_number_of_steps() {
    for trial in 0..60_u64 {
        let outcome = World::threads(4).deadline(NEVER).run_each(move |rank| {
            let started = Instant::now();
            let mut steps = 0_u64;
            loop {
                if rank.rank() == 2 && started.elapsed() > Duration::from_micros(37 * trial) {
                    return Ok::<_, Error>((steps, None));
                }
                match rank.commit() {
                    Ok(()) => steps += 1,
                    Err(error) => return Ok((steps, Some(error))),
                }
            }
        });
        let ends: Vec<_> = outcome.results.into_iter().map(Result::unwrap).collect();
        assert!(ends.iter().all(|(steps, _)| *steps == ends[0].0), "{ends:?}");
        for (_, error) in ends.iter().enumerate().filter(|(rank, _)| *rank != 2).map(|(_, e)| e) {
            assert!(matches!(error, Some(Error::Left { rank: 2, .. })), "{error:?}");
        }
    }
}

#[test]
fn a_failed_world_says_why_for_ever() {
    let outcome = World::threads(3).deadline(SHORT).run_each(|rank| {
        if rank.rank() == 1 {
            sleep(2 * SHORT);
        }
        let first = rank.barrier().unwrap_err().to_string();
        for _ in 0..3 {
            assert_eq!(all_reduce(rank, 3).unwrap_err().to_string(), first);
            assert_eq!(rank.commit().unwrap_err().to_string(), first);
            assert_eq!(rank.progress().unwrap_err().to_string(), first);
            let started = rank.start_all_reduce("w", vec![vec![1.0_f64]]);
            assert_eq!(started.unwrap_err().to_string(), first);
        }
        Ok::<_, Error>(first)
    });
    let texts: Vec<String> = outcome.results.into_iter().map(Result::unwrap).collect();
    assert!(texts[0].starts_with("barrier: rank 1 did not come within 250ms; "), "{}", texts[0]);
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[test]
fn worlds_that_cannot_be_are_refused() {
    let never = |_: &mut Rank| -> Result<()> { panic!("ran") };
    for world in [World::threads(0), World::threads(3).shards(2), World::threads(1).shards(0)] {
        assert!(matches!(world.run(never).unwrap_err(), Error::World { .. }));
        let outcome = world.run_each(never);
        assert!(outcome.results.iter().all(|r| matches!(r, Err(Error::World { .. }))));
    }
}

#[test]
fn a_call_that_is_wrong_on_its_own_is_refused_and_the_world_lives_on() {
    let outcome = World::threads(2).shards(6).deadline(NEVER).run_each(|rank| {
        let refused = |error: Error| assert!(matches!(error, Error::Call { .. }), "{error}");
        refused(rank.broadcast(&mut vec![1.0_f32], 2).unwrap_err());
        // Rank 0 hosts 0..3 of 6 shards: the subtrees 0..2 and 2..3.
        refused(rank.start_all_reduce("w", vec![vec![1.0_f32]]).unwrap_err());
        refused(rank.start_all_reduce("w", vec![vec![1.0_f32], vec![]]).unwrap_err());
        refused(rank.start_all_reduce::<f32>("w", vec![]).unwrap_err());
        let ticket = rank.start_all_reduce("w", vec![vec![1.0_f32], vec![2.0]])?;
        refused(rank.finish::<f64>(ticket).unwrap_err());
        rank.barrier()
    });
    for result in outcome.results {
        result.unwrap();
    }
}
