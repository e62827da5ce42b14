//! What is kept of a run.

use costep_core::{Code, Error};
use serde::Serialize;

use crate::report::{RunReport, Verdict};

/// One run of many.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CampaignRow {
    /// Its number in the plan.
    pub run: usize,
    /// How it ended.
    pub verdict: Verdict,
    /// Errors against the reference; nothing where there is none.
    pub eps_mono: Option<f64>,
    /// The other reading of [T (3.9), (3.10)].
    pub eps_mean: Option<f64>,
    /// Noise on the error.
    pub sigma_mono: Option<f64>,
    /// Greatest ratio of the amplitudes in the last and in the first fifth of the run [T 3.3.1].
    pub amplitude_ratio: Option<f64>,
    /// Spectral radius of one macro step, where it was asked for and there is one.
    pub spectral_radius: Option<f64>,
    /// Macro steps done.
    pub macro_steps: u64,
    /// Wall time in s.
    pub wall_s: f64,
    /// The code of the error that ended it.
    pub code: Option<&'static str>,
}

/// Columns of a table of runs after those of the factors.
pub(super) const MEASURES: [&str; 9] = [
    "verdict",
    "eps_mono",
    "eps_mean",
    "sigma_mono",
    "amplitude_ratio",
    "spectral_radius",
    "macro_steps",
    "wall_s",
    "code",
];

/// A spectral radius that is greater than one by less is one.
const ROUND_OFF: f64 = 1e-9;

/// Verdicts by their numbers in files.
pub(crate) const VERDICTS: [(Verdict, &str); 7] = [
    (Verdict::NotJudged, "not judged"),
    (Verdict::Stable, "stable"),
    (Verdict::Inaccurate, "inaccurate"),
    (Verdict::Suspect, "suspect"),
    (Verdict::Unstable, "unstable"),
    (Verdict::Diverged, "diverged"),
    (Verdict::Failed, "failed"),
];

impl CampaignRow {
    pub(super) fn of(run: usize, report: &RunReport) -> Self {
        let errors = &report.errors;
        Self {
            run,
            verdict: report.verdict,
            eps_mono: errors.eps_mono,
            eps_mean: errors.eps_mean,
            sigma_mono: errors.sigma_mono,
            amplitude_ratio: errors.amplitude_ratio,
            spectral_radius: None,
            macro_steps: report.work.macro_steps,
            wall_s: report.work.wall_s,
            code: report.error.as_ref().map(|error| error.code().entry().id),
        }
    }

    /// A run that could not be begun.
    pub(super) fn failed(run: usize, verdict: Verdict, error: &Error) -> Self {
        Self {
            run,
            verdict,
            eps_mono: None,
            eps_mean: None,
            sigma_mono: None,
            amplitude_ratio: None,
            spectral_radius: None,
            macro_steps: 0,
            wall_s: 0.0,
            code: Some(error.code().entry().id),
        }
    }

    /// The error of this name: one of [`costep_project::ERRORS`].
    pub fn error(&self, name: &str) -> Option<f64> {
        match name {
            "eps_mean" => self.eps_mean,
            "sigma_mono" => self.sigma_mono,
            _ => self.eps_mono,
        }
    }

    /// Whether it diverged, or came to no end for a reason of the same kind: iterations that do not converge.
    pub fn has_diverged(&self) -> bool {
        let class = self.code.and_then(Code::find).map(|entry| entry.exit);
        self.verdict == Verdict::Diverged || class == Some(costep_core::ExitClass::Diverged)
    }

    /// The thesis' test [T 3.3.1]: no amplitude in the last fifth is greater than in the first. Nothing about runs that failed.
    pub fn does_not_grow(&self) -> Option<bool> {
        match self.verdict {
            _ if self.has_diverged() => Some(false),
            Verdict::Failed => None,
            _ => Some(self.amplitude_ratio.is_some_and(|ratio| ratio <= 1.0)),
        }
    }

    /// Whether all small perturbations of a macro step stay bounded, up to round-off; nothing where there is no spectral radius.
    pub fn is_contracting(&self) -> Option<bool> {
        self.spectral_radius.map(|radius| radius <= 1.0 + ROUND_OFF)
    }

    /// The word for its verdict.
    pub fn verdict_word(&self) -> &'static str {
        VERDICTS.iter().find(|(verdict, _)| *verdict == self.verdict).map_or("", |(_, word)| word)
    }

    /// As numbers for a file, in the order of [`MEASURES`].
    pub(super) fn values(&self) -> [f64; MEASURES.len()] {
        let verdict = VERDICTS.iter().position(|(verdict, _)| *verdict == self.verdict).unwrap_or(0);
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        // E0601 is 601: only errors end runs.
        let code = self.code.and_then(|code| code.get(1..)?.parse().ok());
        [
            verdict as f64,
            number(self.eps_mono),
            number(self.eps_mean),
            number(self.sigma_mono),
            number(self.amplitude_ratio),
            number(self.spectral_radius),
            self.macro_steps as f64,
            self.wall_s,
            number(code),
        ]
    }

    /// From numbers of a file; nothing if they are not a row.
    pub(super) fn from_values(run: usize, values: &[f64]) -> Option<Self> {
        let value = |k: usize| values.get(k).copied();
        let number = |k: usize| Some(value(k)?).filter(|value| value.is_finite());
        let code = number(8).and_then(|code| Code::of(&format!("E{:04}", code as u64)));
        Some(Self {
            run,
            verdict: VERDICTS.get(value(0)? as usize)?.0,
            eps_mono: number(1),
            eps_mean: number(2),
            sigma_mono: number(3),
            amplitude_ratio: number(4),
            spectral_radius: number(5),
            macro_steps: value(6)? as u64,
            wall_s: value(7)?,
            code: code.map(|code| code.entry().id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_from_numbers() {
        let diverged = CampaignRow::failed(7, Verdict::Diverged, &Error::new(Code::Diverged, "x"));
        let stable = CampaignRow {
            run: 3,
            verdict: Verdict::Stable,
            eps_mono: Some(0.25),
            amplitude_ratio: Some(0.9),
            macro_steps: 100,
            wall_s: 1e-3,
            code: None,
            ..diverged.clone()
        };
        for row in [&diverged, &stable] {
            assert_eq!(CampaignRow::from_values(row.run, &row.values()).as_ref(), Some(row));
        }
        assert_eq!((diverged.does_not_grow(), stable.does_not_grow()), (Some(false), Some(true)));
        assert_eq!(CampaignRow::from_values(0, &[99.0; 9]), None);
        assert_eq!(CampaignRow::from_values(0, &[]), None);
    }
}
