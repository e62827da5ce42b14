//! A matrix of runs against a reference.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use costep_analysis::{BondWatch, Reference, ReferenceKind, RunWatch, Trace, measure, paper_error};
use costep_core::quantity::{exact_time, format_time};
use costep_core::{Code, Error, ExitClass, Result};
use costep_engine::{Engine, Flow, Observer, StopFlag};
use costep_methods::{MethodSpec, auto, monolithic};
use costep_project::{Project, Registry, stop_passed};
use costep_supervise::stopping_exceptions;

use crate::assemble::{self, Choice};
use crate::cancel::Cancel;
use crate::folder::{RunFolder, unwritable};
use crate::names::Names;
use crate::recorder::Recorder;
use crate::reference::ReferenceChoice;
use crate::report::RunReport;
use crate::run::MethodChoice;
use crate::solution::Solution;
use crate::supervised;
use crate::system::System;
use crate::verdict::{Beside, Evidence};
use crate::waiting::Waiting;
use crate::working_folder::WorkingFolder;
use costep_engine::divergence::StartSignals;

/// Which runs to compare: every method at every step.
///
/// ```
/// use costep::{Comparison, System, Verdict};
///
/// let comparison = Comparison::new().method("zoh").method("predictive").steps(&[5e-3]);
/// let compared = System::open("dual-mass")?.compare(&comparison)?;
/// let verdicts: Vec<_> = compared.reports.iter().map(|report| report.verdict).collect();
/// assert_eq!(verdicts, [Verdict::Unstable, Verdict::Stable]);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone)]
pub struct Comparison {
    methods: Vec<MethodChoice>,
    steps: Vec<f64>,
    reference: String,
    record: Option<RunFolder>,
    cancel: Cancel,
    only_possible: bool,
}

impl Default for Comparison {
    fn default() -> Self {
        let (methods, steps) = (Vec::new(), Vec::new());
        Self {
            methods,
            steps,
            reference: "same".into(),
            record: None,
            cancel: Cancel::new(),
            only_possible: false,
        }
    }
}

impl Comparison {
    /// All methods at the step of the system, against the monolithic system by the inner solver or, with
    /// FMUs, against the same system at a much smaller step.
    pub fn new() -> Self {
        Self::default()
    }

    /// All coupling methods with their default options, but for `auto`, which is one of the others, and
    /// `monolithic`, which couples nothing.
    pub fn all_methods(registry: &Registry) -> Result<Vec<MethodSpec>> {
        let others = [auto::ENTRY.id, monolithic::ENTRY.id];
        let entries = registry.methods().iter().filter(|entry| !others.contains(&entry.id));
        entries.map(|entry| MethodSpec::of(entry, Vec::new())).collect()
    }

    /// Adds a method: only those that are named are run.
    pub fn method(mut self, method: impl Into<MethodChoice>) -> Self {
        self.methods.push(method.into());
        self
    }

    /// Leaves out methods that cannot be used with the system, as is done where none is named: they are in
    /// [`Compared::not_possible`], not among the runs.
    pub fn only_possible(mut self) -> Self {
        self.only_possible = true;
        self
    }

    /// The macro steps in s.
    pub fn steps(mut self, steps: &[f64]) -> Self {
        self.steps = steps.to_vec();
        self
    }

    /// What to measure against, as in [`Run::reference`](crate::Run::reference).
    pub fn reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = reference.into();
        self
    }

    /// Writes a recording of every run into this folder.
    pub fn record(mut self, folder: &RunFolder) -> Self {
        self.record = Some(folder.clone());
        self
    }

    /// Ends the comparison once this is raised; runs that are finished count.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }
}

impl System {
    /// Methods with the models that the project names, as far as they can work with them. Where models were `asked_for`
    /// that none of them can work with, that is a mistake.
    pub fn with_models(&self, methods: Vec<MethodSpec>, asked_for: bool) -> Result<Vec<MethodSpec>> {
        let Some(models) = &self.project.models else { return Ok(methods) };
        let (mut any, mut refusal) = (false, None);
        let one = |method: MethodSpec| {
            if method.names_models() || !method.uses_models() {
                return method;
            }
            match method.clone().with_models(models) {
                Ok(with) => {
                    any = true;
                    with
                }
                Err(error) => {
                    refusal.get_or_insert(error);
                    method
                }
            }
        };
        let methods = methods.into_iter().map(one).collect();
        match refusal.filter(|_| asked_for && !any) {
            Some(error) => Err(error),
            None => Ok(methods),
        }
    }
}

impl Comparison {
    fn leaves_out(&self) -> bool {
        self.only_possible || self.methods.is_empty()
    }
}

