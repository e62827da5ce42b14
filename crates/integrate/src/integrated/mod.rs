//! A subsystem that costep integrates itself: equations plus an integrator.

mod handles;

use costep_core::{
    Description, Experiment, InputSegment, Interval, MicroBuffer, Result, StateReader, StateWriter,
    StepOutcome, Subsystem,
};

use crate::environment::EnvironmentSolver;
use crate::equations::Equations;
use crate::euler::Euler;
use crate::events::{EventCounts, EventDriver};
use crate::integrator::Integrator;
use crate::sampler::Sampler;
use crate::solver::Solver;

/// Room for samples at events, beyond those between.
const EVENT_SAMPLES: usize = 64;

/// Equations with an integrator and a present state: a native model, an FMU for Model Exchange, a whole
/// system.
pub struct Integrated<E> {
    pub(crate) equations: E,
    /// That of the equations, with the order of inputs that integrators take.
    description: Description,
    pub(crate) integrator: Chosen,
    t: f64,
    x: Vec<f64>,
    /// Input at t.
    u: Vec<f64>,
    /// Keeps outputs inside the step, if they are asked for.
    sampler: Option<Box<Sampler>>,
    /// What a step of the smallest integrator without events does not need: thousands of subsystems have to
    /// fit into the caches.
    extra: Box<Extra>,
}

/// What few steps need.
struct Extra {
    solver: Solver,
    phase: Phase,
    /// Finds events, if the equations have some.
    driver: Option<EventDriver>,
    /// Whether the equations remember more than time, states and inputs.
    has_lifecycle: bool,
    /// Steps beside a model of the rest of the system.
    environment: Option<EnvironmentSolver>,
    /// What a checkpoint holds for these, until they are made.
    environment_saved: Vec<u8>,
    /// Time, state and input at the last snapshot.
    saved: (f64, Vec<f64>, Vec<f64>),
    /// What records outputs inside steps, put aside during trial steps.
    paused: Option<Box<Sampler>>,
}

/// How far equations with events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Initial values are being sought, or nothing has been done yet.
    Starting,
    /// Steps can be done.
    Stepping,
}

/// The integrator of a subsystem. The smallest one is at hand, compiled for the equations: a call through a
/// table would take as long as a small step. It is for equations without events.
pub(crate) enum Chosen {
    Euler(Euler),
    Other(Box<dyn Integrator>),
}

