//! External inputs, gains, sums, and connections without feedback.

use costep_core::{Connection, External, MethodEntry, Subsystem};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::Component;

use crate::toys::{Lag, Toy, wired};
use crate::variants::defaults;

pub(crate) fn an_input_is_the_weighted_sum_of_its_sources_and_a_signal_from_outside(
    entry: &'static MethodEntry,
) {
    for scheduling in [Scheduling::Auto, Scheduling::Parallel] {
        let toys = vec![
            Toy::source("a", |t| 1.0 + t).boxed(),
            Toy::source("b", |t| 2.0 * t).boxed(),
            Toy::listener("c").0.boxed(),
        ];
        let mut system = wired(toys, &[], &defaults(entry));
        system.connections = vec![
            Connection { output: 0, input: 0, gain: 2.0 },
            Connection { output: 1, input: 0, gain: -3.0 },
        ];
        system.externals =
            vec![(0, External::Step { value: 5.0, start: 0.5 }), (0, External::Constant(0.25))];
        system.scheduling = scheduling;
        let mut engine = Engine::new(system).unwrap();
        for k in 0..10 {
            let t = engine.time();
            let outside = 0.25 + if k >= 5 { 5.0 } else { 0.0 };
            let expected = 2.0 * (1.0 + t) - 3.0 * (2.0 * t) + outside;
            assert!((engine.coupled()[0] - expected).abs() < 1e-14, "{} at {t}", entry.id);
            engine.step().unwrap();
        }
    }
}

/// A source with the signal 2 t that feeds a lag, x' = u - x.
///
/// # Panics
///
/// If the engine refuses it.
pub fn fed(method: &MethodSpec, scheduling: Scheduling) -> Engine {
    let lag: Box<dyn Subsystem> = Lag::new("lag", 1.0, 0.0).subsystem(&Solver::Exact).unwrap();
    let system = wired(vec![lag, Toy::source("source", |t| 2.0 * t).boxed()], &[(1, 0)], method);
    Engine::new(System { scheduling, ..system }).unwrap()
}

/// Greatest error of the lag against 2 (t - 1 + e^-t).
///
/// # Panics
///
/// If a step fails.
pub fn lag_error(mut engine: Engine) -> f64 {
    let mut worst = 0.0f64;
    for _ in 0..50 {
        engine.step().unwrap();
        let t = engine.time();
        worst = worst.max((engine.outputs()[0] - 2.0 * (t - 1.0 + (-t).exp())).abs());
    }
    worst
}

pub(crate) fn a_method_never_gets_worse_without_delay(entry: &'static MethodEntry) {
    let (auto, parallel) = (
        lag_error(fed(&defaults(entry), Scheduling::Auto)),
        lag_error(fed(&defaults(entry), Scheduling::Parallel)),
    );
    println!("{}: {auto:.1e} in order, {parallel:.1e} in parallel", entry.id);
    assert!(auto <= parallel * (1.0 + 1e-9), "{}", entry.id);
}

/// A signal that jumps and has a peak between two points, at a part that nothing is fed back to: whatever is expected of others, of this signal all is known.
pub(crate) fn what_comes_from_outside_of_loops_is_applied_as_it_is(entry: &'static MethodEntry) {
    let lag: Box<dyn Subsystem> = Lag::new("lag", 1.0, 0.0).subsystem(&Solver::Exact).unwrap();
    let mut system = wired(vec![lag], &[], &defaults(entry));
    let peak = External::Table(vec![(0.62, 0.0), (0.65, 1.0), (0.67, 0.0)]);
    let jump = External::Step { value: 5.0, start: 0.33 };
    system.externals = vec![(0, jump.clone()), (0, peak.clone())];
    let mut engine = Engine::new(system).unwrap();
    let mut worst = 0.0f64;
    for _ in 0..10 {
        let start = engine.time();
        engine.step().unwrap();
        let wanted = jump.mean(start, engine.time()) + peak.mean(start, engine.time());
        worst = worst.max((mean_input(&engine, start) - wanted).abs());
    }
    let holds = entry.deviations.holds_external_signals;
    assert!(
        (worst < 1e-12) != holds,
        "{}: off by {worst:.1e}; it says that it holds signals: {holds}",
        entry.id
    );
}

/// Mean of the first input over the step that began at this time.
fn mean_input(engine: &Engine, start: f64) -> f64 {
    let (inputs, h) = (engine.inputs(), engine.time() - start);
    (0..=inputs.order()).map(|a| inputs.coefficients(a)[0] * h.powi(a as i32) / (a + 1) as f64).sum()
}
