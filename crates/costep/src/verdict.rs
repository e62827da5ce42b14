//! The verdict on a run that came to its end: what it rests on, and the error that goes with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use costep_analysis::{Companion, RunWatch, Sign, Suspicion, second_solver};
use costep_core::{Code, Error, Experiment, Result};
use costep_engine::{Engine, Flow};
use costep_integrate::Solver;
use costep_project::Project;
use costep_supervise::{stopping_exceptions, unheard};
use serde::Serialize;

use crate::assemble::{self, Choice};
use crate::names::Names;
use crate::patience;
use crate::reference;
use crate::report::{RunReport, Verdict};
use crate::supervised;
use crate::waiting::Waiting;

/// Wall time that a second run may take if nothing is said, and share of the wall time of the first one, if that is more: of longer
/// runs the beginning is done a second time.
const CHEAP: Duration = Duration::from_secs(2);
const CHEAP_SHARE: f64 = 0.1;

/// Times as many steps as the run a second one has at least: with a quarter of the tolerance it has 1.4 times as many at an order of four.
const FINER: f64 = 1.2;
/// Less of a run than this, or fewer steps, says nothing about it.
const LEAST_SHARE: f64 = 0.01;
const LEAST_STEPS: f64 = 20.0;
const LEAST_POINTS: usize = 10;

/// Nothing that grows is to be called unstable as long as all errors together are below this share of the ranges.
const INVISIBLE: f64 = 0.03;

/// Signals that grow and a mean defect of so much of their ranges: unstable. With less they may be driven.
const CLEARLY_UNSTABLE: f64 = 0.1;

/// Whether a run without a reference is done a second time at half its step.
///
/// ```
/// use costep::{Run, System, Verify};
///
/// let run = Run::new().method("nepce").step(1e-3).reference("none").verify(Verify::Always);
/// let report = System::open("dual-mass")?.run(run)?.report;
/// assert_eq!(report.error_estimate.unwrap().by, "half step");
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// As much of it as takes two seconds or a tenth of the wall time of the run.
    #[default]
    Cheap,
    /// All of it, however long that takes.
    Always,
    /// The verdict rests on what was seen in the run alone, without a monolithic solution too.
    Never,
}

/// About how large the error of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorEstimate {
    /// Mean over the outputs, root mean square over time, of their errors relative to their ranges: `eps_mono`, or an estimate of it.
    pub value: f64,
    /// What it rests on: `reference` (a better solution), `half step` (a second run), or `defect` (how far inputs were from what they
    /// are connected to).
    pub by: &'static str,
    /// How much of the run it is of: of a long one, a second run does the beginning only.
    pub share: f64,
}

/// Which signals make a run suspect, and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// What was seen.
    pub reason: String,
    /// Names of the signals, `part.port`, the worst first.
    pub signals: Vec<String>,
    /// Between these times in s it is worst.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

impl Doubt {
    /// Outputs that are far off over the whole run, if there are any, the worst by so much of its size.
    pub(crate) fn of_wrong(signals: Vec<String>, worst: f64, (from, to): (f64, f64)) -> Option<Self> {
        let reason = format!("off by {worst:.1} of its size, where 0.5 is too much");
        (!signals.is_empty()).then_some(Self { reason, signals, from, to })
    }
}

/// What a verdict is reached from.
pub(crate) struct Evidence<'a> {
    pub(crate) project: &'a Project,
    pub(crate) experiment: Experiment,
    /// Macro steps of the whole run.
    pub(crate) steps: u64,
    pub(crate) watch: &'a RunWatch,
    pub(crate) names: &'a Arc<Names>,
}

