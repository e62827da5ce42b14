//! What can be found out about systems whose parts are written in Python: in this process, since they are in no other; and a
//! system of FMUs as an SSP.
//! The work is done by a thread of its own, which calls Python when it has to, while this one heeds signals.

use std::path::PathBuf;
use std::time::Duration;

use costep::pages::{BohlPage, StabilityPage, check_page_file, write_page};
use costep::{
    Advising, BohlStudy, Cancel, Code, Error, LoopLaw, PartProbe, Run, StabilityQuestion, System,
    check_model_file, identified_to_json, identifying_method, unwritable,
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::core::{Core, read};
use crate::errors;
use crate::waiting::{Teller, Waited, apart};

/// All mistakes and warnings, in JSON as the program prints them; with `probe` every part is called. Mistakes that keep it
/// from being loaded are told before.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, core: &Bound<'_, Core>, probe: bool) -> PyResult<String> {
    done(py, core.get(), move |system, _| Ok(checked(system, probe)))
}

fn checked(system: &System, probe: bool) -> Value {
    let project = system.project();
    let list = |errors: &[Error]| errors.iter().map(errors::to_json).collect::<Vec<_>>();
    let mut found = system.impossible_methods();
    found.extend(project.libraries_not_found());
    let warnings: Vec<Error> =
        project.warnings.iter().chain(&project.advice).cloned().chain(system.limited_methods()).collect();
    let probes = if probe && found.is_empty() { system.probe() } else { Vec::new() };
    let are_good = probes.iter().all(PartProbe::is_good);
    let seconds: Option<Vec<f64>> =
        probes.iter().map(|probe| probe.report.as_ref().ok().map(|report| report.step_s)).collect();
    let seconds = seconds.filter(|seconds| are_good && !seconds.is_empty());
    let rates = seconds.and_then(|seconds| system.propose_rates(&seconds));
    json!({
        "ok": found.is_empty() && are_good,
        "errors": list(&found),
        "warnings": list(&warnings),
        "open_inputs": project.open_inputs(),
        "probes": probe.then(|| probes.iter().map(PartProbe::to_json).collect::<Vec<_>>()),
        "rates": rates.map(|rates| rates.to_json()),
    })
}

/// Writes a system of FMUs as an SSP.
#[pyfunction]
pub(crate) fn export_ssp(py: Python<'_>, core: &Bound<'_, Core>, file: PathBuf) -> PyResult<()> {
    let project = core.get().system.project();
    py.detach(|| project.write_ssp(&file)).map_err(|found| errors::raise_all(&found.into()))
}

/// How stability is judged.
#[derive(Deserialize)]
struct StabilitySettings {
    /// In s; none stands for those around the step of the system.
    steps: Vec<f64>,
    at: Option<f64>,
    by_models: bool,
    /// Of Bohl exponents, in macro steps.
    windows: Vec<usize>,
    /// A plot to write.
    nyquist: Option<PathBuf>,
    /// A page to write.
    report: Option<PathBuf>,
    /// Methods on it, as a list; nothing stands for all.
    methods: Option<String>,
}

/// Judges the stability of a system over several steps or, with a method that learns, by Bohl exponents; in JSON as the
/// program prints it.
#[pyfunction]
pub(crate) fn stability(py: Python<'_>, core: &Bound<'_, Core>, settings: &str) -> PyResult<String> {
    let settings: StabilitySettings = read(settings)?;
    done(py, core.get(), move |system, cancel| {
        settings.report.as_deref().map_or(Ok(()), check_page_file)?;
        let law = match (settings.windows.is_empty(), system.loop_law()) {
            (false, law) => Some(law?),
            (true, law) => law.ok(),
        };
        match law {
            Some(law) => settings.learning(system, law, cancel),
            None => settings.linear(system, cancel),
        }
    })
}

impl StabilitySettings {
    /// Of a method that learns during the run.
    fn learning(&self, system: &System, law: LoopLaw, cancel: &Cancel) -> Result<Value, Error> {
        let found = system.bohl_study(law, &self.windows, cancel)?;
        if let Some(file) = &self.report {
            let BohlStudy { recorded, exponents } = &found;
            let page = BohlPage { system, recorded, exponents, command: &Value::Null };
            write_page(file, &page.page())?;
        }
        Ok(found.to_json(system))
    }

