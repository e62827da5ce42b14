//! Equations as integrators see them: x' = f(t, x, u), y = g(t, x, u), with or without events.

use costep_core::{
    Description, Error, Experiment, LocalModel, MicroSampling, ModelOrigin, Result, StateReader, StateWriter,
};

/// Equations of a native model, of an FMU for Model Exchange, of a whole system: of anything that can be
/// integrated. They may fail and may have memory; those of native models, which do neither, are written as
/// an [`Ode`](crate::Ode).
pub trait Equations: Send {
    /// Name, ports and direct feedthrough.
    fn description(&self) -> &Description;

    /// Number of states.
    fn states(&self) -> usize;

    /// Gives the states at the start of a run, at time t. Inputs that nobody has set yet are not numbers;
    /// who knows better fills them in. Whatever happens here counts as the first event.
    fn start(&mut self, t: f64, x: &mut [f64], u: &mut [f64]) -> Result<AfterEvent>;

    /// Typical size of each state, for absolute tolerances. May change at events.
    fn nominals(&self, x: &mut [f64]);

    /// f. Values that are not finite mean that it cannot be computed here: a step with error control is
    /// tried again with a shorter length. An error ends the integration.
    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()>;

    /// g.
    fn outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()>;

    /// A, B, C, D at (t, x, u).
    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()>;

    /// Fills D at (t, x, u) where it is exact; else gives false, and what it left in the model means nothing.
    fn exact_feedthrough(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<bool> {
        if self.model_origin() != ModelOrigin::Exact {
            return Ok(false);
        }
        self.jacobians(t, x, u, model)?;
        Ok(true)
    }

    /// Name of a state, for messages.
    fn state_name(&self, i: usize) -> String {
        format!("x[{i}]")
    }

    /// Whether they are linear with constant coefficients and without a constant term, so that a step can
    /// be taken exactly.
    fn is_linear(&self) -> bool {
        false
    }

    /// A, B, C, D, x' and the typical sizes of the states at (t, x, u).
    fn linearise(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.jacobians(t, x, u, model)?;
        self.derivatives(t, x, u, &mut model.x_dot)?;
        self.nominals(&mut model.nominal);
        Ok(())
    }

    /// How the Jacobians are computed.
    fn model_origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    /// At which end of the inner steps of Euler's method its outputs stand for the step. Other integrators
    /// give points of a solution that is right everywhere.
    fn micro_sampling(&self) -> MicroSampling {
        MicroSampling::End
    }

    /// Stored energy in J at (x, u), where the outputs were evaluated last.
    fn energy(&self, _x: &[f64], _u: &[f64]) -> Option<f64> {
        None
    }

    /// Adds what they know about why an integration has failed.
    #[cold]
    fn explain(&mut self, error: Error) -> Error {
        error
    }

    /// Their events, if they have any. Never changes.
    fn events(&mut self) -> Option<&mut dyn Events> {
        None
    }

    /// What begins and ends them, and what they remember, if they are a simulator of their own. Never
    /// changes.
    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        None
    }
}

/// What an event left behind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AfterEvent {
    /// The states are not those from before the event.
    pub states_changed: bool,
    /// Time of the next time event, if one is known.
    pub next: Option<f64>,
}

/// Events of equations: between them x' = f(t, x, u) is smooth; at an event discrete parts and states may
/// jump.
pub trait Events {
    /// Number of event indicators.
    fn indicators(&mut self) -> usize;

    /// The event indicators at (t, x, u). A state event is a change from z > 0 to z <= 0 or back.
    fn event_indicators(&mut self, t: f64, x: &[f64], u: &[f64], z: &mut [f64]) -> Result<()>;

    /// Whether [`Events::step_completed`] is to be called.
    fn wants_completed_steps(&mut self) -> bool;

    /// An inner step has been completed at (t, x, u). Gives whether it wants an event.
    fn step_completed(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<bool>;

    /// Handles an event at (t, x, u); x gets the values after it.
    fn event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent>;
}

/// Equations inside a simulator with a life of its own, such as an FMU, that holds more than time, states
/// and inputs.
///
/// Call order: `initialise`, `initial_outputs` (any number of times), [`Equations::start`], then everything
/// else.
pub trait Lifecycle {
    /// Puts it into its initial state; `tolerance` is that of the integrator, if it has one.
    fn initialise(&mut self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()>;

    /// The outputs of the initial state under these inputs.
    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()>;

    /// Refuses to go on if it has failed for good.
    fn check(&self) -> Result<()>;

    /// Ends it. Never fails.
    fn terminate(&mut self);

    /// Remembers what it holds at time t.
    fn snapshot(&mut self, t: f64) -> Result<()>;

    /// Goes back to the last snapshot.
    fn restore(&mut self) -> Result<()>;

    /// Nobody will go back to the last snapshot any more.
    fn release(&mut self) {}

    /// Writes what it holds beside its states to a checkpoint.
    fn save(&self, out: &mut StateWriter) -> Result<()>;

    /// Reads it back.
    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()>;
}
