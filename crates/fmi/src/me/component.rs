//! An FMU for Model Exchange as a part of a system that is solved as one.

use costep_core::{Description, Experiment, LocalModel, Result, StateReader, StateWriter, Subsystem};
use costep_integrate::{AfterEvent, Component, Dynamics, Hybrid};

use super::{ModelExchangeSubsystem, Phase};

impl Dynamics for ModelExchangeSubsystem {
    fn name(&self) -> &str {
        self.dynamics.name()
    }

    fn states(&self) -> usize {
        self.dynamics.states()
    }

    fn state_name(&self, state: usize) -> String {
        self.dynamics.state_name(state)
    }

    fn inputs(&self) -> usize {
        self.dynamics.inputs()
    }

    fn outputs(&self) -> usize {
        self.dynamics.outputs()
    }

    fn nominals(&self, x: &mut [f64]) {
        self.dynamics.nominals(x);
    }

    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.dynamics.derivatives(t, x, u, x_dot)
    }

    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        // Without states there is nothing to linearise about; outputs that pass inputs on have their slopes all the same.
        self.dynamics.jacobians(t, x, u, model)
    }
}

impl Hybrid for ModelExchangeSubsystem {
    fn indicators(&self) -> usize {
        self.dynamics.indicators()
    }

    fn event_indicators(&mut self, t: f64, x: &[f64], u: &[f64], z: &mut [f64]) -> Result<()> {
        self.dynamics.event_indicators(t, x, u, z)
    }

    fn step_completed(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<bool> {
        self.dynamics.step_completed(t, x, u)
    }

    fn event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent> {
        let after = self.dynamics.event(t, x, u)?;
        self.has_times |= after.next.is_some();
        Ok(after)
    }
}

impl Component for ModelExchangeSubsystem {
    fn description(&self) -> &Description {
        Subsystem::description(self)
    }

    fn initialise(&mut self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()> {
        self.tolerance = tolerance;
        Subsystem::initialise(self, experiment)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        Subsystem::initial_outputs(self, u, y)
    }

    fn start(&mut self, _t: f64, x: &mut [f64]) -> Result<AfterEvent> {
        let after = self.leave_initialisation()?;
        (self.phase, self.has_times) = (Phase::Stepping, after.next.is_some());
        x.copy_from_slice(&self.x);
        Ok(after)
    }

    fn evaluate_outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        self.dynamics.evaluate_own_outputs(t, x, u, y)
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let bytes = self.state_bytes(!self.has_times)?;
        out.real(self.dynamics.told.last_event);
        out.reals(&self.dynamics.told.u);
        out.block(&bytes);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let last_event = from.real()?;
        let mut u = vec![0.0; self.dynamics.told.u.len()];
        from.reals(&mut u)?;
        let bytes = from.block()?;
        self.put_back(bytes, u, last_event)
    }

    fn terminate(&mut self) {
        Subsystem::terminate(self);
    }
}
