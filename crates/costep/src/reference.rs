//! What runs are compared with: `--reference`.

use std::time::{Duration, Instant};

use costep_analysis::{Patience, Reference, Trace, second_solver};
use costep_core::quantity::{exact_time, format_time, one_word, parse_time, rewrite_times};
use costep_core::{Code, Error, Experiment, Result};
use costep_engine::ListedSteps;
use costep_integrate::{Solver, Solvers};
use costep_methods::MethodSpec;
use costep_project::Project;

use crate::assemble::{self, Steps};
use crate::waiting::Waiting;

/// Tolerance of a reference that stands for the exact solution.
const TIGHT: f64 = 1e-12;

/// Steps of a reference at a smaller step per macro step, if nothing else is asked for.
pub(crate) const REFINEMENT: u64 = 50;

/// Most of them: more is probably a slip of the unit.
const MAX_REFINEMENT: f64 = 1e6;

/// A reference by FMUs that takes longer is not solved once more.
const CHECKED_WITHIN: Duration = Duration::from_secs(1);

/// Most evaluations of outputs that a run spends on its verdict.
const AFFORDABLE: f64 = 5e7;

/// Evaluations of outputs that take as long as the matrices of the whole system, per cube of its number of
/// states.
const DENSE: f64 = 3.0;

/// Length of inner steps where neither the reference nor the model says it.
const DEFAULT_INNER_STEP: f64 = 1e-5;

/// The method of a reference at smaller steps where steps vary.
const FOR_ANY_STEPS: &str = "auto";

/// Which reference is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReferenceChoice {
    /// None.
    Nothing,
    /// The monolithic system by this solver.
    Monolithic(Solver),
    /// The coupled system at this step, or at a fixed part of the macro step.
    FineStep(Option<f64>),
}

impl ReferenceChoice {
    /// Reads `none`, `auto` (which needs none), `same`, `step`, `step:10us` or a solver.
    pub(crate) fn parse(project: &Project, solvers: &Solvers, text: &str) -> Result<Self> {
        match text {
            "none" | "auto" => return Ok(Self::Nothing),
            "step" => return Ok(Self::FineStep(None)),
            "same" => return Ok(Self::same(project)),
            _ => {}
        }
        if let Some(step) = text.strip_prefix("step:") {
            let flag = || format!("given by `--reference {text}`");
            let typed =
                |hint: &str| rewrite_times(hint, |time| format!("--reference step:{}", one_word(time)));
            let step = parse_time(step).map_err(|error| {
                let hint = typed(error.help());
                error.because(flag()).hint(hint)
            })?;
            if step > 0.0 {
                return Ok(Self::FineStep(Some(step)));
            }
            return Err(Error::new(
                Code::BadValue,
                format!("a reference with a step of {step} s is not possible"),
            ));
        }
        let name = text.split(':').next().unwrap_or(text);
        if !solvers.names().any(|known| known == name) {
            return Err(unknown(text, solvers));
        }
        let solver = solvers.parse(text, project.model.solver.inner_step().unwrap_or(DEFAULT_INNER_STEP))?;
        if project.model.can_be_one() {
            return Ok(Self::Monolithic(solver));
        }
        Err(Error::new(Code::CommandLine, format!("`--reference {text}` needs the equations of all parts"))
            .because("FMUs for Co-Simulation do not provide them")
            .hint("use `--reference step`: the same system at a much smaller step"))
    }

    fn same(project: &Project) -> Self {
        match project.model.can_be_one() {
            true => Self::Monolithic(monolithic_solver(project)),
            false => Self::FineStep(None),
        }
    }

    /// The same if it has to wait until the steps of a run are known, else nothing.
    pub(crate) fn filter(self, project: &Project) -> Self {
        if project.control.is_some() { self } else { Self::Nothing }
    }

    /// Whether runs are compared with something.
    pub(crate) fn is_some(self) -> bool {
        self != Self::Nothing
    }

