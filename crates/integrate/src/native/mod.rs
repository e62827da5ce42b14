//! A subsystem that costep integrates itself: equations plus an integrator.

mod handles;

use costep_core::{
    Description, EnvironmentModel, Experiment, InputSegment, Interval, LocalModel, Result, StateReader,
    StateWriter, StepOutcome, Subsystem,
};

use crate::beside::{StepBeside, step_beside};
use crate::dynamics::Dynamics;
use crate::euler::Euler;
use crate::integrator::{Integrator, Sampler};
use crate::ode::Ode;
use crate::solver::Solver;
use crate::stepper::{Path, Stepper};

/// Equations with an integrator and a present state.
pub struct Native<S> {
    equations: Watched<S>,
    /// That of the equations, with the order of inputs that integrators take.
    description: Description,
    integrator: Chosen<Watched<S>>,
    t: f64,
    x: Vec<f64>,
    /// Input at t.
    u: Vec<f64>,
    /// State, input and time at the last snapshot.
    saved: Box<Saved>,
    /// There to show points of the solution, if outputs inside the step are asked for.
    sampler: Option<Box<Sampler>>,
    /// How to step beside a model of the rest of the system.
    beside: Option<Box<Beside<S>>>,
}

/// Steps beside a model of the rest of the system; made when they are first asked for.
struct Beside<S> {
    solver: Solver,
    make: MakeStepBeside<S>,
    stepper: Option<Box<dyn StepBeside>>,
    /// The experiment, if micro samples are asked for.
    micro: Option<Experiment>,
    /// What a checkpoint holds for the stepper, until it is made.
    saved: Vec<u8>,
}

impl<S: Ode> Beside<S> {
    /// The stepper, made at first use.
    fn stepper(&mut self, ode: &S, environment: &EnvironmentModel) -> Result<&mut dyn StepBeside> {
        if self.stepper.is_none() {
            let mut stepper = (self.make)(ode, &self.solver, environment)?;
            if let (Some(experiment), Some(recorder)) =
                (&self.micro, stepper.subsystem_mut().micro_recorder())
            {
                recorder.record(true, experiment);
            }
            if !self.saved.is_empty() {
                stepper.subsystem_mut().demand_persistence_mut()?.load(&mut StateReader::new(&self.saved))?;
            }
            // Nothing can be restored before something has been remembered.
            stepper.subsystem_mut().demand_rollback()?.snapshot()?;
            self.stepper = Some(stepper);
        }
        match &mut self.stepper {
            Some(stepper) => Ok(&mut **stepper),
            None => unreachable!("made above"),
        }
    }
}

type MakeStepBeside<S> = fn(&S, &Solver, &EnvironmentModel) -> Result<Box<dyn StepBeside>>;

/// The integrator of a native subsystem. The smallest one is at hand: thousands of subsystems with it have to fit
/// into the caches, and a call through a table would be felt.
enum Chosen<D> {
    Euler(Euler),
    Other(Box<dyn Integrator<D>>),
}

impl<D: Dynamics> Chosen<D> {
    fn get(&self) -> &dyn Integrator<D> {
        match self {
            Self::Euler(euler) => euler,
            Self::Other(other) => &**other,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Integrator<D> {
        match self {
            Self::Euler(euler) => euler,
            Self::Other(other) => &mut **other,
        }
    }
}

#[derive(Default)]
struct Saved {
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    /// What records outputs inside steps, put aside during trial steps.
    paused: Option<Box<MicroBuffer>>,
    paused_sampler: Option<Box<Sampler>>,
}

#[derive(Clone, Debug, Default)]
struct MicroBuffer {
    times: Vec<f64>,
    outputs: Vec<f64>,
}

/// Equations and the outputs seen inside the last step.
struct Watched<S> {
    ode: S,
    /// Its memory is taken when outputs are asked for.
    micro: Option<Box<MicroBuffer>>,
    /// Points of the solution, if they are asked for.
    path: Option<Box<Path>>,
}

impl<S: Ode> Dynamics for Watched<S> {
    fn name(&self) -> &str {
        &self.ode.description().name
    }

    fn states(&self) -> usize {
        self.ode.states()
    }

    fn state_name(&self, i: usize) -> String {
        self.ode.state_name(i)
    }

    fn inputs(&self) -> usize {
        self.ode.description().inputs.len()
    }

    fn outputs(&self) -> usize {
        self.ode.description().outputs.len()
    }

    fn nominals(&self, x: &mut [f64]) {
        self.ode.nominal_state(x);
    }

    #[inline(always)]
    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.ode.derivatives(t, x, u, x_dot);
        Ok(())
    }

    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.ode.jacobians(t, x, u, model);
        Ok(())
    }

    fn linear(&mut self) -> Option<LocalModel> {
        if !self.ode.is_linear() {
            return None;
        }
        let (n, m) = (self.states(), self.inputs());
        let mut model = LocalModel::new(n, m, self.ode.description().outputs.len());
        self.ode.jacobians(0.0, &vec![0.0; n], &vec![0.0; m], &mut model);
        Some(model)
    }

