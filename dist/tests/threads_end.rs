//! No thread of a world outlives it, unless it is stuck in a user's code. Alone in its file: it
//! counts the threads of the process.
#![cfg(target_os = "linux")]

use std::time::Duration;

use ringgrad_dist::{Error, ReduceOp, World};

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("the threads of this process").count()
}

/// The system may list a thread for a moment after it was joined.
fn is_back_at(before: usize) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        threads() == before
    })
}

#[test]
fn ranks_that_return_fail_panic_or_wait_leave_no_thread_behind() {
    let before = threads();
    for end in ["return", "error", "panic", "late", "early"] {
        let outcome =
            World::threads(4).deadline(Duration::from_millis(200)).run_each(move |rank| {
                assert!(threads() > before, "ranks are threads");
                if rank.rank() == 2 {
                    match end {
                        "error" => return Err("an error".into()),
                        "panic" => panic!("a panic"),
                        "late" => std::thread::sleep(Duration::from_millis(300)),
                        "early" => return Ok(()),
                        _ => {}
                    }
                }
                let mut data = vec![1.0_f32; 3000];
                rank.all_reduce(&mut data, ReduceOp::Sum)?;
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
            });
        let failed = outcome.results.iter().filter(|result| result.is_err()).count();
        let wanted = match end {
            "return" => 0,
            "early" => 3,
            _ => 4,
        };
        assert_eq!((failed, outcome.detached), (wanted, 0), "{end}");
        assert!(is_back_at(before), "{end}");
    }
    let impossible = World::threads(3).shards(1).run(|_| Ok::<_, Error>(()));
    assert!(impossible.is_err());
    assert!(is_back_at(before));
    // Kernel threads are joined with their rank: not one is left the moment the run is over.
    for _ in 0..20 {
        let world = World::threads(3).threads_per_rank(3);
        world.run(|rank| rank.barrier()).unwrap();
        assert!(is_back_at(before));
    }
}
