//! `costep identify`: models of the parts, learnt from a run, as a file that other runs start from.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use costep::{
    Code, Error, MethodSpec, ModelFile, Run, check_model_file, identified_to_json, identifying_method,
    unwritable,
};
use costep_analysis::Excitation;
use costep_core::Result;
use costep_core::quantity::format_time;
use costep_ident::NamedModel;
use serde_json::{Value, json};

use crate::args::IdentifyArgs;
use crate::failure::Failure;
use crate::messages;
use crate::phrases::{argument, show_warnings};
use crate::stop;
use crate::style::{BAD, Output, print, print_json};
use crate::supervision;
use crate::table::{Cell, number, render};

pub(crate) fn run(args: &IdentifyArgs, output: Output) -> Result<ExitCode, Failure> {
    let system = args.system.open(args.coupling.overrides())?;
    let project = system.project();
    let method = identifying_method(project, system.registry(), args.coupling.method.as_deref())?;
    check_model_file(&args.out)?;
    if let Some(code) = supervision::elsewhere(project, None, None, output)? {
        return Ok(code);
    }
    show_warnings(&project.warnings, &args.system.named(), output);
    method.warnings().for_each(|warning| output.remark(&warning.to_string()));
    messages::listen(None, output);
    stop::listen();
    // FMUs may go to another folder.
    let target = std::path::absolute(&args.out).unwrap_or_else(|_| args.out.clone());
    let models = system.identify(Run::new().method(&method).cancel(stop::flag()))?;
    fs::write(&target, models.to_toml()?).map_err(|cause| unwritable(&args.out, &cause))?;
    show(&models, &method, args, output)?;
    Ok(supervision::exit_code(0))
}

/// What speaks against a model: inputs that say too little, outputs that say the same twice.
fn doubts(model: &NamedModel) -> Vec<Error> {
    let found = Excitation {
        part: model.part.clone(),
        order: model.excitation_order,
        needed: model.needed_order.unwrap_or(0),
        dependent: model.dependent_outputs.clone(),
    };
    let poor = found.poor_inputs().map(|text| Error::new(Code::PoorExcitation, text));
    let dependent = found.dependent_outputs().map(|text| Error::new(Code::DependentOutputs, text));
    poor.into_iter().chain(dependent).collect()
}

fn show(models: &ModelFile, method: &MethodSpec, args: &IdentifyArgs, output: Output) -> Result<()> {
    if output.json {
        let mut object = identified_to_json(models, method);
        object.insert("file".into(), json!(args.out.display().to_string()));
        return print_json(&Value::Object(object));
    }
    let row = |model: &NamedModel| {
        let count = |names: &[String]| Cell::new(names.len().to_string());
        let eps_si = model.eps_si.is_finite().then_some(model.eps_si);
        let order = match (model.excitation_order, model.needed_order) {
            (Some(order), Some(needed)) if order < needed => {
                Cell::styled(format!("{order} of {needed}"), BAD)
            }
            (Some(_), Some(needed)) => Cell::new(format!("{needed} of {needed}")),
            _ => Cell::new("-"),
        };
        let (inputs, outputs) = (count(&model.inputs), count(&model.outputs));
        vec![Cell::new(&model.part), inputs, outputs, Cell::new(number(eps_si)), order]
    };
    if !output.quiet {
        let rows: Vec<_> = models.models.iter().map(row).collect();
        print(&render(&["part", "inputs", "outputs", "eps_SI", "excitation order"], &rows))?;
    }
    models.models.iter().flat_map(doubts).for_each(|warning| output.remark(&warning.to_string()));
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
