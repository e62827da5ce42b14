//! Native equations that integrate a linear model of the rest of the system beside their own states.

use std::cell::RefCell;

use costep_core::{
    Description, EnvironmentModel, InputSegment, Interval, LocalModel, MicroSampling, Result, Subsystem,
};

use crate::answer::{Answer, StateDifferences, solver_beside};
use crate::native::Native;
use crate::ode::Ode;
use crate::solver::Solver;

/// Steps of a subsystem beside a model of the rest of the system.
pub(crate) trait StepBeside: Send {
    /// Advances `x` over the interval; gives outputs and inputs at its end.
    fn step(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        environment: &EnvironmentModel,
        x: &mut [f64],
        ends: (&mut [f64], &mut [f64]),
    ) -> Result<()>;

    /// As a subsystem, for micro samples, snapshots and checkpoints of its integrator.
    fn subsystem(&self) -> &dyn Subsystem;

    /// The same, to be changed.
    fn subsystem_mut(&mut self) -> &mut dyn Subsystem;
}

/// Makes room for steps beside models of the size of this one.
pub(crate) fn step_beside<S: Ode + Clone + 'static>(
    ode: &S,
    solver: &Solver,
    environment: &EnvironmentModel,
) -> Result<Box<dyn StepBeside>> {
    let native = Native::new(WithEnvironment::new(ode.clone(), environment), &solver_beside(solver))?;
    Ok(Box::new(Stepper { native, x: Vec::new(), u: vec![0.0; ode.description().inputs.len()] }))
}

struct Stepper<S> {
    native: Native<WithEnvironment<S>>,
    x: Vec<f64>,
    /// Inputs at the start of a step.
    u: Vec<f64>,
}

impl<S: Ode + 'static> StepBeside for Stepper<S> {
    fn step(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        environment: &EnvironmentModel,
        x: &mut [f64],
        (y, u): (&mut [f64], &mut [f64]),
    ) -> Result<()> {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.x.resize(x.len() + environment.states(), 0.0);
        self.native.set_state(interval.start, &self.x);
        input.evaluate(0.0, &mut self.u);
        self.native.ode_mut().begin(interval.start, &self.u, environment, x);
        self.native.step(interval, input, y)?;
        x.copy_from_slice(&self.native.state()[..x.len()]);
        let ode = self.native.ode();
        ode.inputs_at(interval.end, self.native.state(), self.native.input(), u);
        Ok(())
    }

    fn subsystem(&self) -> &dyn Subsystem {
        &self.native
    }

    fn subsystem_mut(&mut self) -> &mut dyn Subsystem {
        &mut self.native
    }
}

/// A subsystem and the rest of the system as it sees it.
struct WithEnvironment<S> {
    ode: S,
    answer: RefCell<Answer>,
    differences: RefCell<StateDifferences>,
    states: usize,
}

impl<S: Ode> WithEnvironment<S> {
    fn new(ode: S, environment: &EnvironmentModel) -> Self {
        let states = ode.states() + environment.states();
        Self {
            answer: RefCell::new(Answer::new(environment, ode.description())),
            differences: RefCell::new(StateDifferences::new(states)),
            states,
            ode,
        }
    }

    fn begin(&mut self, start: f64, u: &[f64], environment: &EnvironmentModel, x: &[f64]) {
        let ode = &self.ode;
        let begun = self.answer.get_mut().begin(start, environment, |y| {
            ode.outputs(start, x, u, y);
            Ok(())
        });
        debug_assert!(begun.is_ok(), "native equations do not fail");
    }

    /// Gives the inputs at a point of the solution to `then`.
    fn resolve(&self, t: f64, x: &[f64], base: &[f64], then: impl FnOnce(&mut Answer)) {
        let answer = &mut *self.answer.borrow_mut();
        let (own, rest) = x.split_at(self.ode.states());
        let resolved = answer.resolve(t, rest, base, |u, y| {
            self.ode.outputs(t, own, u, y);
            Ok(())
        });
        debug_assert!(resolved.is_ok(), "native equations do not fail");
        then(answer);
    }

    fn inputs_at(&self, t: f64, x: &[f64], base: &[f64], u: &mut [f64]) {
        self.resolve(t, x, base, |answer| u.copy_from_slice(answer.inputs()));
    }
}

impl<S: Ode> Ode for WithEnvironment<S> {
    fn description(&self) -> &Description {
        self.ode.description()
    }

    fn states(&self) -> usize {
        self.states
    }

    fn micro_sampling(&self) -> MicroSampling {
        self.ode.micro_sampling()
    }

    fn state_name(&self, i: usize) -> String {
        if i < self.ode.states() { self.ode.state_name(i) } else { "a state of the others".into() }
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        let (own, rest) = x.split_at_mut(self.ode.states());
        self.ode.nominal_state(own);
        self.answer.borrow().nominals(&self.description().inputs, rest);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let (own, rest) = x.split_at(self.ode.states());
        let (own_dot, rest_dot) = x_dot.split_at_mut(own.len());
        self.resolve(t, x, u, |answer| {
            self.ode.derivatives(t, own, answer.inputs(), own_dot);
            answer.derivatives(t, rest, rest_dot);
        });
    }

    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        self.resolve(t, x, u, |answer| self.ode.outputs(t, &x[..self.ode.states()], answer.inputs(), y));
    }

    fn jacobians(&self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let differences = &mut *self.differences.borrow_mut();
        self.nominal_state(differences.nominals_mut());
        let filled = differences.fill(x, model, |x, x_dot| {
            self.derivatives(t, x, u, x_dot);
            Ok(())
        });
        debug_assert!(filled.is_ok(), "native equations do not fail");
    }
}
