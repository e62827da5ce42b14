//! Cost of a macro step of the engine per subsystem, next to a hand-written loop with the same arithmetic.
//!
//! `cargo bench -p costep-benches --bench engine` prints criterion's statistics and then a table of ratios
//! measured in alternation, because single timings on a shared machine mean little.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use costep_benches::{HandWritten, ring};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};

const SIZES: [usize; 5] = [2, 10, 100, 1000, 10_000];

fn macro_step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("macro step");
    group
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .sample_size(20);
    for n in SIZES {
        group.throughput(Throughput::Elements(n as u64));
        let mut hand = HandWritten::new(n, 1);
        group.bench_with_input(BenchmarkId::new("hand", n), &n, |bench, _| bench.iter(|| hand.step()));
        for method in ["zoh", "foh", "soh", "nepce"] {
            let mut engine = ring(n, 1, method);
            group.bench_with_input(BenchmarkId::new(method, n), &n, |bench, _| bench.iter(|| engine.step()));
        }
    }
    group.finish();
}

criterion_group!(benches, macro_step);

/// Least time per call over many short rounds.
fn best_of(rounds: usize, calls: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    best
}

fn print_ratios() {
    println!("\nns per macro step and subsystem, best of alternating rounds, method zoh");
    println!("{:>8} {:>12} {:>10} {:>10} {:>8}", "N", "inner steps", "hand", "engine", "ratio");
    for inner_steps in [1, 10, 100] {
        for n in SIZES {
            let (mut engine, mut hand) = (ring(n, inner_steps, "zoh"), HandWritten::new(n, inner_steps));
            let calls = (200_000 / (n * inner_steps)).max(1);
            let (mut by_hand, mut by_engine) = (f64::MAX, f64::MAX);
            for _ in 0..20 {
                by_hand = by_hand.min(best_of(2, calls, || hand.step()));
                by_engine = by_engine.min(best_of(2, calls, || engine.step().expect("lags do not fail")));
            }
            black_box((engine.outputs()[0], hand.outputs()[0]));
            let nanoseconds = |seconds: f64| 1e9 * seconds / n as f64;
            println!(
                "{n:>8} {inner_steps:>12} {:>10.2} {:>10.2} {:>8.2}",
                nanoseconds(by_hand),
                nanoseconds(by_engine),
                by_engine / by_hand
            );
        }
    }
}

fn main() {
    // `-- --ratios` leaves criterion out.
    if std::env::args().any(|arg| arg == "--ratios") {
        return print_ratios();
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
    print_ratios();
}
