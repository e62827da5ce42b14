//! Many runs on all cores, without the lock of the interpreter.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use costep::{Cancel, Code, Error, Registry, Workers};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::child::{self, Task, Work};
use crate::columns::Columns;
use crate::core::{Reply, ran};
use crate::errors;
use crate::recipe::{CodeParts, Recipe};
use crate::settings::RunSettings;
use crate::stepper::forks;
use crate::waiting::Shown;

/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(20);

/// What came of a run: its number, its report in JSON, its columns.
type Row = (usize, String, Option<Columns>);

/// Runs that are done at the same time; an iterator over what came of them, as they are done.
#[pyclass(frozen, module = "costep._costep")]
pub(crate) struct Pool {
    rows: Mutex<Receiver<Row>>,
    cancel: Cancel,
    forks: u64,
}

/// The runs that are still to be done.
struct Runs {
    recipes: Vec<Recipe>,
    settings: RunSettings,
    keep_columns: bool,
    cancel: Cancel,
}

#[pymethods]
impl Pool {
    #[new]
    fn new(recipes: Vec<String>, settings: &str, threads: usize, keep_columns: bool) -> PyResult<Self> {
        let recipes = recipes.iter().map(|text| Recipe::read(text)).collect::<Result<Vec<_>, _>>();
        let settings = serde_json::from_str(settings);
        let settings =
            settings.map_err(|cause| errors::misuse(format!("bad settings: {cause}"), "report this"))?;
        let cancel = Cancel::new();
        let runs =
            Runs { recipes: recipes.map_err(errors::raise)?, settings, keep_columns, cancel: cancel.clone() };
        let (done, rows) = channel();
        std::thread::spawn(move || {
            let gone = || Error::new(Code::Stopped, "nobody waits for the rows any more");
            let send = |_, row: Option<Row>| done.send(row.ok_or_else(gone)?).map_err(|_| gone());
            // Whoever ends it knows.
            let _ = Workers { threads }.each(runs.recipes.len(), |index| runs.one(index), send);
        });
        Ok(Self { rows: Mutex::new(rows), cancel, forks: forks() })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Row>> {
        if self.forks != forks() {
            let message = "these runs were started by the process that this one was forked from";
            return Err(errors::misuse(message, "start them here, or use the start method `spawn`"));
        }
        loop {
            let next =
                py.detach(|| self.rows.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
            match next {
                Ok(row) => return Ok(Some(row)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                    self.cancel.raise();
                })?,
            }
        }
    }

    /// Ends all runs.
    fn close(&self) {
        self.cancel.raise();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.cancel.raise();
    }
}

impl Runs {
    /// Does a run, unless all have been ended.
    fn one(&self, index: usize) -> Option<Row> {
        let recipe = self.recipes.get(index).filter(|_| !self.cancel.is_raised())?;
        let (report, columns) = match self.reply(recipe) {
            Ok(Reply { report, columns }) => (report, columns),
            Err(errors) => (json!({ "verdict": "failed", "error": errors.first() }), None),
        };
        Some((index, report.to_string(), columns.filter(|_| self.keep_columns)))
    }

    fn reply(&self, recipe: &Recipe) -> Result<Reply, Vec<Value>> {
        let system = recipe
            .load(Registry::standard(), &CodeParts::new())
            .map_err(|found| found.iter().map(errors::to_json).collect::<Vec<_>>())?;
        let settings = self.settings.clone();
        if settings.supervise && !system.project().given.fmus.is_empty() {
            let task = Task::new(recipe.clone(), Work::Run(settings));
            return child::give_quietly(&task, &self.cancel);
        }
        ran(&system, settings.run(&self.cancel), &Shown::default())
            .map_err(|error| vec![errors::to_json(&error)])
    }
}
