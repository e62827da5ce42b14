//! What the error of a trial is measured by: the monolithic solution where there is one, else the same system at a much
//! smaller step, once for all trials, else the trial itself at half its step.

use costep_analysis::{Reference, ReferenceKind};
use costep_core::{Code, Error, ExitClass, Result};
use costep_project::Project;

use super::refined::Refined;
use crate::assemble::Choice;
use crate::comparison::{Against, measured_run};
use crate::reference::ReferenceChoice;
use crate::report::RunReport;
use crate::run::Run;
use crate::system::System;
use crate::verdict::Verify;
use crate::waiting::Waiting;

/// The own error of a reference is to be at most this share of the error that is asked for.
pub(super) const OWN_SHARE: f64 = 0.2;
/// Monolithic references that are kept.
const KEPT: usize = 6;

/// What errors are measured by.
pub(super) struct Yardstick {
    kind: Kind,
    asked: f64,
    /// Why a better one was given up.
    pub(super) warnings: Vec<Error>,
}

enum Kind {
    /// One reference per step.
    Monolithic(ReferenceChoice, Vec<(f64, Reference)>),
    /// One reference for all steps that are multiples of the one it is sampled at; none before the first is asked for.
    Refined(Option<Box<Refined>>),
    /// A second run per run.
    HalfStep,
}

/// What came of a measurement.
pub(super) enum Measured {
    /// The run, and what it was compared with.
    Run(Box<RunReport>, Option<ReferenceKind>),
    /// There is no reference for this step, and none that fits into the time.
    OutOfReach,
}

impl Yardstick {
    pub(super) fn new(system: &System, asked: f64) -> Result<Self> {
        let choice = ReferenceChoice::parse(&system.project, system.registry.solvers(), "same")?;
        let kind = match choice {
            ReferenceChoice::Monolithic(_) => Kind::Monolithic(choice, Vec::new()),
            _ => Kind::Refined(None),
        };
        Ok(Self { kind, asked, warnings: Vec::new() })
    }

    /// Whether reference errors come from a second run.
    pub(super) fn is_half_step(&self) -> bool {
        matches!(self.kind, Kind::HalfStep)
    }

    /// Runs a system, as it says, and measures it. References are made where `may_refine` and there is time.
    pub(super) fn measure(
        &mut self,
        system: &System,
        waiting: &Waiting,
        may_refine: bool,
    ) -> Result<Measured> {
        let project = &*system.project;
        let choice = Choice::of(project);
        if project.control.is_some() && !self.is_half_step() {
            // The reference follows the steps of the run.
            let later = match &self.kind {
                Kind::Monolithic(choice, _) => *choice,
                _ => ReferenceChoice::FineStep(None),
            };
            let against = Against { reference: None, later, micro: false };
            let (report, kind) = measured_run(project, &choice, against, None, waiting);
            return Ok(Measured::Run(report.into(), kind));
        }
        match self.reference(project, choice.step, waiting, may_refine) {
            Ok(Some(reference)) => {
                let against =
                    Against { reference: Some(&reference), later: ReferenceChoice::Nothing, micro: false };
                let (report, kind) = measured_run(project, &choice, against, None, waiting);
                Ok(Measured::Run(report.into(), kind))
            }
            Ok(None) if self.is_half_step() => by_half_step(system, waiting),
            Ok(None) => Ok(Measured::OutOfReach),
            Err(error) if is_of_the_system(&error) => {
                self.give_up(&error);
                by_half_step(system, waiting)
            }
            Err(error) => Err(error),
        }
    }

    fn give_up(&mut self, error: &Error) {
        let details = error.details();
        let warning =
            Error::new(Code::ReferenceFailed, format!("there is no reference: {}", details.message))
                .because("errors are estimated by second runs at half the step");
        self.warnings.push(warning.hint("such an estimate may be off by half of itself"));
        self.kind = Kind::HalfStep;
    }

