//! One setting and random ones, each with all four modes at the joints.

use costep_core::{Error, Result};
use costep_integrate::multistep::{AtPoint, Family, Reason, Statistics};

use super::segments::{MODES, Setting};
use crate::cpu::alternating;
use crate::work::Work;

/// A family of settings.
#[derive(Clone, Copy)]
pub(super) struct Trials {
    /// The one whose histories are drawn.
    pub(super) fixed: fn() -> Setting,
    /// The others, by number.
    pub(super) drawn: fn(u64) -> Setting,
    /// How many of them.
    pub(super) draws: u64,
}

/// What a setting gave, for each mode; nothing where the solver gave up.
pub(super) struct Row {
    pub(super) statistics: [Option<Statistics>; 4],
    /// Greatest error of a state at a joint.
    pub(super) errors: [Option<f64>; 4],
}

/// A step of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) t: f64,
    pub(super) length: f64,
    pub(super) order: usize,
}

impl Trials {
    /// All settings, the fixed one first.
    pub(super) fn settings(&self) -> Vec<Setting> {
        [(self.fixed)()].into_iter().chain((0..self.draws).map(self.drawn)).collect()
    }

    /// Every setting with every mode.
    pub(super) fn rows(work: &Work<'_>, settings: &[Setting]) -> Result<Vec<Row>> {
        work.map(settings, |setting| {
            let mut row = Row { statistics: [None; 4], errors: [None; 4] };
            for (k, mode) in MODES.into_iter().enumerate() {
                row.statistics[k] = given_up(setting.run(Family::Bdf, mode, |_| ()))?;
                row.errors[k] = given_up(setting.error(mode))?;
            }
            Ok(row)
        })
    }

    /// CPU time of each mode over that of a restart, on settings that all modes end: one row per round.
    pub(super) fn cpu(settings: &[&Setting], rounds: usize) -> Result<Vec<[f64; 4]>> {
        let all = |mode: usize| {
            settings
                .iter()
                .try_for_each(|setting| given_up(setting.run(Family::Bdf, MODES[mode], |_| ())).map(|_| ()))
        };
        let times: Vec<[f64; 4]> = alternating(rounds, all)?;
        Ok(times.into_iter().map(|row| row.map(|seconds| seconds / row[0])).collect())
    }
}

/// The steps of a run, as far as it went.
pub(super) fn history(setting: &Setting, mode: AtPoint) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    given_up(setting.run(Family::Bdf, mode, |solver| {
        steps.push(Step { t: solver.t(), length: solver.last_step(), order: solver.last_order() });
    }))?;
    Ok(steps)
}

/// A solver that gives up is a result; equations that fail are not.
fn given_up<T>(outcome: Result<T, costep_integrate::multistep::Failure>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(failure) => match failure.reason {
            Reason::Error | Reason::Convergence => Ok(None),
            _ => Err::<_, Error>(failure.into_error("subsystem", |i| format!("x[{i}]"))),
        },
    }
}

/// Ratios of a count to that of a restart, where both are known; the settings in their order.
pub(super) fn ratios(rows: &[Row], mode: usize, count: impl Fn(&Statistics) -> u64) -> Vec<f64> {
    let of =
        |row: &Row, mode: usize| row.statistics[mode].as_ref().map(|statistics| count(statistics) as f64);
    rows.iter().filter_map(|row| Some(of(row, mode)? / of(row, 0)?)).collect()
}

/// Median and quartiles of a column.
pub(super) fn spread(rows: &[[f64; 4]], column: usize) -> [f64; 3] {
    let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get((values.len().saturating_sub(1) as f64 * share).round() as usize).copied();
    [median(values.clone()), at(0.25).unwrap_or(f64::NAN), at(0.75).unwrap_or(f64::NAN)]
}

/// The value in the middle; not a number if there is none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (middle, n) = (values.len() / 2, values.len());
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => values[middle],
        _ => 0.5 * (values[middle - 1] + values[middle]),
    }
}
