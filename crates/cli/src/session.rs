//! From a project to an engine, a reference and a measured run.

use std::time::Instant;

use costep_analysis::{GrowthWatch, Reference, Trace, measure, paper_error};
use costep_core::{Code, Error, Experiment, ModelSource, Result};
use costep_engine::{Engine, Group, Observer, Scheduling, StopFlag, System, Threads};
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::monolithic::{Integrator, MonolithicOptions};
use costep_methods::{MethodSpec, monolithic};
use costep_project::{Override, Project, Source};
use costep_supervise::stopping_exceptions;
use serde_json::{Map, Value, json};

use crate::args::SystemArgs;
use crate::failure::Failure;
use crate::report::RunReport;
use crate::runaway::StartSignals;

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
    watched_engine(project, choice, micro_samples, |models| models)
}

/// The same with a source of models that something has been done to.
pub(crate) fn watched_engine(
    project: &Project,
    choice: &Choice<'_>,
    micro_samples: bool,
    watch: impl FnOnce(Box<dyn ModelSource>) -> Box<dyn ModelSource>,
) -> Result<Engine> {
    if monolithic::is_monolithic(choice.method) {
        return whole(
            project,
            whole_solver(project, choice.method)?,
            &choice.experiment(project),
            micro_samples,
        );
    }
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
        models: watch(costep_methods::models(std::iter::once(choice.method).chain(others))?),
        externals: model.externals.clone(),
        groups: project.groups.iter().enumerate().map(group).collect(),
        scheduling: project.scheduling.clone(),
        bounds: project.bounds.clone(),
        experiment: choice.experiment(project),
        threads: project.threads,
        micro_samples,
    })
}

/// An engine whose subsystems are one system inside, solved by this solver.
pub(crate) fn whole(
    project: &Project,
    solver: Solver,
    experiment: &Experiment,
    micro_samples: bool,
) -> Result<Engine> {
    let model = &project.model;
    if let [_, group, ..] = &project.groups[..] {
        let message = format!("`monolithic` cannot be combined with `{}`", group.method.label());
        return Err(Error::new(Code::NeedsMissing, message)
            .because("it solves all parts as one, so that nothing is left for groups")
            .hint("leave out the groups"));
    }
    let hold = monolithic::hold()?;
    Engine::new(System {
        subsystems: model.members(&solver)?,
        connections: model.connections.clone(),
        models: Box::new(costep_core::NoModels),
        externals: model.externals.clone(),
        groups: vec![Group { method: hold.build(), inputs: project.groups[0].inputs.clone() }],
        scheduling: Scheduling::Parallel,
        bounds: project.bounds.clone(),
        experiment: *experiment,
        // All work is done by whoever comes first.
        threads: Threads::Fixed(1),
        micro_samples,
    })
}

/// The integrator that `monolithic` asks for.
fn whole_solver(project: &Project, method: &MethodSpec) -> Result<Solver> {
    let MonolithicOptions { solver, tolerance } = MonolithicOptions::read(&method.options);
    Ok(match solver {
        Integrator::Bdf => Solver::Multistep(Family::Bdf, tolerance, AtPoint::Proceed),
        Integrator::Adams => Solver::Multistep(Family::Adams, tolerance, AtPoint::Proceed),
        Integrator::Dopri5 => Solver::Dopri5(tolerance),
        Integrator::Project => {
            // FMUs bring solvers of their own; what stands in for that of a project without native parts is no choice.
            if !project.given.solver && project.model_id.is_none() && project.given.natives.is_empty() {
                let message = "`monolithic:solver=project` has no solver to take: the project names none";
                return Err(Error::new(Code::Missing, message)
                    .hint("write `solver = \"bdf:1e-8\"` in [system], or choose bdf, adams or dopri5"));
            }
            project.model.solver
        }
    })
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
    let mut shown = crate::supervision::Shown;
    let (mut stop, mut watch) = (StopFlag(crate::stop::flag()), GrowthWatch::default());
    let mut all: Vec<&mut dyn Observer> = vec![&mut trace, &mut shown, &mut stop, &mut watch];
    all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
    let (start, at_start) = (Instant::now(), StartSignals::of(&engine));
    let outcome = stopping_exceptions(|| engine.run(&mut all));
    report.wall_s = start.elapsed().as_secs_f64();
    report.count(&engine);
    outcome.map_err(|error| at_start.blame_runaway(error, &engine))?;
    report.judge(watch.can_judge(), (watch.looks_unstable(), "growth"));
    if let Some(reference) = reference {
        report.add(&measure(engine.descriptions(), &trace, reference));
        report.max_abs_error = paper_error(&project.model, project.model.experiment.stop, &trace)?;
    }
    report.explain(project.model.connections.len());
    Ok(())
}

/// The head of the JSON objects: what was run.
pub(crate) fn head(project: &Project, reference: Value) -> Map<String, Value> {
    let parameters: Map<String, Value> =
        project.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut head = Map::new();
    head.insert("system".into(), json!(project.name));
    head.insert("parameters".into(), Value::Object(parameters));
    // FMUs solve themselves.
    let solves = project.model_id.is_some() || !project.given.natives.is_empty();
    head.insert("solver".into(), json!(solves.then(|| project.model.solver.label())));
    head.insert("t_end".into(), json!(project.model.experiment.stop));
    head.insert("reference".into(), reference);
    head
}
