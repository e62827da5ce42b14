//! Steps of an FMU beside a linear model of the rest of its system (`lis`): the states of the rest follow its own.

use costep_core::{
    Code, EnvironmentModel, Error, InputSegment, Interval, LocalModel, Port, Result, StateReader,
};
use costep_integrate::{AfterEvent, solver_beside};
use costep_integrate::{Answer, Dynamics as _, EventDriver, Integrator, Sampler, Solver, StateDifferences};

use super::dynamics::FmuDynamics;

/// The rest of the system as the FMU sees it.
pub(crate) struct Rest {
    answer: Answer,
    ports: Vec<Port>,
    differences: StateDifferences,
}

impl Rest {
    /// Number of states beside those of the FMU.
    pub(super) fn states(&self) -> usize {
        self.answer.states()
    }

    /// Typical sizes of these states.
    pub(super) fn nominals(&self, rest: &mut [f64]) {
        self.answer.nominals(&self.ports, rest);
    }
}

/// An integrator for the FMU and the rest; made when it is first asked for.
pub(super) struct Beside {
    integrator: Box<dyn Integrator<FmuDynamics>>,
    /// None only while it is being used.
    rest: Option<Box<Rest>>,
    /// States of the FMU, then of the rest.
    x: Vec<f64>,
    /// Inputs at the start and at the end of the last step.
    u_start: Vec<f64>,
    u_end: Vec<f64>,
}

/// Where a step takes place: all but the equations.
pub(super) struct Step<'a> {
    pub(super) driver: &'a mut EventDriver,
    pub(super) sampler: Option<&'a mut Sampler>,
    pub(super) interval: Interval,
    pub(super) input: InputSegment<'a>,
}

impl Beside {
    /// Room for rests of the size of this one; `saved` is what a checkpoint holds for the integrator, if anything.
    pub(super) fn new(
        solver: &Solver,
        dynamics: &mut FmuDynamics,
        description: &costep_core::Description,
        environment: &EnvironmentModel,
        saved: &[u8],
    ) -> Result<Self> {
        let states = dynamics.states() + environment.states();
        let rest = Rest {
            answer: Answer::new(environment, description),
            ports: description.inputs.clone(),
            differences: StateDifferences::new(states),
        };
        dynamics.rest = Some(Box::new(rest));
        let integrator = solver_beside(solver).integrator(dynamics);
        let rest = dynamics.rest.take();
        let mut integrator = integrator?;
        if !saved.is_empty() {
            integrator.load(&mut StateReader::new(saved))?;
        }
        // Nothing can be restored before something has been remembered.
        integrator.snapshot();
        let inputs = description.inputs.len();
        Ok(Self {
            integrator,
            rest,
            x: vec![0.0; states],
            u_start: vec![0.0; inputs],
            u_end: vec![0.0; inputs],
        })
    }

    /// Advances x over a macro step and gives the outputs at its end.
    pub(super) fn advance(
        &mut self,
        dynamics: &mut FmuDynamics,
        step: Step<'_>,
        environment: &EnvironmentModel,
        x: &mut [f64],
        y: &mut [f64],
    ) -> Result<()> {
        self.x[..x.len()].copy_from_slice(x);
        self.x[x.len()..].fill(0.0);
        let Some(rest) = &mut self.rest else { return Err(lost()) };
        let start = step.interval.start;
        step.input.evaluate(0.0, &mut self.u_start);
        rest.answer
            .begin(start, environment, |y| dynamics.evaluate_own_outputs(start, x, &self.u_start, y))?;
        dynamics.rest = self.rest.take();
        let outcome = self.cross(dynamics, step, y);
        self.rest = dynamics.rest.take();
        x.copy_from_slice(&self.x[..x.len()]);
        outcome
    }

    fn cross(&mut self, dynamics: &mut FmuDynamics, step: Step<'_>, y: &mut [f64]) -> Result<()> {
        let Step { driver, sampler, interval, input } = step;
        driver.advance(&mut *self.integrator, dynamics, interval, input, &mut self.x, sampler)?;
        let u_end = &mut self.u_end;
        dynamics.at_point(interval.end, &self.x, driver.inputs(), |dynamics, x, u| {
            u_end.copy_from_slice(u);
            dynamics.evaluate_own_outputs(interval.end, x, u, y)
        })
    }

    /// The inputs at the end of the last step.
    pub(super) fn inputs(&self) -> &[f64] {
        &self.u_end
    }

    /// A step was done without it.
    pub(super) fn set_inputs(&mut self, u: &[f64]) {
        self.u_end.copy_from_slice(u);
    }

    pub(super) fn integrator(&self) -> &dyn Integrator<FmuDynamics> {
        &*self.integrator
    }

    pub(super) fn integrator_mut(&mut self) -> &mut dyn Integrator<FmuDynamics> {
        &mut *self.integrator
    }
}

impl FmuDynamics {
    /// Gives the own states and the inputs at a point of the solution: beside a model of the rest they hold its answer.
    pub(super) fn at_point<R>(
        &mut self,
        t: f64,
        x: &[f64],
        u: &[f64],
        then: impl FnOnce(&mut Self, &[f64], &[f64]) -> Result<R>,
    ) -> Result<R> {
        let Some(mut rest) = self.rest.take() else { return then(self, x, u) };
        let (own, others) = x.split_at(self.nominal.len());
        let outcome = rest
            .answer
            .resolve(t, others, u, |u, y| self.evaluate_own_outputs(t, own, u, y))
            .and_then(|()| then(self, own, rest.answer.inputs()));
        self.rest = Some(rest);
        outcome
    }

    /// The derivatives of its own states and of those of the rest.
    pub(super) fn derivatives_beside(
        &mut self,
        rest: &mut Rest,
        t: f64,
        (x, u): (&[f64], &[f64]),
        x_dot: &mut [f64],
    ) -> Result<()> {
        let (own, others) = x.split_at(self.nominal.len());
        let (own_dot, others_dot) = x_dot.split_at_mut(own.len());
        rest.answer.resolve(t, others, u, |u, y| self.evaluate_own_outputs(t, own, u, y))?;
        rest.answer.derivatives(t, others, others_dot);
        self.own_derivatives(t, own, rest.answer.inputs(), own_dot)
    }

    /// Its event, under inputs that hold the answer of the rest.
    pub(super) fn event_beside(
        &mut self,
        rest: &mut Rest,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
    ) -> Result<AfterEvent> {
        let (own, others) = x.split_at_mut(self.nominal.len());
        rest.answer.resolve(t, others, u, |u, y| self.evaluate_own_outputs(t, own, u, y))?;
        self.own_event(t, own, rest.answer.inputs())
    }

    /// df/dx of both.
    pub(super) fn jacobian_beside(
        &mut self,
        t: f64,
        (x, u): (&[f64], &[f64]),
        model: &mut LocalModel,
    ) -> Result<()> {
        let Some(rest) = &mut self.rest else { return Err(lost()) };
        let mut differences = std::mem::take(&mut rest.differences);
        self.nominals(differences.nominals_mut());
        let outcome = differences.fill(x, model, |x, x_dot| self.derivatives(t, x, u, x_dot));
        if let Some(rest) = &mut self.rest {
            rest.differences = differences;
        }
        outcome
    }
}

/// It is away only while it is used: an earlier step has not come to its end.
#[cold]
fn lost() -> Error {
    Error::new(Code::Bug, "the model of the rest of the system is gone")
}
