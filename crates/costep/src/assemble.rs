//! From a project to an engine.

use costep_core::{Code, CouplingMethod, Error, Experiment, InputSet, ModelSource, Result, Subsystem};
use costep_engine::{ControlSpec, Engine, Group, ListedSteps, Scheduling, System, Threads};
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::monolithic::{Integrator, MonolithicOptions};
use costep_methods::{MethodSpec, energy_corrected, monolithic};
use costep_project::Project;
use costep_system::Component;

use crate::settling;
use crate::trust::Distrust;

/// The method of the default group and the macro steps of a run.
pub(crate) struct Choice<'a> {
    pub(crate) method: &'a MethodSpec,
    /// Where steps vary, the longest.
    pub(crate) step: f64,
    pub(crate) control: Option<&'a ControlSpec>,
}

/// The macro steps of an engine.
pub(crate) enum Steps {
    /// Those of its experiment.
    Equal,
    /// As a control says.
    Controlled(ControlSpec),
    /// From time to time of a list.
    Listed(ListedSteps),
}

impl Steps {
    /// An engine with these steps.
    fn engine(self, project: &Project, system: System) -> Result<Engine> {
        match self {
            Self::Equal => Engine::new(system),
            Self::Controlled(spec) => {
                let has_inner_steps = project.model.parts.iter().any(|part| part.has_equations());
                let inner = project.model.solver.inner_step().filter(|_| has_inner_steps);
                let spec = ControlSpec { inner, ..spec };
                let control = spec.build(&system.experiment, &project.power_bonds());
                Engine::with_control(system, control)
            }
            Self::Listed(steps) => Engine::with_control(system, Box::new(steps)),
        }
    }
}

impl<'a> Choice<'a> {
    /// What the project says.
    pub(crate) fn of(project: &'a Project) -> Self {
        Self {
            method: &project.groups[0].method,
            step: project.model.experiment.step,
            control: project.control.as_ref(),
        }
    }

    fn steps(&self) -> Steps {
        self.control.map_or(Steps::Equal, |control| Steps::Controlled(control.clone()))
    }

    /// Start, stop and step.
    pub(crate) fn experiment(&self, project: &Project) -> Experiment {
        experiment(project, self.step)
    }
}

/// Start, stop and step of a run with this step. The built-in models are those of papers, whose steps are all equal.
pub(crate) fn experiment(project: &Project, step: f64) -> Experiment {
    let run = Experiment { step, ..project.model.experiment };
    if project.model_id.is_some() && project.control.is_none() { run.with_equal_steps() } else { run }
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
    let steps = choice.steps();
    engine_over(project, choice.method, (choice.experiment(project), steps), micro_samples, watch)
}

/// By how much the tolerance of a second run is smaller than that of the first.
const TIGHTER: f64 = 0.25;

/// An engine for a second run, to verify a first one with the same trust in its parts: at half the step or, where steps are controlled,
/// with a smaller tolerance and through these times.
pub(crate) fn second_run(
    project: &Project,
    choice: &Choice<'_>,
    experiment: Experiment,
    times: &[f64],
) -> Result<Engine> {
    if let Some(control) = choice.control {
        let tighter = ControlSpec { also: times.to_vec(), ..control.tighter(TIGHTER) };
        let steps = (experiment, Steps::Controlled(tighter));
        return engine_over(project, choice.method, steps, false, |models| models);
    }
    let fine = Experiment { step: 0.5 * experiment.step, ..experiment };
    if monolithic::is_monolithic(choice.method) {
        return whole(project, whole_solver(project, choice.method)?, &fine, false);
    }
    trusting((project, choice.method), &experiment, (fine, Steps::Equal), false, |models| models)
}

/// The same over any span.
pub(crate) fn engine_over(
    project: &Project,
    method: &MethodSpec,
    (experiment, steps): (Experiment, Steps),
    micro_samples: bool,
    watch: impl FnOnce(Box<dyn ModelSource>) -> Box<dyn ModelSource>,
) -> Result<Engine> {
    if monolithic::is_monolithic(method) {
        if matches!(steps, Steps::Controlled(_)) {
            let message =
                "`monolithic` couples nothing: there is no error that a control of steps could look at";
            return Err(Error::new(Code::ControlNeeds, message).hint(
                "leave out `tolerance` in [step]; the tolerance of its solver is an option of the method",
            ));
        }
        return whole(project, whole_solver(project, method)?, &experiment, micro_samples)
            .map_err(|error| project.say_who_asked(without_equations(error, project), method));
    }
    // What an FMU offers is tried with a step that is likely to come up.
    let usual = if matches!(steps, Steps::Equal) { experiment.step } else { project.equal_step() };
    let trial = Experiment { step: usual, ..experiment };
    trusting((project, method), &trial, (experiment, steps), micro_samples, watch)
}

/// The same with parts of which is known what they can do in the steps of a trial.
fn trusting(
    (project, method): (&Project, &MethodSpec),
    trial: &Experiment,
    (experiment, steps): (Experiment, Steps),
    micro_samples: bool,
    watch: impl FnOnce(Box<dyn ModelSource>) -> Box<dyn ModelSource>,
) -> Result<Engine> {
    let others = project.groups[1..].iter().map(|group| &group.method);
    let methods = std::iter::once(method).chain(others);
    let distrust = Distrust::find(project, methods.clone(), trial);
    let models = watch(costep_methods::models(methods)?);
    let system = coupled(project, (method, experiment), (models, micro_samples), &distrust)?;
    let engine = steps.engine(project, system);
    let mut engine =
        engine.map_err(|error| project.say_who_asked(distrust.explain(error, project), method))?;
    distrust.reasons(project).for_each(|reason| engine.add_warning(reason));
    Ok(engine)
}