/// The result of a second solution beside the run.
pub(crate) enum Beside {
    /// It was there, under this name.
    Found(Companion, &'static str),
    /// The one of this name failed.
    Failed(Error, &'static str),
    /// There was none.
    Nothing,
}

impl Beside {
    fn of(found: Result<Companion>, by: &'static str) -> Self {
        match found {
            Ok(companion) => Self::Found(companion, by),
            Err(error) => Self::Failed(error, by),
        }
    }
}

impl Evidence<'_> {
    /// The monolithic solution, where there is one and it is affordable.
    pub(crate) fn monolithic(&self, waiting: &Waiting) -> Beside {
        let Some(solver) = reference::twin_solver(self.project) else { return Beside::Nothing };
        let first = match self.solved_by(solver, waiting) {
            Ok(first) if first.says_bad(self.watch) => first,
            other => return Beside::of(other, "reference"),
        };
        // A solution that condemns the run may be the wrong one of the two: a second opinion counts if it is kinder.
        let second = second_solver(solver)
            .and_then(|solver| self.solved_by(solver, &waiting.no_longer_than(CHEAP)).ok())
            .filter(|second| !second.says_bad(self.watch));
        Beside::Found(second.unwrap_or(first), "reference")
    }

    fn solved_by(&self, solver: Solver, waiting: &Waiting) -> Result<Companion> {
        let model = &self.project.model;
        Companion::monolithic(model, solver, &self.experiment, (self.watch, &|| waiting.check()))
    }

    /// The same run, or this share of it, at half the step, in a wall time that is ample for it: what it did until then counts. An
    /// FMU that is in a call then is not waited for.
    pub(crate) fn half_step(&self, (share, ample): (f64, Duration), waiting: &Waiting) -> Beside {
        supervised::show_verification();
        let second = SecondRun {
            project: self.project.clone(),
            experiment: self.experiment,
            watch: self.watch.clone(),
            waiting: waiting.clone(),
        };
        let time = waiting.left().map_or(ample, |left| ample.min(left));
        let second = unheard(|| patience::within(time, move || second.run(share, ample)));
        if second.as_ref().is_ok_and(|(companion, steps)| !self.is_finer(companion, *steps)) {
            return Beside::Nothing;
        }
        match Beside::of(second.map(|(companion, _)| companion), "half step") {
            // A handful of points has no range to measure errors by.
            Beside::Found(companion, _) if companion.points < LEAST_POINTS && companion.share < 1.0 => {
                Beside::Nothing
            }
            beside => beside,
        }
    }

    /// Whether a second run took shorter steps. Where those of a control are as short as the parts can do, both runs are the same,
    /// and what they differ by says nothing.
    fn is_finer(&self, companion: &Companion, steps: u64) -> bool {
        self.project.control.is_none() || steps as f64 >= FINER * companion.share * self.steps as f64
    }

    /// How much of a run that took this wall time, of all that it may take, is to be done a second time, and what is ample for that.
    pub(crate) fn share_to_verify(
        &self,
        verify: Verify,
        wall: Duration,
        limit: Option<Duration>,
    ) -> Option<(f64, Duration)> {
        let is_coupled = !self.project.model.connections.is_empty();
        share_to_verify(verify, wall, limit, self.steps).filter(|_| is_coupled)
    }

    /// Writes the verdict into a report.
    pub(crate) fn judge(&self, beside: &Beside, report: &mut RunReport) {
        let (watch, growth, doubt) = (self.watch, self.watch.growth(), self.watch.doubt());
        let defect = watch.defect().map(|value| ErrorEstimate { value, by: "defect", share: 1.0 });
        let judged_stable = if watch.can_judge() { Verdict::Stable } else { Verdict::NotJudged };
        let clearly_unstable =
            growth.is_some() && defect.is_some_and(|defect| defect.value > CLEARLY_UNSTABLE);
        let (verdict, by, estimate) = match beside {
            // The beginning of a run says nothing about its end.
            Beside::Found(companion, _) if companion.share < 1.0 && clearly_unstable => {
                (Verdict::Unstable, "growth", defect)
            }
            Beside::Found(companion, by) => {
                let estimate = ErrorEstimate { value: companion.accuracy.mean, by, share: companion.share };
                let verdict = self.beside(companion, by, growth.is_some(), judged_stable);
                let by = if *by == "reference" { "twin" } else { by };
                (verdict, by, Some(estimate))
            }
            _ if clearly_unstable => (Verdict::Unstable, "growth", defect),
            _ if growth.is_some() => (Verdict::Suspect, "growth", defect),
            Beside::Failed(error, "half step") if blew_up(error) => (Verdict::Suspect, "half step", defect),
            _ if doubt.is_some() => (Verdict::Suspect, "defect", defect),
            _ => (judged_stable, "defect", defect),
        };
        report.verdict = verdict;
        report.judged_by = Some(by);
        report.error_estimate = estimate;
        report.doubt = match (verdict, beside) {
            (Verdict::Stable | Verdict::NotJudged, _) => None,
            (_, Beside::Found(companion, _)) => {
                self.wrong_outputs(companion).or_else(|| self.explain(growth.or(doubt)))
            }
            _ => self.explain(growth.or(doubt)),
        };
        if let Beside::Failed(error, _) = beside {
            report.message = Some(not_verified(error));
        }
    }

    fn beside(&self, companion: &Companion, by: &str, grows: bool, stable: Verdict) -> Verdict {
        // A second run may be unstable as well: then the signals of the first one say more than their difference.
        let is_far = companion.accuracy.is_inaccurate();
        let is_visible = is_far || companion.accuracy.mean > INVISIBLE;
        if is_visible && companion.says_unstable(self.watch) || (by != "reference" && is_far && grows) {
            return Verdict::Unstable;
        }
        let is_doubtful = companion.share < 1.0 && (grows || self.watch.doubt().is_some());
        match is_far {
            true => Verdict::Inaccurate,
            false if is_doubtful => Verdict::Suspect,
            false => stable,
        }
    }

    fn wrong_outputs(&self, companion: &Companion) -> Option<Doubt> {
        let accuracy = &companion.accuracy;
        let signals = accuracy.wrong().into_iter().map(|i| self.names.outputs[i].clone()).collect();
        let Experiment { start, stop, .. } = self.experiment;
        Doubt::of_wrong(signals, accuracy.worst(), (start, stop))
    }

    fn explain(&self, suspicion: Option<Suspicion>) -> Option<Doubt> {
        let Suspicion { sign, inputs, between } = suspicion?;
        let reason = match sign {
            Sign::Exponential => "grows by the same factor again and again",
            Sign::Growth => "grows, and does not follow what it is connected to",
            Sign::Zigzag => "oscillates from step to step",
            Sign::Defect => "is far from what it is connected to",
        };
        let Experiment { start, stop, .. } = self.experiment;
        let time = |share: f64| start + share * (stop - start);
        Some(Doubt {
            reason: reason.into(),
            signals: inputs.into_iter().map(|j| self.names.inputs[j].clone()).collect(),
            from: time(between.0),
            to: time(between.1),
        })
    }
}

/// A run that is done a second time, with all that it needs.
struct SecondRun {
    project: Project,
    experiment: Experiment,
    watch: RunWatch,
    waiting: Waiting,
}

impl SecondRun {
    /// So much of it, in a wall time that is ample; with the number of its macro steps.
    fn run(&self, share: f64, ample: Duration) -> Result<(Companion, u64)> {
        let start = Instant::now();
        let (choice, times) = (Choice::of(&self.project), self.watch.sample_times());
        let mut engine = assemble::second_run(&self.project, &choice, self.experiment, times)?;
        let result = stopping_exceptions(|| {
            Companion::half_step(&mut engine, &self.watch, share, |_: &Engine| {
                self.waiting.check()?;
                Ok(if start.elapsed() > ample { Flow::Stop } else { Flow::Continue })
            })
        });
        result.map(|companion| (companion, engine.k()))
    }
}

/// How much of a run is to be done a second time with twice as many steps, and a wall time that is ample for it.
fn share_to_verify(
    verify: Verify,
    wall: Duration,
    limit: Option<Duration>,
    steps: u64,
) -> Option<(f64, Duration)> {
    let allowed = match verify {
        Verify::Never => Duration::ZERO,
        Verify::Cheap => CHEAP.max(wall.mul_f64(CHEAP_SHARE)),
        Verify::Always => Duration::MAX,
    };
    let allowed = limit.map_or(allowed, |limit| allowed.min(limit.saturating_sub(wall)));
    let share = (allowed.as_secs_f64() / (2.0 * wall.as_secs_f64()).max(1e-9)).min(1.0);
    let is_enough = share >= LEAST_SHARE && share * steps as f64 >= LEAST_STEPS;
    (share == 1.0 || is_enough).then_some((share, allowed.saturating_mul(2)))
}

/// Whether a second run at half the step failed because its signals ran away.
fn blew_up(error: &Error) -> bool {
    matches!(error.code(), Code::Diverged | Code::OutOfBounds | Code::NotFinite | Code::StepTooSmall)
}

fn not_verified(error: &Error) -> String {
    let details = error.details();
    match details.code {
        Code::Stopped => "not verified: stopped".into(),
        Code::Hung => format!("not verified: the second run was cut: {}", details.message),
        _ => format!(
            "not verified: the second solution failed: {} ({})",
            details.message,
            details.code.entry().id
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_verified_in_part() {
        let seconds = Duration::from_secs;
        let share = |verify, wall, limit, steps| Some(share_to_verify(verify, wall, limit, steps)?.0);
        let cheap = |wall, limit| share(Verify::Cheap, wall, limit, 1000);
        assert_eq!(cheap(Duration::from_millis(900), None), Some(1.0));
        assert_eq!(cheap(seconds(10), None), Some(0.1));
        assert_eq!(cheap(seconds(3600), None), Some(0.05));
        // Not if that is next to nothing, or takes longer than everything may.
        assert_eq!(share(Verify::Cheap, seconds(3600), None, 100), None);
        assert_eq!(cheap(seconds(10), Some(seconds(10))), None);
        assert_eq!(share(Verify::Always, seconds(3600), None, 100), Some(1.0));
        assert_eq!(share(Verify::Never, Duration::ZERO, None, 100), None);
    }
}
