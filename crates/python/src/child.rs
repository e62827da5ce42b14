//! Work on FMUs in a second process: a task in a folder, of which the other process makes a reply. If an FMU crashes or
//! hangs, only that process ends, and this one says what happened.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use costep::{Cancel, Code, Error, Registry};
use costep_fmu_file::PrivateFolder;
use costep_supervise::{
    Ending, Program, Report, WATCHED_FLAG, Watch, be_watched, late_failures, offer_workers, supervise,
    watched,
};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::columns::{Columns, Head};
use crate::core::{Reply, compared, ran, solved};
use crate::errors;
use crate::recipe::{CodeParts, Recipe};
use crate::settings::{CompareSettings, RunSettings};
use crate::waiting::{PATIENCE, Shown, Teller};

/// The flag by which the other process is told its task.
const TASK_FLAG: &str = "--task=";
/// Files in the folder of a task.
const TASK: &str = "task.json";
const REPLY: &str = "reply.json";
const COLUMNS: &str = "columns";

/// What the other process is to do.
#[derive(Deserialize, Serialize)]
pub(crate) struct Task {
    pub(crate) recipe: Recipe,
    pub(crate) work: Work,
    /// What trials of FMUs have found so far.
    pub(crate) trials: Value,
}

impl Task {
    /// Work on a system, with what is known of its FMUs.
    pub(crate) fn new(recipe: Recipe, work: Work) -> Self {
        Self { recipe, work, trials: costep::found_trials() }
    }
}

impl Task {
    /// Gives FMUs that ended a comparison processes of their own; whether there is one that has none yet.
    fn isolate_culprits(&mut self, ending: &Ending) -> bool {
        let (Ending::Died { culprits, .. } | Ending::Exited { culprits, .. } | Ending::Hung { culprits, .. }) =
            ending
        else {
            return false;
        };
        if !matches!(self.work, Work::Compare(_)) {
            return false;
        }
        let changes = culprits.iter().map(|culprit| Recipe::isolated(&culprit.name, "process"));
        let changes: Vec<_> = changes.filter(|change| !self.recipe.has(change)).collect();
        let is_new = !changes.is_empty();
        self.recipe = self.recipe.changed(changes);
        is_new
    }
}

/// The kinds of work.
#[derive(Deserialize, Serialize)]
pub(crate) enum Work {
    Run(RunSettings),
    Compare(CompareSettings),
    /// The solution up to a time, for a run with communication points at these.
    Solve(Vec<f64>, f64),
}

/// What the other process says.
#[derive(Deserialize, Serialize)]
struct Said {
    report: Value,
    errors: Vec<Value>,
    heads: Vec<Head>,
    /// What trials of FMUs have found.
    trials: Value,
}

/// Flag and folder of a task, if that is what this process was started for.
pub(crate) struct Order {
    files: String,
    folder: PathBuf,
}

/// The task that a command line names: `costep --watched=3,4,5 --task=FOLDER`.
pub(crate) fn task_of(words: &[OsString]) -> Option<Order> {
    let [_, watched, task] = words else { return None };
    let files = watched.to_str()?.strip_prefix(WATCHED_FLAG)?.strip_prefix('=')?;
    let folder = task.to_str()?.strip_prefix(TASK_FLAG)?;
    Some(Order { files: files.to_owned(), folder: folder.into() })
}

/// The other side: does a task under the eyes of the process that gave it.
pub(crate) fn serve(order: &Order) -> u8 {
    let said = be_watched(&order.files).and_then(|_| {
        offer_workers();
        done(&order.folder)
    });
    let mut said = said.unwrap_or_else(|error| Said::failed(vec![errors::to_json(&error)]));
    // Nothing of an FMU is left now that could still fail.
    let late = late_failures();
    if !late.is_empty() {
        said = Said::failed(late.iter().map(errors::to_json).collect());
    }
    let written = std::fs::write(order.folder.join(REPLY), json!(said).to_string());
    let code = u8::from(written.is_err());
    if let Some(watched) = watched() {
        watched.finish(code);
    }
    code
}

impl Said {
    fn failed(errors: Vec<Value>) -> Self {
        Self { report: Value::Null, errors, heads: Vec::new(), trials: costep::found_trials() }
    }
}

fn done(folder: &Path) -> Result<Said, Error> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        Error::new(Code::Bug, "a task cannot be done").in_file(folder).because(cause)
    };
    let text = std::fs::read_to_string(folder.join(TASK)).map_err(|cause| unreadable(&cause))?;
    let task: Task = serde_json::from_str(&text).map_err(|cause| unreadable(&cause))?;
    costep::remember_trials(&task.trials);
    let system = match task.recipe.load(Registry::standard(), &CodeParts::new()) {
        Ok(system) => system,
        Err(errors) => return Ok(Said::failed(errors.iter().map(errors::to_json).collect())),
    };
    let (cancel, shown) = (Cancel::new(), Shown::default());
    let Reply { report, columns } = match &task.work {
        Work::Run(settings) => ran(&system, settings.run(&cancel), &shown)?,
        Work::Compare(settings) => compared(&system, &settings.comparison(&system, &cancel)?, &shown)?,
        Work::Solve(times, end) => solved(&system, times, *end)?,
    };
    let mut heads = Vec::new();
    if let Some(columns) = columns {
        columns.write(&folder.join(COLUMNS)).map_err(|cause| unreadable(&cause))?;
        heads = columns.heads().to_vec();
    }
    Ok(Said { report, errors: Vec::new(), heads, trials: costep::found_trials() })
}

