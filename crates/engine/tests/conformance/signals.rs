//! Signals from outside, gains, sums, and connections without feedback.

use costep_core::{Connection, External, Subsystem};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::{Part, Solver};
use costep_methods::METHODS;

use crate::common::method;
use crate::toys::{Lag, Toy, wired};

#[test]
fn an_input_is_the_weighted_sum_of_its_sources_and_a_signal_from_outside() {
    for entry in METHODS {
        for scheduling in [Scheduling::Auto, Scheduling::Parallel] {
            let toys = vec![
                Toy::source("a", |t| 1.0 + t).boxed(),
                Toy::source("b", |t| 2.0 * t).boxed(),
                Toy::listener("c").0.boxed(),
            ];
            let mut system = wired(toys, &[], &method(entry.id));
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
}

/// A source with the signal 2 t that feeds a lag, x' = u - x.
fn fed(id: &str, scheduling: Scheduling) -> Engine {
    let lag: Box<dyn Subsystem> = Lag::new("lag", 1.0, 0.0).subsystem(&Solver::Exact).unwrap();
    let system = wired(vec![lag, Toy::source("source", |t| 2.0 * t).boxed()], &[(1, 0)], &method(id));
    Engine::new(System { scheduling, ..system }).unwrap()
}

/// Greatest error of the lag against 2 (t - 1 + e^-t).
fn lag_error(mut engine: Engine) -> f64 {
    let mut worst = 0.0f64;
    for _ in 0..50 {
        engine.step().unwrap();
        let t = engine.time();
        worst = worst.max((engine.outputs()[0] - 2.0 * (t - 1.0 + (-t).exp())).abs());
    }
    worst
}

#[test]
fn without_feedback_there_is_no_delay() {
    for id in ["foh", "soh"] {
        for scheduling in [Scheduling::Auto, Scheduling::Sequential(vec![])] {
            assert!(lag_error(fed(id, scheduling)) < 1e-13, "{id}");
        }
        assert!(lag_error(fed(id, Scheduling::Parallel)) > 1e-3, "{id} has to guess the first step");
    }
}

#[test]
fn a_method_never_gets_worse_without_delay() {
    for entry in METHODS {
        let (auto, parallel) =
            (lag_error(fed(entry.id, Scheduling::Auto)), lag_error(fed(entry.id, Scheduling::Parallel)));
        println!("{}: {auto:.1e} in order, {parallel:.1e} in parallel", entry.id);
        assert!(auto <= parallel * (1.0 + 1e-9), "{}", entry.id);
    }
}

#[test]
fn a_hold_takes_the_new_value_in_order_and_the_old_one_in_parallel() {
    let (mut auto, mut parallel) = (fed("zoh", Scheduling::Auto), fed("zoh", Scheduling::Parallel));
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
    let mut engine = fed("nepce", Scheduling::Auto);
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
