//! From a project to an engine, a reference and a measured run.

use std::time::Instant;

use costep_analysis::{Amplitudes, Reference, Trace, measure, monolithic_amplitudes, paper_error};
use costep_core::{Experiment, Result};
use costep_engine::{Engine, Group, Observer, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_project::{Override, Project, Source};
use serde_json::{Map, Value, json};

use crate::args::SystemArgs;
use crate::failure::Failure;
use crate::report::RunReport;

/// Finds and checks the system that the command line names.
pub(crate) fn load(args: &SystemArgs, more: Vec<Override>) -> Result<Project, Failure> {
    let source = Source::find(&args.system)?;
    let mut overrides = args.overrides()?;
    overrides.extend(more);
    Ok(costep_project::load(&source, &overrides)?)
}

/// The method of the default group and the macro step of a run.
pub(crate) struct Choice<'a> {
    pub(crate) method: &'a MethodSpec,
    pub(crate) step: f64,
}

impl<'a> Choice<'a> {
    /// What the project says.
    pub(crate) fn of(project: &'a Project) -> Self {
        Self { method: &project.groups[0].method, step: project.model.experiment.step }
    }

    /// Start, stop and step.
    pub(crate) fn experiment(&self, project: &Project) -> Experiment {
        Experiment { step: self.step, ..project.model.experiment }
    }
}

/// An engine for a project.
pub(crate) fn engine(project: &Project, choice: &Choice<'_>, micro_samples: bool) -> Result<Engine> {
    let model = &project.model;
    let subsystems = model.parts.iter().map(|part| part.subsystem(&model.solver)).collect::<Result<_>>()?;
    let group = |(index, spec): (usize, &costep_project::GroupSpec)| Group {
        method: if index == 0 { choice.method.build() } else { spec.method.build() },
        inputs: spec.inputs.clone(),
    };
    let others = project.groups[1..].iter().map(|group| &group.method);
    Engine::new(System {
        subsystems,
        connections: model.connections.clone(),
        models: costep_methods::models(std::iter::once(choice.method).chain(others))?,
        externals: model.externals.clone(),
        groups: project.groups.iter().enumerate().map(group).collect(),
        scheduling: project.scheduling.clone(),
        bounds: project.bounds.clone(),
        experiment: choice.experiment(project),
        threads: project.threads,
        micro_samples,
    })
}

/// The reference that `--reference` asks for: the solver of the monolithic system, or none.
pub(crate) fn reference_solver(project: &Project, text: &str) -> Result<Option<Solver>> {
    match text {
        "none" | "auto" => Ok(None),
        // Under signals from outside the monolithic system has no exact steps.
        "same" if project.model.solver == Solver::Exact && !project.model.externals.is_empty() => {
            Ok(Some(Solver::Dopri5(TIGHT)))
        }
        "same" => Ok(Some(project.model.solver)),
        solver => Solver::parse(solver, default_micro_step(project)).map(Some),
    }
}

/// Tolerance of a reference that stands for the exact solution.
const TIGHT: f64 = 1e-12;

/// Most evaluations of outputs that a run spends on its verdict.
const AFFORDABLE: f64 = 5e7;

/// The amplitudes of the monolithic twin, to judge a run by that asks for no other reference; nothing if it would
/// take long. Depends on the project alone, so that a resumed run is judged like an uninterrupted one.
pub(crate) fn twin_amplitudes(project: &Project) -> Result<Option<Amplitudes>> {
    let (model, experiment) = (&project.model, &project.model.experiment);
    let inner_steps = match model.solver {
        Solver::Euler(step) | Solver::Rk4(step) => (experiment.step / step).max(1.0),
        Solver::Dopri5(_) | Solver::Exact => 20.0,
    };
    let effort = experiment.steps() as f64 * inner_steps * model.layout().outputs() as f64;
    let solver = reference_solver(project, "same")?.filter(|_| effort <= AFFORDABLE);
    solver.map(|solver| monolithic_amplitudes(model, solver, experiment)).transpose()
}

fn default_micro_step(project: &Project) -> f64 {
    match project.model.solver {
        Solver::Euler(step) | Solver::Rk4(step) => step,
        Solver::Dopri5(_) | Solver::Exact => 1e-5,
    }
}

/// The monolithic run for a step.
pub(crate) fn reference(project: &Project, solver: Option<Solver>, step: f64) -> Result<Option<Reference>> {
    let experiment = Experiment { step, ..project.model.experiment };
    // Points inside the steps are the same only if the inner solver is.
    let micro = solver == Some(project.model.solver);
    solver.map(|solver| Reference::new(&project.model, solver, &experiment, micro)).transpose()
}

/// Runs a project from start to end and measures it.
pub(crate) fn measured_run(
    project: &Project,
    choice: &Choice<'_>,
    reference: Option<&Reference>,
    observers: &mut [&mut dyn Observer],
) -> RunReport {
    let mut report = RunReport::new(choice.method, choice.step);
    if let Err(error) = try_measured_run(project, choice, reference, observers, &mut report) {
        report.fail(&error);
    }
    report
}

fn try_measured_run(
    project: &Project,
    choice: &Choice<'_>,
    reference: Option<&Reference>,
    observers: &mut [&mut dyn Observer],
    report: &mut RunReport,
) -> Result<()> {
    let mut engine = engine(project, choice, true)?;
    let mut trace = Trace::new(engine.outputs().len(), true);
    let mut all: Vec<&mut dyn Observer> = vec![&mut trace];
    all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
    let start = Instant::now();
    let outcome = engine.run(&mut all);
    report.wall_s = start.elapsed().as_secs_f64();
    report.count(&engine);
    outcome?;
    if let Some(reference) = reference {
        report.add(&measure(engine.descriptions(), &trace, reference));
        report.max_abs_error = paper_error(&project.model, project.model.experiment.stop, &trace)?;
    }
    Ok(())
}

/// The head of the JSON objects: what was run.
pub(crate) fn head(project: &Project, reference: Option<Solver>) -> Map<String, Value> {
    let parameters: Map<String, Value> =
        project.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let reference = match reference {
        Some(solver) => json!({ "kind": "monolithic", "solver": solver.label() }),
        None => Value::Null,
    };
    let mut head = Map::new();
    head.insert("system".into(), json!(project.name));
    head.insert("parameters".into(), Value::Object(parameters));
    head.insert("solver".into(), json!(project.model.solver.label()));
    head.insert("t_end".into(), json!(project.model.experiment.stop));
    head.insert("reference".into(), reference);
    head
}
