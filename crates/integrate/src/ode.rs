//! Equations of native models: x' = f(t, x, u), y = g(t, x, u), which cannot fail and have no memory.

use costep_core::{Code, Description, Error, LocalModel, MicroSampling, Port, Result, Subsystem};

use crate::equations::{AfterEvent, Equations};
use crate::integrated::Integrated;
use crate::solver::Solver;
use crate::stepper::Stepper;

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

    /// At which end of the inner steps of Euler's method its outputs stand for the step. Other integrators give points
    /// of a solution that is right everywhere.
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

/// Something that subsystems can be made of: equations, which may also become part of a monolithic system, or a
/// simulator whose equations nobody knows, such as an FMU.
pub trait Part: Send + Sync {
    /// Ports and direct feedthrough.
    fn description(&self) -> &Description;

    /// A subsystem of its own; equations are integrated by this solver.
    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>>;

    /// The same for a state that is kept elsewhere; only native equations can do that.
    fn stepper(&self, _solver: &Solver) -> Result<Box<dyn Stepper>> {
        let message = format!("the equations of `{}` are not known", self.description().name);
        Err(Error::new(Code::NeedsMissing, message))
    }

    /// Its equations, to be solved with those of others as one system.
    fn equations(&self) -> Result<Box<dyn Equations>> {
        let message = format!("the equations of `{}` are not known", self.description().name);
        Err(Error::new(Code::NeedsMissing, message)
            .because("only native models and FMUs for Model Exchange can be solved as one"))
    }

    /// Whether [`Part::equations`] gives some.
    fn has_equations(&self) -> bool {
        false
    }

    /// A copy of its equations, if they are those of a native model.
    fn ode(&self) -> Option<Box<dyn Ode>>;

    /// A copy.
    fn duplicate(&self) -> Box<dyn Part>;

    /// Another name for the instance.
    fn renamed(&self, name: &str) -> Box<dyn Part>;
}

impl Clone for Box<dyn Part> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

impl<S: Ode + Clone + Renamable + Sync + 'static> Part for S {
    fn description(&self) -> &Description {
        Ode::description(self)
    }

    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>> {
        Ok(Box::new(Integrated::new(self.clone(), solver)?))
    }

    fn stepper(&self, solver: &Solver) -> Result<Box<dyn Stepper>> {
        Ok(Box::new(Integrated::new(self.clone(), solver)?))
    }

    fn equations(&self) -> Result<Box<dyn Equations>> {
        Ok(Box::new(self.clone()))
    }

    fn has_equations(&self) -> bool {
        true
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        Some(Box::new(self.clone()))
    }

    fn duplicate(&self) -> Box<dyn Part> {
        Box::new(self.clone())
    }

    fn renamed(&self, name: &str) -> Box<dyn Part> {
        let mut copy = self.clone();
        copy.description_mut().name = name.into();
        Box::new(copy)
    }
}

/// Typical sizes of ports, in their order.
pub(crate) fn nominal_from(ports: &[Port], x: &mut [f64]) {
    x.iter_mut().zip(ports).for_each(|(x, port)| *x = port.nominal.unwrap_or(1.0));
}

/// Equations whose instance name can be changed.
pub trait Renamable {
    /// The description, to be changed.
    fn description_mut(&mut self) -> &mut Description;
}
