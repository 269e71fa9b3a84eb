//! The time of an all-reduce beside its floor: moving 2·N·S bytes at the copy bandwidth that is
//! measured in the same run.
//!
//! `cargo bench --bench all_reduce`

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

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
            let samples = RefCell::new(Vec::new());
            let mut group = criterion.benchmark_group("all_reduce");
            group.sample_size(10).warm_up_time(Duration::from_millis(100));
            group.measurement_time(Duration::from_secs(1));
            group.bench_function(&name, |bencher| {
                bencher.iter_custom(|rounds| {
                    let time = time_of(ranks, algorithm, bytes / 4, rounds);
                    samples.borrow_mut().push(time.as_secs_f64() * 1e6 / rounds as f64);
                    time
                });
            });
            group.finish();
            let mut samples = samples.into_inner();
            samples.sort_by(f64::total_cmp);
            // A filter on the command line leaves out groups.
            if samples.is_empty() {
                continue;
            }
            let floor = floor_seconds(2 * ranks * bytes, bytes) * 1e6;
            let (min, median) = (samples[0], samples[samples.len() / 2]);
            let ratio = min / floor;
            println!("{name}: min {min:.2} us, median {median:.2} us");
            println!("    moving 2·N·S bytes {floor:.2} us, ratio {ratio:.2}\n");
        }
    }
}

criterion_group!(benches, all_reduces);
criterion_main!(benches);
