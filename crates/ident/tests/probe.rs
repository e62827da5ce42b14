//! Models from a short excitation: what they are, and that the subsystem does not notice.

use costep_core::{
    Batch, Capable, Code, Description, EnvironmentStep, Error, Experiment, InputPolynomials, InputSegment,
    Interval, Linearised, LocalModel, MicroRecorder, ModelSource, Observation, Persistence, Port, Result,
    Rollback, StepOutcome, Subsystem, Telemetry, profiles,
};
use costep_ident::{Exact, Probe, Refresh};
use costep_integrate::Solver;
use costep_linalg::{Exponential, Matrix};

const STEP: f64 = 2e-3;
const EXPERIMENT: Experiment = Experiment { start: 0.0, stop: 1.0, step: STEP };

/// The parts of a benchmark model, started, with inputs that are not at rest.
fn parts(model: &str, solver: &Solver) -> Vec<(Box<dyn Subsystem>, Vec<f64>)> {
    let (_, model) = costep_models::find(model).unwrap().model(&[]).unwrap();
    let start = |mut subsystem: Box<dyn Subsystem>| {
        subsystem.initialise(&EXPERIMENT).unwrap();
        let u = (0..subsystem.description().inputs.len()).map(|q| 0.02 - 0.3 * q as f64).collect();
        (subsystem, u)
    };
    model.parts.iter().map(|part| start(part.subsystem(solver).unwrap())).collect()
}

fn held(u: &[f64]) -> InputPolynomials {
    let mut held = InputPolynomials::new(u.len(), 0);
    held.coefficients_mut(0).copy_from_slice(u);
    held
}

/// Outputs after each of some macro steps under a held input.
fn steps(subsystem: &mut dyn Subsystem, u: &[f64], from: u64, count: u64) -> Vec<Vec<f64>> {
    let held = held(u);
    let mut step = |k: u64| {
        let mut y = vec![0.0; subsystem.description().outputs.len()];
        subsystem.step(EXPERIMENT.interval(k), held.segment(0..u.len(), 0), &mut y).unwrap();
        y
    };
    (from..from + count).map(&mut step).collect()
}

/// Shows the source a subsystem before its first step.
fn look(
    source: &mut dyn ModelSource,
    subsystem: Box<dyn Subsystem>,
    u: &[f64],
) -> Result<Box<dyn Subsystem>> {
    let mut all = vec![subsystem];
    let (descriptions, capabilities) = profiles(&mut all);
    source.prepare(&descriptions, &capabilities, &EXPERIMENT)?;
    let mut y = vec![0.0; all[0].description().outputs.len()];
    all[0].initial_outputs(u, &mut y)?;
    let interval = Interval { start: 0.0, end: 0.0, length: 0.0 };
    source.observe(0, &mut *all[0], &Observation { k: 0, interval, u, y: &y })?;
    Ok(all.remove(0))
}

/// What a unit of each input, held over h, does to the outputs at its end, and how far they drift under the present input.
fn response(source: &dyn ModelSource, h: f64) -> (Vec<f64>, Vec<f64>) {
    let (model, (_, x_dot)) = (source.model(0).unwrap(), source.state(0).unwrap());
    let (n, m, r) = (model.states, model.inputs, model.outputs);
    let (mut generator, mut whole) =
        (Matrix::zeros(n + m + 1, n + m + 1), Matrix::zeros(n + m + 1, n + m + 1));
    for (i, rate) in x_dot.iter().enumerate() {
        let row = generator.row_mut(i);
        row[..n].copy_from_slice(&model.a[i * n..(i + 1) * n]);
        row[n..n + m].copy_from_slice(&model.b[i * m..(i + 1) * m]);
        // x' of the present point under the present input, as the change of x.
        row[n + m] = *rate;
    }
    generator.scale(h);
    assert!(Exponential::new(n + m + 1).compute(&generator, &mut whole));
    let through =
        |i: usize, column: usize| -> f64 { (0..n).map(|k| model.c[i * n + k] * whole[(k, column)]).sum() };
    let gains = (0..r * m).map(|at| through(at / m, n + at % m) + model.d[at]).collect();
    let free = (0..r).map(|i| through(i, n + m)).collect();
    (gains, free)
}

fn assert_near(found: &[f64], expected: &[f64], share: f64, what: &str) {
    let size = expected.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= share * size.max(1e-12), "{what}: {found} instead of {expected}");
    }
}

/// The response over a step is that of the exact Jacobians, whatever the coordinates of the states; drift included.
#[test]
fn the_model_responds_as_exact_jacobians_do() {
    for (name, share) in [("dual-mass", 1e-6), ("helicopter", 1e-4)] {
        for (part, u) in parts(name, &Solver::Dopri5(1e-12)) {
            let (mut exact, mut probe) = (Exact::new(1), Probe::new(Refresh::Never, 0.01));
            let of = part.description().name.clone();
            let part = look(&mut probe, part, &u).unwrap();
            look(&mut exact, part, &u).unwrap();
            let (found, expected) = (response(&probe, STEP), response(&exact, STEP));
            assert_near(&found.0, &expected.0, share, &format!("{name} {of}: gains"));
            assert_near(&found.1, &expected.1, share, &format!("{name} {of}: drift"));
        }
    }
}