impl Chosen {
    pub(crate) fn get(&self) -> &dyn Integrator {
        match self {
            Self::Euler(euler) => euler,
            Self::Other(other) => &**other,
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut dyn Integrator {
        match self {
            Self::Euler(euler) => euler,
            Self::Other(other) => &mut **other,
        }
    }

    /// Advances x over a macro step without events.
    #[inline]
    pub(crate) fn advance<E: Equations>(
        &mut self,
        equations: &mut E,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        match (self, sampler) {
            (Self::Euler(euler), None) => euler.advance_unwatched(equations, interval, input, x),
            (Self::Euler(euler), Some(sampler)) => {
                euler.advance_watched(equations, interval, input, x, sampler)
            }
            (Self::Other(other), sampler) => other.advance(equations, interval, input, x, sampler),
        }
    }
}

impl<E: Equations> Integrated<E> {
    /// Equations under an integrator.
    pub fn new(mut equations: E, solver: &Solver) -> Result<Self> {
        let description = Description { input_order: usize::MAX, ..equations.description().clone() };
        let (states, inputs) = (equations.states(), description.inputs.len());
        let driver = equations.events().map(|events| EventDriver::new(states, inputs, events.indicators()));
        let integrator = match *solver {
            Solver::Euler(step) if driver.is_none() => {
                solver.check()?;
                Chosen::Euler(Euler::new(step, states, inputs))
            }
            _ => Chosen::Other(solver.integrator(&mut equations)?),
        };
        let extra = Extra {
            solver: *solver,
            phase: Phase::Starting,
            driver,
            has_lifecycle: equations.lifecycle().is_some(),
            environment: None,
            environment_saved: Vec::new(),
            saved: (0.0, vec![0.0; states], vec![0.0; inputs]),
            paused: None,
        };
        let (x, u) = (vec![0.0; states], vec![0.0; inputs]);
        Ok(Self { integrator, t: 0.0, x, u, sampler: None, extra: Box::new(extra), equations, description })
    }

    /// The equations.
    pub fn equations(&self) -> &E {
        &self.equations
    }

    /// The equations, to be changed.
    pub fn equations_mut(&mut self) -> &mut E {
        &mut self.equations
    }

    /// The present time.
    pub fn time(&self) -> f64 {
        self.t
    }

    /// The present state.
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// The solver.
    pub fn solver(&self) -> &Solver {
        &self.extra.solver
    }

    /// Events and inner steps since the start.
    pub fn event_counts(&self) -> EventCounts {
        self.extra.driver.as_ref().map_or(EventCounts::default(), |driver| driver.counts())
    }

    /// Whether it has announced a time event that has not come yet, or has had one.
    pub fn has_time_events(&self) -> bool {
        self.extra
            .driver
            .as_ref()
            .is_some_and(|driver| driver.counts().time > 0 || driver.next_event().is_some())
    }

    /// Whether its initialisation has ended, so that steps can be done.
    pub fn is_stepping(&self) -> bool {
        self.extra.phase == Phase::Stepping
    }

    /// Goes back to the start of a run, but for the equations.
    pub(crate) fn reset(&mut self, experiment: &Experiment) -> Result<()> {
        let integrator = self.integrator.get_mut();
        integrator.check_step(experiment.step)?;
        integrator.reset();
        self.t = experiment.start;
        self.extra.phase = Phase::Starting;
        Ok(())
    }

    /// Ends the initialisation of equations with events, if that has not been done.
    #[inline]
    pub fn start(&mut self) -> Result<()> {
        match self.extra.driver {
            None => Ok(()),
            Some(_) => self.start_events(),
        }
    }

    fn start_events(&mut self) -> Result<()> {
        let Self { equations, t, x, u, extra, .. } = self;
        if extra.phase == Phase::Stepping {
            return equations.lifecycle().map_or(Ok(()), |life| life.check());
        }
        let after = equations.start(*t, x, u)?;
        if let Some(driver) = &mut extra.driver {
            driver.start(equations, (*t, x, u), after)?;
        }
        extra.phase = Phase::Stepping;
        Ok(())
    }

    /// Advances the state of equations with events, or of those whose outputs inside the step are asked
    /// for. Out of line, so that the path of the smallest integrator stays short.
    #[inline(never)]
    fn advance(&mut self, interval: Interval, input: InputSegment<'_>) -> Result<()> {
        self.start()?;
        let Self { equations, integrator, x, sampler, extra, .. } = self;
        let mut sampler = sampler.as_deref_mut();
        if let Some(sampler) = &mut sampler {
            sampler.clear();
        }
        match &mut extra.driver {
            None => integrator.advance(equations, interval, input, x, sampler),
            Some(driver) => driver
                .advance(integrator.get_mut(), equations, interval, input, x, sampler)
                .map_err(|error| equations.explain(error)),
        }
    }

    /// Writes what finding events and integrating carry from step to step, for checkpoints of other forms.
    pub fn save_solver(&self, out: &mut StateWriter) {
        if let Some(driver) = &self.extra.driver {
            driver.save(out);
        }
        self.integrator.get().save(out);
    }

    /// Reads it back.
    pub fn load_solver(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if let Some(driver) = &mut self.extra.driver {
            driver.load(from)?;
        }
        self.integrator.get_mut().load(from)
    }

    /// Puts it elsewhere.
    pub fn set_state(&mut self, t: f64, x: &[f64]) {
        self.t = t;
        self.x.copy_from_slice(x);
    }

    /// What steps beside a model of the environment carry on: nothing if there has not been any.
    pub fn environment_bytes(&self) -> Vec<u8> {
        let Some(environment) = &self.extra.environment else { return self.extra.environment_saved.clone() };
        let mut out = StateWriter::default();
        environment.save(self.environment_point(), &mut out);
        out.into_bytes()
    }

    /// The time that is written for the environment. Checkpoints of FMUs do without: the file format is
    /// older than this type.
    fn environment_point(&self) -> Option<f64> {
        (!self.extra.has_lifecycle).then_some(self.t)
    }

    /// Reads it back.
    pub fn set_environment_bytes(&mut self, bytes: &[u8]) {
        self.extra.environment_saved = bytes.to_vec();
        self.extra.environment = None;
    }

    /// Room for the outputs inside a step.
    fn buffer(&self, experiment: &Experiment) -> MicroBuffer {
        let integrator = self.integrator.get();
        // Too many are refused in `initialise`; here they must only not be asked for.
        let points = match integrator.check_step(experiment.step) {
            Err(_) => 0,
            Ok(()) => integrator.points(experiment.step),
        };
        let at_events = if self.extra.driver.is_some() { EVENT_SAMPLES } else { 0 };
        MicroBuffer::with_capacity(points.saturating_add(at_events), self.description.outputs.len())
    }
}

impl<E: Equations + 'static> Subsystem for Integrated<E> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.reset(experiment)?;
        let Self { equations, t, x, u, extra, .. } = self;
        match equations.lifecycle() {
            // The states come when the initialisation ends.
            Some(life) => {
                u.fill(f64::NAN);
                extra.environment = None;
                extra.environment_saved.clear();
                life.initialise(experiment, extra.solver.tolerance())
            }
            None => equations.start(*t, x, u).map(|_| ()),
        }
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.u.copy_from_slice(u);
        match self.equations.lifecycle() {
            Some(life) => life.initial_outputs(u, y),
            None => self.equations.outputs(self.t, &self.x, u, y),
        }
    }

    fn begin(&mut self, y: &mut [f64]) -> Result<()> {
        if !self.extra.has_lifecycle {
            return Ok(());
        }
        self.start()?;
        self.equations.outputs(self.t, &self.x, &self.u, y)
    }

    fn step(&mut self, interval: Interval, input: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        match &mut self.integrator {
            Chosen::Euler(euler) if self.sampler.is_none() => {
                euler.advance_unwatched(&mut self.equations, interval, input, &mut self.x)?;
            }
            _ => self.advance(interval, input)?,
        }
        self.t = interval.end;
        if input.order() == 0 {
            copy_few(input.coefficients(0), &mut self.u);
        } else {
            input.evaluate(interval.length, &mut self.u);
        }
        self.equations.outputs(self.t, &self.x, &self.u, y)?;
        Ok(StepOutcome { reached: self.t })
    }

    fn terminate(&mut self) {
        if let Some(life) = self.equations.lifecycle() {
            life.terminate();
        }
        self.extra.phase = Phase::Starting;
    }
}

/// Copies a few numbers without the call that a copy of unknown length is.
#[inline]
fn copy_few(from: &[f64], to: &mut [f64]) {
    match (from, to) {
        ([a], [x]) => *x = *a,
        ([a, b], [x, y]) => (*x, *y) = (*a, *b),
        (from, to) => to.copy_from_slice(from),
    }
}
