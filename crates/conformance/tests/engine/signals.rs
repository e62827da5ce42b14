//! What holds and extrapolations make of signals without feedback.

use costep_conformance::signals::{fed, lag_error};
use costep_conformance::systems::method;
use costep_conformance::toys::{Lag, Toy, wired};
use costep_core::{External, Subsystem};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;
use costep_system::Component;

#[test]
fn without_feedback_there_is_no_delay() {
    for id in ["foh", "soh"] {
        for scheduling in [Scheduling::Auto, Scheduling::Sequential(vec![])] {
            assert!(lag_error(fed(&method(id), scheduling)) < 1e-13, "{id}");
        }
        assert!(lag_error(fed(&method(id), Scheduling::Parallel)) > 1e-3, "{id} has to guess the first step");
    }
}

#[test]
fn a_hold_takes_the_new_value_in_order_and_the_old_one_in_parallel() {
    let (mut auto, mut parallel) =
        (fed(&method("zoh"), Scheduling::Auto), fed(&method("zoh"), Scheduling::Parallel));
    for _ in 0..10 {
        let before = auto.time();
        auto.step().unwrap();
        parallel.step().unwrap();
        assert_eq!(auto.inputs().coefficients(0), [2.0 * auto.time()]);
        assert_eq!(parallel.inputs().coefficients(0), [2.0 * before]);
    }
}

#[test]
fn nepce_holds_the_mean_without_delay() {
    let mut engine = fed(&method("nepce"), Scheduling::Auto);
    for _ in 0..10 {
        let before = engine.time();
        engine.step().unwrap();
        let mean = before + engine.time();
        assert!((engine.inputs().coefficients(0)[0] - mean).abs() < 1e-14);
    }
}

#[test]
fn a_jump_from_outside_is_not_extrapolated() {
    for id in ["foh", "soh"] {
        let (listener, heard) = Toy::listener("ear");
        let mut system = wired(vec![listener.boxed()], &[], &method(id));
        system.externals = vec![(0, External::Step { value: 1000.0, start: 0.5 })];
        Engine::new(system).unwrap().run(&mut []).unwrap();
        let heard = heard.lock().unwrap();
        assert!(heard.iter().all(|u| (-1e-9..=1000.0 + 1e-9).contains(u)), "{id}: {heard:?}");
    }
}

/// A step that comes beside a connection, at a part outside of loops: what a ramp lacks of it is given later, once.
#[test]
fn a_jump_beside_a_connection_counts_once() {
    let lag: Box<dyn Subsystem> = Lag::new("lag", 1.0, 0.0).subsystem(&Solver::Exact).unwrap();
    let method = method("identified:form=ramp,start=plain");
    let system = wired(vec![lag, Toy::source("still", |_| 0.0).boxed()], &[(1, 0)], &method);
    let externals = vec![(0, External::Step { value: 1.0, start: 1.09 })];
    let mut engine = Engine::new(System { externals, scheduling: Scheduling::Parallel, ..system }).unwrap();
    let mut sum = 0.0;
    for _ in 0..40 {
        let start = engine.time();
        engine.step().unwrap();
        let (inputs, h) = (engine.inputs(), engine.time() - start);
        sum += h * (inputs.coefficients(0)[0] + 0.5 * h * inputs.coefficients(1)[0]);
    }
    assert!((sum - (engine.time() - 1.09)).abs() < 1e-9, "{sum} for {}", engine.time() - 1.09);
}