    /// The reference for a macro step.
    pub(crate) fn make(self, project: &Project, step: f64, waiting: &Waiting) -> Result<Option<Reference>> {
        self.made(project, step, (waiting, true))
    }

    /// The same for one run of many: at the communication points, and not checked by a second solution where that can be left out.
    pub(crate) fn make_unchecked(
        self,
        project: &Project,
        step: f64,
        waiting: &Waiting,
    ) -> Result<Option<Reference>> {
        self.made(project, step, (waiting, false))
    }

    fn made(
        self,
        project: &Project,
        step: f64,
        (waiting, checked): (&Waiting, bool),
    ) -> Result<Option<Reference>> {
        if project.control.is_some() {
            // The steps are known when they have been done.
            return Ok(None);
        }
        let patience: Patience<'_> = &|| waiting.check();
        let experiment = assemble::experiment(project, step);
        match self {
            Self::Nothing => Ok(None),
            Self::Monolithic(solver) => {
                // Points inside the steps are the same only if the inner solver is.
                let micro = checked && solver == project.model.solver;
                let start = Instant::now();
                if !project.model.has_equations() {
                    return whole(project, solver, &experiment, patience).map(Some);
                }
                let reference =
                    Reference::waited_for(&project.model, solver, &experiment, (micro, patience))?;
                Ok(Some(match checked {
                    true => reference.checked(&project.model, &experiment, start.elapsed()),
                    false => reference,
                }))
            }
            Self::FineStep(fine) => fine_step(project, &experiment, fine, patience).map(Some),
        }
    }
}

/// Steps of a reference per step of a run whose steps were controlled.
const FINE_PARTS: u64 = 8;

impl ReferenceChoice {
    /// The reference for a run whose steps were controlled, along its communication points.
    pub(crate) fn along(
        self,
        project: &Project,
        run: &Trace,
        waiting: &Waiting,
    ) -> Result<Option<Reference>> {
        let patience: Patience<'_> = &|| waiting.check();
        let experiment = assemble::experiment(project, project.model.experiment.step);
        let listed = |parts: u64| ListedSteps::new(run.times.clone(), parts);
        match self {
            Self::Nothing => Ok(None),
            Self::Monolithic(solver) if project.model.has_equations() => {
                Reference::along(&project.model, solver, &experiment, (run, patience)).map(Some)
            }
            Self::Monolithic(solver) => {
                let engine = assemble::whole_over(project, solver, &experiment, listed(1))?;
                Reference::whole(engine, solver, patience).map(Some)
            }
            Self::FineStep(_) => {
                let method = MethodSpec::parse(FOR_ANY_STEPS)?;
                let engine = |parts: u64| {
                    let steps = (experiment, Steps::Listed(listed(parts)));
                    assemble::engine_over(project, &method, steps, false, |models| models)
                };
                Reference::refined(
                    (engine(FINE_PARTS)?, FINE_PARTS),
                    engine(FINE_PARTS / 2)?,
                    &method.label(),
                    patience,
                )
                .map(Some)
            }
        }
    }
}

/// The members of a system with FMUs solved as one, checked by a second solution if the first took a little while only.
fn whole(
    project: &Project,
    solver: Solver,
    experiment: &Experiment,
    patience: Patience<'_>,
) -> Result<Reference> {
    let start = Instant::now();
    let engine = |solver| assemble::whole(project, solver, experiment, true);
    let first = engine(solver)?;
    let descriptions = first.descriptions().to_vec();
    let reference = Reference::whole(first, solver, patience)?;
    let second = second_solver(solver).filter(|_| start.elapsed() < CHECKED_WITHIN);
    let second = second.and_then(|solver| Reference::whole(engine(solver).ok()?, solver, patience).ok());
    Ok(match second {
        Some(second) => reference.checked_by(&second, &descriptions),
        None => reference,
    })
}