/// What came of a task, and the exception that interrupted it.
pub(crate) struct Answer {
    pub(crate) reply: Result<Reply, Vec<Value>>,
    pub(crate) interrupt: Option<PyErr>,
    /// The last lines that FMUs printed.
    pub(crate) lines: Vec<String>,
}

/// Has a task done by a second process.
pub(crate) fn give(
    py: Python<'_>,
    task: &mut Task,
    memory_limit: Option<u64>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let tell_again = tell.as_ref().map(|tell| tell.clone_ref(py));
    let (report, mut answer) = give_once(py, task, memory_limit, tell)?;
    let is_fault = matches!(report.ending, Ending::Died { .. } | Ending::Exited { .. } | Ending::Hung { .. });
    if let (true, Work::Run(settings)) = (is_fault && report.was_verifying(), &mut task.work) {
        // The run itself was good to its end; only the second one was not.
        settings.verify = Some(false);
        answer = give_once(py, task, memory_limit, tell_again)?.1;
    } else if is_fault && answer.interrupt.is_none() && task.isolate_culprits(&report.ending) {
        // An FMU in a process of its own ends no more than its run.
        return give(py, task, memory_limit, tell_again);
    }
    Ok(answer)
}

fn give_once(
    py: Python<'_>,
    task: &Task,
    memory_limit: Option<u64>,
    tell: Option<Py<PyAny>>,
) -> PyResult<(Report, Answer)> {
    let watching = Mutex::new((Teller::new(tell), None));
    let given = py.detach(|| {
        let held = || watching.lock().unwrap_or_else(PoisonError::into_inner);
        let look = |steps, time| {
            let mut held = held();
            if held.1.is_none() {
                let raised = Python::attach(|py| held.0.look(py, steps, time)).err();
                held.1 = raised.map(|raised| (raised, Instant::now()));
            }
        };
        // It is asked to stop first; an FMU whose step takes long or never ends is not waited for.
        let stops = || held().1.as_ref().map_or(0, |(_, at)| 1 + u64::from(at.elapsed() > PATIENCE));
        give_to_child(task, &Watch { memory_limit, see: &look, ..watch(task, &stops) })
    });
    let (_, interrupt) = watching.into_inner().unwrap_or_else(PoisonError::into_inner);
    let interrupt = interrupt.map(|(raised, _)| raised);
    let (report, reply) = given.map_err(|error| errors::raise_json(&error))?;
    let lines = report.lines.clone();
    Ok((report, Answer { reply, interrupt, lines }))
}

/// What is looked after in every task. What the other process has to say it writes into its reply.
fn watch<'a>(task: &Task, stops: &'a dyn Fn() -> u64) -> Watch<'a> {
    let time_limit = match &task.work {
        Work::Run(settings) => settings.time_limit(),
        _ => None,
    };
    Watch {
        stops,
        memory_limit: None,
        time_limit,
        print: &|_, _| {},
        is_alone: false,
        outputs: 0,
        see: &|_, _| {},
    }
}

/// The same without Python, until a flag is raised.
pub(crate) fn give_quietly(task: &Task, cancel: &Cancel) -> Result<Reply, Vec<Value>> {
    let limit = match &task.work {
        Work::Run(settings) => settings.memory_limit,
        _ => None,
    };
    let stops = || u64::from(cancel.is_raised());
    give_to_child(task, &Watch { memory_limit: limit, ..watch(task, &stops) })?.1
}

type Given = (Report, Result<Reply, Vec<Value>>);

fn give_to_child(task: &Task, watch: &Watch<'_>) -> Result<Given, Vec<Value>> {
    let not_possible = |cause: std::io::Error| {
        let error = Error::new(Code::NoProcess, "the process for the FMUs cannot be started").because(cause);
        vec![errors::to_json(
            &error.hint("it needs a folder for temporary files: see $TMPDIR and the free disk space"),
        )]
    };
    let folder = PrivateFolder::new().map_err(not_possible)?;
    std::fs::write(folder.path().join(TASK), json!(task).to_string()).map_err(not_possible)?;
    let mut flag = OsString::from(TASK_FLAG);
    flag.push(folder.path());
    let report = supervise(&Program::this([flag]), watch, |_, _| {}).map_err(not_possible)?;
    costep_fmu_file::remove_abandoned_folders();
    let reply = match report.error() {
        Some(error) => {
            if let Work::Run(RunSettings { record: Some(folder), .. }) = &task.work {
                // Without rows there is only the error.
                let _ = costep::rescue_rows(&report, &folder.join(costep::RECORDING));
            }
            Err(vec![errors::to_json(&error)])
        }
        None => read_reply(folder.path()).map_err(not_possible)?,
    };
    // Code of FMUs goes on up to the end of their process.
    let reply = reply.and_then(|reply| match &task.work {
        Work::Run(RunSettings { record: Some(folder), .. }) if folder.join(costep::RECORDING).exists() => {
            costep::check_recordings(folder).map(|()| reply).map_err(|error| vec![errors::to_json(&error)])
        }
        _ => Ok(reply),
    });
    Ok((report, reply))
}

fn read_reply(folder: &Path) -> std::io::Result<Result<Reply, Vec<Value>>> {
    let said: Said = serde_json::from_str(&std::fs::read_to_string(folder.join(REPLY))?)?;
    costep::remember_trials(&said.trials);
    if !said.errors.is_empty() {
        return Ok(Err(said.errors));
    }
    let file = folder.join(OsStr::new(COLUMNS));
    let columns = match said.heads.is_empty() {
        true => None,
        false => Some(Columns::read(&file, said.heads)?),
    };
    Ok(Ok(Reply { report: said.report, columns }))
}
