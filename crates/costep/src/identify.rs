//! Models of the parts, learnt from a run.

use std::path::Path;

use costep_analysis::Identification;
use costep_core::{Code, Error, Learning, ModelKind, Result};
use costep_engine::{Engine, Flow, StopFlag};
use costep_ident::{ModelFile, NamedModel, StoredModels};
use costep_methods::MethodSpec;
use costep_methods::identified::{HoldOrRamp, IdentifiedOptions};
use costep_project::{Project, Registry, shell_word};
use serde_json::{Map, Value, json};

use crate::assemble::{self, Choice};
use crate::cancel::Cancel;
use crate::supervised;
use crate::system::System;

/// Taken where neither caller nor project name a method that identifies: it needs no step at which a hold is
/// stable.
const DEFAULT_METHOD: &str = "identified";

/// The method that [`System::identify`] learns by: the one that is asked for, else that of the project if it
/// identifies, else `identified`.
pub fn identifying_method(project: &Project, registry: &Registry, text: Option<&str>) -> Result<MethodSpec> {
    let Some(text) = text else {
        let own = &project.groups[0].method;
        return if learns(own) { Ok(own.clone()) } else { registry.method(DEFAULT_METHOD) };
    };
    let mut spec = registry.method(text)?;
    if let Some(models) = project.models.as_ref().filter(|_| !spec.names_models()) {
        spec = spec.with_models(models)?;
    }
    if learns(&spec) { Ok(spec) } else { Err(learns_nothing(&spec, text)) }
}

fn learns_nothing(spec: &MethodSpec, text: &str) -> Error {
    if spec.entry.id == DEFAULT_METHOD {
        let message = format!("models identified by `{text}` cannot be saved");
        return Error::new(Code::BadOption, message)
            .because("files contain models of steps with held inputs")
            .hint("leave out `form`; runs with `form=ramp` can start from the file all the same");
    }
    Error::new(Code::BadOption, format!("`{text}` identifies no models of its own")).hint(
        "`identified` does, and `prestep`, `mbcorr` and `predictive` with models from `rls`, `ij-rls` or `moesp`: \
         `--models rls`, or `source=rls` among the options",
    )
}

/// Whether a method learns models of steps with held inputs.
fn learns(spec: &MethodSpec) -> bool {
    if spec.entry.id == DEFAULT_METHOD {
        return IdentifiedOptions::read(&spec.options).form == HoldOrRamp::Hold;
    }
    let offer = spec.models.offer();
    offer.kind == ModelKind::Discrete && offer.learning != Learning::Earlier
}

/// Whether a file of models may be written: said before hours of work, not after them.
pub fn check_model_file(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let error = Error::new(Code::FileNotReadable, "cannot write").in_file(file);
        let folder = folder.unwrap_or(Path::new(".")).display();
        return Err(error
            .because("its folder does not exist")
            .hint(format!("make it first, `mkdir -p {folder}`, or name another one")));
    }
    if file.is_dir() {
        let message = format!("`{}` is a folder, not a file", file.display());
        let inside = file.join("models.toml");
        return Err(Error::new(Code::FileNotReadable, message)
            .hint(format!("name the file to write: `--out {}`", inside.display())));
    }
    if file.exists() && StoredModels::read(file).is_err() {
        let mut names = ["models.toml", "identified.toml"].iter().map(|name| file.with_file_name(name));
        let other = names.find(|other| other != file).unwrap_or_default();
        let other = shell_word(&other);
        return Err(Error::new(Code::Exists, "this file is not a file of identified models")
            .in_file(file)
            .because("it would be overwritten")
            .hint(format!("name another file: `--out {other}`")));
    }
    Ok(())
}

/// What was identified as JSON: the contract of `costep identify --json`, but for the file.
pub fn identified_to_json(models: &ModelFile, method: &MethodSpec) -> Map<String, Value> {
    let model = |model: &NamedModel| {
        json!({
            "part": model.part,
            "inputs": model.inputs,
            "outputs": model.outputs,
            "eps_si": model.eps_si.is_finite().then_some(model.eps_si),
            "eps_hold": model.eps_hold.is_finite().then_some(model.eps_hold),
            "excitation_order": model.excitation_order,
            "needed_order": model.needed_order,
            "dependent_outputs": model.dependent_outputs,
        })
    };
    let all: Vec<Value> = models.models.iter().map(model).collect();
    let mut object = Map::new();
    for (key, value) in [
        ("system", json!(models.system)),
        ("method", json!(method.label())),
        ("source", json!(models.source)),
        ("n", json!(models.n)),
        ("m", json!(models.m)),
        ("h", json!(models.step)),
        ("file", Value::Null),
        ("models", json!(all)),
    ] {
        object.insert(key.into(), value);
    }
    object
}

pub(crate) fn learn(system: &System, cancel: &Cancel) -> Result<ModelFile> {
    let project = &system.project;
    let method = identifying_method(project, &system.registry, None)?;
    let choice = Choice { method: &method, step: project.equal_step(), control: None };
    let mut engine = assemble::engine(project, &choice, false)?;
    let mut identification = Identification::new(&engine, &method);
    let mut obey = |engine: &Engine| supervised::obey(engine).map(|()| Flow::Continue);
    engine.run(&mut [&mut identification, &mut obey, &mut StopFlag(cancel.flag())])?;
    identification.models(&engine, &project.name, &method)
}