    fn see(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<()> {
        if let Some(path) = &mut self.path {
            path.push(t, x, u);
        }
        let Some(buffer) = &mut self.micro else { return Ok(()) };
        let start = buffer.outputs.len();
        buffer.times.push(t);
        buffer.outputs.resize(start + self.ode.description().outputs.len(), 0.0);
        self.ode.outputs(t, x, u, &mut buffer.outputs[start..]);
        Ok(())
    }
}

impl<S: Ode + 'static> Native<S> {
    /// Equations under an integrator.
    pub fn new(ode: S, solver: &Solver) -> Result<Self> {
        let description = Description { input_order: usize::MAX, ..ode.description().clone() };
        let (states, inputs) = (ode.states(), ode.description().inputs.len());
        let mut equations = Watched { ode, micro: None, path: None };
        let integrator = match *solver {
            Solver::Euler(step) => {
                solver.check()?;
                Chosen::Euler(Euler::new(step, states, inputs))
            }
            _ => Chosen::Other(solver.integrator(&mut equations)?),
        };
        let saved = Saved { x: vec![0.0; states], u: vec![0.0; inputs], ..Saved::default() };
        Ok(Self {
            integrator,
            t: 0.0,
            x: vec![0.0; states],
            u: vec![0.0; inputs],
            saved: Box::new(saved),
            sampler: None,
            beside: None,
            equations,
            description,
        })
    }

    /// Advances the state through the table of the integrator, and takes note of the outputs inside the step if they
    /// are asked for. Out of line, so that the path of the smallest integrator stays short.
    #[inline(never)]
    fn advance(&mut self, interval: Interval, input: InputSegment<'_>) -> Result<()> {
        if let Some(buffer) = &mut self.equations.micro {
            buffer.times.clear();
            buffer.outputs.clear();
        }
        let sampler = self.sampler.as_deref_mut();
        self.integrator.get_mut().advance(&mut self.equations, interval, input, &mut self.x, sampler)
    }

    /// Lets it step beside a model of the rest of the system.
    pub(crate) fn with_environment(mut self, solver: &Solver) -> Self
    where
        S: Clone,
    {
        let beside =
            Beside { solver: *solver, make: step_beside::<S>, stepper: None, micro: None, saved: Vec::new() };
        self.beside = Some(Box::new(beside));
        self
    }

    /// What steps beside a model of the rest, if such a step has been taken.
    fn stepper_beside(&self) -> Option<&dyn Subsystem> {
        Some(self.beside.as_ref()?.stepper.as_ref()?.subsystem())
    }

    fn stepper_beside_mut(&mut self) -> Option<&mut dyn Subsystem> {
        Some(self.beside.as_mut()?.stepper.as_mut()?.subsystem_mut())
    }

    /// Puts it elsewhere.
    pub(crate) fn set_state(&mut self, t: f64, x: &[f64]) {
        self.t = t;
        self.x.copy_from_slice(x);
    }

    /// The input at the end of the last step.
    pub(crate) fn input(&self) -> &[f64] {
        &self.u
    }

    pub(crate) fn ode_mut(&mut self) -> &mut S {
        &mut self.equations.ode
    }

    /// The equations.
    pub fn ode(&self) -> &S {
        &self.equations.ode
    }

    /// The present state.
    pub fn state(&self) -> &[f64] {
        &self.x
    }
}

impl<S: Ode + 'static> Subsystem for Native<S> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.integrator.get().check_step(experiment.step)?;
        self.t = experiment.start;
        self.equations.ode.initial_state(&mut self.x);
        self.integrator.get_mut().reset();
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.u.copy_from_slice(u);
        self.equations.ode.outputs(self.t, &self.x, u, y);
        Ok(())
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
        self.equations.ode.outputs(self.t, &self.x, &self.u, y);
        Ok(StepOutcome { reached: self.t })
    }

    fn terminate(&mut self) {}
}

impl<S: Ode + 'static> Stepper for Native<S> {
    fn advance(&mut self, interval: Interval, input: InputSegment<'_>, x: &mut [f64]) -> Result<()> {
        match &mut self.integrator {
            Chosen::Euler(euler) => euler.advance_unwatched(&mut self.equations, interval, input, x),
            Chosen::Other(other) => other.advance(&mut self.equations, interval, input, x, None),
        }
    }

    fn advance_along(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        path: &mut Option<Box<Path>>,
    ) -> Result<()> {
        let (states, inputs) = (self.x.len(), self.u.len());
        let mut wanted = path.take().unwrap_or_default();
        wanted.clear();
        self.equations.path = Some(wanted);
        let sampler = self.sampler.get_or_insert_with(|| Box::new(Sampler::new(states, inputs)));
        let integrator = self.integrator.get_mut();
        let outcome = integrator.advance(&mut self.equations, interval, input, x, Some(sampler));
        *path = self.equations.path.take();
        outcome
    }

    fn holds_inputs(&self) -> bool {
        matches!(self.integrator, Chosen::Euler(_))
    }

    fn points(&self, h: f64) -> usize {
        self.integrator.get().points(h)
    }

    fn check_step(&self, h: f64) -> Result<()> {
        self.integrator.get().check_step(h)
    }

    fn save(&self, out: &mut StateWriter) {
        self.integrator.get().save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.integrator.get_mut().load(from)
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