    fn reference(
        &mut self,
        project: &Project,
        step: f64,
        waiting: &Waiting,
        may_refine: bool,
    ) -> Result<Option<Reference>> {
        match &mut self.kind {
            Kind::HalfStep => Ok(None),
            Kind::Monolithic(choice, kept) => {
                if let Some((_, reference)) = kept.iter().find(|(of, _)| *of == step) {
                    return Ok(Some(reference.clone()));
                }
                let reference = choice.make_unchecked(project, step, waiting)?;
                if let Some(reference) = &reference {
                    kept.truncate(KEPT - 1);
                    kept.insert(0, (step, reference.clone()));
                }
                Ok(reference)
            }
            Kind::Refined(refined) => {
                if refined.is_none() {
                    *refined = Refined::first(project, OWN_SHARE * self.asked, waiting)?.map(Box::new);
                    if refined.is_none() {
                        let error = Error::new(Code::TimeLimit, "it would take too much of the time");
                        self.give_up(&error);
                        return Ok(None);
                    }
                }
                let Some(refined) = refined else { return Ok(None) };
                if !refined.serves(step) && may_refine {
                    refined.go_down_to(project, step, waiting)?;
                }
                Ok(refined.at(step))
            }
        }
    }

    /// What a reference at this step is, with its own error where that can be said.
    pub(super) fn checked(
        &self,
        project: &Project,
        step: f64,
        waiting: &Waiting,
    ) -> Result<Option<ReferenceKind>> {
        match &self.kind {
            Kind::Monolithic(choice, _) => {
                Ok(choice.make(project, step, waiting)?.map(|reference| reference.kind))
            }
            Kind::Refined(refined) => Ok(refined.as_ref().map(|refined| refined.kind())),
            Kind::HalfStep => Ok(None),
        }
    }
}

/// Whether it is the reference that cannot be computed, not the time that is over.
pub(super) fn is_of_the_system(error: &Error) -> bool {
    let is_failure =
        matches!(error.code().entry().exit, ExitClass::Model | ExitClass::Diverged | ExitClass::Input);
    is_failure || error.code() == Code::Hung
}

/// The run and a second one at half its step.
fn by_half_step(system: &System, waiting: &Waiting) -> Result<Measured> {
    let run = Run::new().reference("none").verify(Verify::Always).without_results();
    let run = run.time_limit(waiting.left()).cancel(waiting.cancel());
    let report = system.run(run).map(|outcome| outcome.report);
    let report = report.or_else(|error| not_possible(system, &error).ok_or(error))?;
    Ok(Measured::Run(report.into(), None))
}

/// A run that did not start because its method cannot be used here: beside a reference that is part of the report as well.
fn not_possible(system: &System, error: &Error) -> Option<RunReport> {
    // Those of coupling methods.
    error.code().entry().id.starts_with("E03").then(|| {
        let choice = Choice::of(&system.project);
        let mut report = RunReport::new(choice.method, choice.step);
        report.fail(error);
        report
    })
}

#[cfg(test)]
mod tests {
    use costep_core::Restricted;
    use costep_system::Component;

    use super::*;
    use crate::{CustomPart, NativePart, Solver, SystemBuilder};

    /// A part that can do nothing but step.
    fn black_box(name: &'static str) -> CustomPart {
        let make = move |_: &str| {
            let part = NativePart::new(name, &[1.0])
                .input("u", "m", 1.0)
                .output("y", "m", 1.0)
                .derivatives(|_, x, u, dx| dx[0] = -u[0] - x[0])
                .outputs(|_, x, _, y| y[0] = x[0]);
            let inside = part.subsystem(&Solver::Dopri5(1e-10))?;
            Ok(Restricted::black_box(inside).boxed())
        };
        CustomPart::new(name, make).unwrap()
    }

    #[test]
    fn a_method_that_parts_lack_something_for_is_measured_as_such_without_a_reference() {
        let loops = SystemBuilder::default().native(black_box("a")).native(black_box("b"));
        let loops = loops.connect("a.y", "b.u").connect("b.y", "a.u").stop(1.0).step(0.1);
        let system = loops.method("predictive:source=probe").build().unwrap();
        let waiting = Waiting::new(&crate::cancel::Cancel::new(), None);
        let Measured::Run(report, _) = by_half_step(&system, &waiting).unwrap() else { panic!() };
        assert_eq!(report.error.map(|error| error.code()), Some(Code::NeedsMissing));
    }
}
