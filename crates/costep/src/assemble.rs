//! From a project to an engine.

use costep_core::{Code, Error, Experiment, ModelSource, Result};
use costep_engine::{Engine, Group, Scheduling, System, Threads};
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::monolithic::{Integrator, MonolithicOptions};
use costep_methods::{MethodSpec, monolithic};
use costep_project::Project;

use crate::trust::Distrust;

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
        experiment(project, self.step)
    }
}

/// Start, stop and step of a run with this step. The built-in models are those of papers, whose steps are all equal.
pub(crate) fn experiment(project: &Project, step: f64) -> Experiment {
    let run = Experiment { step, ..project.model.experiment };
    if project.model_id.is_some() { run.with_equal_steps() } else { run }
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
    engine_over(project, choice.method, choice.experiment(project), micro_samples, watch)
}

/// An engine that does each macro step of an experiment as so many steps, with the same trust in its parts.
pub(crate) fn refined(
    project: &Project,
    choice: &Choice<'_>,
    experiment: Experiment,
    refinement: u32,
) -> Result<Engine> {
    let fine = Experiment { step: experiment.step / f64::from(refinement), ..experiment };
    if monolithic::is_monolithic(choice.method) {
        return whole(project, whole_solver(project, choice.method)?, &fine, false);
    }
    trusting((project, choice.method), &experiment, fine, false, |models| models)
}

/// The same over any span.
pub(crate) fn engine_over(
    project: &Project,
    method: &MethodSpec,
    experiment: Experiment,
    micro_samples: bool,
    watch: impl FnOnce(Box<dyn ModelSource>) -> Box<dyn ModelSource>,
) -> Result<Engine> {
    if monolithic::is_monolithic(method) {
        return whole(project, whole_solver(project, method)?, &experiment, micro_samples);
    }
    trusting((project, method), &experiment, experiment, micro_samples, watch)
}

/// The same with parts of which is known what they can do in the steps of a trial.
fn trusting(
    (project, method): (&Project, &MethodSpec),
    trial: &Experiment,
    experiment: Experiment,
    micro_samples: bool,
    watch: impl FnOnce(Box<dyn ModelSource>) -> Box<dyn ModelSource>,
) -> Result<Engine> {
    let others = project.groups[1..].iter().map(|group| &group.method);
    let methods = std::iter::once(method).chain(others);
    let distrust = Distrust::find(project, methods.clone(), trial);
    let models = watch(costep_methods::models(methods)?);
    let system = coupled(project, (method, experiment), (models, micro_samples), &distrust)?;
    let mut engine = Engine::new(system).map_err(|error| distrust.explain(error, project))?;
    distrust.reasons(project).for_each(|reason| engine.add_warning(reason));
    Ok(engine)
}

/// The parts of a project under their methods.
fn coupled(
    project: &Project,
    (method, experiment): (&MethodSpec, Experiment),
    (models, micro_samples): (Box<dyn ModelSource>, bool),
    distrust: &Distrust,
) -> Result<System> {
    let model = &project.model;
    let part = |i: usize| {
        let subsystem = model.parts[i].subsystem(&model.solver);
        subsystem.map(|subsystem| distrust.restrict(i, subsystem))
    };
    let group = |(index, spec): (usize, &costep_project::GroupSpec)| Group {
        method: if index == 0 { method.build() } else { spec.method.build() },
        inputs: spec.inputs.clone(),
    };
    Ok(System {
        subsystems: (0..model.parts.len()).map(part).collect::<Result<_>>()?,
        connections: model.connections.clone(),
        models,
        externals: model.externals.clone(),
        groups: project.groups.iter().enumerate().map(group).collect(),
        scheduling: project.scheduling.clone(),
        bounds: project.bounds.clone(),
        experiment,
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
            .because("it solves all parts as one system, so there is nothing left for groups")
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
            // FMUs bring solvers of their own; what stands in for that of a project without native parts is not a choice.
            if !project.given.solver && project.model_id.is_none() && project.given.natives.is_empty() {
                let message = "`monolithic:solver=project` has no solver to take: the project names none";
                return Err(Error::new(Code::Missing, message)
                    .hint("write `solver = \"bdf:1e-8\"` in [system], or choose bdf, adams or dopri5"));
            }
            project.model.solver
        }
    })
}
