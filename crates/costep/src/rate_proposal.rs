//! Rates that would pay: parts that could step less often than the others, by what their signals do and
//! what their steps cost.
//!
//! ```text
//! speed of a part   share of their range that its outputs move by over n macro steps: root mean square over time, the greatest
//! guess             it steps once in the most n macro steps over which they move no more than those of the fastest part in one
//! trial             outputs of a run with these rates differ from those without by no more than those from one at half the step
//! ```
//!
//! A guess that fails its trial is halved. Nothing is proposed that has not been tried: where a method
//! works with models of parts, slow ones have none that it could use.

use std::collections::BTreeMap;
use std::ops::Range;

use costep_core::{Experiment, Result, StepLengths};
use costep_engine::Rate;
use costep_methods::monolithic;
use costep_project::{Project, rates_value};
use serde_json::{Value, json};

use crate::assemble::{self, Steps};
use crate::supervised;
use crate::system::System;

/// Runs whose parts take less than this in all, in s, have nothing to gain.
const WORTH: f64 = 1.0;
/// Macro steps that are tried: at most, and so many as take this time in s, but not fewer.
const MOST_STEPS: u64 = 1000;
const TRIAL_S: f64 = 2.0;
const FEWEST_STEPS: u64 = 50;
/// Macro steps in one step of a slow part.
const COUNTS: [u32; 9] = [2, 3, 4, 5, 6, 8, 10, 15, 20];
/// Share of the time in steps that all rates have to save, and each of them.
const LEAST_SAVED: f64 = 0.1;
const LEAST_OF_EACH: f64 = 0.02;

/// What comes of looking for rates.
#[derive(Clone, Debug, PartialEq)]
pub enum RateAdvice {
    /// All parts step as they do, for this reason.
    Kept(String),
    /// Rates that pay.
    Proposed(RateProposal),
}

impl RateAdvice {
    /// As `costep check --probe --json` has it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Kept(why) => json!({ "proposed": null, "why": why }),
            Self::Proposed(proposal) => json!({
                "proposed": proposal.rates.iter().cloned().collect::<BTreeMap<_, _>>(),
                "toml": proposal.toml(),
                "saved": proposal.saved,
                "difference": proposal.difference,
                "step_error": proposal.step_error,
                "macro_steps": proposal.steps,
                "why": null,
            }),
        }
    }
}

/// Rates that were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct RateProposal {
    /// Slow parts, with the number of macro steps in one step of theirs.
    pub rates: Vec<(String, u32)>,
    /// Share of the time in steps of parts that is saved.
    pub saved: f64,
    /// What they change: root mean square over time, as a share of the range, of the output that changes most.
    pub difference: f64,
    /// The same for half the step, which is about the error without rates.
    pub step_error: f64,
    /// Macro steps that were tried.
    pub steps: u64,
}

impl RateProposal {
    /// The lines to write into a project.
    pub fn toml(&self) -> String {
        let rates = self.rates.iter().map(|(part, count)| (part.as_str(), Rate::Every(*count)));
        format!("[step]\nrates = {}", rates_value(rates).unwrap_or_else(|| "{}".into()))
    }
}

/// Values of signals at each macro step, row by row.
struct Rows {
    width: usize,
    values: Vec<f64>,
}

impl Rows {
    fn column(&self, i: usize) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().skip(i).step_by(self.width.max(1)).copied()
    }

    /// Difference between the greatest and the least value of a column.
    fn range(&self, i: usize) -> f64 {
        let (least, most) =
            self.column(i).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        (most - least).max(0.0)
    }

    /// Root mean square of what the columns move by over n rows, as a share of their range; the greatest.
    fn speed(&self, columns: Range<usize>, n: usize) -> f64 {
        columns.fold(0.0, |greatest: f64, i| {
            let moves = self.column(i).zip(self.column(i).skip(n)).map(|(before, after)| after - before);
            greatest.max(share(root_mean_square(moves), self.range(i)))
        })
    }

    /// How far all columns of another are from these, in the same measure.
    fn difference(&self, other: &Self) -> f64 {
        (0..self.width).fold(0.0, |greatest: f64, i| {
            let apart = root_mean_square(self.column(i).zip(other.column(i)).map(|(a, b)| b - a));
            let apart = share(apart, self.range(i));
            if apart.is_nan() { f64::INFINITY } else { greatest.max(apart) }
        })
    }
}

fn share(value: f64, of: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value / of }
}

fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), x| (sum + x * x, count + 1));
    (sum / f64::from(count.max(1))).sqrt()
}

