//! A loaded system, as the package uses it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use costep::{
    Cancel, Comparison, ComparisonEvent, Error, Flow, Outcome, Project, Registry, Run, System, head,
    unwritable,
};
use costep_core::Connection;
use costep_project::Isolation;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::call::{Failed, Failure};
use crate::child::{self, Task, Work};
use crate::code_method::{self, CodeMethod, Keeper};
use crate::code_part::CodePart;
use crate::columns::Columns;
use crate::errors;
use crate::recipe::{CodeParts, Recipe};
use crate::settings::{CompareSettings, RunSettings};
use crate::stepper::Stepper;
use crate::waiting::{Shown, Teller, Waited, apart, taken_interrupt};

/// Time between two looks for signals, and between two chances for other threads, of runs that call Python.
const LOOK: Duration = Duration::from_millis(5);

/// What came of work on a system.
pub(crate) struct Reply {
    /// The run object of the JSON contract, or a list of them.
    pub(crate) report: Value,
    pub(crate) columns: Option<Columns>,
}

/// A system that is loaded, with its parts that are written in Python.
#[pyclass(frozen, module = "costep._costep")]
pub(crate) struct Core {
    recipe: Recipe,
    pub(crate) system: System,
    has_fmus: bool,
    /// All FMUs have processes of their own.
    pub(crate) is_isolated: bool,
    /// Python code is called in runs, and where its exceptions are kept.
    pub(crate) failure: Option<Failure>,
    #[expect(dead_code, reason = "held, not read")]
    method: Option<Keeper>,
}

/// Report in JSON, columns, what FMUs printed.
type Ran = (String, Option<Columns>, Vec<String>);

#[pymethods]
impl Core {
    /// Reads and checks a system. With `isolation`, `process` or `sandbox`, its FMUs get processes of their own.
    #[new]
    fn new(
        py: Python<'_>,
        recipe: &str,
        code: HashMap<String, Py<PyAny>>,
        method: Option<Py<PyAny>>,
        isolation: Option<&str>,
    ) -> PyResult<Self> {
        let mut recipe = Recipe::read(recipe).map_err(errors::raise)?;
        let failure = Failure::default();
        let mut parts = CodeParts::new();
        for wanted in recipe.code() {
            if let Some(object) = code.get(&wanted.name) {
                let part = CodePart::new(py, wanted, object.clone_ref(py), &failure)?;
                parts.insert(wanted.name.clone(), Arc::new(part));
            }
        }
        let mut registry = Registry::standard();
        let calls_python = !parts.is_empty() || method.is_some();
        let method = method.map(|method| CodeMethod::keep(py, method, &failure)).transpose()?;
        if let Some(Keeper(number)) = method {
            registry = registry.with_method(&code_method::ENTRY);
            recipe = recipe.changed([("method".into(), format!("python:number={number}"))]);
        }
        if calls_python {
            // The thread that has the lock of the interpreter does all the work.
            recipe = recipe.changed([("run.threads".into(), "1".into())]);
        }
        let load = |recipe: &Recipe| recipe.load(registry.clone(), &parts);
        let mut system = py.detach(|| load(&recipe)).map_err(|found| errors::raise_all(&found))?;
        let fmus = &system.project().given.fmus;
        let has_fmus = !fmus.is_empty();
        if let (true, Some(isolation)) = (has_fmus, isolation) {
            // Those that a project confines stay so.
            let others = fmus.iter().filter(|fmu| fmu.isolation != Isolation::Sandbox);
            let apart: Vec<_> = others.map(|fmu| Recipe::isolated(&fmu.name, isolation)).collect();
            recipe = recipe.changed(apart);
            system = py.detach(|| load(&recipe)).map_err(|found| errors::raise_all(&found))?;
        }
        let is_isolated = has_fmus && isolation.is_some();
        let failure = calls_python.then_some(failure);
        Ok(Self { recipe, system, has_fmus, is_isolated, failure, method })
    }

    /// What it consists of, in JSON.
    fn facts(&self) -> String {
        facts(&self.system).to_string()
    }

    /// The project as text.
    fn to_toml(&self) -> String {
        self.system.to_toml()
    }

