//! The time of an all-reduce beside its floor: moving 2·N·S bytes at the copy bandwidth that is
//! measured in the same run.
//!
//! `cargo bench --bench all_reduce`

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{Times, measured};
use criterion::{Criterion, criterion_group, criterion_main};
use ringgrad::dist::{Error, ReduceOp};
use ringgrad::{Algorithm, World};

/// Rank 0's time of `rounds` all-reduces of `len` f32, between two barriers.
fn time_of(ranks: usize, algorithm: Algorithm, len: usize, rounds: u64) -> Duration {
    let world = World::threads(ranks).algorithm(algorithm);
    let times = world.run(move |rank| -> Result<Duration, Error> {
        let mut data = vec![0.0f32; len];
        for _ in 0..3 {
            rank.all_reduce(&mut data, ReduceOp::Sum)?;
        }
        rank.barrier()?;
        let began = Instant::now();
        for _ in 0..rounds {
            rank.all_reduce(&mut data, ReduceOp::Sum)?;
        }
        rank.barrier()?;
        Ok(began.elapsed())
    });
    times.expect("a run without faults")[0]
}

/// Seconds to move `bytes` through memory, counted as read plus written, with two threads at it:
/// the best of many copies between buffers of the size that one rank holds.
fn floor_seconds(bytes: usize, buffer_bytes: usize) -> f64 {
    let copy = || {
        let source = vec![1.0f32; (buffer_bytes / 4).max(1)];
        let mut target = source.clone();
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let began = Instant::now();
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
            best = best.min(began.elapsed().as_secs_f64());
        }
        // Bytes a second, read plus written.
        (target.len() * 8) as f64 / best
    };
    let bandwidth: f64 = std::thread::scope(|scope| {
        let threads = [scope.spawn(copy), scope.spawn(copy)];
        threads.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum()
    });
    bytes as f64 / bandwidth
}

fn all_reduces(criterion: &mut Criterion) {
    for (ranks, bytes) in [(2, 1 << 10), (2, 64 << 10), (2, 4 << 20), (2, 64 << 20), (8, 1 << 10)] {
        for algorithm in [Algorithm::Tree, Algorithm::Ring] {
            let name = format!("{algorithm:?} N={ranks} {} KiB", bytes >> 10);
            let time_of = |rounds| time_of(ranks, algorithm, bytes / 4, rounds);
            let times = measured(criterion, ["all_reduce", &name], (10, 1), time_of);
            let Some(Times { min, median }) = times else { continue };
            let (min, median) = (min * 1e6, median * 1e6);
            let floor = floor_seconds(2 * ranks * bytes, bytes) * 1e6;
            let ratio = min / floor;
            println!("{name}: min {min:.2} us, median {median:.2} us");
            println!("    moving 2·N·S bytes {floor:.2} us, ratio {ratio:.2}\n");
        }
    }
}

criterion_group!(benches, all_reduces);
criterion_main!(benches);