/// An engine with equal steps for one method, to which something has been done.
pub(crate) fn wrapped_engine(
    project: &Project,
    method: &MethodSpec,
    experiment: Experiment,
    wrap: impl Fn(Box<dyn CouplingMethod>) -> Box<dyn CouplingMethod>,
) -> Result<Engine> {
    let mut project = project.clone();
    project.groups.truncate(1);
    let inputs = project.model.layout().inputs();
    project.groups[0].inputs = InputSet::All(inputs);
    let distrust = Distrust::find(&project, std::iter::once(method), &experiment);
    let models = costep_methods::models(std::iter::once(method))?;
    let mut system = coupled(&project, (method, experiment), (models, false), &distrust)?;
    for group in &mut system.groups {
        group.method = wrap(method.build());
    }
    Engine::new(system)
}

/// The parts of a project under their methods.
fn coupled(
    project: &Project,
    (method, experiment): (&MethodSpec, Experiment),
    (models, micro_samples): (Box<dyn ModelSource>, bool),
    distrust: &Distrust,
) -> Result<System> {
    let model = &project.model;
    let made = match settling::at_rest(project, &experiment)? {
        Some(at_rest) => at_rest,
        None => model.parts.iter().map(|part| part.subsystem(&model.solver)).collect::<Result<_>>()?,
    };
    Ok(coupled_parts(project, (method, experiment), (models, micro_samples), distrust, made))
}

/// An engine for the project with something else in the place of its parts, as far as one can be made.
pub(crate) fn of_stand_ins(
    project: &Project,
    choice: &Choice<'_>,
    stand_in: impl Fn(&dyn Component) -> Result<Box<dyn Subsystem>>,
) -> Result<Engine> {
    let made = project.model.parts.iter().map(|part| stand_in(&**part)).collect::<Result<_>>()?;
    let others = project.groups[1..].iter().map(|group| &group.method);
    let models = costep_methods::models(std::iter::once(choice.method).chain(others))?;
    let with = (choice.method, choice.experiment(project));
    let mut system = coupled_parts(project, with, (models, false), &Distrust::default(), made);
    system.threads = Threads::Fixed(1);
    let engine = choice.steps().engine(project, system);
    engine.map_err(|error| project.say_who_asked(error, choice.method))
}

/// These parts under the methods of the project.
fn coupled_parts(
    project: &Project,
    (method, experiment): (&MethodSpec, Experiment),
    (models, micro_samples): (Box<dyn ModelSource>, bool),
    distrust: &Distrust,
    made: Vec<Box<dyn Subsystem>>,
) -> System {
    let model = &project.model;
    let restricted = |(i, subsystem): (usize, Box<dyn Subsystem>)| {
        let rate = project.rates.get(i).copied().unwrap_or_default();
        rate.apply(distrust.restrict(i, subsystem))
    };
    let bonds = if project.bonds.corrected { project.power_bonds() } else { Vec::new() };
    let group = |(index, spec): (usize, &costep_project::GroupSpec)| {
        let method = if index == 0 { method.build() } else { spec.method.build() };
        let method = if bonds.is_empty() { method } else { energy_corrected(method, &bonds) };
        Group { method, inputs: spec.inputs.clone() }
    };
    System {
        subsystems: made.into_iter().enumerate().map(restricted).collect(),
        connections: model.connections.clone(),
        models,
        externals: model.externals.clone(),
        groups: project.groups.iter().enumerate().map(group).collect(),
        scheduling: project.scheduling.clone(),
        bounds: project.bounds.clone(),
        experiment,
        threads: project.threads,
        micro_samples,
    }
}

/// What to do about the part that `monolithic` cannot solve together with the others.
fn without_equations(error: Error, project: &Project) -> Error {
    let part = project.model.parts.iter().find(|part| !part.has_equations());
    let says_nothing = error.code() == Code::NeedsMissing && error.details().hint.is_none();
    let Some(part) = part.filter(|_| says_nothing) else { return error };
    error.hint(format!(
        "`auto` couples the parts as they are; if the FMU has Model Exchange as well (`costep inspect` says so): \
         `interface = \"me\"` in [fmu.{}]",
        part.description().name
    ))
}

/// An engine whose subsystems are one system inside, solved by this solver.
pub(crate) fn whole(
    project: &Project,
    solver: Solver,
    experiment: &Experiment,
    micro_samples: bool,
) -> Result<Engine> {
    Engine::new(whole_system(project, solver, experiment, micro_samples)?)
}

/// The same with steps from time to time of a list.
pub(crate) fn whole_over(
    project: &Project,
    solver: Solver,
    experiment: &Experiment,
    steps: ListedSteps,
) -> Result<Engine> {
    Engine::with_control(whole_system(project, solver, experiment, true)?, Box::new(steps))
}

fn whole_system(
    project: &Project,
    solver: Solver,
    experiment: &Experiment,
    micro_samples: bool,
) -> Result<System> {
    let model = &project.model;
    if let [_, group, ..] = &project.groups[..] {
        let message = format!("`monolithic` cannot be combined with `{}`", group.method.label());
        return Err(Error::new(Code::NeedsMissing, message)
            .because("it solves all parts as one system, so there is nothing left for groups")
            .hint("leave out the groups"));
    }
    let hold = monolithic::hold()?;
    Ok(System {
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
            let given = &project.given;
            let is_native =
                project.model_id.is_some() || !(given.natives.is_empty() && given.linears.is_empty());
            if !given.solver && !is_native {
                let message = "`monolithic:solver=project` has no solver to take: the project names none";
                return Err(Error::new(Code::Missing, message)
                    .hint("write `solver = \"bdf:1e-8\"` in [system], or choose bdf, adams or dopri5"));
            }
            project.model.solver
        }
    })
}
