//! The cases: systems, steps, starts, external inputs, noise. What a prototype of the method gave stands beside them.

use std::f64::consts::TAU;

use costep_analysis::{Reference, measure};
use costep_core::{CouplingMethod, External, Result};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_reproduce::Case;
use costep_system::SystemDescription;

use super::noisy::Noisy;
use super::stiffening::Stiffening;

/// A system at a step.
#[derive(Clone)]
pub struct Row {
    /// System, start and step in words.
    pub name: String,
    case: Case,
    pub(super) step: f64,
    /// Noise on all outputs: standard deviation of the signal over that of the noise, in dB.
    noise: Option<f64>,
    /// Errors of the prototype with held inputs and with ramps; not a number if it was not tried.
    pub(super) prototype: (f64, f64),
}

/// Errors of runs that diverge, and of all above the first.
const DIVERGED: (f64, f64) = (9.0, 99.0);
/// When the spring changes, in s.
const CHANGE: f64 = 0.4;

impl Row {
    pub(super) fn new(name: impl Into<String>, case: Case, step: f64, hold: f64, ramp: f64) -> Self {
        Self { name: name.into(), case, step, noise: None, prototype: (hold, ramp) }
    }

    pub(super) fn noisy(self, decibels: f64) -> Self {
        Self { noise: Some(decibels), ..self }
    }

    /// The system, its end and the step.
    pub(crate) fn drawn(&self) -> Result<(SystemDescription, f64, f64)> {
        Ok((self.case.model()?, self.case.stop(), self.step))
    }

    /// Error of each method, and steps of subsystems per macro step.
    pub(super) fn errors(&self, methods: &[&str]) -> Result<Vec<(f64, f64)>> {
        let specs = methods.iter().map(|method| MethodSpec::parse(method)).collect::<Result<Vec<_>>>()?;
        self.errors_of(specs.len(), |k| specs[k].build())
    }

    /// The same of methods that are made one after the other; none may need local models.
    pub fn errors_of(
        &self,
        count: usize,
        make: impl Fn(usize) -> Box<dyn CouplingMethod>,
    ) -> Result<Vec<(f64, f64)>> {
        let reference = self.case.monolithic(self.step, false)?;
        let descriptions = self.case.descriptions()?;
        let deviations = self.noise.map(|decibels| deviations(&reference, decibels));
        let layout = self.case.model()?.layout();
        let error = |k: usize| {
            let run = self.case.run_wrapped(make(k), self.step, |i, part| match &deviations {
                Some(all) => Box::new(Noisy::new(part, &all[layout.output_range(i)], i as u64 + 1)),
                None => part,
            })?;
            let error = if run.ended {
                measure(&descriptions, &run.trace, &reference).eps_mean
            } else {
                f64::INFINITY
            };
            Ok((if error <= DIVERGED.0 { error } else { DIVERGED.1 }, run.calls))
        };
        (0..count).map(error).collect()
    }
}

/// Standard deviation of the noise on each output.
fn deviations(reference: &Reference, decibels: f64) -> Vec<f64> {
    let trace = &reference.trace;
    let points = trace.times.len() as f64;
    let deviation = |i: usize| {
        let column = || trace.rows.iter().skip(i).step_by(trace.outputs);
        let mean = column().sum::<f64>() / points;
        let variance = column().map(|y| (y - mean).powi(2)).sum::<f64>() / points;
        variance.sqrt() * 10f64.powf(-decibels / 20.0)
    };
    (0..trace.outputs).map(deviation).collect()
}

/// Exact steps inside.
pub(super) fn exact(model: SystemDescription) -> SystemDescription {
    SystemDescription { solver: Solver::Exact, ..model }
}

fn masses(ck: f64, dk: f64) -> Case {
    Case::new("dual-mass", &[("ck", ck), ("dk", dk)], 0.3).altered(exact)
}

/// The nonlinear oscillator.
fn nonlinear() -> Case {
    nonlinear_with(&[])
}

pub(super) fn nonlinear_with(set: &[(&str, f64)]) -> Case {
    Case::new("dual-mass-nonlinear", set, 1.0)
}

pub(super) fn helicopter(controller: f64, pilot: f64) -> Case {
    Case::new("helicopter", &[("controller", controller), ("pilot", pilot)], 90.0)
}

fn book(pilot: f64) -> Case {
    helicopter(1.0, pilot)
}

