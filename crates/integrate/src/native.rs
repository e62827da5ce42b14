//! A subsystem that costep integrates itself: equations plus an integrator.

use costep_core::{
    Description, Experiment, InputSegment, Interval, LocalModel, MicroSamples, Result, StateReader,
    StateWriter, StepOutcome, Subsystem,
};

use crate::ode::Ode;
use crate::solver::{Blind, Integrator, Solver, Watch};

/// Equations with an integrator and a present state.
pub struct Native<S> {
    ode: S,
    integrator: Integrator,
    t: f64,
    x: Vec<f64>,
    /// Input at t.
    u: Vec<f64>,
    /// State, input, time and integrator memory at the last snapshot.
    saved: Saved,
    micro: MicroBuffer,
}

#[derive(Clone, Debug, Default)]
struct Saved {
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    memory: f64,
}

/// Outputs inside the last step. Its memory is taken when samples are asked for.
#[derive(Clone, Debug, Default)]
struct MicroBuffer {
    wanted: bool,
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
        let (states, inputs) = (ode.states(), ode.description().inputs.len());
        let saved = Saved { x: vec![0.0; states], u: vec![0.0; inputs], ..Saved::default() };
        Ok(Self {
            integrator,
            t: 0.0,
            x: vec![0.0; states],
            u: vec![0.0; inputs],
            saved,
            micro: MicroBuffer::default(),
            ode,
        })
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
        self.ode.description()
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.t = experiment.start;
        self.ode.initial_state(&mut self.x);
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.u.copy_from_slice(u);
        self.ode.outputs(self.t, &self.x, u, y);
        Ok(())
    }

    fn step(&mut self, interval: Interval, input: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        if self.micro.wanted {
            self.micro.times.clear();
            self.micro.outputs.clear();
            let mut recorder = Recorder { ode: &self.ode, buffer: &mut self.micro, width: y.len() };
            self.integrator.advance(&self.ode, interval, input, &mut self.x, &mut recorder)?;
        } else {
            self.integrator.advance(&self.ode, interval, input, &mut self.x, &mut Blind)?;
        }
        self.t = interval.end;
        input.evaluate(interval.length(), &mut self.u);
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

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.ode.jacobians(self.t, &self.x, u, model);
        model.x.copy_from_slice(&self.x);
        self.ode.derivatives(self.t, &self.x, u, &mut model.x_dot);
        Ok(())
    }

    fn record_micro_samples(&mut self, on: bool, experiment: &Experiment) {
        self.micro.wanted = on;
        if on {
            let points = self.integrator.points(experiment.step);
            self.micro.times.reserve(points);
            self.micro.outputs.reserve(points * self.ode.description().outputs.len());
        }
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let MicroBuffer { wanted, times, outputs } = &self.micro;
        wanted.then_some(MicroSamples { times, outputs })
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
