//! Values that are not finite or out of bounds, whatever the method.

use costep_conformance::systems::method;
use costep_conformance::toys::{Toy, error_of, wired};
use costep_core::{Code, External, Place};
use costep_engine::{Bounds, System};

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// 1, then `bad` from the time `since` on.
fn broken(since: f64, bad: f64) -> Toy {
    Toy::source("a", move |t| if t > since - 0.05 { bad } else { 1.0 })
}

fn place(signal: &str, time: f64, step: u64) -> Place {
    Place::Run { subsystem: None, signal: Some(signal.into()), time, step }
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
