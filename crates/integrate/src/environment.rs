//! Equations that are integrated beside a linear model of the rest of the system, whose states follow their
//! own.

use costep_core::{Code, Description, EnvironmentModel, Error, InputSegment, Interval, LocalModel, Result};
use costep_core::{MicroSampling, StateReader, StateWriter};

use crate::answer::{Answer, StateDifferences, environment_solver};
use crate::equations::{AfterEvent, Equations, Events};
use crate::events::EventDriver;
use crate::integrator::Integrator;
use crate::sampler::Sampler;
use crate::solver::Solver;

/// An integrator for equations and a model of the rest; made when it is first asked for.
pub(crate) struct EnvironmentSolver {
    pub(crate) integrator: Box<dyn Integrator>,
    environment: Environment,
    /// States of the equations, then of the rest.
    x: Vec<f64>,
    /// The input polynomials, without the answer of the rest, at the start and at the end of the last step.
    u_start: Vec<f64>,
    u_end: Vec<f64>,
}

/// Where a step takes place.
pub(crate) struct Step<'a> {
    pub(crate) equations: &'a mut dyn Equations,
    pub(crate) driver: Option<&'a mut EventDriver>,
    pub(crate) sampler: Option<&'a mut Sampler>,
    pub(crate) interval: Interval,
    pub(crate) input: InputSegment<'a>,
}

impl EnvironmentSolver {
    /// Room for models of the size of this one.
    pub(crate) fn new(
        solver: &Solver,
        equations: &mut dyn Equations,
        model: &EnvironmentModel,
    ) -> Result<Self> {
        let (states, inputs) = (equations.states() + model.states(), equations.description().inputs.len());
        let mut environment = Environment {
            answer: Answer::new(model, equations.description()),
            differences: StateDifferences::new(states),
        };
        let mut both = WithEnvironment { equations, environment: &mut environment };
        let integrator = environment_solver(solver).integrator(&mut both)?;
        Ok(Self {
            integrator,
            environment,
            x: vec![0.0; states],
            u_start: vec![0.0; inputs],
            u_end: vec![0.0; inputs],
        })
    }

    /// Advances x over a macro step; gives outputs and inputs at its end.
    pub(crate) fn advance(
        &mut self,
        step: Step<'_>,
        model: &EnvironmentModel,
        x: &mut [f64],
        (y, u): (&mut [f64], &mut [f64]),
    ) -> Result<()> {
        let Step { equations, driver, sampler, interval, input } = step;
        let Self { integrator, environment, x: all, u_start, u_end } = self;
        all[..x.len()].copy_from_slice(x);
        all[x.len()..].fill(0.0);
        input.evaluate(0.0, u_start);
        environment
            .answer
            .begin(interval.start, model, |y| equations.outputs(interval.start, x, u_start, y))?;
        let mut both = WithEnvironment { equations, environment };
        match driver {
            None => integrator.advance(&mut both, interval, input, all, sampler)?,
            Some(driver) => driver.advance(&mut **integrator, &mut both, interval, input, all, sampler)?,
        }
        input.evaluate(interval.length, u_end);
        both.outputs(interval.end, all, u_end, y)?;
        u.copy_from_slice(self.environment.answer.inputs());
        x.copy_from_slice(&self.x[..x.len()]);
        Ok(())
    }

    /// Writes what its integrator carries from step to step, after the point it stands at, if that is given
    /// by its time.
    pub(crate) fn save(&self, point: Option<f64>, out: &mut StateWriter) {
        if let Some(t) = point {
            out.real(t);
            out.reals(&self.x);
            out.reals(&self.u_end);
        }
        self.integrator.save(out);
    }

    /// Reads it back. Every step begins where the equations stand, whatever the point was.
    pub(crate) fn load(&mut self, has_point: bool, from: &mut StateReader<'_>) -> Result<()> {
        if has_point {
            from.real()?;
            from.reals(&mut self.x)?;
            from.reals(&mut self.u_end)?;
        }
        self.integrator.load(from)
    }
}

/// The rest of the system.
struct Environment {
    answer: Answer,
    differences: StateDifferences,
}

