//! A subsystem that fails, lies about its time or panics ends the run with its name and time.

use costep_core::{Code, Error, InputSegment, Interval, Place, Result, StepOutcome, Subsystem, Wrapper};
use costep_engine::{ControlSpec, Engine, System, Threads};
use costep_integrate::Solver;

use costep_conformance::systems::{coupled, method, model};
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

/// From a time on, the subsystem inside does steps up to this length only.
struct Fussy {
    inner: Box<dyn Subsystem>,
    since: f64,
    longest: f64,
    /// It returns NaN instead of an error.
    is_quiet: bool,
}

impl Wrapper for Fussy {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let outcome = self.inner.step(interval, u, y)?;
        if interval.end <= self.since || interval.length <= self.longest {
            return Ok(outcome);
        }
        y.fill(f64::NAN);
        if self.is_quiet { Ok(outcome) } else { Err(Error::new(Code::FmuDiscard, "not that far")) }
    }
}

/// The dual mass oscillator up to 0.1 s, its first mass fussy from 0.05 s on.
fn fussy(id: &str, step: f64, longest: f64, is_quiet: bool) -> System {
    let mut system = coupled(&model("dual-mass", &[]), &Solver::Exact, &method(id), 0.1, step);
    let inner = system.subsystems.remove(0);
    system.subsystems.insert(0, Box::new(Fussy { inner, since: 0.05, longest, is_quiet }));
    system
}

fn controlled(id: &str, control: &str, longest: f64, is_quiet: bool) -> Engine {
    let spec = ControlSpec::new(ControlSpec::find(control).unwrap(), 1e-3, 0.1);
    let mut system = fussy(id, spec.max, longest, is_quiet);
    system.experiment.step = spec.max;
    let control = spec.build(&system.experiment, &[]);
    Engine::with_control(system, control).unwrap()
}

/// Where everything can go back, a step that fails is tried again at half its length.
#[test]
fn steps_that_fail_when_tried_are_done_again_shorter() {
    for is_quiet in [false, true] {
        let fails = if is_quiet { "became NaN" } else { "not that far" };
        let fixed = |id: &str| Engine::new(fussy(id, 1e-3, 0.3e-3, is_quiet)).unwrap();
        let tried = |id: &str, control: &str| controlled(id, control, 1e-4, is_quiet);
        for mut engine in [
            fixed("iqn-ils"),
            fixed("ijcsa"),
            fixed("fixed-point"),
            tried("foh", "richardson"),
            tried("foh", "defect"),
            tried("predictive", "defect"),
            tried("iqn-ils", "convergence"),
        ] {
            engine.run(&mut []).unwrap();
            assert_eq!(engine.time(), 0.1);
            let said = engine.failed_trials().expect("some failed");
            assert!(said.contains(fails) && said.contains("t = 0.0"), "{said}");
        }
        // The oscillator is where it is without the whims of its first mass.
        let mut plain = Engine::new(fussy("iqn-ils", 0.25e-3, 1.0, is_quiet)).unwrap();
        let mut again = fixed("iqn-ils");
        plain.run(&mut []).and_then(|()| again.run(&mut [])).unwrap();
        let (a, b) = (plain.outputs()[0], again.outputs()[0]);
        assert!((a - b).abs() < 0.01 * a.abs().max(0.1), "{a} {b}");
        assert_eq!(plain.failed_trials(), None);
    }
}

/// Only the shortest step ends the run, with what has happened; where nothing goes back, the first one does.
#[test]
fn what_fails_at_the_shortest_step_ends_the_run() {
    for (is_quiet, code) in [(false, Code::FmuDiscard), (true, Code::NotFinite)] {
        let engines = [
            Engine::new(fussy("iqn-ils", 1e-3, 1e-9, is_quiet)).unwrap(),
            Engine::new(fussy("zoh", 1e-4, 1e-9, is_quiet)).unwrap(),
            controlled("foh", "richardson", 1e-9, is_quiet),
            controlled("foh", "defect", 1e-9, is_quiet),
            controlled("foh", "predictor-corrector", 1e-9, is_quiet),
        ];
        for mut engine in engines {
            let error = engine.run(&mut []).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!((0.04..0.051).contains(&engine.time()), "{}", engine.time());
        }
    }
}
