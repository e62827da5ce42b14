//! Runs of changed models, and their errors.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use costep_analysis::{Measures, Reference, Trace, measure};
use costep_core::{
    Code, Description, Experiment, External, InputSegment, Interval, LocalModel, Restricted, Result,
    StepLengths, StepOutcome, Subsystem, Wrapper,
};
use costep_engine::{Engine, System};
use costep_integrate::{Ode, Renamable, Solver};
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

pub(crate) fn model(id: &str, set: &[(&str, f64)]) -> SystemDescription {
    let set: Vec<_> = set.iter().map(|(name, value)| (String::from(*name), *value)).collect();
    costep_models::find(id).unwrap().model(&set).unwrap().1
}

/// How the subsystems of a model are changed.
pub(crate) type Wrap = fn(usize, Box<dyn Subsystem>) -> Box<dyn Subsystem>;

/// The subsystems as they are.
pub(crate) fn plain(_: usize, part: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
    part
}

/// A model over a time in steps, and its monolithic solution.
pub(crate) struct Case<'a> {
    model: &'a SystemDescription,
    experiment: Experiment,
    reference: Reference,
}

impl<'a> Case<'a> {
    pub(crate) fn new(model: &'a SystemDescription, step: f64, stop: f64) -> Self {
        let experiment = Experiment { start: 0.0, stop, step };
        let exact = model.solver == Solver::Exact && !model.externals.is_empty();
        let solver = if exact { Solver::Dopri5(1e-10) } else { model.solver };
        let reference = Reference::new(model, solver, &experiment, false).unwrap();
        Self { model, experiment, reference }
    }

    /// An engine before its first step.
    pub(crate) fn engine(&self, method: &str, wrap: Wrap) -> Engine {
        let Self { model, experiment, .. } = self;
        let method = MethodSpec::parse(method).unwrap();
        let parts = model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap());
        Engine::new(System {
            externals: model.externals.clone(),
            ..System::new(
                parts.enumerate().map(|(i, part)| wrap(i, part)).collect(),
                model.connections.clone(),
                (method.build(), method.models()),
                *experiment,
            )
        })
        .unwrap()
    }

    /// A run; none if it diverges.
    pub(crate) fn run(&self, method: &str, wrap: Wrap) -> Option<Measures> {
        let mut engine = self.engine(method, wrap);
        let mut trace = Trace::new(engine.outputs().len(), false);
        match engine.run(&mut [&mut trace]) {
            Ok(()) => Some(measure(engine.descriptions(), &trace, &self.reference)),
            Err(error) if matches!(error.code(), Code::Diverged | Code::NotFinite) => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Its error; infinite if it diverges.
    pub(crate) fn eps(&self, method: &str, wrap: Wrap) -> f64 {
        self.run(method, wrap).map_or(f64::INFINITY, |measures| measures.eps_mean)
    }
}

/// A run of a model whose subsystems have been changed by `wrap`; none if it diverges.
pub(crate) fn run(
    model: &SystemDescription,
    method: &str,
    step: f64,
    stop: f64,
    wrap: Wrap,
) -> Option<Measures> {
    Case::new(model, step, stop).run(method, wrap)
}

pub(crate) fn eps(model: &SystemDescription, method: &str, step: f64, stop: f64) -> f64 {
    Case::new(model, step, stop).eps(method, plain)
}

/// A subsystem that can do nothing but a step of one length under held inputs.
pub(crate) struct BlackBox {
    inner: Box<dyn Subsystem>,
    /// Standard deviation of noise on each output.
    noise: Vec<f64>,
    random: u64,
}

impl BlackBox {
    pub(crate) fn new(inner: Box<dyn Subsystem>) -> Self {
        Self::with_noise(inner, 0, 0.0)
    }

    /// With noise of this share of the nominal values of its outputs.
    fn with_noise(inner: Box<dyn Subsystem>, order: usize, share: f64) -> Self {
        let lengths = if share > 0.0 { StepLengths::Any } else { StepLengths::MacroSteps };
        let ports = &inner.description().outputs;
        let noise = ports.iter().map(|port| share * port.nominal.unwrap_or(1.0)).collect();
        let inner = Restricted::black_box(inner)
            .describe(|d| (d.input_order, d.step_lengths) = (order, lengths))
            .without_persistence()
            .boxed();
        Self { inner, noise, random: 1 }
    }

    /// Nearly Gaussian, of variance 1: the sum of twelve uniform numbers.
    fn gaussian(&mut self) -> f64 {
        let mut uniform = || {
            self.random =
                self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

impl Wrapper for BlackBox {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let outcome = self.inner.step(interval, u, y)?;
        for (i, y) in y.iter_mut().enumerate() {
            *y += self.noise[i] * self.gaussian();
        }
        Ok(outcome)
    }
}

/// Noise on all outputs: a level in dB below their nominal values.
pub(crate) const NOISES: [(u32, Wrap); 2] =
    [(40, |_, part| noisy(part, 0.01)), (60, |_, part| noisy(part, 0.001))];

fn noisy(part: Box<dyn Subsystem>, share: f64) -> Box<dyn Subsystem> {
    Box::new(BlackBox::with_noise(part, 1, share))
}

/// A mass whose spring becomes twice as stiff at half time.
#[derive(Clone)]
struct Stiffening {
    description: Description,
}

impl Stiffening {
    fn spring(t: f64) -> f64 {
        if t < 0.5 { 1e6 } else { 2e6 }
    }
}

impl Renamable for Stiffening {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Stiffening {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[0.1, 0.0]);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = (u[0] - Self::spring(t) * x[0] - x[1]) / 10.0;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[0.0, 1.0, -0.1 * Self::spring(t), -0.1]);
        model.b.copy_from_slice(&[0.0, 0.1]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }
}

/// The oscillator under a square force, with a spring that doubles at t = 0.5 s.
pub(crate) fn stiffening() -> SystemDescription {
    let mut oscillator = model("dual-mass", &[("ck", 2e5), ("dk", 500.0)]);
    let description = oscillator.parts[0].description().clone();
    oscillator.parts[0] = Box::new(Stiffening { description });
    let (high, low, frequency) = (4e4, -4e4, 9.0);
    oscillator.driven(0, 0, External::Square { high, low, frequency, phase: 0.0, start: 0.0 })
}