    /// Writes it as a project into a folder, with FMUs that were unpacked for it alone, and gives the path of its file.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        py.detach(|| saved(self.system.project().clone(), &folder)).map_err(errors::raise)
    }

    /// Its block diagram as SVG.
    fn diagram(&self) -> String {
        self.system.diagram().to_svg()
    }

    /// Runs it to its end.
    fn run(&self, py: Python<'_>, settings: &str, tell: Option<Py<PyAny>>) -> PyResult<Ran> {
        let settings: RunSettings = read(settings)?;
        if self.has_fmus && settings.supervise && self.failure.is_none() {
            let limit = settings.memory_limit;
            return self.elsewhere(py, Work::Run(settings), limit, tell);
        }
        let cancel = Cancel::new();
        let run = settings.run(&cancel);
        match &self.failure {
            Some(failure) => {
                failure.ends(&cancel);
                let waited = self.run_here(py, run, Teller::new(tell), &cancel);
                self.finished(py, waited, failure.take())
            }
            None => {
                let system = self.system.clone();
                let work = move |shown: Arc<Shown>| ran(&system, run, &shown);
                self.finished(py, apart(py, Teller::new(tell), &cancel, work)?, None)
            }
        }
    }

    /// Compares methods and steps.
    fn compare(&self, py: Python<'_>, settings: &str, tell: Option<Py<PyAny>>) -> PyResult<Ran> {
        let settings: CompareSettings = read(settings)?;
        if self.has_fmus && settings.supervise && self.failure.is_none() {
            return self.elsewhere(py, Work::Compare(settings), None, tell);
        }
        let cancel = Cancel::new();
        let (system, own) = (self.system.clone(), cancel.clone());
        let work = move |shown: Arc<Shown>| compared(&system, &settings.comparison(&system, &own)?, &shown);
        let waited = apart(py, Teller::new(tell), &cancel, work)?;
        self.finished(py, waited, self.failure.as_ref().and_then(Failure::take))
    }

    /// The monolithic solution up to `end` or, for FMUs, that at a much smaller step.
    fn solve(&self, py: Python<'_>, times: Vec<f64>, end: f64) -> PyResult<Ran> {
        if self.has_fmus && self.failure.is_none() {
            return self.elsewhere(py, Work::Solve(times, end), None, None);
        }
        let system = self.system.clone();
        let waited = apart(py, Teller::new(None), &Cancel::new(), move |_| solved(&system, &times, end))?;
        self.finished(py, waited, self.failure.as_ref().and_then(Failure::take))
    }

    /// Starts a run that is taken step by step.
    fn start(slf: Py<Self>, py: Python<'_>, settings: &str) -> PyResult<Stepper> {
        let settings: RunSettings = read(settings)?;
        Stepper::new(py, slf, settings.run(&Cancel::new()))
    }
}

impl Core {
    /// An error with the exception of Python code behind it.
    pub(crate) fn raised(&self, py: Python<'_>, error: Error) -> PyErr {
        match self.failure.as_ref().and_then(Failure::take) {
            Some(failed) => errors::raise_because(py, failed, &error),
            None => errors::raise(error),
        }
    }