/// Steps after an excitation have the bits of steps without one, also under solvers that remember.
#[test]
fn the_run_does_not_notice() {
    for solver in [Solver::Euler(1e-5), Solver::Dopri5(1e-8), Solver::Exact] {
        for (plain, probed) in parts("dual-mass", &solver).into_iter().zip(parts("dual-mass", &solver)) {
            let ((mut plain, u), (probed, _)) = (plain, probed);
            let mut source = Probe::new(Refresh::Every(1), 0.01);
            let mut probed = look(&mut source, probed, &u).unwrap();
            for k in 0..20 {
                let (expected, found) = (steps(&mut *plain, &u, k, 1), steps(&mut *probed, &u, k, 1));
                let bits = |rows: &[Vec<f64>]| rows.concat().iter().map(|y| y.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&found), bits(&expected), "{solver:?}, step {k}");
                let seen = Observation { k: k + 1, interval: EXPERIMENT.interval(k), u: &u, y: &found[0] };
                source.observe(0, &mut *probed, &seen).unwrap();
            }
        }
    }
}

/// y = f(x, u) with x' = u - x, and what goes wrong with it.
struct Odd {
    description: Description,
    rollback: bool,
    x: f64,
    kept: f64,
    output: fn(f64, f64) -> f64,
    /// It does not go back from beyond this time.
    event: f64,
    is_beyond: bool,
}

fn odd(output: fn(f64, f64) -> f64, rollback: bool) -> Box<dyn Subsystem> {
    Box::new(with_event(output, rollback, f64::INFINITY))
}

fn with_event(output: fn(f64, f64) -> f64, rollback: bool, event: f64) -> Odd {
    let port = |name: &str| vec![Port { name: name.into(), ..Port::default() }];
    let description = Description {
        name: "odd".into(),
        inputs: port("u"),
        outputs: port("y"),
        feedthrough: vec![[0].into()],
        ..Description::default()
    };
    Odd { description, rollback, x: 0.0, kept: 0.0, output, event, is_beyond: false }
}

impl Subsystem for Odd {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = (self.output)(self.x, u[0]);
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(interval.length, y);
        let held = y[0];
        self.is_beyond |= interval.end > self.event;
        self.x = held + (self.x - held) * (-interval.length * 100.0).exp();
        y[0] = (self.output)(self.x, held);
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

impl Rollback for Odd {
    fn snapshot(&mut self) -> Result<()> {
        self.kept = self.x;
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        if self.is_beyond {
            return Err(Error::new(Code::FmuError, "an event lies between"));
        }
        self.x = self.kept;
        Ok(())
    }
}

impl Capable for Odd {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.rollback { Some(self) } else { None }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        None
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        None
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        None
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        None
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        None
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        None
    }

    fn join_batch(self: Box<Self>, _batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        Err(self)
    }
}

fn probed(part: Box<dyn Subsystem>, amplitude: f64) -> Result<(LocalModel, Box<dyn Subsystem>)> {
    let mut source = Probe::new(Refresh::Never, amplitude);
    let part = look(&mut source, part, &[0.5])?;
    Ok((source.model(0).unwrap().clone(), part))
}

#[test]
fn orders_are_found() {
    let (lag, _) = probed(odd(|x, _| 3.0 * x, true), 0.01).unwrap();
    assert_eq!(lag.states, 1);
    assert!((lag.a[0] + 100.0).abs() < 1e-6 && lag.d[0] == 0.0, "{lag:?}");
    assert!((lag.b[0] * lag.c[0] - 300.0).abs() < 1e-5, "{lag:?}");
    let (gain, _) = probed(odd(|_, u| 7.0 * u, true), 0.01).unwrap();
    assert_eq!((gain.states, (gain.d[0] * 1e9).round()), (0, 7e9));
    let (silent, _) = probed(odd(|_, _| 7.0, true), 0.01).unwrap();
    assert_eq!((silent.states, silent.d[0]), (0, 0.0));
}