fn unknown(text: &str, solvers: &Solvers) -> Error {
    let known = ["none", "auto", "same", "step", "step:TIME"].into_iter().chain(solvers.names());
    let error = Error::new(Code::BadValue, format!("unknown reference `{text}`"));
    let error = error.because(format!("given by `--reference {text}`"));
    let known: Vec<&str> = known.collect();
    // The list is longer than those that are shown for other names.
    let listed = format!("known here: {}", known.join(", "));
    error.hint(listed).suggest(text, known)
}

/// The inner solver as far as it can solve the whole system.
pub(crate) fn monolithic_solver(project: &Project) -> Solver {
    match project.model.solver {
        // Under external inputs the monolithic system has no exact steps.
        Solver::Exact if !project.model.externals.is_empty() || !project.model.has_equations() => {
            Solver::Dopri5(TIGHT)
        }
        solver => solver,
    }
}

fn fine_step(
    project: &Project,
    experiment: &Experiment,
    fine: Option<f64>,
    patience: Patience<'_>,
) -> Result<Reference> {
    let refinement = fine.map_or(REFINEMENT as f64, |fine| (experiment.step / fine).ceil());
    if !(2.0..=MAX_REFINEMENT).contains(&refinement) {
        let asked = fine;
        let (own, fine) = (format_time(experiment.step), format_time(fine.unwrap_or(experiment.step)));
        let most = format_time(experiment.step / 2.0);
        let (word, hint) = match refinement < 2.0 {
            true => ("too long", format!("at most half of it: `--reference step:{}`", most.replace(' ', ""))),
            false => ("too short", format!("at most {MAX_REFINEMENT:e} steps per macro step")),
        };
        let message = format!("a reference with a step of {fine} is {word} for a macro step of {own}");
        let error = Error::new(Code::BadValue, message).hint(hint);
        return Err(match asked {
            Some(asked) => error.because(format!("given by `--reference step:{}`", exact_time(asked))),
            None => error,
        });
    }
    let method = MethodSpec::parse("auto")?;
    let engine = |experiment: &Experiment| {
        let steps = (*experiment, Steps::Equal);
        assemble::engine_over(project, &method, steps, false, |models| models)
    };
    let reference = Reference::fine_step(engine, experiment, (refinement as u64, &method.label()), patience);
    reference.map_err(|error| {
        if matches!(error.code(), Code::Stopped | Code::TimeLimit) {
            return error;
        }
        let cause = match &error.details().cause {
            Some(cause) => format!("{cause}; in the reference, the same system at a smaller step"),
            None => "in the reference, the same system at a smaller step".into(),
        };
        error
            .because(cause)
            .hint("choose its step with `--reference step:TIME`, or omit it with `--reference none`")
    })
}

/// The solver of the twin, if that is affordable. Depends on the project alone, so that a resumed run is
/// judged like an uninterrupted one.
pub(crate) fn twin_solver(project: &Project) -> Option<Solver> {
    let (model, experiment) = (&project.model, &project.model.experiment);
    let inner_steps = model.solver.inner_step().map_or(20.0, |step| (experiment.step / step).max(1.0));
    let states: usize = model.parts.iter().filter_map(|part| Some(part.ode()?.states())).sum();
    // Exponentials and factors of the whole system are dense.
    let matrices = match model.solver {
        Solver::Exact | Solver::Multistep(..) | Solver::LinearImplicit(_) => DENSE * (states as f64).powi(3),
        Solver::Euler(_) | Solver::Rk4(_) | Solver::Dopri5(_) | Solver::Other(..) => 0.0,
    };
    let effort = experiment.steps() as f64 * inner_steps * model.layout().outputs() as f64 + matrices;
    match ReferenceChoice::same(project) {
        ReferenceChoice::Monolithic(solver) if effort <= AFFORDABLE && model.has_equations() => Some(solver),
        _ => None,
    }
}