/// Equations and the rest of the system as they see it.
struct WithEnvironment<'a> {
    equations: &'a mut dyn Equations,
    environment: &'a mut Environment,
}

impl WithEnvironment<'_> {
    /// Finds the inputs at a point of the solution: they hold the answer of the rest. Gives the own states
    /// too.
    fn resolve<'x>(&mut self, t: f64, x: &'x [f64], base: &[f64]) -> Result<(&'x [f64], &'x [f64])> {
        let (own, rest) = x.split_at(self.equations.states());
        let Self { equations, environment } = self;
        environment.answer.resolve(t, rest, base, |u, y| equations.outputs(t, own, u, y))?;
        Ok((own, rest))
    }

    fn evaluate(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        let (own, rest) = self.resolve(t, x, u)?;
        let (own_dot, rest_dot) = x_dot.split_at_mut(own.len());
        let answer = &mut self.environment.answer;
        answer.derivatives(t, rest, rest_dot);
        self.equations.derivatives(t, own, answer.inputs(), own_dot)
    }
}

impl Equations for WithEnvironment<'_> {
    fn description(&self) -> &Description {
        self.equations.description()
    }

    fn states(&self) -> usize {
        self.equations.states() + self.environment.answer.states()
    }

    fn start(&mut self, _t: f64, _x: &mut [f64], _u: &mut [f64]) -> Result<AfterEvent> {
        Err(Error::new(Code::Bug, "a run does not start with an environment model"))
    }

    fn nominals(&self, x: &mut [f64]) {
        let (own, rest) = x.split_at_mut(self.equations.states());
        self.equations.nominals(own);
        self.environment.answer.nominals(&self.description().inputs, rest);
    }

    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        if x[self.equations.states()..].iter().any(|x| !x.is_finite()) {
            // Inputs that are not numbers do not enter the equations of other parts.
            x_dot.fill(f64::NAN);
            return Ok(());
        }
        match self.evaluate(t, x, u, x_dot) {
            // Outputs that are not possible here: the integrator tries a shorter step.
            Err(error) if error.code() == Code::FmuDiscard => {
                x_dot.fill(f64::NAN);
                Ok(())
            }
            other => other,
        }
    }

    fn outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        let (own, _) = self.resolve(t, x, u)?;
        self.equations.outputs(t, own, self.environment.answer.inputs(), y)
    }

    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        let mut differences = std::mem::take(&mut self.environment.differences);
        self.nominals(differences.nominals_mut());
        let outcome = differences.fill(x, model, |x, x_dot| self.derivatives(t, x, u, x_dot));
        self.environment.differences = differences;
        outcome
    }

    fn state_name(&self, i: usize) -> String {
        let is_own = i < self.equations.states();
        if is_own { self.equations.state_name(i) } else { "a state of the others".into() }
    }

    fn micro_sampling(&self) -> MicroSampling {
        self.equations.micro_sampling()
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        if self.equations.events().is_some() { Some(self) } else { None }
    }
}

/// Those of the equations, under inputs that hold the answer of the rest.
impl Events for WithEnvironment<'_> {
    fn indicators(&mut self) -> usize {
        self.equations.events().map_or(0, |events| events.indicators())
    }

    fn event_indicators(&mut self, t: f64, x: &[f64], u: &[f64], z: &mut [f64]) -> Result<()> {
        let (own, _) = self.resolve(t, x, u)?;
        let u = self.environment.answer.inputs();
        self.equations.events().map_or(Ok(()), |events| events.event_indicators(t, own, u, z))
    }

    fn wants_completed_steps(&mut self) -> bool {
        self.equations.events().is_some_and(|events| events.wants_completed_steps())
    }

    fn step_completed(&mut self, t: f64, x: &[f64], u: &[f64]) -> Result<bool> {
        let (own, _) = self.resolve(t, x, u)?;
        let u = self.environment.answer.inputs();
        self.equations.events().map_or(Ok(false), |events| events.step_completed(t, own, u))
    }

    fn event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent> {
        self.resolve(t, x, u)?;
        let (own, u) = (&mut x[..self.equations.states()], self.environment.answer.inputs());
        self.equations.events().map_or(Ok(AfterEvent::default()), |events| events.event(t, own, u))
    }
}
