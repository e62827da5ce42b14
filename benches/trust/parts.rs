//! Parts as a run sees them: with more or less of what they can do, and with every step counted. Parts
//! that are programs rather than equations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use costep_core::{
    Description, EnvironmentModel, EnvironmentStep, Experiment, InputSegment, Interval, Port, PortSize,
    Restricted, Result, Rollback, StepOutcome, Subsystem, Wrapper, handles,
};
use costep_integrate::{Equations, Ode, Solver, Stepper};
use costep_system::{Component, Variation};

/// What parts let others see and do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guise {
    /// Everything: Jacobians, rollback, input polynomials.
    White,
    /// Held inputs and rollback.
    Rollback,
    /// Inputs as ramps, nothing else.
    Ramps,
    /// Steps under held inputs, nothing else.
    Black,
}

impl Guise {
    /// For tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::White => "white boxes",
            Self::Rollback => "rollback only",
            Self::Ramps => "ramps only",
            Self::Black => "black boxes",
        }
    }

    fn hide(self, subsystem: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
        match self {
            Self::White => subsystem,
            Self::Black => Restricted::black_box(subsystem).boxed(),
            Self::Ramps => Restricted::black_box(subsystem).describe(|of| of.input_order = 1).boxed(),
            Self::Rollback => {
                let restricted = Restricted::new(subsystem).without_linearisation().without_micro_samples();
                restricted.describe(|of| of.input_order = 0).without_environment().boxed()
            }
        }
    }
}

/// Steps of all instances of the parts of a system, trial steps included, which no report counts.
#[derive(Clone, Default)]
pub struct Counts(Arc<Mutex<Vec<Count>>>);

/// The name of a part, and the steps of one instance.
type Count = (String, Arc<AtomicU64>);

impl Counts {
    /// Forgets everything.
    pub fn clear(&self) {
        self.all().clear();
    }

    /// Steps of the first instance of every part: those of the run, not of another one beside it.
    pub fn of_first(&self) -> u64 {
        let all = self.all();
        let is_first = |k: usize| all[..k].iter().all(|(name, _)| *name != all[k].0);
        (0..all.len()).filter(|k| is_first(*k)).map(|k| all[k].1.load(Ordering::Relaxed)).sum()
    }

    fn one_more(&self, name: &str) -> Arc<AtomicU64> {
        let count = Arc::new(AtomicU64::new(0));
        self.all().push((name.into(), count.clone()));
        count
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Count>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part in a guise.
#[derive(Clone)]
pub(super) struct Part {
    inner: Box<dyn Component>,
    guise: Guise,
    description: Description,
    counts: Counts,
}

impl Part {
    /// Without nominal values as most tools export FMUs, if so wanted.
    pub(super) fn new(inner: &dyn Component, guise: Guise, nominal: bool, counts: &Counts) -> Self {
        let mut description = inner.description().clone();
        if !nominal {
            let ports = description.inputs.iter_mut().chain(&mut description.outputs);
            ports.for_each(|port| port.nominal = None);
        }
        Self { inner: inner.duplicate(), guise, description, counts: counts.clone() }
    }
}

impl Component for Part {
    fn description(&self) -> &Description {
        &self.description
    }

    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>> {
        let hidden = self.guise.hide(self.inner.subsystem(solver)?);
        let mut description = hidden.description().clone();
        description.inputs.clone_from(&self.description.inputs);
        description.outputs.clone_from(&self.description.outputs);
        let inner = Restricted::new(hidden).describe(|of| *of = description).boxed();
        Ok(Box::new(Counted { inner, count: self.counts.one_more(&self.description.name) }))
    }

    fn stepper(&self, solver: &Solver) -> Result<Box<dyn Stepper>> {
        self.inner.stepper(solver)
    }

    fn equations(&self) -> Result<Box<dyn Equations>> {
        self.inner.equations()
    }

    fn has_equations(&self) -> bool {
        self.guise == Guise::White && self.inner.has_equations()
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        if self.guise == Guise::White { self.inner.ode() } else { None }
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut copy = Self { inner: self.inner.varied(by), ..self.clone() };
        by.apply(&mut copy.description);
        Box::new(copy)
    }

    fn resized(&self, sizes: &[PortSize]) -> Box<dyn Component> {
        let mut copy = Self { inner: self.inner.resized(sizes), ..self.clone() };
        copy.description.resize(sizes);
        Box::new(copy)
    }
}

/// A subsystem whose steps are counted.
struct Counted {
    inner: Box<dyn Subsystem>,
    count: Arc<AtomicU64>,
}

impl Wrapper for Counted {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inner.step(interval, u, y)
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        self.inner.environment().is_some().then_some(self)
    }
}

impl EnvironmentStep for Counted {
    fn step_with(
        &mut self,
        interval: Interval,
        u: InputSegment<'_>,
        environment: &EnvironmentModel,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inner.demand_environment()?.step_with(interval, u, environment, y)
    }
}

/// A program that steps under held inputs.
pub(super) trait Device: Copied + Send + Sync {
    /// From a time on, over a length, under these inputs.
    fn advance(&mut self, from: f64, length: f64, u: &[f64]);

    /// What it shows, under these inputs.
    fn outputs(&self, u: &[f64], y: &mut [f64]);
}

/// Copies of devices, whatever they are.
pub(super) trait Copied {
    fn copy(&self) -> Box<dyn Device>;
}

impl<D: Device + Clone + 'static> Copied for D {
    fn copy(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }
}

/// A device as a component.
pub(super) struct Made {
    description: Description,
    device: Box<dyn Device>,
}

impl Made {
    /// `through` says of each output which inputs it depends on at once.
    pub(super) fn part(
        name: &str,
        (inputs, outputs): (&[&str], &[&str]),
        through: &[&[usize]],
        device: impl Device + 'static,
    ) -> Box<dyn Component> {
        let ports = |names: &[&str]| names.iter().map(|name| Port::new(name, "1", 1.0)).collect();
        let description = Description {
            name: name.into(),
            inputs: ports(inputs),
            outputs: ports(outputs),
            feedthrough: through.iter().map(|inputs| (*inputs).into()).collect(),
            ..Description::default()
        };
        Box::new(Self { description, device: Box::new(device) })
    }
}

impl Component for Made {
    fn description(&self) -> &Description {
        &self.description
    }

    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        let [start, device, kept] = [(); 3].map(|()| self.device.copy());
        Ok(Box::new(Simulated { description: self.description.clone(), start, device, kept }))
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        None
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut description = self.description.clone();
        by.apply(&mut description);
        Box::new(Self { description, device: self.device.copy() })
    }

    fn resized(&self, sizes: &[PortSize]) -> Box<dyn Component> {
        let mut description = self.description.clone();
        description.resize(sizes);
        Box::new(Self { description, device: self.device.copy() })
    }
}

/// A device as a subsystem.
struct Simulated {
    description: Description,
    start: Box<dyn Device>,
    device: Box<dyn Device>,
    kept: Box<dyn Device>,
}

impl Subsystem for Simulated {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        self.device = self.start.copy();
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.device.outputs(u, y);
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let held = u.coefficients(0);
        self.device.advance(interval.start, interval.length, held);
        self.device.outputs(held, y);
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

impl Rollback for Simulated {
    fn snapshot(&mut self) -> Result<()> {
        self.kept = self.device.copy();
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        self.device = self.kept.copy();
        Ok(())
    }
}

handles!(Simulated {
    rollback: some,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: none,
    telemetry: none
});
