//! `costep inspect` of projects, recordings and folders of runs: a card, without running anything.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use costep::{ORIGIN, PROJECT_COPY, RECORDING};
use costep_core::quantity::{format_time, plain_time};
use costep_core::{Code, Error};
use costep_fmu_file::unpacked_fmu;
use costep_project::{Project, Source};
use costep_results::Summary;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::phrases::{argument, count};
use crate::style::{Output, STRONG, WARN, paint, print_json, say};
use crate::verbs::new::PROJECT;

/// Connections and columns that are shown; `--json` lists all.
const SHOWN: usize = 20;

/// Whether this is something for here: a folder, a project file or a recording.
pub(crate) fn is_meant(path: &Path) -> bool {
    let ends_with = |ending| path.extension().is_some_and(|extension| extension == ending);
    path.is_dir() || ends_with("toml") || ends_with("arrows")
}

pub(crate) fn run(path: &Path, output: Output) -> Result<ExitCode, Failure> {
    let (project_file, recording_file) = find(path)?;
    let project = match &project_file {
        Some(file) => Some(costep_project::load(&Source::File(file.clone()), &[])?),
        None => None,
    };
    let recording = recording_file.as_deref().map(Summary::read).transpose()?;
    let checkpoint = path.is_dir() && path.join("checkpoint").is_file();
    if output.json {
        let recorded = recording.as_ref().zip(recording_file.as_ref());
        print_json(&json!({
            "project": project.as_ref().map(project_to_json),
            "recording": recorded.map(|(table, file)| recording_to_json(table, file)),
            "checkpoint": checkpoint,
        }))?;
        return Ok(outcome(recording.as_ref()));
    }
    if let Some(project) = &project {
        project_card(project)?;
    }
    if let (Some(table), Some(file)) = (&recording, &recording_file) {
        recording_card(table, file)?;
    }
    if checkpoint {
        say!("checkpoint  yes: `costep resume {}`", argument(path))?;
    }
    Ok(outcome(recording.as_ref()))
}

/// What could be read is shown; that something could not be read must not look like success.
fn outcome(recording: Option<&Summary>) -> ExitCode {
    let damage = recording.and_then(Summary::damage);
    damage.map_or(ExitCode::SUCCESS, |damage| ExitCode::from(damage.code().entry().exit.code()))
}

/// Project and recording of a path. In the folder of a run that has no project of its own, the copy of the project counts.
fn find(path: &Path) -> Result<(Option<PathBuf>, Option<PathBuf>), Error> {
    if !path.is_dir() {
        let is_project = path.extension().is_some_and(|extension| extension == "toml");
        let file = Some(path.to_path_buf());
        return Ok(if is_project { (file, None) } else { (None, file) });
    }
    let existing = |name: &str| Some(path.join(name)).filter(|file| file.is_file());
    let found = (existing(PROJECT).or_else(|| existing(PROJECT_COPY)), existing(RECORDING));
    if found == (None, None) {
        let message = "the folder contains neither a project nor a recording";
        return Err(Error::new(Code::FileNotReadable, message).in_file(path).hint(
            match unpacked_fmu(path) {
                Some(hint) => hint,
                None => format!("a project has a system.toml; `costep run --out DIR` makes a {RECORDING}"),
            },
        ));
    }
    Ok(found)
}

/// `s1.x -> s2.u1`, one per connection.
fn connections(project: &Project) -> Vec<String> {
    let descriptions = || project.model.parts.iter().map(|part| part.description());
    let outputs: Vec<_> = descriptions()
        .flat_map(|d| d.outputs.iter().map(move |port| format!("{}.{}", d.name, port.name)))
        .collect();
    let inputs: Vec<_> = descriptions()
        .flat_map(|d| d.inputs.iter().map(move |port| format!("{}.{}", d.name, port.name)))
        .collect();
    let gain = |gain: f64| if gain == 1.0 { String::new() } else { format!(" (times {gain})") };
    let shown = project.model.connections.iter();
    shown.map(|c| format!("{} -> {}{}", outputs[c.output], inputs[c.input], gain(c.gain))).collect()
}

