//! `costep identify`: models of the parts, learnt from a run, as a file that other runs start from.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use costep_analysis::Identification;
use costep_core::quantity::format_time;
use costep_core::{Code, Error, Learning, ModelKind, Result};
use costep_engine::StopFlag;
use costep_ident::{ModelFile, NamedModel, StoredModels};
use costep_methods::MethodSpec;
use costep_methods::identified::{IdentifiedOptions, InputShape};
use costep_project::Project;
use serde_json::json;

use crate::args::IdentifyArgs;
use crate::failure::Failure;
use crate::folder::unwritable;
use crate::messages;
use crate::session::{self, Choice};
use crate::stop;
use crate::style::{Output, print, print_json};
use crate::supervision;
use crate::table::{Cell, number, render};
use crate::words::argument;

/// Taken where neither command line nor project name a method that identifies: it needs no step at which a hold is stable.
const DEFAULT_METHOD: &str = "identified";

pub(crate) fn run(args: &IdentifyArgs, output: Output) -> Result<ExitCode, Failure> {
    let overrides = args.coupling.step_override().into_iter().chain(args.coupling.models_override());
    let project = session::load(&args.system, overrides.collect())?;
    let method = method(args, &project)?;
    check_target(&args.out)?;
    if let Some(code) = supervision::elsewhere(&project, None, None, output)? {
        return Ok(code);
    }
    project.warnings.iter().for_each(|warning| output.remark(&warning.to_string()));
    method.warnings().for_each(|warning| output.remark(&warning.to_string()));
    messages::listen(output);
    stop::listen(output);
    let choice = Choice { method: &method, step: project.model.experiment.step };
    // FMUs may go to another folder.
    let target = std::path::absolute(&args.out).unwrap_or_else(|_| args.out.clone());
    let models = learn(&project, &choice)?;
    fs::write(&target, models.to_toml()?).map_err(|cause| unwritable(&args.out, &cause))?;
    show(&models, &choice, args, output)?;
    Ok(supervision::exit_code(0))
}

/// What learns.
fn method(args: &IdentifyArgs, project: &Project) -> Result<MethodSpec> {
    let Some(text) = &args.coupling.method else {
        let own = &project.groups[0].method;
        return if learns(own) { Ok(own.clone()) } else { MethodSpec::parse(DEFAULT_METHOD) };
    };
    let mut spec = MethodSpec::parse(text)?;
    if let Some(models) = project.models.as_ref().filter(|_| !spec.names_models()) {
        spec = spec.with_models(models)?;
    }
    if learns(&spec) {
        return Ok(spec);
    }
    if spec.entry.id == DEFAULT_METHOD {
        let message = format!("models learnt by `{text}` cannot be kept");
        return Err(Error::new(Code::BadOption, message)
            .because("a file holds models of steps with held inputs")
            .hint("leave out `form`; runs with `form=ramp` can start from the file all the same"));
    }
    Err(Error::new(Code::BadOption, format!("`{text}` identifies no models of its own")).hint(
        "`identified` does, and `prestep`, `mbcorr` and `predictive` with models from `rls`, `ij-rls` or `moesp`: `--models rls`, or `source=rls` among the options",
    ))
}

/// Whether a method learns models of steps with held inputs.
fn learns(spec: &MethodSpec) -> bool {
    if spec.entry.id == DEFAULT_METHOD {
        return IdentifiedOptions::read(&spec.options).form == InputShape::Hold;
    }
    let offer = spec.models.offer();
    offer.kind == ModelKind::Discrete && offer.learning != Learning::Earlier
}

/// Whether the file may be written: said before hours of work, not after them.
fn check_target(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let error = Error::new(Code::FileNotReadable, "cannot write").in_file(file);
        return Err(error.because("its folder does not exist"));
    }
    if file.exists() && StoredModels::read(file).is_err() {
        return Err(Error::new(Code::Exists, "this file holds something else than identified models")
            .in_file(file)
            .hint("choose another name, or remove it"));
    }
    Ok(())
}

fn learn(project: &Project, choice: &Choice<'_>) -> Result<ModelFile> {
    let mut engine = session::engine(project, choice, false)?;
    let mut identification = Identification::new(&engine);
    let (mut shown, mut stop) = (supervision::Shown, StopFlag(stop::flag()));
    engine.run(&mut [&mut identification, &mut shown, &mut stop])?;
    identification.models(&engine, &project.name, choice.method)
}

fn show(models: &ModelFile, choice: &Choice<'_>, args: &IdentifyArgs, output: Output) -> Result<()> {
    if output.json {
        let model = |model: &NamedModel| {
            json!({
                "part": model.part,
                "inputs": model.inputs,
                "outputs": model.outputs,
                "eps_si": model.eps_si.is_finite().then_some(model.eps_si),
                "eps_hold": model.eps_hold.is_finite().then_some(model.eps_hold),
            })
        };
        return print_json(&json!({
            "system": models.system,
            "method": choice.method.label(),
            "source": models.source,
            "n": models.n,
            "m": models.m,
            "h": models.step,
            "file": args.out.display().to_string(),
            "models": models.models.iter().map(model).collect::<Vec<_>>(),
        }));
    }
    let row = |model: &NamedModel| {
        let count = |names: &[String]| Cell::new(names.len().to_string());
        let eps_si = model.eps_si.is_finite().then_some(model.eps_si);
        vec![Cell::new(&model.part), count(&model.inputs), count(&model.outputs), Cell::new(number(eps_si))]
    };
    if !output.quiet {
        let rows: Vec<_> = models.models.iter().map(row).collect();
        print(&render(&["part", "inputs", "outputs", "eps_SI"], &rows))?;
    }
    output.remark(&format!(
        "{}: models of {} for a step of {}",
        args.out.display(),
        models.system,
        format_time(models.step)
    ));
    output.remark(&format!(
        "next: costep run {}{} --step {} --method identified:file={}",
        argument(Path::new(&args.system.system)),
        args.system.set_words(),
        format_time(models.step).replace(' ', ""),
        argument(&args.out)
    ));
    Ok(())
}
