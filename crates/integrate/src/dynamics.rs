//! Equations as integrators see them, with or without events.

use costep_core::{LocalModel, Result};

/// x' = f(t, x, u) of native equations, of an FMU for Model Exchange, of anything that can be integrated. Unlike
/// [`Ode`](crate::Ode) it may fail and may have memory.
pub trait Dynamics: Send {
    /// Name of the instance, for messages.
    fn name(&self) -> &str;

    /// Number of states.
    fn states(&self) -> usize;

    /// Name of a state, for messages.
    fn state_name(&self, i: usize) -> String {
        format!("x[{i}]")
    }

    /// Number of inputs.
    fn inputs(&self) -> usize;

    /// Number of outputs, for the size of [`Dynamics::jacobians`].
    fn outputs(&self) -> usize;

    /// Typical size of each state, for absolute tolerances. May change at events.
    fn nominals(&self, x: &mut [f64]);

    /// f. Values that are not finite mean that it cannot be computed here: a step with error control is tried again
    /// with a shorter length. An error ends the integration.
    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()>;

    /// A, B, C, D at (t, x, u).
    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()>;

    /// The matrices of equations that are linear with constant coefficients and without a constant term.
    fn linear(&mut self) -> Option<LocalModel> {
        None
    }

    /// Takes note of a point of the solution. Called with rising times if a [`Sampler`](crate::Sampler) is used.
    fn see(&mut self, _t: f64, _x: &[f64], _u: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// What an event left behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AfterEvent {
    /// The states are not those from before the event.
    pub states_changed: bool,
    /// Time of the next time event, if one is known.
    pub next: Option<f64>,
}

/// Equations with events: between them x' = f(t, x, u) is smooth; at an event discrete parts and states may jump.
pub trait Hybrid: Dynamics {
    /// Number of event indicators.
    fn indicators(&self) -> usize;

    /// The event indicators at (t, x, u). A state event is a change from z > 0 to z <= 0 or back.
    fn event_indicators(&mut self, t: f64, x: &[f64], u: &[f64], z: &mut [f64]) -> Result<()>;

    /// An inner step has been completed at (t, x, u). Gives whether it wants an event.
    fn step_completed(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<bool>;

    /// Handles an event at (t, x, u); x gets the values after it.
    fn event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent>;
}