/// What a part is: the file of an FMU, or native.
fn origin(project: &Project, name: &str) -> String {
    match project.given.fmus.iter().find(|fmu| fmu.name == name) {
        Some(fmu) => format!("{} ({})", fmu.file.display(), fmu.interface.word()),
        None => "native".into(),
    }
}

fn project_card(project: &Project) -> Result<(), Error> {
    let experiment = &project.model.experiment;
    say!(
        "{}    {} to {}, step {}",
        paint(STRONG, &project.name),
        format_time(experiment.start),
        format_time(experiment.stop),
        format_time(experiment.step),
    )?;
    for part in &project.model.parts {
        let description = part.description();
        say!(
            "part     {}   {}   {}, {}",
            description.name,
            origin(project, &description.name),
            count(description.inputs.len(), "input"),
            count(description.outputs.len(), "output"),
        )?;
    }
    for group in &project.groups {
        say!(
            "method   {}   {} of {} inputs",
            group.method.label(),
            group.inputs.len(),
            project.model.layout().inputs()
        )?;
    }
    listed("connect", &connections(project))?;
    for warning in &project.warnings {
        say!("  {}", paint(WARN, warning))?;
    }
    Ok(())
}

fn listed(title: &str, items: &[String]) -> Result<(), Error> {
    for item in items.iter().take(SHOWN) {
        say!("{title:<8} {item}")?;
    }
    match items.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        rest => say!("{title:<8} and {rest} more (--json lists all)"),
    }
}

fn recording_card(table: &Summary, file: &Path) -> Result<(), Error> {
    let span = table.span().map_or_else(String::new, |(from, to)| {
        format!(", t = {} s to {} s", plain_time(from), plain_time(to))
    });
    say!(
        "{}    {}, {}{span}{}",
        paint(STRONG, file.display()),
        count(table.columns().len(), "column"),
        count(table.rows(), "row"),
        if table.complete() { "" } else { ", not finished" },
    )?;
    for (key, value) in
        table.metadata().iter().filter(|(key, _)| !["project", ORIGIN].contains(&key.as_str()))
    {
        say!("{key:<8} {value}")?;
    }
    let columns: Vec<String> = table
        .columns()
        .iter()
        .map(|column| match &column.unit {
            Some(unit) => format!("{} [{unit}]", column.name),
            None => column.name.clone(),
        })
        .collect();
    listed("column", &columns)?;
    match table.damage() {
        Some(damage) => say!("  {}", paint(WARN, damage)),
        None => Ok(()),
    }
}

fn project_to_json(project: &Project) -> Value {
    let experiment = &project.model.experiment;
    let parts: Vec<_> = project
        .model
        .parts
        .iter()
        .map(|part| {
            let description = part.description();
            let names =
                |ports: &[costep_core::Port]| ports.iter().map(|port| port.name.clone()).collect::<Vec<_>>();
            json!({
                "name": description.name,
                "from": origin(project, &description.name),
                "inputs": names(&description.inputs),
                "outputs": names(&description.outputs),
            })
        })
        .collect();
    let methods: Vec<_> = project
        .groups
        .iter()
        .map(|group| json!({ "group": group.name, "method": group.method.label(), "inputs": group.inputs.len() }))
        .collect();
    json!({
        "name": project.name,
        "start": experiment.start,
        "stop": experiment.stop,
        "step": experiment.step,
        "parts": parts,
        "methods": methods,
        "connections": connections(project),
    })
}

fn recording_to_json(table: &Summary, file: &Path) -> Value {
    let columns: Vec<_> =
        table.columns().iter().map(|column| json!({ "name": column.name, "unit": column.unit })).collect();
    json!({
        "file": file.display().to_string(),
        "rows": table.rows(),
        "time": table.span().map(|(from, to)| [from, to]),
        "finished": table.complete(),
        "columns": columns,
        "metadata": table.metadata(),
        "damage": table.damage().map(ToString::to_string),
    })
}
