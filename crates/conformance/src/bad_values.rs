//! A value that is not a number, or out of bounds, ends the run with its name and time, and goes no further.

use costep_core::{Code, Connection, Error, MethodEntry, Place};
use costep_engine::{Scheduling, Threads};

use crate::toys::{Toy, error_of, wired};
use crate::variants::defaults;

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

/// Methods that repeat steps try shorter ones before they give up: then the time is in that step, not at its end.
fn assert_is_in_the_third_step(error: &Error) {
    let Place::Run { subsystem: None, signal: Some(signal), time, step: 2 } = &error.details().place else {
        panic!("{error}");
    };
    assert!(signal == "a.y0" && *time > 0.25 && *time <= 3.0 * 0.1, "{error}");
}

pub(crate) fn what_is_not_a_number_goes_nowhere(entry: &'static MethodEntry) {
    for bad in BAD {
        for scheduling in schedulings() {
            for threads in [1, 2] {
                let (listener, heard) = Toy::listener("b");
                let toys = vec![broken(0.3, bad).boxed(), listener.boxed()];
                let mut system = wired(toys, &[(0, 0)], &defaults(entry));
                system.scheduling = scheduling.clone();
                system.threads = Threads::Fixed(threads);
                let error = error_of(system);
                assert_eq!(error.code(), Code::NotFinite, "{}", entry.id);
                assert_is_in_the_third_step(&error);
                let heard = heard.lock().unwrap();
                assert!(heard.len() >= 3 && heard.iter().all(|u| u.is_finite()), "{heard:?}");
            }
        }
    }
}

pub(crate) fn nor_does_it_in_a_loop(entry: &'static MethodEntry) {
    for scheduling in
        [Scheduling::Auto, Scheduling::Sequential(vec![0, 1]), Scheduling::Sequential(vec![1, 0])]
    {
        let (listener, heard) = Toy::listener("b");
        let loops = Toy::new("a", 1, 1, |t, u, y| {
            y[0] = if t > 0.25 { f64::NAN * u[0] } else { 1.0 };
            Ok(())
        });
        let toys = vec![loops.boxed(), listener.boxed()];
        let mut system = wired(toys, &[(0, 1), (1, 0)], &defaults(entry));
        system.scheduling = scheduling;
        let error = error_of(system);
        assert_is_in_the_third_step(&error);
        assert!(heard.lock().unwrap().iter().all(|u| u.is_finite()));
    }
}

pub(crate) fn a_gain_that_overflows_is_stopped_at_the_input(entry: &'static MethodEntry) {
    for scheduling in schedulings() {
        let (listener, heard) = Toy::listener("b");
        let source = Toy::source("a", |t| if t > 0.25 { 1e10 } else { 1.0 });
        let mut system = wired(vec![source.boxed(), listener.boxed()], &[], &defaults(entry));
        system.connections = vec![Connection { output: 0, input: 0, gain: 1e300 }];
        system.scheduling = scheduling;
        let error = error_of(system);
        assert_eq!(error.code(), Code::NotFinite, "{}", entry.id);
        assert!(error.to_string().contains("`b.u0`"), "{error}");
        assert!(heard.lock().unwrap().iter().all(|u| u.is_finite()));
    }
}

pub(crate) fn growth_far_beyond_the_nominal_value_is_divergence(entry: &'static MethodEntry) {
    let growing = || Toy::source("a", |t| 1e3f64.powf(t)).with_nominal(1.0);
    let error = error_of(wired(vec![growing().boxed()], &[], &defaults(entry)));
    let place = Place::Run { subsystem: None, signal: Some("a.y0".into()), time: 21.0 * 0.1, step: 20 };
    assert_eq!((error.code(), &error.details().place), (Code::Diverged, &place));
}