    fn elsewhere(
        &self,
        py: Python<'_>,
        work: Work,
        memory_limit: Option<u64>,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Ran> {
        let record = match &work {
            Work::Run(settings) => settings.record.clone(),
            _ => None,
        };
        let given = child::give(py, &mut Task::new(self.recipe.clone(), work), memory_limit, tell)?;
        let reply = given.reply.or_else(|errors| match &errors[..] {
            // The process ended in the middle of a run: what is recorded counts.
            [error]
                if error["place"]["time"].is_number() || given.interrupt.is_some() && record.is_some() =>
            {
                let recorded =
                    record.and_then(|folder| Columns::recorded(&folder.join(costep::RECORDING)).ok());
                let columns = recorded.unwrap_or_else(|| Columns::empty(&self.system));
                let verdict = json!({ "verdict": "failed", "error": error, "message": error["message"] });
                Ok(Reply { report: verdict, columns: Some(columns) })
            }
            errors => Err(errors::raise_json(errors)),
        });
        match (reply, given.interrupt) {
            (Err(_), Some(interrupt)) => Err(interrupt),
            (reply, interrupt) => answer(py, reply?, interrupt, given.lines),
        }
    }

    /// Runs it on this thread, which holds the lock of the interpreter: parts are called at the price of a call.
    fn run_here(
        &self,
        py: Python<'_>,
        run: Run,
        mut teller: Teller,
        cancel: &Cancel,
    ) -> Waited<Result<Reply, Error>> {
        let (mut interrupt, mut last) = (None, Instant::now());
        let outcome = self.system.start(run).and_then(|mut simulation| {
            // An error of the run is part of its outcome.
            let _ = simulation.run_with(&mut |step| {
                if last.elapsed() > LOOK && interrupt.is_none() {
                    py.detach(std::thread::yield_now);
                    interrupt = teller.look(py, step.number(), step.time()).err();
                    if interrupt.is_some() {
                        cancel.raise();
                    }
                    last = Instant::now();
                }
                Ok(Flow::Continue)
            });
            reply(&self.system, simulation.finish()?)
        });
        Waited { outcome: Some(outcome), interrupt }
    }

    fn finished(
        &self,
        py: Python<'_>,
        waited: Waited<Result<Reply, Error>>,
        failed: Option<Failed>,
    ) -> PyResult<Ran> {
        let Waited { outcome, interrupt } = waited;
        let interrupt = interrupt.or_else(taken_interrupt);
        match outcome {
            Some(outcome) => self.told(py, outcome, interrupt, failed),
            None => Err(interrupt.unwrap_or_else(|| errors::misuse("nothing came of it", "report this"))),
        }
    }

    /// An answer for Python; an interrupt is raised with what there is until then.
    fn told(
        &self,
        py: Python<'_>,
        outcome: Result<Reply, Error>,
        interrupt: Option<PyErr>,
        failed: Option<Failed>,
    ) -> PyResult<Ran> {
        let raised = match (outcome, failed) {
            (Ok(reply), None) => return answer(py, reply, interrupt, Vec::new()),
            (Ok(mut reply), Some(failed)) => {
                let error = errors::to_json(&failed.error);
                let place = std::mem::replace(&mut reply.report["error"], error)["place"].take();
                reply.report["error"]["place"] = place.clone();
                let exception =
                    errors::raise_because(py, failed, &Error::new(costep::Code::PythonFailed, ""));
                let value = exception.value(py);
                value.setattr("place", errors::to_python(py, &place)?)?;
                value.setattr("result", (reply.report.to_string(), reply.columns))?;
                exception
            }
            (Err(error), Some(failed)) => errors::raise_because(py, failed, &error),
            (Err(error), None) => errors::raise(error),
        };
        Err(interrupt.unwrap_or(raised))
    }
}

/// What came of work; an interrupt is raised with it.
fn answer(py: Python<'_>, reply: Reply, interrupt: Option<PyErr>, lines: Vec<String>) -> PyResult<Ran> {
    let Reply { report, columns } = reply;
    match interrupt {
        Some(interrupt) => {
            interrupt.value(py).setattr("result", (report.to_string(), columns))?;
            Err(interrupt)
        }
        None => Ok((report.to_string(), columns, lines)),
    }
}

/// Settings from the package.
pub(crate) fn read<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|cause| errors::misuse(format!("bad settings: {cause}"), "report this"))
}

/// Runs a system to its end.
pub(crate) fn ran(system: &System, run: Run, shown: &Shown) -> Result<Reply, Error> {
    let mut simulation = system.start(run)?;
    // An error of the run is part of its outcome.
    let _ = simulation.run_with(&mut |step| {
        shown.set(step.number(), step.time());
        Ok(Flow::Continue)
    });
    reply(system, simulation.finish()?)
}

/// What a run has come to.
pub(crate) fn reply(system: &System, outcome: Outcome) -> Result<Reply, Error> {
    let project = system.project();
    let mut report = head(project, outcome.reference.as_ref());
    if let Value::Object(run) = json!(outcome.report) {
        report.extend(run);
    }
    for (key, error) in [("error", &outcome.report.error), ("ended", &outcome.report.ended)] {
        report.insert(key.into(), json!(error.as_ref().map(errors::to_json)));
    }
    report.insert("from".into(), json!(outcome.from));
    report.insert("to".into(), json!(outcome.to));
    report.insert("can_be_resumed".into(), json!(outcome.can_be_resumed));
    let folder = outcome.recorded.as_ref().map(|recorded| recorded.folder.display().to_string());
    report.insert("folder".into(), json!(folder));
    let warnings: Vec<Value> = project.warnings.iter().map(errors::to_json).collect();
    report.insert("system_warnings".into(), json!(warnings));
    let columns = outcome.results.as_ref().map(|results| Columns::of(results, system)).transpose()?;
    Ok(Reply { report: Value::Object(report), columns })
}

