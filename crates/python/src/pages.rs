//! Pages about results: those that the program writes.

use std::path::Path;

use costep::pages::{ComparedRun, ComparisonPage, RecordedRun, Signal, Signals};
use costep::{Code, Error, Solution, System};
use pyo3::prelude::*;
use serde_json::Value;

use crate::columns::Columns;
use crate::core::{Core, read};
use crate::errors;

/// The page of a run: of its recording if there is one, else of what it has left in memory. `reference` is a solution to set
/// beside it, by its name, what it is and its columns; without one the monolithic solution is, where `is_cheap` wants it
/// and it is.
#[pyfunction]
pub(crate) fn run_page(
    outcome: &str,
    columns: &Bound<'_, Columns>,
    core: Option<&Bound<'_, Core>>,
    reference: Option<(String, String, Bound<'_, Columns>)>,
    is_cheap: bool,
) -> PyResult<String> {
    let (outcome, columns): (Value, &Columns) = (read(outcome)?, columns.get());
    let system = core.map(|core| core.get().system.clone());
    // What a later run has left in the same folder is another run.
    let recorded = outcome["folder"].as_str().and_then(|folder| RecordedRun::read(Path::new(folder)).ok());
    let mut run = recorded.filter(|run| run.signals.rows == columns.rows() as u64).unwrap_or_else(|| {
        let none = Error::new(Code::UnknownName, "the system of this result is not in this process");
        let signals = signals(columns, system.as_ref());
        RecordedRun { outcome: Value::Null, signals, system: Err(none.into()) }
    });
    if !run.outcome.is_object() || outcome["method"].is_string() {
        run.outcome = outcome;
    }
    if let Some(system) = system {
        run.system = Ok(system);
    }
    // Parts in Python would be called again.
    let calls_python = core.is_some_and(|core| core.get().failure.is_some());
    let solution = match reference {
        Some((name, what, columns)) => Some(columns.get().solution(name, what)),
        None if is_cheap && !calls_python => run.solution(false).map_err(errors::raise)?,
        None => None,
    };
    Ok(run.page(solution.as_ref()).to_html())
}

/// The outputs that a run has kept in memory.
fn signals(columns: &Columns, system: Option<&System>) -> Signals {
    let curves = columns.curves();
    if let Some(system) = system {
        return Signals::of_points(curves.map(|(name, _, points)| (name, points)).collect(), system);
    }
    let outputs: Vec<Signal> =
        curves.map(|(name, unit, points)| Signal { name, unit, points, is_stepwise: false }).collect();
    let span = outputs.first().and_then(|signal| Some((signal.points.first()?.0, signal.points.last()?.0)));
    Signals { outputs, span, rows: columns.rows() as u64, ..Signals::default() }
}

/// The page of a comparison; with signals if they were recorded.
#[pyfunction]
pub(crate) fn comparison_page(report: &str, core: &Bound<'_, Core>) -> PyResult<String> {
    let mut report: Value = read(report)?;
    let runs = report["runs"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let run = |outcome: Value| {
        let file = outcome["recording"].as_str().map(Path::new);
        ComparedRun { signals: file.and_then(ComparedRun::read_signals), outcome }
    };
    let runs: Vec<ComparedRun> = runs.into_iter().map(run).collect();
    let system = &core.get().system;
    Ok(ComparisonPage { system, runs: &runs, reference: None, command: &Value::Null }.page().to_html())
}

impl Columns {
    /// The outputs: name, unit and points over time.
    fn curves(&self) -> impl Iterator<Item = (String, String, Vec<(f64, f64)>)> + '_ {
        let times = self.values(0);
        (1..self.heads().len()).map(move |column| {
            let points = times.iter().copied().zip(self.values(column).iter().copied()).collect();
            let head = &self.heads()[column];
            (head.name().to_owned(), head.unit().unwrap_or_default().to_owned(), points)
        })
    }

    /// As a solution that plots set beside a run.
    fn solution(&self, name: String, what: String) -> Solution {
        let outputs: Vec<String> = self.heads().iter().skip(1).map(|head| head.name().to_owned()).collect();
        let row = |row: usize| (1..=outputs.len()).map(move |column| self.values(column)[row]);
        let rows = (0..self.rows()).flat_map(row).collect();
        Solution::new(name, what, outputs.clone(), (self.values(0).to_vec(), rows))
    }
}
