//! A subsystem that costep integrates itself: equations plus an integrator.

use costep_core::{
    Description, Experiment, InputSegment, Interval, LocalModel, MicroSamples, MicroSampling, Result,
    StateReader, StateWriter, StepOutcome, Subsystem,
};

use crate::ode::Ode;
use crate::solver::{Blind, Integrator, Solver, Watch};

/// Equations with an integrator and a present state.
pub struct Native<S> {
    ode: S,
    /// That of the equations, with the kind of micro samples that the integrator takes.
    description: Description,
    integrator: Integrator,
    t: f64,
    x: Vec<f64>,
    /// Input at t.
    u: Vec<f64>,
    /// State, input, time and integrator memory at the last snapshot.
    saved: Box<Saved>,
    /// Outputs inside the last step, if asked for. Its memory is taken then.
    micro: Option<Box<MicroBuffer>>,
    paused: bool,
}

#[derive(Clone, Debug, Default)]
struct Saved {
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    memory: f64,
}

#[derive(Clone, Debug, Default)]
struct MicroBuffer {
    times: Vec<f64>,
    outputs: Vec<f64>,
}

struct Recorder<'a, S> {
    ode: &'a S,
    buffer: &'a mut MicroBuffer,
    width: usize,
}

impl<S: Ode> Watch for Recorder<'_, S> {
    fn see(&mut self, t: f64, x: &[f64], u: &[f64]) {
        let start = self.buffer.outputs.len();
        self.buffer.times.push(t);
        self.buffer.outputs.resize(start + self.width, 0.0);
        self.ode.outputs(t, x, u, &mut self.buffer.outputs[start..]);
    }
}

impl<S: Ode> Native<S> {
    /// Equations under an integrator.
    pub fn new(ode: S, solver: &Solver) -> Result<Self> {
        let integrator = solver.integrator(&ode)?;
        let mut description = ode.description().clone();
        if !matches!(solver, Solver::Euler(_)) {
            description.capabilities.micro_samples = Some(MicroSampling::Continuous);
        }
        let (states, inputs) = (ode.states(), ode.description().inputs.len());
        let saved = Saved { x: vec![0.0; states], u: vec![0.0; inputs], ..Saved::default() };
        Ok(Self {
            integrator,
            t: 0.0,
            x: vec![0.0; states],
            u: vec![0.0; inputs],
            saved: Box::new(saved),
            micro: None,
            paused: false,
            ode,
            description,
        })
    }

    /// Advances the state and takes note of the outputs inside the step. Out of line, so that the path without
    /// notes stays short.
    #[inline(never)]
    fn advance_recorded(&mut self, interval: Interval, input: InputSegment<'_>) -> Result<()> {
        let Some(buffer) = &mut self.micro else { return Ok(()) };
        buffer.times.clear();
        buffer.outputs.clear();
        let mut recorder = Recorder { ode: &self.ode, buffer, width: self.description.outputs.len() };
        self.integrator.advance(&self.ode, interval, input, &mut self.x, &mut recorder)
    }

    /// The equations.
    pub fn ode(&self) -> &S {
        &self.ode
    }

    /// The present state.
    pub fn state(&self) -> &[f64] {
        &self.x
    }
}

impl<S: Ode> Subsystem for Native<S> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.integrator.check_step(experiment.step)?;
        self.t = experiment.start;
        self.ode.initial_state(&mut self.x);
        self.integrator.set_memory(0.0);
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.u.copy_from_slice(u);
        self.ode.outputs(self.t, &self.x, u, y);
        Ok(())
    }

    fn step(&mut self, interval: Interval, input: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        if self.micro.is_some() && !self.paused {
            self.advance_recorded(interval, input)?;
        } else {
            self.integrator.advance(&self.ode, interval, input, &mut self.x, &mut Blind)?;
        }
        self.t = interval.end;
        if input.order() == 0 {
            copy_few(input.coefficients(0), &mut self.u);
        } else {
            input.evaluate(interval.length, &mut self.u);
        }
        self.ode.outputs(self.t, &self.x, &self.u, y);
        Ok(StepOutcome { reached: self.t })
    }

    fn snapshot(&mut self) -> Result<()> {
        self.saved.t = self.t;
        self.saved.x.copy_from_slice(&self.x);
        self.saved.u.copy_from_slice(&self.u);
        self.saved.memory = self.integrator.memory();
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        self.t = self.saved.t;
        self.x.copy_from_slice(&self.saved.x);
        self.u.copy_from_slice(&self.saved.u);
        self.integrator.set_memory(self.saved.memory);
        Ok(())
    }

    fn states(&self) -> usize {
        self.x.len()
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.ode.jacobians(self.t, &self.x, u, model);
        model.x.copy_from_slice(&self.x);
        self.ode.derivatives(self.t, &self.x, u, &mut model.x_dot);
        self.ode.nominal_state(&mut model.nominal);
        model.euler_step = self.integrator.euler_step();
        Ok(())
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        x.copy_from_slice(&self.x);
        self.ode.derivatives(self.t, &self.x, u, x_dot);
        Ok(true)
    }

    fn record_micro_samples(&mut self, on: bool, experiment: &Experiment) {
        // Too many are refused in `initialise`; here they must only not be asked for.
        let too_many = self.integrator.check_step(experiment.step).is_err();
        let points = if too_many { 0 } else { self.integrator.points(experiment.step) };
        self.micro = on.then(|| {
            let outputs = Vec::with_capacity(points * self.description.outputs.len());
            Box::new(MicroBuffer { times: Vec::with_capacity(points), outputs })
        });
    }

    fn pause_micro_samples(&mut self, on: bool) {
        self.paused = on;
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        self.micro.as_ref().map(|buffer| MicroSamples { times: &buffer.times, outputs: &buffer.outputs })
    }

    fn energy(&self) -> Option<f64> {
        self.ode.energy(&self.x, &self.u)
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.real(self.t);
        out.reals(&self.x);
        out.reals(&self.u);
        out.real(self.integrator.memory());
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.t = from.real()?;
        from.reals(&mut self.x)?;
        from.reals(&mut self.u)?;
        self.integrator.set_memory(from.real()?);
        Ok(())
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
