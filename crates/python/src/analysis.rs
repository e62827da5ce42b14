//! What can be found out about systems whose parts are written in Python: in this process, since they are in no other.
//! The work is done by a thread of its own, which calls Python when it has to, while this one heeds signals.

use std::path::PathBuf;
use std::time::Duration;

use costep::{
    Advising, Cancel, Code, Error, Run, System, check_model_file, identified_to_json, identifying_method,
    unwritable,
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::core::{Core, read};
use crate::errors;
use crate::waiting::{Teller, Waited, apart};

/// All mistakes and warnings, in JSON as the program prints them. Mistakes that keep it from being loaded are told before.
#[pyfunction]
pub(crate) fn check(core: &Bound<'_, Core>) -> String {
    let system = &core.get().system;
    let project = system.project();
    let list = |errors: &[Error]| errors.iter().map(errors::to_json).collect::<Vec<_>>();
    let found = system.impossible_methods();
    let warnings: Vec<Error> =
        project.warnings.iter().chain(&project.advice).cloned().chain(system.limited_methods()).collect();
    let ok = found.is_empty();
    json!({ "ok": ok, "errors": list(&found), "warnings": list(&warnings), "probes": null, "rates": [] })
        .to_string()
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