/// Compares methods and steps; runs that are done count as steps.
pub(crate) fn compared(system: &System, comparison: &Comparison, shown: &Shown) -> Result<Reply, Error> {
    let mut done = 0;
    let found = system.compare_with(comparison, &mut |event| {
        if let ComparisonEvent::Done(_) = event {
            done += 1;
            shown.set(done, 0.0);
        }
    })?;
    let mut object = head(system.project(), found.references.first());
    let mut runs: Vec<Value> = found.reports.iter().map(|report| json!(report)).collect();
    for (run, report) in runs.iter_mut().zip(&found.reports) {
        run["error"] = json!(report.error.as_ref().map(errors::to_json));
    }
    for (run, file) in runs.iter_mut().zip(&found.recordings) {
        run["recording"] = json!(file.display().to_string());
    }
    object.insert("runs".into(), json!(runs));
    let warnings: Vec<Value> = found.warnings.iter().map(errors::to_json).collect();
    object.insert("warnings".into(), json!(warnings));
    let left_out = found.not_possible.iter();
    let left_out: Vec<Value> = left_out
        .map(|(method, error)| json!({ "method": method, "error": errors::to_json(error) }))
        .collect();
    object.insert("not_possible".into(), json!(left_out));
    object.insert("stopped".into(), json!(found.stopped.as_ref().map(errors::to_json)));
    Ok(Reply { report: Value::Object(object), columns: None })
}

/// The solution that runs are compared with.
pub(crate) fn solved(system: &System, times: &[f64], end: f64) -> Result<Reply, Error> {
    let solution = system.solution(times, end)?;
    let report = json!({ "name": solution.name, "what": solution.what });
    Ok(Reply { report, columns: Some(Columns::solved(&solution, &system.outputs())) })
}

/// Writes a project as a file of its own, which names files from where it is.
fn saved(mut project: Project, folder: &Path) -> Result<PathBuf, Error> {
    std::fs::create_dir_all(folder).map_err(|cause| unwritable(folder, &cause))?;
    project.keep_fmus_in(folder)?;
    let file = folder.join("system.toml");
    std::fs::write(&file, project.to_toml_in(folder)).map_err(|cause| unwritable(&file, &cause))?;
    Ok(file)
}

/// What a system consists of.
fn facts(system: &System) -> Value {
    let project = system.project();
    let model = &project.model;
    let outputs = system.outputs();
    let inputs = system.inputs();
    let port = |port: &costep_core::Port| json!({ "name": port.name, "unit": port.unit });
    let part = |part: &dyn costep::Component| {
        let description = part.description();
        let fmu = project.given.fmus.iter().find(|fmu| fmu.name == description.name);
        json!({
            "name": description.name,
            "file": fmu.map(|fmu| fmu.path.display().to_string()),
            "inputs": description.inputs.iter().map(port).collect::<Vec<_>>(),
            "outputs": description.outputs.iter().map(port).collect::<Vec<_>>(),
            "has_equations": part.has_equations(),
        })
    };
    let connection = |connection: &Connection| {
        let Connection { output, input, gain } = *connection;
        json!({ "from": outputs[output], "to": inputs[input], "gain": gain })
    };
    json!({
        "name": project.name,
        "start": model.experiment.start,
        "stop": model.experiment.stop,
        "step": model.experiment.step,
        "steps": model.experiment.steps(),
        "methods": project.groups.iter().map(|group| group.method.label()).collect::<Vec<_>>(),
        "parameters": project.parameters.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>(),
        "parts": model.parts.iter().map(|built| part(&**built)).collect::<Vec<_>>(),
        "connections": model.connections.iter().map(connection).collect::<Vec<_>>(),
        "driven": system.driven(),
        "warnings": project.warnings.iter().map(errors::to_json).collect::<Vec<_>>(),
    })
}
