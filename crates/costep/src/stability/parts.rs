//! Parts as stability is judged by: near rest where they are linear, or as their models.

use costep_core::{Capabilities, Description, LocalModel, MicroSampling, Restricted, Result, Subsystem};
use costep_engine::{Bounds, Threads};
use costep_integrate::{Integrated, Ode, Solver};
use costep_project::Project;
use costep_system::{Component, StartedAt, Variation};

use super::models::local_models;
use super::{BEFORE, Foundation, StabilityPoint, steps_before};
use crate::system::System;

/// Perturbations as small as this are within all bounds that methods set themselves by the sizes of signals, however
/// fast they grow meanwhile.
const SMALL: f64 = 1e-20;

/// A number without a pattern, from -0.4 to 0.6 and never zero.
fn rough(i: usize) -> f64 {
    ((i + 1) as f64 * 0.618_034).fract() - 0.4
}

/// What is stepped in place of the parts.
pub(super) enum Plant {
    /// They themselves.
    Parts,
    /// They themselves, linear as they are, near rest.
    PartsNearRest,
    /// Models of them.
    Models(Vec<LocalModel>, Foundation),
}

impl Plant {
    pub(super) fn of(system: &System, point: &StabilityPoint<'_>) -> Result<Self> {
        let project = &*system.project;
        if point.by_models || !are_native(project) {
            let before = steps_before(project, point.at, point.step).max(BEFORE);
            let (models, foundation) = local_models(system, point.step, (point.at, before))?;
            return Ok(Self::Models(models, foundation));
        }
        Ok(if are_linear(project) { Self::PartsNearRest } else { Self::Parts })
    }

    pub(super) fn foundation(&self) -> Foundation {
        if let Self::Models(_, foundation) = self { *foundation } else { Foundation::Steps }
    }

    /// Macro steps before the one that is linearised: what is linear is so everywhere.
    pub(super) fn steps_before(&self, project: &Project, point: &StabilityPoint<'_>) -> u64 {
        match self {
            Self::Parts => steps_before(project, point.at, point.step).max(BEFORE),
            Self::PartsNearRest | Self::Models(..) => BEFORE,
        }
    }

    /// The project with it, on one thread and without bounds: what grows is meant to be seen growing.
    pub(super) fn project(&self, system: &System, compares: bool) -> Result<Project> {
        let mut project = Project::clone(&system.project);
        match self {
            Self::Parts => {}
            Self::PartsNearRest => near_rest(&mut project, compares),
            Self::Models(models, _) => as_models(&mut project, models, compares)?,
        }
        let outputs = project.model.layout().outputs();
        project.bounds = (0..outputs).map(|i| (i, Bounds { min: f64::MIN, max: f64::MAX })).collect();
        project.threads = Threads::Fixed(1);
        Ok(project)
    }
}

/// Whether all parts are native and linear.
fn are_linear(project: &Project) -> bool {
    project.model.parts.iter().all(|part| part.ode().is_some_and(|ode| ode.is_linear()))
}

/// Whether all parts are native.
fn are_native(project: &Project) -> bool {
    project.model.parts.iter().all(|part| part.ode().is_some())
}

/// The same with linear parts near rest. Methods that compare residuals with the sizes of signals get perturbations of
/// these sizes.
fn near_rest(project: &mut Project, compares: bool) {
    let amplitude = if compares { 1.0 } else { SMALL };
    for part in &mut project.model.parts {
        let Some(ode) = part.ode() else { continue };
        let mut start = vec![0.0; ode.states()];
        ode.nominal_state(&mut start);
        for (i, x) in start.iter_mut().enumerate() {
            let size = if *x == 0.0 || !x.is_finite() { 1.0 } else { *x };
            *x = amplitude * size * rough(i);
        }
        *part = Box::new(StartedAt::new(part.duplicate(), start));
    }
    project.model.externals.clear();
}

/// The same project with a linear model in place of every part, exactly integrated and near rest. They offer what the
/// parts themselves do.
fn as_models(project: &mut Project, models: &[LocalModel], compares: bool) -> Result<()> {
    as_models_with(project, models, (compares, false), &|_, _| {})
}