fn fit(pilot: f64) -> Case {
    helicopter(2.0, pilot)
}

fn pendulum() -> Case {
    pendulum_with(&[])
}

pub(super) fn pendulum_with(set: &[(&str, f64)]) -> Case {
    Case::new("pendulum-oscillator", set, 2.0)
        .altered(|model| SystemDescription { solver: Solver::Rk4(2e-4), ..model })
}

fn chain(idle: f64) -> Case {
    Case::new("chain", &[("idle", idle)], if idle > 0.0 { 1.5 } else { 1.0 }).altered(exact)
}

/// The oscillator at rest, pushed from 0.1 s on.
fn idle(ck: f64, dk: f64, stop: f64) -> Case {
    let push = External::Square { high: 5e4, low: -3e4, frequency: 7.0, phase: 0.0, start: 0.1 };
    Case::new("dual-mass", &[("ck", ck), ("dk", dk), ("x1", 0.0)], stop).altered(exact).driven(0, 0, push)
}

/// The oscillator under an irregular square wave.
fn pushed(ck: f64, dk: f64, stop: f64) -> Case {
    let case = Case::new("dual-mass", &[("ck", ck), ("dk", dk)], stop).altered(exact);
    irregular(stop).into_iter().fold(case, |case, signal| case.driven(0, 0, signal))
}

/// The same with a spring that becomes twice as stiff.
fn stiffening(ck: f64, dk: f64) -> Case {
    pushed(ck, dk, 2.0 * CHANGE).altered(|mut model: SystemDescription| {
        let description = model.parts[0].description().clone();
        model.parts[0] = Box::new(Stiffening { description, at: CHANGE });
        model
    })
}

/// 4e4 sign(sin(2 pi 9 t) + 0.6 sin(2 pi 23.7 t + 0.4)) as a sum of steps.
fn irregular(stop: f64) -> Vec<External> {
    const SIZE: f64 = 4e4;
    let wave = |t: f64| (TAU * 9.0 * t).sin() + 0.6 * (TAU * 23.7 * t + 0.4).sin();
    let mut steps = vec![External::Step { value: SIZE * wave(0.0).signum(), start: 0.0 }];
    let grid = 1e-4;
    for k in 0..(stop / grid).ceil() as u32 {
        let (mut from, mut to) = (f64::from(k) * grid, f64::from(k + 1) * grid);
        let before = wave(from).signum();
        if before == wave(to).signum() {
            continue;
        }
        for _ in 0..40 {
            let middle = 0.5 * (from + to);
            if wave(middle).signum() == before { from = middle } else { to = middle }
        }
        steps.push(External::Step { value: -2.0 * SIZE * before, start: to });
    }
    steps
}

/// The hydraulic lines under a flow into the first one that is -1 from `start` on and 1 from half time on.
fn lines(stop: f64, start: f64) -> Case {
    Case::new("hydraulic-linear", &[("flow", 0.0)], stop)
        .driven(0, 0, External::Step { value: -1.0, start })
        .driven(0, 0, External::Step { value: 2.0, start: 0.5 * stop })
}

