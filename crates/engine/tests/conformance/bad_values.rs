//! A value that is not a number, or out of bounds, ends the run with its name and time, and goes no further.

use costep_core::{Code, Connection, External, Place};
use costep_engine::{Bounds, Scheduling, System, Threads};
use costep_methods::METHODS;

use crate::common::method;
use crate::toys::{Toy, error_of, wired};

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// All at once, along the connections, and one after the other, the source before its listener.
fn schedulings() -> [Scheduling; 4] {
    use Scheduling::{Auto, Parallel, Sequential};
    [Parallel, Auto, Sequential(vec![]), Sequential(vec![0, 1])]
}

/// 1, then `bad` from the time `since` on.
fn broken(since: f64, bad: f64) -> Toy {
    Toy::source("a", move |t| if t > since - 0.05 { bad } else { 1.0 })
}

fn place(signal: &str, time: f64, step: u64) -> Place {
    Place::Run { subsystem: None, signal: Some(signal.into()), time, step }
}

#[test]
fn what_is_not_a_number_goes_nowhere() {
    for entry in METHODS {
        for bad in BAD {
            for scheduling in schedulings() {
                for threads in [1, 2] {
                    let (listener, heard) = Toy::listener("b");
                    let toys = vec![broken(0.3, bad).boxed(), listener.boxed()];
                    let mut system = wired(toys, &[(0, 0)], &method(entry.id));
                    system.scheduling = scheduling.clone();
                    system.threads = Threads::Fixed(threads);
                    let error = error_of(system);
                    assert_eq!(error.code(), Code::NotFinite, "{}", entry.id);
                    assert_eq!(error.details().place, place("a.y0", 3.0 * 0.1, 2));
                    let heard = heard.lock().unwrap();
                    assert!(heard.len() >= 3 && heard.iter().all(|u| u.is_finite()), "{heard:?}");
                }
            }
        }
    }
}

#[test]
fn nor_does_it_in_a_loop() {
    for entry in METHODS {
        for scheduling in
            [Scheduling::Auto, Scheduling::Sequential(vec![0, 1]), Scheduling::Sequential(vec![1, 0])]
        {
            let (listener, heard) = Toy::listener("b");
            let loops = Toy::new("a", 1, 1, |t, u, y| {
                y[0] = if t > 0.25 { f64::NAN * u[0] } else { 1.0 };
                Ok(())
            });
            let toys = vec![loops.boxed(), listener.boxed()];
            let mut system = wired(toys, &[(0, 1), (1, 0)], &method(entry.id));
            system.scheduling = scheduling;
            let error = error_of(system);
            assert_eq!(error.details().place, place("a.y0", 3.0 * 0.1, 2));
            assert!(heard.lock().unwrap().iter().all(|u| u.is_finite()));
        }
    }
}

#[test]
fn initial_values_are_checked_too() {
    for bad in BAD {
        for connections in [&[(0, 0)][..], &[]] {
            let (listener, heard) = Toy::listener("b");
            let toys = vec![listener.boxed(), broken(2.0, bad).boxed()];
            let connections: Vec<_> = connections.iter().map(|(_, input)| (1, *input)).collect();
            let mut system = wired(toys, &connections, &method("zoh"));
            system.experiment.start = 2.0;
            let error = error_of(system);
            assert_eq!(error.code(), Code::NotFinite);
            assert_eq!(error.details().place, place("a.y0", 2.0, 0));
            assert!(heard.lock().unwrap().iter().all(|u| u.is_finite()));
        }
    }
}

#[test]
fn a_quotient_is_only_asked_for_when_its_divisor_is_known() {
    let quotient = Toy::new("q", 1, 1, |_, u, y| {
        y[0] = 1.0 / u[0];
        Ok(())
    });
    let toys = vec![quotient.boxed(), Toy::source("a", |_| 4.0).boxed()];
    let engine = costep_engine::Engine::new(wired(toys, &[(1, 0)], &method("zoh"))).unwrap();
    assert_eq!(engine.outputs(), [0.25, 4.0]);
}

#[test]
fn a_gain_that_overflows_is_stopped_at_the_input() {
    for entry in METHODS {
        for scheduling in schedulings() {
            let (listener, heard) = Toy::listener("b");
            let source = Toy::source("a", |t| if t > 0.25 { 1e10 } else { 1.0 });
            let mut system = wired(vec![source.boxed(), listener.boxed()], &[], &method(entry.id));
            system.connections = vec![Connection { output: 0, input: 0, gain: 1e300 }];
            system.scheduling = scheduling;
            let error = error_of(system);
            assert_eq!(error.code(), Code::NotFinite, "{}", entry.id);
            assert!(error.to_string().contains("`b.u0`"), "{error}");
            assert!(heard.lock().unwrap().iter().all(|u| u.is_finite()));
        }
    }
}

#[test]
fn an_external_signal_has_to_be_finite() {
    let endless = [
        External::Constant(f64::NAN),
        External::Step { value: f64::INFINITY, start: 0.0 },
        External::Sine { amplitude: 1.0, frequency: f64::INFINITY, phase: 0.0, start: 0.0 },
        External::Square { high: 1.0, low: f64::NAN, frequency: 1.0, phase: 0.0, start: 0.0 },
        External::Table(vec![(0.0, 1.0), (1.0, f64::NAN)]),
    ];
    for signal in endless {
        let system = wired(vec![Toy::listener("b").0.boxed()], &[], &method("zoh"));
        assert_eq!(error_of(System { externals: vec![(0, signal)], ..system }).code(), Code::BadValue);
    }
}

#[test]
fn growth_far_beyond_the_nominal_value_is_divergence() {
    for entry in METHODS {
        let growing = || Toy::source("a", |t| 1e3f64.powf(t)).with_nominal(1.0);
        let error = error_of(wired(vec![growing().boxed()], &[], &method(entry.id)));
        assert_eq!((error.code(), &error.details().place), (Code::Diverged, &place("a.y0", 21.0 * 0.1, 20)));
    }
}

#[test]
fn bounds_are_kept() {
    for (min, max, steps) in [(-10.0, 0.75, 8u64), (-0.25, 10.0, 13)] {
        // 0, 0.1, ... up to 1, then down.
        let wave = Toy::source("a", |t| if t < 1.05 { t } else { 1.0 - 5.0 * (t - 1.0) });
        let mut system = wired(vec![wave.boxed()], &[], &method("zoh"));
        system.bounds = vec![(0, Bounds { min, max })];
        let error = error_of(system);
        assert_eq!(error.code(), Code::OutOfBounds);
        assert_eq!(error.details().place, place("a.y0", steps as f64 * 0.1, steps - 1));
    }
}