#[test]
fn pulses_that_are_too_great_or_too_small_are_changed() {
    // Not a number beyond a narrow range: only small pulses come through.
    let (narrow, _) =
        probed(odd(|x, u| if (u - 0.5).abs() > 1e-4 { f64::NAN } else { x }, true), 10.0).unwrap();
    assert!((narrow.a[0] + 100.0).abs() < 1e-3, "{narrow:?}");
    // Curved: smaller pulses are more linear.
    let mut source = Probe::new(Refresh::Never, 10.0);
    look(&mut source, odd(|x, _| (x + 0.2).powi(3), true), &[0.0]).unwrap();
    let curved = source.model(0).unwrap();
    let gain = curved.b[0] * curved.c[0];
    assert!((gain / (100.0 * 3.0 * 0.04) - 1.0).abs() < 1e-3, "{curved:?}");
    // An input of unknown size: pulses of 1e-8 drown in an output of 1e3.
    let part = odd(|x, _| 1e3 + 1e-3 * x, true);
    let mut source = Probe::new(Refresh::Never, 1e-8);
    look(&mut source, part, &[0.0]).unwrap();
    let model = source.model(0).unwrap();
    assert!((model.b[0] * model.c[0] - 0.1).abs() < 1e-5, "{model:?}");
}

#[test]
fn what_gives_no_model_says_so() {
    let error = probed(odd(|x, _| x, false), 0.01).err().unwrap();
    assert_eq!(error.code(), Code::NeedsMissing);
    assert!(error.to_string().contains("rollback") && error.to_string().contains("`odd`"), "{error}");
    for output in [|_: f64, _: f64| f64::NAN, |_, u: f64| if u > 0.5 { 1.0 } else { 0.0 }] {
        let error = probed(odd(output, true), 0.01).err().unwrap();
        assert_eq!(error.code(), Code::NeedsMissing, "{error}");
        assert!(error.to_string().contains("`odd` gives no local model"), "{error}");
        assert!(error.details().hint.is_some(), "{error}");
    }
}

/// Shows the source a subsystem at each communication point under a held input; its version, states and x after each.
fn watch(
    source: &mut Probe,
    subsystem: Box<dyn Subsystem>,
    experiment: Experiment,
    points: u64,
) -> Result<Vec<(u64, usize, Vec<f64>)>> {
    let (mut all, u) = (vec![subsystem], [0.5]);
    let (descriptions, capabilities) = profiles(&mut all);
    source.prepare(&descriptions, &capabilities, &experiment)?;
    let mut y = [0.0];
    all[0].initial_outputs(&u, &mut y)?;
    let mut interval = Interval { start: 0.0, end: 0.0, length: 0.0 };
    let mut story = Vec::new();
    for k in 0..=points {
        source.observe(0, &mut *all[0], &Observation { k, interval, u: &u, y: &y })?;
        story.push((source.version(0), source.model(0).unwrap().states, source.state(0).unwrap().0.to_vec()));
        interval = experiment.interval(k);
        all[0].step(interval, held(&u).segment(0..1, 0), &mut y)?;
    }
    Ok(story)
}

/// A later excitation may fail, but not leave the subsystem where its trial steps have led.
#[test]
fn what_does_not_go_back_ends_the_run() {
    let watch = |part| watch(&mut Probe::new(Refresh::Every(1), 0.01), part, EXPERIMENT, 10);
    let error = watch(Box::new(with_event(|_, u| 7.0 * u, true, 2.5 * STEP))).err().unwrap();
    assert!(error.to_string().contains("an event lies between"), "{error}");
    let story = watch(odd(|x, u| if x > 0.1 { f64::NAN } else { 7.0 * u }, true)).unwrap();
    assert!(story.iter().all(|(version, ..)| *version == 1), "{story:?}");
}

/// From one state to none, and nothing but zeros.
#[test]
fn another_number_of_states_is_another_version() {
    let mut source = Probe::new(Refresh::Every(1), 0.01);
    let story = watch(&mut source, odd(|x, _| x.min(0.2), true), EXPERIMENT, 20).unwrap();
    assert_eq!((story[0].1, story[20].1), (1, 0), "{story:?}");
    let changes = story.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    changes.for_each(|pair| assert_ne!(pair[0].0, pair[1].0, "{story:?}"));
}

/// Not at rest, which a linear model explains as well as rest; a curved output it does not.
#[test]
fn models_that_explain_what_comes_are_kept() {
    let versions = |output| {
        let mut source = Probe::new(Refresh::Changed, 0.01);
        let story = watch(&mut source, odd(output, true), EXPERIMENT, 20).unwrap();
        story.last().unwrap().0
    };
    assert_eq!(versions(|x, _| 3.0 * x), 1);
    assert!(versions(|x, _| (x + 0.2).powi(3)) > 5);
}

/// Three and a half macro steps are four.
#[test]
fn the_state_is_found_before_a_last_step_beyond_the_stop_time() {
    let experiment = Experiment { start: 0.0, stop: 3.5 * STEP, step: STEP };
    for refresh in [Refresh::Never, Refresh::Every(1)] {
        let story = watch(&mut Probe::new(refresh, 0.01), odd(|x, _| x, true), experiment, 4).unwrap();
        let (before, last) = (&story[2], &story[3]);
        match refresh {
            Refresh::Never => assert_ne!(before.2, last.2, "{story:?}"),
            _ => assert!(last.0 > before.0, "{story:?}"),
        }
        assert_eq!(last, &story[4]);
    }
}
