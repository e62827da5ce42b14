//! What identification costs per step and subsystem: recursive least squares, Interface Jacobians directly, and MOESP over a window of 778
//! samples, for 2 and 10 signals and orders 1 and 4; and its share of a run. All sources take their turn on the same data, because
//! single timings on a shared machine mean little.
//!
//! MOESP renews the factor of its window with every sample and the model from it every `interval` samples (50 by default, 1 with `paper=true`): both costs are
//! shown.
//!
//! `cargo bench -p costep-benches --bench identification`
#![allow(missing_docs)]

#[path = "../crates/ident/tests/common/ports.rs"]
mod ports;

use std::hint::black_box;
use std::time::Instant;

use costep_core::{Experiment, Interval, ModelSource, Observation, Subsystem, profiles};
use costep_engine::{Engine, Scheduling, System};
use costep_ident::{Algorithm, Learning, LearningSettings, RlsSettings};
use costep_methods::MethodSpec;
use ports::Ports;

const STEP: f64 = 1e-3;
/// Samples of a round: all intervals divide it.
const ROUND: usize = 500;
const ROUNDS: usize = 60;

/// So many inputs and outputs, and nothing behind them.
fn ports(signals: usize) -> Ports {
    let names: Vec<_> = (0..signals).map(|i| i.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    Ports::new("ports", &names, &names, false)
}

/// Inputs and outputs of a stable linear system under noise.
fn samples(signals: usize, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut y = vec![0.0; signals];
    let sample = |_| {
        let u: Vec<f64> = (0..signals).map(|_| random()).collect();
        let next =
            (0..signals).map(|i| 0.7 * y[i] + 0.2 * y[(i + 1) % signals] + u[i] - 0.3 * u[(i + 1) % signals]);
        y = next.collect();
        (u, y.clone())
    };
    (0..count).map(sample).collect()
}

/// Least time per sample of each source, in s.
fn costs(signals: usize, algorithms: &[Algorithm]) -> Vec<f64> {
    let data = samples(signals, 4 * ROUND);
    let experiment = Experiment { start: 0.0, stop: 1.0, step: STEP };
    let mut subsystem = ports(signals);
    let mut sources: Vec<_> = algorithms
        .iter()
        .map(|algorithm| {
            let mut source =
                Learning::new(LearningSettings { algorithm: *algorithm, samples: 1, range: 100 });
            let mut parts: Vec<Box<dyn Subsystem>> = vec![Box::new(ports(signals))];
            let (descriptions, capabilities) = profiles(&mut parts);
            source.prepare(&descriptions, &capabilities, &experiment).expect("ports");
            source
        })
        .collect();
    let mut best = vec![f64::MAX; sources.len()];
    for round in 0..ROUNDS {
        for (source, best) in sources.iter_mut().zip(&mut best) {
            let start = Instant::now();
            for k in 0..ROUND {
                let (u, y) = &data[(round * ROUND + k) % data.len()];
                let interval = Interval { start: 0.0, end: STEP, length: STEP };
                let seen = Observation { k: k as u64, interval, u, y };
                source.observe(0, &mut subsystem, &seen).expect("it does not fail");
            }
            black_box(source.interface(0));
            // The window is full from the third round on.
            if round > 2 {
                *best = best.min(start.elapsed().as_secs_f64() / ROUND as f64);
            }
        }
    }
    best
}

fn moesp(order: usize, interval: usize) -> Algorithm {
    Algorithm::Moesp { order, block_rows: 0, window: 778, cut: 1e-3, interval }
}

/// The nonlinear oscillator with 100 inner steps per macro step.
fn engine(method: &str) -> Engine {
    let model =
        costep_models::find("dual-mass-nonlinear").expect("a model").model(&[]).expect("its parameters").1;
    let spec = MethodSpec::parse(method).expect("a registered method");
    Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            model.parts.iter().map(|p| p.subsystem(&model.solver).expect("Euler")).collect(),
            model.connections.clone(),
            (spec.build(), spec.models()),
            Experiment { start: 0.0, stop: 1e6, step: STEP },
        )
    })
    .expect("a valid system")
}

fn main() {
    println!("us per step and subsystem (and over ij-rls)");
    println!(
        "{:>8} {:>9} {:>9} {:>20} {:>20} {:>20} {:>24}",
        "signals",
        "rls",
        "ij-rls",
        "moesp, window only",
        "moesp order 1",
        "moesp order 4",
        "order 1, every sample"
    );
    for signals in [1, 5] {
        let rls = Algorithm::Rls(RlsSettings::default());
        let ij_rls = Algorithm::IjRls { forgetting: 0.996, start: 1e6 };
        let never = usize::MAX;
        let times = costs(signals, &[rls, ij_rls, moesp(1, never), moesp(1, 50), moesp(4, 50), moesp(1, 1)]);
        let cell = |k: usize| format!("{:.2} ({:.1})", 1e6 * times[k], times[k] / times[1]);
        println!(
            "{:>8} {:>9.2} {:>9.2} {:>20} {:>20} {:>20} {:>24}",
            2 * signals,
            1e6 * times[0],
            1e6 * times[1],
            cell(2),
            cell(3),
            cell(4),
            cell(5)
        );
    }
    println!("\nshare of a run: nonlinear oscillator, 100 inner Euler steps per macro step");
    let methods = [
        "zoh",
        "identified",
        "prestep:source=rls",
        "prestep:source=ij-rls",
        "prestep:source=moesp",
        "mbcorr:source=moesp",
    ];
    let mut engines = methods.map(engine);
    let mut best = vec![f64::MAX; engines.len()];
    for _ in 0..20 {
        for (engine, best) in engines.iter_mut().zip(&mut best) {
            let start = Instant::now();
            (0..ROUND).for_each(|_| engine.step().expect("it does not fail"));
            *best = best.min(start.elapsed().as_secs_f64() / ROUND as f64);
        }
    }
    for (method, time) in methods.iter().zip(&best) {
        println!(
            "{method:>24} {:>8.2} us per macro step, {:>5.1} % beyond zoh",
            1e6 * time,
            100.0 * (1.0 - best[0] / time)
        );
    }
}
