//! `costep demo`: real runs on a built-in system in which a newcomer sees a hold fail where others hold.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use costep::pages::check_page_file;
use costep::{
    Code, Comparison, ComparisonEvent, Error, Project, Registry, RunFolder, RunReport, System, head,
};
use costep_core::quantity::format_time;
use serde_json::json;

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::phrases::argument;
use crate::style::{FAINT, Output, print_json, say};
use crate::table::{Cell, number, percent, render, wall};
use crate::verbs::compare::{folder_for_page, report, verdict};

/// The project the demo runs and leaves behind.
const SYSTEM: &str = include_str!("demo_system.toml");
const METHODS: [&str; 6] = ["zoh", "foh", "soh", "nepce", "mbcorr", "predictive"];

pub(crate) fn run(args: &DemoArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    let file = args.out.join("system.toml");
    let is_new = write_project(&file)?;
    // The story is always told with the demo's own system, also when the folder holds an edited one.
    let system = System::from_toml(SYSTEM, &file, Registry::standard())?;
    let project = system.project();
    let mut comparison = METHODS.into_iter().fold(Comparison::new(), Comparison::method);
    let recordings = folder_for_page(args.report.as_deref())?;
    if let Some(folder) = &recordings {
        comparison = comparison.record(&RunFolder::lock(folder.path())?);
    }
    let (start, mut reference_seconds) = (Instant::now(), None);
    let compared = system.compare_with(&comparison, &mut |event| {
        if let ComparisonEvent::Run(..) = event {
            reference_seconds.get_or_insert_with(|| start.elapsed().as_secs_f64());
        }
    })?;
    let reports = &compared.reports;
    if output.json {
        let mut object = head(project, compared.references.first());
        object.insert("runs".into(), json!(reports));
        object.insert("files".into(), json!({ "project": file.display().to_string() }));
        print_json(&object)?;
    } else {
        tell(project, reports, reference_seconds.unwrap_or(0.0))?;
        next(&args.out, is_new)?;
    }
    if let Some(file) = &args.report {
        report(file, &system, &compared, output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the project, unless there is one already: it may have been edited.
fn write_project(file: &Path) -> Result<bool, Error> {
    if file.exists() {
        return Ok(false);
    }
    let unwritable =
        |cause| Error::new(Code::FileNotReadable, "cannot write the demo").in_file(file).because(cause);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    fs::write(file, SYSTEM).map_err(unwritable)?;
    Ok(true)
}

fn tell(project: &Project, reports: &[RunReport], reference_seconds: f64) -> Result<(), Error> {
    let experiment = project.model.experiment;
    say!(
        "\nTwo-mass oscillator, split at the coupling spring. h = {}, {}, {} macro steps.\n",
        format_time(experiment.step),
        format_time(experiment.stop),
        experiment.steps()
    )?;
    let mut rows: Vec<_> = reports.iter().map(row).collect();
    rows.push(vec![
        Cell::new("monolithic"),
        Cell::new("reference"),
        Cell::new("0"),
        Cell::new(percent(Some(0.0))),
        Cell::styled(wall(reference_seconds), FAINT),
    ]);
    say!("{}", render(&["method", "result", "RMS error", "energy drift", "time"], &rows))?;
    say!("  RMS error: mean over all outputs of |y - y_mono| / range, RMS over time.")?;
    say!(
        "  Energy drift: difference of the final energy from the monolithic solution, relative to its maximum energy.\n"
    )
}

fn row(report: &RunReport) -> Vec<Cell> {
    vec![
        Cell::new(&report.method),
        verdict(report.verdict),
        Cell::new(number(report.errors.eps_mono)),
        Cell::new(percent(report.errors.energy_drift)),
        Cell::styled(wall(report.work.wall_s), FAINT),
    ]
}

fn next(folder: &Path, is_new: bool) -> Result<(), Error> {
    let (argument, folder) = (argument(folder), folder.display());
    if is_new {
        say!("Wrote {folder}/system.toml")?;
    } else {
        say!("Kept your {folder}/system.toml")?;
    }
    let commands = [
        (format!("costep run {argument}"), "simulate it, record it"),
        (format!("costep compare {argument} --steps 1ms,5ms,10ms"), "methods and steps side by side"),
        ("costep methods predictive".into(), "what a method does"),
    ];
    let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (i, (command, purpose)) in commands.iter().enumerate() {
        let lead = if i == 0 { "Next:" } else { "" };
        say!("{lead:<5}  {command:<width$}   {purpose}")?;
    }
    Ok(())
}
