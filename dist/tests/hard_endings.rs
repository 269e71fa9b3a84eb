//! Ranks that do not end as they should, after the world has failed or while it does: nothing waits
//! for them without a bound, and the first cause is told right.

use std::cell::RefCell;
use std::panic::panic_any;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ringgrad_dist::{Algorithm, Error, Outcome, Rank, World};

const DEADLINE: Duration = Duration::from_secs(1);

/// Runs on two ranks, and checks that it comes back within the deadline and a second.
fn run_each<E>(body: fn(&mut Rank) -> Result<(), E>) -> Outcome<()>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    let began = Instant::now();
    let outcome = World::threads(2).deadline(DEADLINE).run_each(body);
    let took = began.elapsed();
    assert!(took < DEADLINE + Duration::from_secs(1), "{took:?}");
    outcome
}

/// Runs on two ranks that come as late as the machine lets them.
fn run_each_patiently<E>(body: fn(&mut Rank) -> Result<(), E>) -> Outcome<()>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    World::threads(2).deadline(Duration::from_secs(30)).run_each(body)
}

#[test]
fn a_rank_that_retries_after_the_worlds_end_is_detached() {
    let outcome = run_each(|rank| {
        assert!(rank.rank() == 0, "gone");
        while rank.barrier().is_err() {}
        Ok::<_, Error>(())
    });
    assert_eq!(outcome.detached, 1);
    assert!(matches!(outcome.results[0], Err(Error::Stuck { rank: 0, .. })));
    assert!(matches!(outcome.results[1], Err(Error::RankFailed { rank: 1, .. })));
}

#[test]
fn a_rank_that_only_says_that_it_is_alive_is_detached_after_the_worlds_end() {
    let outcome = run_each(|rank| {
        assert!(rank.rank() == 0, "gone");
        loop {
            rank.alive();
            sleep(Duration::from_millis(1));
        }
        #[allow(unreachable_code, reason = "gives the closure its type")]
        Ok::<_, Error>(())
    });
    assert_eq!(outcome.detached, 1);
}

/// Takes long to drop.
struct Slow(Duration);

impl Drop for Slow {
    fn drop(&mut self) {
        sleep(self.0);
    }
}

thread_local! {
    static LEFT_BEHIND: RefCell<Option<Slow>> = const { RefCell::new(None) };
}

#[test]
fn a_thread_local_that_takes_long_to_drop_does_not_hold_up_the_run() {
    let outcome = run_each(|rank| {
        if rank.rank() == 1 {
            LEFT_BEHIND.set(Some(Slow(Duration::from_secs(4))));
        }
        rank.barrier()
    });
    assert!(outcome.results.iter().all(Result::is_ok));
    assert_eq!(outcome.detached, 1);
}

/// Panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a panic in the payload of a panic");
    }
}

#[test]
fn a_panic_whose_payload_panics_is_named_at_once() {
    let began = Instant::now();
    let world = World::threads(2).deadline(Duration::from_secs(60));
    let outcome = world.run_each(|rank| {
        if rank.rank() == 1 {
            panic_any(Bomb);
        }
        rank.barrier()
    });
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(outcome.detached, 0);
    for result in outcome.results {
        assert!(matches!(result, Err(Error::RankFailed { rank: 1, .. })), "{result:?}");
    }
}

/// An error type around this crate's, as programs have.
#[derive(Debug)]
struct Wrapped(Error);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Wrapped {}

#[test]
fn a_survivor_that_wraps_the_cause_is_not_blamed_for_it() {
    let outcome = run_each_patiently(|rank| {
        assert!(rank.rank() == 0, "the true cause");
        rank.barrier().map_err(Wrapped)
    });
    for result in outcome.results {
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("rank 1 failed: panicked: the true cause"), "{message}");
    }
}

#[test]
fn a_failure_of_a_world_within_a_rank_is_that_ranks_failure() {
    let outcome = run_each_patiently(|rank| {
        if rank.rank() == 1 {
            let inner = World::threads(3).run(|rank| {
                assert!(rank.rank() != 2, "inside");
                rank.barrier()
            });
            inner?;
        }
        rank.barrier()
    });
    for result in outcome.results {
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("rank 1 failed: rank 2 failed: panicked: inside"), "{message}");
    }
}

#[test]
fn a_ticket_of_another_world_is_refused() {
    let outcome = run_each_patiently(|rank| {
        let own = rank.start_all_reduce("own", vec![vec![1.0f32; 3]])?;
        let refused = World::threads(1).run(|inner| -> Result<String, Error> {
            let foreign = World::threads(1)
                .run(|other| other.start_all_reduce("foreign", vec![vec![2.0f32; 3]]))?;
            let foreign = foreign.into_iter().next().expect("a world has a rank 0");
            Ok(inner.finish::<f32>(foreign).unwrap_err().to_string())
        })?;
        assert!(refused[0].contains("ticket"), "{refused:?}");
        let (total, _) = rank.finish::<f32>(own)?;
        assert_eq!(total, [2.0; 3]);
        Ok::<_, Error>(())
    });
    assert!(outcome.results.iter().all(Result::is_ok), "{:?}", outcome.results);
}

#[test]
fn worlds_that_are_too_large_are_refused_with_the_limit() {
    for (ranks, shards) in [(0, 4), (5, 4), (1_000_000, 1_000_000)] {
        let world = World::threads(ranks).shards(shards).algorithm(Algorithm::Ring);
        let message = world.run(|_| Ok::<_, Error>(())).unwrap_err().to_string();
        assert!(message.contains("1 to 1024 ranks") && message.contains(&ranks.to_string()));
    }
}
