//! Cost of a macro step of the model-based methods: two subsystems, and chains of up to 10,000. Every method beside a
//! plain hold of the same system in alternation, because single timings on a shared machine mean little. The parts are
//! linear and say so: their Jacobians are read once, their states at every step.
//!
//! `cargo bench -p costep-benches --bench methods`
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use costep_core::Experiment;
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;

const STEP: f64 = 1e-3;

/// A benchmark model with one inner step per macro step, so that the coupling is what is measured.
fn engine(id: &str, parameters: &[(&str, f64)], method: &str) -> Engine {
    let given: Vec<_> = parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
    let model = costep_models::find(id).expect("a model").model(&given).expect("its parameters").1;
    let spec = MethodSpec::parse(method).expect("a registered method");
    Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            model.parts.iter().map(|p| p.subsystem(&Solver::Euler(STEP)).expect("Euler")).collect(),
            model.connections.clone(),
            (spec.build(), spec.models()),
            Experiment { start: 0.0, stop: 1e6, step: STEP },
        )
    })
    .expect("a valid system")
}

/// Windows of each turn. The first may find the memory of the engine displaced by that of the others; in a run there are none.
const WINDOWS: usize = 3;

/// Least time of a step over rounds in which all engines take their turn.
fn best(engines: &mut [Engine], rounds: usize, calls: usize) -> Vec<f64> {
    let mut best = vec![f64::MAX; engines.len()];
    for _ in 0..rounds {
        for (engine, best) in engines.iter_mut().zip(&mut best) {
            for _ in 0..WINDOWS {
                let start = Instant::now();
                (0..calls).for_each(|_| engine.step().expect("it does not fail"));
                *best = best.min(start.elapsed().as_secs_f64() / calls as f64);
            }
            black_box(engine.outputs()[0]);
        }
    }
    best
}

fn main() {
    let methods = ["zoh", "mbcorr", "prestep", "predictive"];
    let soft = [("ck", 1e3), ("dk", 1.0), ("c1", 1e3), ("c2", 1e3)];
    let mut engines = methods.map(|method| engine("dual-mass", &soft, method));
    println!("two subsystems, us per macro step (and beyond zoh)");
    let best_of_two = best(&mut engines, 100, 200);
    for (method, time) in methods.iter().zip(&best_of_two) {
        println!("{method:>12} {:>8.3} {:>8.3}", 1e6 * time, 1e6 * (time - best_of_two[0]));
    }
    println!("\nchain of equal parts, which share their operators, ns per macro step and subsystem");
    chain(&methods, 0.0);
    println!("\nchain of parts that all differ, ns per macro step and subsystem");
    chain(&methods, 0.1);
}

/// Costs per subsystem over the length of the chain, and how much more it is at 10,000 than at 100.
fn chain(methods: &[&str; 4], spread: f64) {
    println!("{:>8} {:>10} {:>10} {:>10} {:>10}", "N", methods[0], methods[1], methods[2], methods[3]);
    let row = |what: &str, values: &[f64], digits: usize| {
        let cells: Vec<_> = values.iter().map(|value| format!("{value:>10.digits$}")).collect();
        println!("{what:>8} {}", cells.join(" "));
    };
    let mut at_hundred = Vec::new();
    for n in [10, 100, 1000, 10_000] {
        let soft = [("n", n as f64), ("spread", spread), ("k", 100.0), ("d", 0.1), ("kg", 100.0)];
        let mut engines = methods.map(|method| engine("chain", &soft, method));
        // Short windows: on a busy machine long ones are always interrupted.
        let times = best(&mut engines, 100, (2_000 / n).max(1));
        let per_part: Vec<_> = times.iter().map(|time| 1e9 * time / n as f64).collect();
        row(&n.to_string(), &per_part, 1);
        match n {
            100 => at_hundred = per_part,
            10_000 => {
                let ratios: Vec<_> =
                    per_part.iter().zip(&at_hundred).map(|(long, short)| long / short).collect();
                row("ratio", &ratios, 2);
            }
            _ => {}
        }
    }
}