/// What a comparison does.
pub enum ComparisonEvent<'a> {
    /// It computes the reference for this step, after so many runs.
    Reference(f64, usize),
    /// It runs this method at this step.
    Run(&'a MethodSpec, f64),
    /// This run is done.
    Done(&'a RunReport),
}

/// The runs that came to their end, and what they were compared with.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Step by step, method by method.
    pub reports: Vec<RunReport>,
    /// Their recordings, in the same order, if they were to be recorded.
    pub recordings: Vec<PathBuf>,
    /// The reference of the first step, to be drawn, where runs were recorded.
    pub solution: Option<Solution>,
    /// One per step, but for those that failed.
    pub references: Vec<ReferenceKind>,
    /// Runs that passed their stop times, as far as the project does not say so already, and references that failed.
    pub warnings: Vec<Error>,
    /// Methods that were left out because they cannot be used with this system, and why.
    pub not_possible: Vec<(String, Error)>,
    /// If the comparison was stopped before its end.
    pub stopped: Option<Error>,
}

pub(crate) fn compare(
    system: &System,
    comparison: &Comparison,
    progress: &mut dyn FnMut(ComparisonEvent<'_>),
) -> Result<Compared> {
    let project = &system.project;
    let methods: Vec<MethodSpec> = match &comparison.methods[..] {
        [] => Comparison::all_methods(&system.registry)?,
        given => given.iter().map(|method| method.spec(&system.registry)).collect::<Result<_>>()?,
    };
    let own = [project.model.experiment.step];
    let steps = if comparison.steps.is_empty() { &own[..] } else { &comparison.steps };
    system.check_steps(steps)?;
    if !comparison.methods.is_empty() {
        system.refuse_impossible(&methods)?;
    }
    let choice = ReferenceChoice::parse(project, system.registry.solvers(), &comparison.reference)?;
    let mut compared = Compared::default();
    let _here = WorkingFolder::before(project);
    let outcome = compared.compute(project, (&methods, steps), choice, comparison, progress);
    match outcome {
        Err(error) if error.code() == Code::Stopped => compared.stopped = Some(error),
        outcome => outcome?,
    }
    Ok(compared)
}

impl Compared {
    fn compute(
        &mut self,
        project: &Project,
        (methods, steps): (&[MethodSpec], &[f64]),
        reference: ReferenceChoice,
        comparison: &Comparison,
        progress: &mut dyn FnMut(ComparisonEvent<'_>),
    ) -> Result<()> {
        for step in steps {
            progress(ComparisonEvent::Reference(*step, self.reports.len()));
            let later = reference.filter(project);
            let reference = self.reference(reference, project, *step, &comparison.cancel)?;
            comparison.cancel.check()?;
            self.references.extend(reference.as_ref().map(|reference| reference.kind.clone()));
            if let (Some(reference), Some(_), None) = (&reference, &comparison.record, &self.solution) {
                self.solution = Some(Solution::of_reference(reference, project));
            }
            let against = Against { reference: reference.as_ref(), later, micro: true };
            for method in methods {
                if self.not_possible.iter().any(|(label, _)| *label == method.label()) {
                    continue;
                }
                progress(ComparisonEvent::Run(method, *step));
                let choice = Choice { method, step: *step, control: project.control.as_ref() };
                let file = comparison.record.as_ref().map(|folder| recording_file(folder.reached(), &choice));
                let (mut report, kind) =
                    one_run(project, &choice, against, file.as_deref(), &comparison.cancel)?;
                if self.references.is_empty() {
                    self.references.extend(kind);
                }
                // The run that was stopped says nothing.
                comparison.cancel.check()?;
                self.warn(project, report.passed_stop.take());
                progress(ComparisonEvent::Done(&report));
                let missing = report.error.as_ref().filter(|error| error.code() == Code::NeedsMissing);
                let impossible = missing.or(report.replaced.as_ref());
                match impossible.filter(|_| comparison.leaves_out()) {
                    Some(error) => {
                        self.not_possible.push((method.label(), error.clone()));
                        // Of a run in the place of another there may be a recording.
                        file.filter(|file| file.exists()).map_or(Ok(()), |file| {
                            std::fs::remove_file(&file).map_err(|cause| unwritable(&file, &cause))
                        })?;
                    }
                    None => {
                        self.reports.push(report);
                        self.recordings.extend(file);
                    }
                }
            }
        }
        Ok(())
    }

    /// The reference for a step. One that comes to no end leaves the runs alone.
    fn reference(
        &mut self,
        choice: ReferenceChoice,
        project: &Project,
        step: f64,
        cancel: &Cancel,
    ) -> Result<Option<Reference>> {
        choice.make(project, step, &Waiting::new(cancel, None)).or_else(|error| {
            match error.code().entry().exit {
                ExitClass::Model | ExitClass::Diverged => {
                    let details = error.details();
                    let message =
                        format!("the reference at {} failed: {}", format_time(step), details.message);
                    let cause = details.cause.as_deref().map_or(String::new(), |cause| format!("; {cause}"));
                    let warning = Error::new(Code::ReferenceFailed, message)
                        .because(format!("{}{cause}", details.code.entry().title));
                    self.warnings.push(match project.model.can_be_one() {
                        true => warning,
                        // Without equations of all parts there is no solver to choose.
                        false => warning.hint(error.help()),
                    });
                    Ok(None)
                }
                _ => Err(error),
            }
        })
    }

    /// Keeps a warning, once.
    fn warn(&mut self, project: &Project, warning: Option<Error>) {
        let Some(warning) = warning else { return };
        let mut said = project.warnings.iter().chain(&self.warnings);
        if !said.any(|said| said.details().message == warning.details().message) {
            self.warnings.push(warning);
        }
    }
}

fn recording_file(folder: &Path, choice: &Choice<'_>) -> PathBuf {
    let label: String =
        choice.method.label().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    folder.join(format!("{label}-{}.arrows", exact_time(choice.step)))
}

/// What runs are compared with: what is there already, or what is made when their steps are known.
#[derive(Clone, Copy)]
pub(crate) struct Against<'a> {
    pub(crate) reference: Option<&'a Reference>,
    pub(crate) later: ReferenceChoice,
    /// Whether points inside the steps are compared too.
    pub(crate) micro: bool,
}

fn one_run(
    project: &Project,
    choice: &Choice<'_>,
    against: Against<'_>,
    file: Option<&Path>,
    cancel: &Cancel,
) -> Result<(RunReport, Option<ReferenceKind>)> {
    let waiting = Waiting::new(cancel, None);
    let Some(file) = file else { return Ok(measured_run(project, choice, against, None, &waiting)) };
    let template = match assemble::engine(project, choice, true) {
        Ok(template) => template,
        // Nothing to record: the run says why it cannot be done, as one without a recording does.
        Err(_) => return Ok(measured_run(project, choice, against, None, &waiting)),
    };
    let metadata = [
        ("method".into(), choice.method.label()),
        ("system".into(), project.name.clone()),
        ("project".into(), project.to_toml_in(file.parent().unwrap_or(Path::new("")))),
    ];
    let mut recorder = Recorder::create(file, &template, project, &metadata, None)?;
    // Some FMUs can have one instance at a time only.
    drop(template);
    let report = measured_run(project, choice, against, Some(&mut recorder), &waiting);
    recorder.finish()?;
    Ok(report)
}

/// Runs a project from start to end and measures it. Whatever goes wrong is part of the report.
pub(crate) fn measured_run(
    project: &Project,
    choice: &Choice<'_>,
    against: Against<'_>,
    recorder: Option<&mut Recorder>,
    waiting: &Waiting,
) -> (RunReport, Option<ReferenceKind>) {
    let mut report = RunReport::new(choice.method, choice.step);
    let kind = try_measured_run(project, choice, against, (recorder, waiting), &mut report);
    let kind = kind.unwrap_or_else(|error| {
        report.fail(&error);
        None
    });
    (report, kind)
}

fn try_measured_run(
    project: &Project,
    choice: &Choice<'_>,
    against: Against<'_>,
    (recorder, waiting): (Option<&mut Recorder>, &Waiting),
    report: &mut RunReport,
) -> Result<Option<ReferenceKind>> {
    let mut engine = assemble::engine(project, choice, against.micro)?;
    let asked = choice.experiment(project);
    if engine.experiment().stop != asked.stop {
        report.passed_stop = Some(stop_passed(&project.model, &asked));
    }
    let mut trace = Trace::new(engine.outputs().len(), against.micro);
    let mut obey = |engine: &Engine| supervised::obey(engine).map(|()| Flow::Continue);
    let (mut stop, mut watch) = (StopFlag(waiting.flag()), RunWatch::default());
    let mut hurry = |_: &Engine| waiting.check().map(|()| Flow::Continue);
    let (mut bonds, mut recorder) = (BondWatch::new(project.power_bonds()), recorder);
    let mut record = |engine: &Engine| {
        bonds.look(engine);
        recorder.as_mut().map_or(Ok(()), |recorder| recorder.look(engine, &bonds))?;
        Ok(Flow::Continue)
    };
    let mut all: Vec<&mut dyn Observer> = vec![&mut trace, &mut obey, &mut stop, &mut watch, &mut record];
    // Who has all the time in the world does not look at the clock in every step.
    if waiting.left().is_some() {
        all.push(&mut hurry);
    }
    let (start, at_start) = (Instant::now(), StartSignals::of(&engine));
    let outcome = stopping_exceptions(|| engine.run(&mut all));
    report.count(&engine, start.elapsed().as_secs_f64());
    report.take_bonds(&bonds);
    outcome.map_err(|error| at_start.blame(error, &engine, watch.exploding()))?;
    let names = Arc::new(Names::new(engine.descriptions().iter()));
    let experiment = *engine.experiment();
    let evidence = Evidence { project, experiment, steps: engine.k(), watch: &watch, names: &names };
    evidence.judge(&Beside::Nothing, report);
    let own = against.later.along(project, &trace, waiting)?;
    let reference = own.as_ref().or(against.reference);
    if let Some(reference) = reference {
        reference.check_times(&trace)?;
        report.add(&measure(engine.descriptions(), &trace, reference), &reference.kind);
        if against.micro {
            report.errors.max_abs_error = paper_error(&project.model, project.model.experiment.stop, &trace)?;
        }
    }
    report.explain(project.model.connections.len());
    Ok(reference.map(|reference| reference.kind.clone()))
}