    /// By the linear map of one macro step.
    fn linear(&self, system: &System, cancel: &Cancel) -> Result<Value, Error> {
        let mut question = StabilityQuestion::around(system.project().equal_step());
        if !self.steps.is_empty() {
            question.steps = self.steps.clone();
            question.steps.sort_by(f64::total_cmp);
        }
        (question.at, question.by_models) = (self.at, self.by_models);
        let mut heed = |_: Option<f64>| cancel.check();
        let study = system.stability_study(&question, &mut heed)?;
        if let Some(file) = &self.nyquist {
            study.write_nyquist(system, file)?;
        }
        if let Some(file) = &self.report {
            let methods = system.methods_beside(self.methods.as_deref())?;
            let curve = question.with_steps_between(system);
            let curves = system.radius_curves(&curve, &methods, &mut heed)?;
            let page = StabilityPage { system, study: &study, curves: &curves, command: &Value::Null };
            write_page(file, &page.page())?;
        }
        study.to_json(system)
    }
}

/// How models are identified.
#[derive(Deserialize)]
struct IdentifySettings {
    method: Option<String>,
    out: PathBuf,
}

/// Identifies models of the parts, writes them to a file, and tells of them in JSON as the program does.
#[pyfunction]
pub(crate) fn identify(py: Python<'_>, core: &Bound<'_, Core>, settings: &str) -> PyResult<String> {
    let settings: IdentifySettings = read(settings)?;
    let work = move |system: &System, cancel: &Cancel| {
        let method = identifying_method(system.project(), system.registry(), settings.method.as_deref())?;
        check_model_file(&settings.out)?;
        let models = system.identify(Run::new().method(&method).cancel(cancel))?;
        let text = models.to_toml()?;
        std::fs::write(&settings.out, text).map_err(|cause| unwritable(&settings.out, &cause))?;
        let mut object = identified_to_json(&models, &method);
        object.insert("file".into(), json!(settings.out.display().to_string()));
        Ok(Value::Object(object))
    };
    done(py, core.get(), work)
}

/// What is asked for by advice.
#[derive(Deserialize)]
struct AdviseSettings {
    error: f64,
    /// In s.
    time: f64,
    /// As a list; nothing stands for all.
    methods: Option<String>,
    equal_steps: bool,
}

/// The cheapest method and step for an error, in JSON as the program prints it.
#[pyfunction]
pub(crate) fn advise(py: Python<'_>, core: &Bound<'_, Core>, settings: &str) -> PyResult<String> {
    let settings: AdviseSettings = read(settings)?;
    let work = move |system: &System, cancel: &Cancel| {
        let time = Duration::try_from_secs_f64(settings.time).map_err(|_| {
            Error::new(Code::BadValue, format!("`time` = {} is no wall time in s", settings.time))
        })?;
        let methods = settings.methods.as_deref().map(|text| system.registry().methods().parse_list(text));
        let advising = Advising::new().error(settings.error).time(time).cancel(cancel);
        let advising = if settings.equal_steps { advising.equal_steps() } else { advising };
        let advising = methods.transpose()?.unwrap_or_default().iter().fold(advising, Advising::method);
        Ok(system.advise(&advising)?.to_json(system, None))
    };
    done(py, core.get(), work)
}

/// Has work done on a system. An exception of its parts comes out where the work fails because of it.
fn done(
    py: Python<'_>,
    core: &Core,
    work: impl FnOnce(&System, &Cancel) -> Result<Value, Error> + Send + 'static,
) -> PyResult<String> {
    let (system, cancel) = (core.system.clone(), Cancel::new());
    let own = cancel.clone();
    let Waited { outcome, interrupt } = apart(py, Teller::new(None), &cancel, move |_| work(&system, &own))?;
    let failed = core.failure.as_ref().and_then(|failure| failure.take());
    match (outcome, interrupt, failed) {
        (_, Some(interrupt), _) => Err(interrupt),
        (Some(Ok(found)), None, _) => Ok(found.to_string()),
        (Some(Err(error)), None, Some(failed)) => Err(errors::raise_because(py, failed, &error)),
        (Some(Err(error)), None, None) => Err(errors::raise(error)),
        (None, None, _) => Err(errors::misuse("nothing came of it", "report this")),
    }
}
