//! `costep models`: the built-in systems, for people and machines.

use std::process::ExitCode;

use costep_core::quantity::format_time;
use costep_core::{Description, Port};
use costep_models::{MODELS, ModelEntry, find};
use serde_json::{Value, json};

use crate::args::ListArgs;
use crate::failure::Failure;
use crate::style::{Output, STRONG, paint, print, print_json, say};
use crate::table::{Cell, render};

pub(crate) fn run(args: &ListArgs, output: Output) -> Result<ExitCode, Failure> {
    match (&args.id, output.json) {
        (None, true) => print_json(&MODELS.iter().map(to_json).collect::<Result<Vec<_>, _>>()?)?,
        (None, false) => list()?,
        (Some(id), true) => print_json(&to_json(find(id)?)?)?,
        (Some(id), false) => explain(find(id)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<(), Failure> {
    let row = |entry: &ModelEntry| vec![Cell::styled(entry.id, STRONG), Cell::new(entry.title)];
    print(&render(&["model", ""], &MODELS.iter().map(row).collect::<Vec<_>>()))?;
    say!("\n  `costep models ID` explains one, `costep compare ID` runs it.")?;
    Ok(())
}

fn explain(entry: &ModelEntry) -> Result<(), Failure> {
    let (_, model) = entry.model(&[])?;
    say!("{}  {}\n", paint(STRONG, entry.id), entry.title)?;
    say!("  {}\n", entry.summary)?;
    say!("  source   {}", entry.source)?;
    say!("  solver   {}", model.solver.label())?;
    let experiment = model.experiment;
    say!(
        "  default  {} to {}, step {}\n",
        experiment.start,
        format_time(experiment.stop),
        format_time(experiment.step)
    )?;
    let parameters: Vec<_> = entry
        .parameters
        .iter()
        .map(|p| [p.name, &p.default.to_string(), p.unit, p.help].into_iter().map(Cell::new).collect())
        .collect();
    print(&(render(&["parameter", "default", "unit", ""], &parameters) + "\n"))?;
    let parts: Vec<_> = model.parts.iter().map(|part| part_row(part.description())).collect();
    print(&render(&["part", "inputs", "outputs"], &parts))?;
    Ok(())
}

fn part_row(description: &Description) -> Vec<Cell> {
    let ports = |ports: &[Port]| {
        let names: Vec<_> = ports
            .iter()
            .map(|port| match &port.unit {
                Some(unit) => format!("{} [{unit}]", port.name),
                None => port.name.clone(),
            })
            .collect();
        names.join("  ")
    };
    vec![
        Cell::new(&description.name),
        Cell::new(ports(&description.inputs)),
        Cell::new(ports(&description.outputs)),
    ]
}

fn to_json(entry: &ModelEntry) -> Result<Value, Failure> {
    let (parameters, model) = entry.model(&[])?;
    let parameters: Vec<_> = parameters
        .iter()
        .map(|(spec, value)| json!({ "name": spec.name, "default": value, "unit": spec.unit, "help": spec.help }))
        .collect();
    let names = |ports: &[Port]| ports.iter().map(|port| port.name.clone()).collect::<Vec<_>>();
    let parts: Vec<_> = model
        .parts
        .iter()
        .map(|part| part.description())
        .map(|d| json!({ "name": d.name, "inputs": names(&d.inputs), "outputs": names(&d.outputs) }))
        .collect();
    Ok(json!({
        "id": entry.id,
        "title": entry.title,
        "summary": entry.summary,
        "source": entry.source,
        "solver": model.solver.label(),
        "t_end": model.experiment.stop,
        "step": model.experiment.step,
        "parameters": parameters,
        "parts": parts,
    }))
}
