//! Equations of native models: x' = f(t, x, u), y = g(t, x, u), which cannot fail and have no memory.

use costep_core::{Description, LocalModel, MicroSampling, Port, Result};

use crate::equations::{AfterEvent, Equations};

/// What the author of a native model writes. Integrators see it as [`Equations`].
pub trait Ode: Send {
    /// Ports and direct feedthrough.
    fn description(&self) -> &Description;

    /// Number of states.
    fn states(&self) -> usize;

    /// x(0).
    fn initial_state(&self, x: &mut [f64]);

    /// Name of a state, for messages.
    fn state_name(&self, i: usize) -> String {
        format!("x[{i}]")
    }

    /// Typical size of each state, for absolute tolerances.
    fn nominal_state(&self, x: &mut [f64]) {
        x.fill(1.0);
    }

    /// f.
    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]);

    /// g.
    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]);

    /// A, B, C, D at (t, x, u), exactly.
    fn jacobians(&self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel);

    /// Whether the equations are linear with constant coefficients and without a constant term, so that a
    /// step can be taken exactly.
    fn is_linear(&self) -> bool {
        false
    }

    /// At which end of the inner steps of Euler's method its outputs stand for the step. Other integrators
    /// give points of a solution that is right everywhere.
    fn micro_sampling(&self) -> MicroSampling {
        MicroSampling::End
    }

    /// Stored energy in J.
    fn energy(&self, _x: &[f64], _u: &[f64]) -> Option<f64> {
        None
    }
}

impl<S: Ode> Equations for S {
    fn description(&self) -> &Description {
        Ode::description(self)
    }

    fn states(&self) -> usize {
        Ode::states(self)
    }

    fn start(&mut self, _t: f64, x: &mut [f64], _u: &mut [f64]) -> Result<AfterEvent> {
        self.initial_state(x);
        Ok(AfterEvent { states_changed: true, next: None })
    }

    fn nominals(&self, x: &mut [f64]) {
        self.nominal_state(x);
    }

    #[inline(always)]
    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        Ode::derivatives(self, t, x, u, x_dot);
        Ok(())
    }

    #[inline(always)]
    fn outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        Ode::outputs(self, t, x, u, y);
        Ok(())
    }

    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        Ode::jacobians(self, t, x, u, model);
        Ok(())
    }

    fn state_name(&self, i: usize) -> String {
        Ode::state_name(self, i)
    }

    fn is_linear(&self) -> bool {
        Ode::is_linear(self)
    }

    fn micro_sampling(&self) -> MicroSampling {
        Ode::micro_sampling(self)
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        Ode::energy(self, x, u)
    }
}

/// Typical sizes of ports, in their order.
pub(crate) fn nominal_from(ports: &[Port], x: &mut [f64]) {
    x.iter_mut().zip(ports).for_each(|(x, port)| *x = port.nominal.unwrap_or(1.0));
}

/// Equations whose name and sizes of ports can be changed.
pub trait Renamable {
    /// The description, to be changed.
    fn description_mut(&mut self) -> &mut Description;
}
