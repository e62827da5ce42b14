//! A subsystem that fails, lies about its time or panics ends the run with its name and time.

use costep_core::{Code, Error, Place};
use costep_engine::{Engine, Threads};

use costep_conformance::systems::method;
use costep_conformance::toys::{Toy, error_of, wired};

const THREADS: [Threads; 4] = [Threads::Fixed(1), Threads::Fixed(2), Threads::Fixed(4), Threads::Auto];

/// The error of a run with a toy named `culprit` among well-behaved ones.
fn error_with(culprit: impl Fn() -> Toy, threads: Threads) -> Error {
    let mut toys: Vec<_> = (0..5).map(|i| Toy::source(&format!("good{i}"), |t| t).boxed()).collect();
    toys.insert(2, culprit().boxed());
    let mut system = wired(toys, &[], &method("zoh"));
    system.threads = threads;
    error_of(system)
}

fn at(time: f64, step: u64) -> Place {
    Place::Run { subsystem: Some("culprit".into()), signal: None, time, step }
}

#[test]
fn a_step_that_does_not_end_where_asked_is_an_error() {
    for overshoot in [1e-12, -0.05, f64::NAN] {
        for threads in THREADS {
            let culprit = || {
                let mut toy = Toy::source("culprit", |t| t);
                toy.overshoot = overshoot;
                toy
            };
            let error = error_with(culprit, threads);
            assert_eq!((error.code(), &error.details().place), (Code::TimeNotReached, &at(0.0, 0)));
        }
    }
}

fn failing(since: f64) -> Toy {
    Toy::new("culprit", 0, 1, move |t, _, y| {
        y[0] = t;
        if t < since { Ok(()) } else { Err(Error::new(Code::SubsystemFailed, "out of fuel")) }
    })
}

#[test]
fn an_error_of_a_subsystem_keeps_its_code_and_gets_a_place() {
    for threads in THREADS {
        let error = error_with(|| failing(0.25), threads);
        assert_eq!((error.code(), &error.details().place), (Code::SubsystemFailed, &at(2.0 * 0.1, 2)));
        assert_eq!(error.details().message, "out of fuel");
    }
    let error = error_with(|| failing(0.0), Threads::Fixed(1));
    assert_eq!((error.code(), &error.details().place), (Code::SubsystemFailed, &at(0.0, 0)));
}

#[test]
fn a_panic_is_an_error_on_any_number_of_threads() {
    let panicking = || {
        Toy::new("culprit", 0, 1, |t, _, y| {
            assert!(t < 0.25, "on purpose");
            y[0] = t;
            Ok(())
        })
    };
    for threads in THREADS {
        let error = error_with(panicking, threads);
        assert_eq!((error.code(), &error.details().place), (Code::Bug, &at(2.0 * 0.1, 2)));
        assert_eq!(error.details().cause.as_deref(), Some("on purpose"));
    }
}

#[test]
fn of_several_failures_the_first_is_reported() {
    for threads in THREADS {
        let toys = (0..8).map(|i| {
            Toy::new(&format!("part{i}"), 0, 1, move |t, _, y| {
                y[0] = t;
                if t < 0.25 || i < 3 {
                    Ok(())
                } else {
                    Err(Error::new(Code::SubsystemFailed, format!("{i}")))
                }
            })
        });
        let mut system = wired(toys.map(Toy::boxed).collect(), &[], &method("zoh"));
        system.threads = threads;
        assert_eq!(error_of(system).details().message, "3");
    }
}

/// A subsystem that panics wherever it can, its payload too.
struct Nasty(Toy, std::sync::atomic::AtomicBool);

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("and once more");
    }
}

impl costep_core::Subsystem for Nasty {
    fn description(&self) -> &costep_core::Description {
        assert!(!self.1.load(std::sync::atomic::Ordering::Relaxed), "no name after a panic");
        &self.0.description
    }

    fn initialise(&mut self, _experiment: &costep_core::Experiment) -> costep_core::Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> costep_core::Result<()> {
        y.fill(0.0);
        Ok(())
    }

    fn step(
        &mut self,
        _interval: costep_core::Interval,
        _u: costep_core::InputSegment<'_>,
        _y: &mut [f64],
    ) -> costep_core::Result<costep_core::StepOutcome> {
        self.1.store(true, std::sync::atomic::Ordering::Relaxed);
        std::panic::panic_any(Bomb);
    }

    fn terminate(&mut self) {}
}

costep_core::handles!(Nasty {
    rollback: none,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: none,
    telemetry: none
});

#[test]
fn a_panic_that_panics_again_neither_hangs_nor_escapes() {
    for threads in THREADS {
        let nasty = |i: usize| -> Box<dyn costep_core::Subsystem> {
            let toy = Toy::new(&format!("part{i}"), 0, 1, |_, _, _| Ok(()));
            Box::new(Nasty(toy, false.into()))
        };
        let mut system = wired((0..8).map(nasty).collect(), &[], &method("zoh"));
        system.threads = threads;
        let mut engine = Engine::new(system).unwrap();
        let error = engine.step().unwrap_err();
        assert_eq!((error.code(), error.details().message.as_str()), (Code::Bug, "`part0` panicked"));
        assert_eq!(engine.step().unwrap_err().code(), Code::Bug, "a failed run goes no further");
    }
}

#[test]
fn indices_that_do_not_exist_are_refused() {
    let toys = || vec![Toy::source("a", |t| t).boxed(), Toy::listener("b").0.boxed()];
    assert_eq!(error_of(wired(toys(), &[(7, 0)], &method("zoh"))).code(), Code::BadValue);
    assert_eq!(error_of(wired(toys(), &[(0, 7)], &method("zoh"))).code(), Code::BadValue);
    let mut system = wired(toys(), &[(0, 0)], &method("zoh"));
    system.bounds = vec![(9, costep_engine::Bounds { min: 0.0, max: 1.0 })];
    assert_eq!(error_of(system).code(), Code::BadValue);
}