/// Those that the prototype was not tuned on.
pub(super) fn test() -> Vec<Row> {
    let row = Row::new;
    vec![
        row("nonlinear oscillator 2 ms", nonlinear(), 2e-3, 0.097, 0.113),
        row("oscillator 1e5/1e3 2 ms", masses(1e5, 1e3), 2e-3, 0.0078, 0.013),
        row("oscillator 1e5/1e3 8 ms", masses(1e5, 1e3), 8e-3, 0.152, 0.101),
        row("oscillator 2e5/200 4 ms", masses(2e5, 200.0), 4e-3, 0.223, 0.135),
        row("oscillator 1e4/1e3 1 ms", masses(1e4, 1e3), 1e-3, 0.0041, 0.0026),
        row("oscillator 1e6/1e3 1 ms", masses(1e6, 1e3), 1e-3, 0.029, 0.018),
        row("oscillator 1e6/1e4 2 ms", masses(1e6, 1e4), 2e-3, 0.092, 0.217),
        row("oscillator 3e4/300 3 ms", masses(3e4, 300.0), 3e-3, 0.037, 0.022),
        row("helicopter bookI pilot 3 0.1 s", book(3.0), 0.1, 0.016, 0.022),
        row("helicopter bookI pilot 4 0.3 s", book(4.0), 0.3, 0.011, 0.017),
        row("helicopter bookI pilot 5 0.2 s", book(5.0), 0.2, 0.0088, 0.011),
        row("helicopter bookI pilot 3 0.4 s", book(3.0), 0.4, 0.880, 0.265),
        row("helicopter fit487 pilot 1 0.1 s", fit(1.0), 0.1, 0.0045, 0.0024),
        row("helicopter fit487 pilot 1 0.3 s", fit(1.0), 0.3, 0.018, 0.018),
        row("helicopter fit487 pilot 3 0.2 s", fit(3.0), 0.2, 0.034, 0.074),
        row("helicopter fit487 pilot 5 0.3 s", fit(5.0), 0.3, 0.017, 0.015),
        row("pendulum 2 ms", pendulum(), 2e-3, 0.0005, 0.0001),
        row("pendulum 10 ms", pendulum(), 10e-3, 0.011, 0.0049),
        row("hydraulic lines 20 us", lines(0.02, 4e-4), 20e-6, 0.014, 0.013),
        row("hydraulic lines 100 us", lines(0.03, 6e-4), 100e-6, 0.195, 0.185),
        row("chain 1 ms", chain(0.0), 1e-3, 0.033, 0.0098),
        row("chain 5 ms", chain(0.0), 5e-3, 0.252, 0.170),
        row("chain, idle at first, 5 ms", chain(0.5), 5e-3, 0.170, 0.107),
        row("oscillator, square wave, noise 40 dB, 1 ms", pushed(1e5, 1e3, 0.5), 1e-3, 0.019, 0.013)
            .noisy(40.0),
        row("oscillator, square wave, noise 60 dB, 3 ms", pushed(1e5, 1e3, 0.9), 3e-3, 0.057, 0.028)
            .noisy(60.0),
        row("helicopter bookI pilot 5, noise 60 dB, 0.1 s", book(5.0), 0.1, 0.0057, 0.0075).noisy(60.0),
        row("helicopter bookI pilot 5, noise 40 dB, 0.1 s", book(5.0), 0.1, 0.0091, 0.011).noisy(40.0),
        row("oscillator 2e5/200, idle at first, 2 ms", idle(2e5, 200.0, 0.8), 2e-3, 0.072, 0.063),
        row("oscillator 2e5/500, spring changes, 1 ms", stiffening(2e5, 500.0), 1e-3, 0.030, 0.019),
        row("hydraulic lines, idle at first, 50 us", lines(0.03, 5.6e-3), 50e-6, 0.029, 0.031),
    ]
}

/// Other systems, steps and noise of the same kind, made when the method was settled but for one change.
pub(super) fn further() -> Vec<Row> {
    let row = |name: &str, case, step| Row::new(name, case, step, f64::NAN, f64::NAN);
    let model = |id, set: &[(&str, f64)], stop| Case::new(id, set, stop);
    let light = &[("ck", 5e4), ("dk", 100.0), ("m1", 1.0), ("c1", 2e4), ("c2", 1e5)];
    let soft = &[("c", 2e5), ("dk_max", 1e3), ("force", 2e5), ("period", 0.08)];
    let tank = &[("t1", 0.02), ("t2", 0.05)];
    vec![
        row("oscillator 3e5/2e3 3 ms", masses(3e5, 2e3), 3e-3),
        row("oscillator 5e4/5e3 5 ms", masses(5e4, 5e3), 5e-3),
        row("oscillator 1e6/100 0.7 ms", masses(1e6, 100.0), 7e-4),
        row("oscillator, light masses, 2 ms", model("dual-mass", light, 0.5).altered(exact), 2e-3),
        row("oscillator 3e5/300, square wave, noise 50 dB, 2 ms", pushed(3e5, 300.0, 0.7), 2e-3).noisy(50.0),
        row("oscillator 5e4/2e3, idle at first, 4 ms", idle(5e4, 2e3, 0.9), 4e-3),
        row("oscillator 3e5/1e3, spring changes, 1.5 ms", stiffening(3e5, 1e3), 1.5e-3),
        row("nonlinear oscillator 3 ms", nonlinear(), 3e-3),
        row("nonlinear oscillator, softer, 1.5 ms", model("dual-mass-nonlinear", soft, 1.0), 1.5e-3),
        row("helicopter bookI pilot 4 0.15 s", book(4.0), 0.15),
        row("helicopter bookI pilot 5 0.35 s", book(5.0), 0.35),
        row("helicopter fit487 pilot 2 0.25 s", fit(2.0), 0.25),
        row("helicopter fit487 pilot 4 0.2 s, noise 50 dB", fit(4.0), 0.2).noisy(50.0),
        row("pendulum 15 ms", pendulum(), 15e-3),
        row("chain of 3, 4 ms", model("chain", &[("n", 3.0), ("k", 2e4)], 1.0).altered(exact), 4e-3),
        row("chain of 7, 3 ms", model("chain", &[("n", 7.0)], 1.0).altered(exact), 3e-3),
        row("hydraulic lines 30 us, noise 60 dB", lines(0.02, 4e-4), 30e-6).noisy(60.0),
        row("hydraulic lines, nonlinear, 50 us", model("hydraulic", tank, 0.08), 50e-6),
        row("three springs 0.2 s", model("triple-spring", &[], 8.0), 0.2),
        row("coupled pendula 10 ms", model("coupled-pendula", &[], 4.0), 0.01),
        row("coupled pendula 50 ms", model("coupled-pendula", &[], 4.0), 0.05),
    ]
}

