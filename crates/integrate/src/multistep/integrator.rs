//! The multistep solver as an integrator of a subsystem.

use costep_core::{Description, Error, LocalModel, Result, SolverCounts, StateReader, StateWriter};
use costep_linalg::Matrix;

use super::{AtPoint, Failure, Family, Multistep, RightHandSide, Settings};
use crate::equations::Equations;
use crate::integrator::{DIAGNOSTICS, Integrator, Start, Stretch};

/// Absolute tolerance of a state, relative to its nominal value and the relative tolerance.
const ABSOLUTE_SHARE: f64 = 0.01;
/// Relative distance of times that are the same.
const SAME_TIME: f64 = 8.0 * f64::EPSILON;
/// Most inner steps of a stretch.
const MAX_STEPS: usize = 1_000_000;

/// A solver that keeps its history across communication points.
pub(crate) struct MultistepIntegrator {
    solver: Multistep,
    saved: Multistep,
    relative: f64,
    at_point: AtPoint,
    /// Whether there is a history to keep.
    has_history: bool,
    saved_has_history: bool,
    /// Inner steps of this stretch, and of all stretches of this macro step.
    steps: usize,
    macro_steps: usize,
    u: Vec<f64>,
    model: LocalModel,
}

/// The equations of a subsystem under the inputs of a stretch.
struct UnderInput<'a> {
    equations: &'a mut dyn Equations,
    stretch: &'a Stretch<'a>,
    u: &'a mut [f64],
    model: &'a mut LocalModel,
}

impl RightHandSide for UnderInput<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.stretch.input.evaluate(t - self.stretch.start, self.u);
        self.equations.derivatives(t, x, self.u, x_dot)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        self.stretch.input.evaluate(t - self.stretch.start, self.u);
        self.equations.jacobians(t, x, self.u, self.model)?;
        jacobian.data_mut().copy_from_slice(&self.model.a);
        Ok(true)
    }
}

impl MultistepIntegrator {
    pub(crate) fn new(family: Family, relative: f64, at_point: AtPoint, equations: &dyn Equations) -> Self {
        let Description { inputs, outputs, .. } = equations.description();
        let (states, inputs, outputs) = (equations.states(), inputs.len(), outputs.len());
        let solver = || Multistep::new(Settings::new(family, relative, vec![relative; states]));
        Self {
            solver: solver(),
            saved: solver(),
            relative,
            at_point,
            has_history: false,
            saved_has_history: false,
            steps: 0,
            macro_steps: 0,
            u: vec![0.0; inputs],
            model: LocalModel::new(states, inputs, outputs),
        }
    }

    /// Whether it stands at this point, up to the round-off of sums of times: then it stands there exactly.
    fn continues(&mut self, t: f64, x: &[f64]) -> bool {
        let apart = (self.solver.t() - t).abs();
        let is_same = self.has_history && apart <= SAME_TIME * t.abs() && self.solver.x() == x;
        if is_same {
            self.solver.set_time(t);
        }
        is_same
    }
}

fn in_words(failure: Failure, equations: &dyn Equations) -> Error {
    failure.into_error(&equations.description().name, |i| equations.state_name(i))
}

impl Integrator for MultistepIntegrator {
    fn begin(
        &mut self,
        stretch: &Stretch<'_>,
        start: Start,
        equations: &mut dyn Equations,
        x: &[f64],
    ) -> Result<()> {
        self.steps = 0;
        if stretch.from == 0.0 {
            self.macro_steps = 0;
        }
        let t = stretch.time(stretch.from);
        if start == Start::Event || !self.continues(t, x) {
            let absolute = self.solver.absolute_mut();
            equations.nominals(absolute);
            absolute.iter_mut().for_each(|value| *value *= ABSOLUTE_SHARE * self.relative);
            self.solver.start(t, x);
            self.has_history = true;
            return Ok(());
        }
        let Self { solver, u, model, .. } = self;
        let mut under_input = UnderInput { equations, stretch, u, model };
        let outcome = solver.inputs_changed(&mut under_input, self.at_point);
        outcome.map_err(|failure| in_words(failure, equations))
    }

    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        let Self { solver, u, model, .. } = self;
        // Without states there is nothing to choose a step by.
        if x.is_empty() {
            return Ok(stretch.to);
        }
        let mut under_input = UnderInput { equations, stretch, u, model };
        let outcome = if self.steps < MAX_STEPS {
            solver.step(&mut under_input, stretch.end)
        } else {
            Err(solver.blame(super::Reason::TooManySteps(MAX_STEPS)))
        };
        outcome.map_err(|failure| in_words(failure, equations))?;
        self.steps += 1;
        self.macro_steps += 1;
        x.copy_from_slice(solver.x());
        let is_end = solver.t() >= stretch.end;
        Ok(if is_end { stretch.to } else { solver.t() - stretch.start })
    }

    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        _: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        self.solver.interpolate(stretch.time(s), x);
        Ok(())
    }

    fn diagnostics(&self) -> Option<[f64; DIAGNOSTICS.len()]> {
        let (order, step) = (self.solver.last_order(), self.solver.last_step());
        Some(if self.has_history { [order as f64, step, self.macro_steps as f64] } else { [0.0; 3] })
    }

    fn counts(&self) -> Option<SolverCounts> {
        let statistics = self.solver.statistics();
        Some(SolverCounts {
            steps: statistics.steps,
            evaluations: statistics.evaluations
                + statistics.correction_evaluations
                + statistics.difference_evaluations,
            jacobians: statistics.jacobians,
            error_failures: statistics.error_failures,
            convergence_failures: statistics.convergence_failures,
        })
    }

    fn reset(&mut self) {
        self.has_history = false;
    }

    fn snapshot(&mut self) {
        self.saved.copy_from(&self.solver);
        self.saved_has_history = self.has_history;
    }

    fn restore(&mut self) {
        self.solver.copy_from(&self.saved);
        self.has_history = self.saved_has_history;
    }

    fn save(&self, out: &mut StateWriter) {
        out.integer(self.has_history.into());
        self.solver.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.has_history = from.index(2)? == 1;
        self.solver.load(from)
    }
}