/// The same where they offer something else, and perhaps their equations.
pub(super) fn as_models_with(
    project: &mut Project,
    models: &[LocalModel],
    (compares, has_equations): (bool, bool),
    change: &dyn Fn(&mut Capabilities, &mut Description),
) -> Result<()> {
    let solver = project.model.solver;
    for (part, model) in project.model.parts.iter_mut().zip(models) {
        // What it says once it is there: the orders of inputs are those of its integrator.
        let mut subsystem = part.subsystem(&solver)?;
        let (mut offers, mut description) =
            (Capabilities::of(&mut *subsystem), subsystem.description().clone());
        change(&mut offers, &mut description);
        let amplitude = if compares { 1.0 } else { SMALL };
        *part = Box::new(ModelPart { description, model: model.clone(), offers, amplitude, has_equations });
    }
    project.model.externals.clear();
    Ok(())
}

/// A part by its local model.
#[derive(Clone)]
struct ModelPart {
    description: Description,
    model: LocalModel,
    offers: Capabilities,
    amplitude: f64,
    has_equations: bool,
}

impl Component for ModelPart {
    fn description(&self) -> &Description {
        &self.description
    }

    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        let equations = LinearEquations(self.clone());
        let input_order = self.description.input_order;
        let mut shown = Restricted::new(Box::new(Integrated::new(equations, &Solver::Exact)?))
            .describe(|description| description.input_order = input_order);
        let Capabilities { rollback, linearisation, micro_samples, environment, .. } = self.offers;
        if !rollback {
            shown = shown.without_rollback();
        }
        if linearisation != costep_core::Linearisation::Full {
            shown = shown.without_linearisation();
        }
        if micro_samples.is_none() {
            shown = shown.without_micro_samples();
        }
        if !environment {
            shown = shown.without_environment();
        }
        Ok(shown.boxed())
    }

    fn has_equations(&self) -> bool {
        self.has_equations
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        Some(Box::new(LinearEquations(self.clone())))
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut copy = self.clone();
        by.apply(&mut copy.description);
        Box::new(copy)
    }
}

/// x' = A x + B u, y = C x + D u.
struct LinearEquations(ModelPart);

impl LinearEquations {
    fn row(matrix: &[f64], i: usize, values: &[f64]) -> f64 {
        matrix[i * values.len()..(i + 1) * values.len()].iter().zip(values).map(|(a, x)| a * x).sum()
    }

    /// Only what the part declares passes through at once.
    fn direct(&self, i: usize, j: usize) -> f64 {
        let ModelPart { description, model, .. } = &self.0;
        if description.feedthrough[i].contains(&j) { model.d[i * model.inputs + j] } else { 0.0 }
    }
}

impl Ode for LinearEquations {
    fn description(&self) -> &Description {
        &self.0.description
    }

    fn states(&self) -> usize {
        self.0.model.states
    }

    fn initial_state(&self, x: &mut [f64]) {
        self.nominal_state(x);
        x.iter_mut().enumerate().for_each(|(i, x)| *x *= self.0.amplitude * rough(i));
    }

    fn nominal_state(&self, x: &mut [f64]) {
        let sizes = self.0.model.nominal.iter().zip(&self.0.model.x);
        let size = |(nominal, now): (&f64, &f64)| [*nominal, now.abs()].into_iter().find(|size| *size > 0.0);
        x.iter_mut().zip(sizes).for_each(|(x, sizes)| *x = size(sizes).unwrap_or(1.0));
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let model = &self.0.model;
        for (i, x_dot) in x_dot.iter_mut().enumerate() {
            *x_dot = Self::row(&model.a, i, x) + Self::row(&model.b, i, u);
        }
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            let through: f64 = u.iter().enumerate().map(|(j, u)| self.direct(i, j) * u).sum();
            *y = Self::row(&self.0.model.c, i, x) + through;
        }
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        let own = &self.0.model;
        model.a.copy_from_slice(&own.a);
        model.b.copy_from_slice(&own.b);
        model.c.copy_from_slice(&own.c);
        for i in 0..own.outputs {
            (0..own.inputs).for_each(|j| model.d[i * own.inputs + j] = self.direct(i, j));
        }
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn micro_sampling(&self) -> MicroSampling {
        self.0.offers.micro_samples.unwrap_or(MicroSampling::Continuous)
    }
}
