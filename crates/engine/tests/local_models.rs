//! Local models that are missing, wrong or late: clear messages, or runs that go on.

use costep_conformance::systems::{coupled, method, model};
use costep_core::{
    Code, Connection, Description, Experiment, InputSegment, Interval, Linearisation, Linearised, LocalModel,
    ModelOrigin, Port, Result, Rollback, StepOutcome, Subsystem,
};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;

/// y = gain u, with Jacobians as given.
struct Gain {
    description: Description,
    level: Linearisation,
    gain: f64,
    d: f64,
}

impl Gain {
    fn boxed(name: &str, gain: f64, d: f64, level: Linearisation) -> Box<dyn Subsystem> {
        let port = |name: &str| vec![Port { name: name.into(), ..Port::default() }];
        let description = Description {
            name: name.into(),
            inputs: port("u"),
            outputs: port("y"),
            feedthrough: vec![[0].into()],
            input_order: 8,
            ..Description::default()
        };
        Box::new(Self { description, level, gain, d })
    }
}

impl Subsystem for Gain {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = self.gain * u[0];
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(interval.length, y);
        y[0] *= self.gain;
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

costep_core::handles!(Gain {
    rollback: none,
    linearised: some,
    micro_recorder: none,
    environment: none,
    persistence: none,
    telemetry: none
});

impl Linearised for Gain {
    fn level(&self) -> Linearisation {
        self.level
    }

    fn states(&self) -> usize {
        0
    }

    fn origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    fn local_model(&mut self, _u: &[f64], model: &mut LocalModel) -> Result<()> {
        model.d[0] = self.d;
        Ok(())
    }

    fn read_state(&mut self, _u: &[f64], _x: &mut [f64], _x_dot: &mut [f64]) -> Result<bool> {
        Ok(false)
    }
}

/// Two gains in a loop.
fn looped(label: &str, parts: Vec<Box<dyn Subsystem>>) -> Result<()> {
    let spec = method(label);
    let mut engine = Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            parts,
            vec![
                Connection { output: 0, input: 1, gain: 1.0 },
                Connection { output: 1, input: 0, gain: 1.0 },
            ],
            (spec.build(), spec.models()),
            Experiment { start: 0.0, stop: 1.0, step: 0.1 },
        )
    })?;
    (0..3).try_for_each(|_| engine.step())
}

const MODEL_BASED: [&str; 6] =
    ["feedthrough", "mbcorr", "prestep", "predictive", "predictive:fit=sharp", "predictive:fit=end"];

#[test]
fn a_subsystem_without_jacobians_is_named() {
    for label in MODEL_BASED {
        let parts = vec![
            Gain::boxed("known", 0.5, 0.5, Linearisation::Full),
            Gain::boxed("dark", 0.5, 0.5, Linearisation::None),
        ];
        let error = looped(label, parts).unwrap_err();
        assert_eq!(error.code(), Code::NeedsMissing, "{label}: {error}");
        assert!(error.to_string().contains("`dark` gives no Jacobians"), "{label}: {error}");
    }
    // What needs D alone takes it.
    for (label, enough) in [("feedthrough", true), ("zoh:feedthrough=true", true), ("mbcorr", false)] {
        let gains = ["a", "b"].map(|name| Gain::boxed(name, 0.5, 0.5, Linearisation::Feedthrough));
        assert_eq!(looped(label, gains.into()).is_ok(), enough, "{label}");
    }
    let parts = vec![
        Gain::boxed("known", 0.5, 0.5, Linearisation::Full),
        Gain::boxed("dark", 0.5, 0.5, Linearisation::None),
    ];
    let error = looped("predictive:source=finite-difference", parts).unwrap_err();
    assert!(error.code() == Code::NeedsMissing && error.to_string().contains("rollback"), "{error}");
}

#[test]
fn a_singular_loop_is_an_algebraic_loop() {
    for label in MODEL_BASED {
        // The parts settle, but their Jacobians claim a loop of gain one.
        let parts = vec![
            Gain::boxed("a", 0.5, 2.0, Linearisation::Full),
            Gain::boxed("b", 0.5, 0.5, Linearisation::Full),
        ];
        let error = looped(label, parts).unwrap_err();
        assert_eq!(error.code(), Code::AlgebraicLoop, "{label}: {error}");
    }
}