/// Those that it was tuned on.
pub(super) fn choosing() -> Vec<Row> {
    let row = Row::new;
    vec![
        row("nonlinear oscillator 1 ms", nonlinear(), 1e-3, 0.031, 0.034),
        row("nonlinear oscillator 5 ms", nonlinear(), 5e-3, 0.127, 0.142),
        row("oscillator 1e5/1e3 1 ms", masses(1e5, 1e3), 1e-3, 0.0041, 0.0039),
        row("oscillator 1e5/1e3 4 ms", masses(1e5, 1e3), 4e-3, 0.074, 0.024),
        row("oscillator 2e5/200 1 ms", masses(2e5, 200.0), 1e-3, 0.031, 0.010),
        row("oscillator 2e5/200 2 ms", masses(2e5, 200.0), 2e-3, 0.078, 0.051),
        row("oscillator 2e5/200 6 ms", masses(2e5, 200.0), 6e-3, 0.306, 0.254),
        row("helicopter bookI pilot 1 0.05 s", book(1.0), 0.05, 0.0017, 0.0009),
        row("helicopter bookI pilot 1 0.1 s", book(1.0), 0.1, 0.0044, 0.0055),
        row("helicopter bookI pilot 1 0.2 s", book(1.0), 0.2, 0.0093, 0.019),
        row("helicopter bookI pilot 1 0.3 s", book(1.0), 0.3, 0.020, 0.016),
        row("helicopter bookI pilot 2 0.2 s", book(2.0), 0.2, 0.032, 0.086),
        row("helicopter bookI pilot 2 0.4 s", book(2.0), 0.4, 0.070, 0.173),
        row("pendulum 1 ms", pendulum(), 1e-3, 0.0001, 0.000_05),
        row("pendulum 5 ms", pendulum(), 5e-3, 0.0030, 0.0007),
        row("pendulum 20 ms", pendulum(), 20e-3, 0.042, 0.026),
        row("hydraulic lines 10 us", lines(0.02, 4e-4), 10e-6, 0.0054, 0.0051),
        row("hydraulic lines 50 us", lines(0.02, 4e-4), 50e-6, 0.060, 0.061),
        row("chain 2 ms", chain(0.0), 2e-3, 0.452, 0.029),
        row("chain 8 ms", chain(0.0), 8e-3, 0.815, 0.437),
        row("oscillator, square wave, 1 ms", pushed(1e5, 1e3, 0.5), 1e-3, 0.021, 0.013),
        row("oscillator, square wave, noise 60 dB, 1 ms", pushed(1e5, 1e3, 0.5), 1e-3, 0.020, 0.013)
            .noisy(60.0),
        row("oscillator, square wave, noise 40 dB, 3 ms", pushed(1e5, 1e3, 0.9), 3e-3, 0.059, 0.029)
            .noisy(40.0),
        row("oscillator 1e5/1e3, idle at first, 1 ms", idle(1e5, 1e3, 0.5), 1e-3, 0.013, 0.0085),
        row("oscillator 1e5/1e3, spring changes, 2 ms", stiffening(1e5, 1e3), 2e-3, 0.036, 0.033),
    ]
}
