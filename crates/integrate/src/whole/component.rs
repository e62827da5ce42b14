//! A part of a system that is solved as one.

use costep_core::{Description, Experiment, LocalModel, Result, StateReader, StateWriter};

use crate::dynamics::{AfterEvent, Dynamics, Hybrid};
use crate::ode::Ode;

/// Equations with events that have outputs and a life: native ones, or an FMU for Model Exchange.
///
/// Call order: `initialise`, `initial_outputs` (any number of times), `start`, then everything else.
pub trait Component: Hybrid {
    /// Ports and feed-through.
    fn description(&self) -> &Description;

    /// Puts it into its initial state; `tolerance` is that of the integrator, if it has one.
    fn initialise(&mut self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()>;

    /// The outputs of the initial state under these inputs.
    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()>;

    /// Ends the initialisation and gives the states.
    fn start(&mut self, t: f64, x: &mut [f64]) -> Result<AfterEvent>;

    /// g.
    fn evaluate_outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()>;

    /// Whether something of it happens at events.
    fn has_events(&self) -> bool {
        true
    }

    /// Stored energy in J.
    fn energy(&self, _x: &[f64], _u: &[f64]) -> Option<f64> {
        None
    }

    /// Writes what it holds beside its states to a checkpoint.
    fn save(&self, _out: &mut StateWriter) -> Result<()> {
        Ok(())
    }

    /// Reads it back.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }

    /// Ends it. Never fails.
    fn terminate(&mut self) {}
}

/// Native equations, in which nothing happens at events.
pub(crate) struct NativeComponent<S> {
    ode: S,
    /// Time and state at the start.
    start: (f64, Vec<f64>),
}

impl<S: Ode> NativeComponent<S> {
    pub(crate) fn new(ode: S) -> Self {
        let start = (0.0, vec![0.0; ode.states()]);
        Self { ode, start }
    }
}

impl<S: Ode> Dynamics for NativeComponent<S> {
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

    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.ode.derivatives(t, x, u, x_dot);
        Ok(())
    }

    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.ode.jacobians(t, x, u, model);
        Ok(())
    }
}

impl<S: Ode> Hybrid for NativeComponent<S> {
    fn indicators(&self) -> usize {
        0
    }

    fn event_indicators(&mut self, _t: f64, _x: &[f64], _u: &[f64], _z: &mut [f64]) -> Result<()> {
        Ok(())
    }

    fn step_completed(&mut self, _t: f64, _x: &[f64], _u: &[f64]) -> Result<bool> {
        Ok(false)
    }

    fn event(&mut self, _t: f64, _x: &mut [f64], _u: &[f64]) -> Result<AfterEvent> {
        Ok(AfterEvent { states_changed: false, next: None })
    }
}

impl<S: Ode> Component for NativeComponent<S> {
    fn description(&self) -> &Description {
        self.ode.description()
    }

    fn initialise(&mut self, experiment: &Experiment, _tolerance: Option<f64>) -> Result<()> {
        self.start.0 = experiment.start;
        self.ode.initial_state(&mut self.start.1);
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.ode.outputs(self.start.0, &self.start.1, u, y);
        Ok(())
    }

    fn start(&mut self, _t: f64, x: &mut [f64]) -> Result<AfterEvent> {
        x.copy_from_slice(&self.start.1);
        Ok(AfterEvent { states_changed: true, next: None })
    }

    fn evaluate_outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        self.ode.outputs(t, x, u, y);
        Ok(())
    }

    fn has_events(&self) -> bool {
        false
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        self.ode.energy(x, u)
    }
}