#[test]
fn jacobians_that_are_not_finite_are_refused() {
    for bad in [f64::NAN, f64::INFINITY] {
        for label in MODEL_BASED {
            let parts = vec![
                Gain::boxed("a", 0.5, bad, Linearisation::Full),
                Gain::boxed("b", 0.5, 0.5, Linearisation::Full),
            ];
            let error = looped(label, parts).unwrap_err();
            assert_eq!(error.code(), Code::NotFinite, "{label}: {error}");
            assert!(error.to_string().contains("the Jacobians of `a`"), "{label}: {error}");
            assert!(error.details().hint.is_some(), "{label}: {error}");
        }
    }
}

#[test]
fn zero_jacobians_leave_a_hold() {
    for label in MODEL_BASED {
        let parts = vec![
            Gain::boxed("a", 0.5, 0.0, Linearisation::Full),
            Gain::boxed("b", 0.5, 0.0, Linearisation::Full),
        ];
        looped(label, parts).unwrap();
    }
}

/// Outputs of the nonlinear oscillator after some steps.
fn outputs(label: &str, solver: &Solver) -> Vec<f64> {
    let nonlinear = model("dual-mass-nonlinear", &[("force", 0.0)]);
    let mut engine = Engine::new(coupled(&nonlinear, solver, &method(label), 0.1, 1e-3)).unwrap();
    (0..50).for_each(|_| engine.step().unwrap());
    engine.outputs().to_vec()
}

#[test]
fn differences_and_renewal_on_demand_do_as_well_as_jacobians() {
    let solver = Solver::Rk4(1e-5);
    let exact = outputs("predictive", &solver);
    let near = |label: &str, tolerance: f64| {
        let other = outputs(label, &solver);
        // Relative to the typical sizes of x, v and F.
        let errors = exact.iter().zip(&other).zip([0.1, 31.6, 2e4]);
        let worst = errors.map(|((a, b), size)| (a - b).abs() / size).fold(0.0, f64::max);
        println!("{label}: {worst:.1e}");
        assert!(worst < tolerance, "{label}: {exact:?} {other:?}");
    };
    near("predictive:refresh=changed,offsets=held", 1e-3);
    near("predictive:source=finite-difference,offsets=held", 5e-3);
    near("predictive:source=probe,every=1", 5e-3);
    near("predictive:source=probe,refresh=changed", 5e-3);
}

/// The linear oscillator by differences: the same run as with Jacobians.
#[test]
fn differences_are_exact_for_linear_subsystems() {
    let run = |label: &str| {
        let linear = model("dual-mass", &[("ck", 2e5), ("dk", 200.0)]);
        let mut engine = Engine::new(coupled(&linear, &Solver::Exact, &method(label), 0.1, 1e-3)).unwrap();
        (0..50).for_each(|_| engine.step().unwrap());
        engine.outputs().to_vec()
    };
    let exact = run("predictive");
    for label in
        ["predictive:source=finite-difference", "predictive:source=probe", "predictive:source=probe,every=7"]
    {
        let other = run(label);
        for (a, b) in exact.iter().zip(&other) {
            assert!((a / b - 1.0).abs() < 1e-6, "{label}: {exact:?} {other:?}");
        }
    }
}

/// x' = 1 + u / 10 - x and y = min(x, 1 / 10).
struct Limited {
    description: Description,
    x: f64,
    kept: f64,
}

impl Limited {
    fn boxed(name: &str) -> Box<dyn Subsystem> {
        let port = |name: &str| vec![Port { name: name.into(), ..Port::default() }];
        let description = Description {
            name: name.into(),
            inputs: port("u"),
            outputs: port("y"),
            feedthrough: vec![Default::default()],
            input_order: 8,
            ..Description::default()
        };
        Box::new(Self { description, x: 0.0, kept: 0.0 })
    }
}

impl Subsystem for Limited {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = self.x.min(0.1);
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(0.5 * interval.length, y);
        let rest = 1.0 + 0.1 * y[0];
        self.x = rest + (self.x - rest) * (-interval.length).exp();
        y[0] = self.x.min(0.1);
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

costep_core::handles!(Limited {
    rollback: some,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: none,
    telemetry: none
});

impl Rollback for Limited {
    fn snapshot(&mut self) -> Result<()> {
        self.kept = self.x;
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        self.x = self.kept;
        Ok(())
    }
}

/// At its limit a part answers nothing: its model goes from one state to none, and is all zeros.
#[test]
fn the_number_of_states_may_change() {
    for id in ["feedthrough", "mbcorr", "predictive", "predictive:fit=sharp", "predictive:fit=end"] {
        let separator = if id.contains(':') { ',' } else { ':' };
        for refresh in ["every=1", "refresh=changed"] {
            let label = format!("{id}{separator}source=probe,{refresh}");
            looped(&label, vec![Limited::boxed("a"), Limited::boxed("b")]).unwrap();
        }
    }
}