impl System {
    /// Rates that would pay, if a step of each part takes so many seconds; nothing for runs that are quick anyway.
    pub fn propose_rates(&self, seconds: &[f64]) -> Option<RateAdvice> {
        let run = &self.project.model.experiment;
        let total: f64 = seconds.iter().sum();
        if seconds.len() < 2 || WORTH > total * run.steps() as f64 {
            return None;
        }
        let kept = |why: &str| Some(RateAdvice::Kept(why.into()));
        if self.project.control.is_some() {
            return kept("steps vary, and a slow part needs macro steps of one length");
        }
        if self.project.groups.iter().any(|group| monolithic::is_monolithic(&group.method)) {
            return kept("all parts are solved as one system");
        }
        let affordable = (TRIAL_S / total).clamp(FEWEST_STEPS as f64, MOST_STEPS as f64) as u64;
        let steps = affordable.min(run.steps());
        Some(self.tried_rates(seconds, steps).unwrap_or_else(|error| {
            RateAdvice::Kept(format!("a trial run failed: {}", error.details().message))
        }))
    }

    fn tried_rates(&self, seconds: &[f64], steps: u64) -> Result<RateAdvice> {
        let y = self.trial_rows(&[], steps, 1)?;
        let mut counts = self.guessed_counts(seconds, &y);
        if counts.iter().all(|count| *count == 1) {
            return Ok(RateAdvice::Kept("no part with costly steps is slower than the others".into()));
        }
        let step_error = y.difference(&self.trial_rows(&[], steps, 2)?);
        let mut least = f64::INFINITY;
        while saved(seconds, &counts) >= LEAST_SAVED {
            let difference = y.difference(&self.trial_rows(&counts, steps, 1)?);
            if difference <= step_error {
                let parts = self.project.model.parts.iter().map(|part| part.description().name.clone());
                let rates = parts.zip(counts.iter().copied()).filter(|(_, count)| *count > 1).collect();
                let saved = saved(seconds, &counts);
                return Ok(RateAdvice::Proposed(RateProposal {
                    rates,
                    saved,
                    difference,
                    step_error,
                    steps,
                }));
            }
            least = least.min(difference);
            counts.iter_mut().for_each(|count| *count = (*count / 2).max(1));
        }
        Ok(RateAdvice::Kept(match least.is_finite() {
            true => format!(
                "with slower parts outputs differ by {least:.1e} of their range, as they do by {step_error:.1e} at half the step"
            ),
            false => "slower parts would save little".into(),
        }))
    }

    /// Macro steps in one step of each part, by how fast its signals are.
    fn guessed_counts(&self, seconds: &[f64], y: &Rows) -> Vec<u32> {
        let (model, layout) = (&self.project.model, self.project.model.layout());
        let speed = |i: usize, n: usize| y.speed(layout.output_range(i), n);
        let fastest = (0..layout.subsystems()).map(|i| speed(i, 1)).fold(0.0, f64::max);
        let (total, all): (f64, u64) = (seconds.iter().sum(), model.experiment.steps());
        let count = |i: usize| {
            let any = model.parts[i].description().step_lengths == StepLengths::Any;
            let fits = |n: u32| any || all.is_multiple_of(u64::from(n));
            let calm = COUNTS.into_iter().take_while(|n| speed(i, *n as usize) <= fastest);
            let most = calm.filter(|n| fits(*n)).last().unwrap_or(1);
            let pays = seconds[i] * (1.0 - 1.0 / f64::from(most)) >= LEAST_OF_EACH * total;
            if pays { most } else { 1 }
        };
        (0..layout.subsystems()).map(count).collect()
    }

    /// Outputs at the first macro steps of a run with these rates, each done in so many parts.
    fn trial_rows(&self, counts: &[u32], steps: u64, parts: u64) -> Result<Rows> {
        let mut project = Project::clone(&self.project);
        project.rates = counts.iter().map(|count| Rate::Every(*count)).collect();
        let Experiment { start, step, .. } = project.model.experiment;
        let step = step / parts as f64;
        let experiment =
            Experiment { start, stop: start + (steps * parts) as f64 * step, step }.with_equal_steps();
        let method = project.groups[0].method.clone();
        let mut engine =
            assemble::engine_over(&project, &method, (experiment, Steps::Equal), false, |models| models)?;
        let mut y = Rows { width: engine.outputs().len(), values: Vec::new() };
        loop {
            if engine.k().is_multiple_of(parts) {
                y.values.extend_from_slice(engine.outputs());
            }
            if engine.is_over() {
                return Ok(y);
            }
            supervised::obey(&engine)?;
            engine.step()?;
        }
    }
}

/// Share of the time in steps that these counts save.
fn saved(seconds: &[f64], counts: &[u32]) -> f64 {
    let total: f64 = seconds.iter().sum();
    let each = seconds.iter().zip(counts).map(|(seconds, count)| seconds * (1.0 - 1.0 / f64::from(*count)));
    each.sum::<f64>() / total
}
