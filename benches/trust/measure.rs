//! Runs without a reference, and what they say about themselves.

use costep::{Outcome, Run, System, Verify};

use super::cases::Case;
use super::parts::Counts;

/// What a run says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// `Stable`, `Unstable`, ...; `Refused` if it did not start.
    pub verdict: String,
    /// What the verdict rests on.
    pub judged_by: Option<String>,
    /// The error that it quotes, and what that rests on.
    pub quoted: Option<(f64, String)>,
    /// Steps of all parts, trial steps included.
    pub calls: u64,
    /// Steps of all parts as it counts them.
    pub counted: u64,
    /// What the method has chosen, or the error that ended it.
    pub remark: Option<String>,
}

/// A run and, if it came to its end, its outputs at the communication points of the case.
pub(super) struct Ran {
    pub(super) said: Said,
    pub(super) rows: Option<Vec<f64>>,
}

/// Runs a case with a method at its step, or at a part of it.
pub(super) fn run(
    case: &Case,
    system: &System,
    counts: &Counts,
    (method, verify): (&str, Verify),
    refinement: u64,
) -> Ran {
    counts.clear();
    let run = Run::new().method(method).step(case.step / refinement as f64).reference("none").verify(verify);
    match system.run(run) {
        Ok(outcome) => Ran { said: said(&outcome, counts), rows: rows(case, &outcome, refinement) },
        Err(error) => {
            let said = Said { verdict: "Refused".into(), remark: Some(error.to_string()), ..Said::default() };
            Ran { said, rows: None }
        }
    }
}

fn said(outcome: &Outcome, counts: &Counts) -> Said {
    let report = &outcome.report;
    Said {
        verdict: format!("{:?}", report.verdict),
        judged_by: report.judged_by.map(Into::into),
        quoted: report.error_estimate.map(|estimate| (estimate.value, estimate.by.into())),
        calls: counts.of_first().max(report.work.subsystem_steps),
        counted: report.work.subsystem_steps,
        remark: report.error.as_ref().map(ToString::to_string).or_else(|| report.chosen.clone()),
    }
}

fn rows(case: &Case, outcome: &Outcome, refinement: u64) -> Option<Vec<f64>> {
    let results = outcome.results.as_ref()?;
    let steps = (case.steps * refinement) as usize;
    let is_whole = outcome.error().is_none() && results.times().len() == steps + 1;
    let points = (0..=steps).step_by(refinement as usize);
    is_whole.then(|| points.flat_map(|k| results.row(k).iter().copied()).collect())
}
