//! `costep export`: a recording as CSV, Parquet or Feather, or a project as an SSP.

use std::path::Path;
use std::process::ExitCode;

use costep_core::{Code, Error};
use costep_project::Source;
use costep_results::{Summary, export_csv, export_feather, export_parquet};
use serde_json::json;

use crate::args::{ExportArgs, names_in};
use crate::failure::{Failure, to_json};
use crate::phrases::{argument, count};
use crate::style::{Output, print, print_error, print_json, say};
use crate::table::{Cell, render};
use crate::verbs::plot::{recording_in, refuse_system};
use crate::verbs::recorded::left_out;

pub(crate) fn run(args: &ExportArgs, output: Output) -> Result<ExitCode, Failure> {
    if args.ssp {
        return write_ssp(args, output);
    }
    if let Some(target) = args.to.as_ref().filter(|target| target.extension().is_some_and(|end| end == "ssp"))
    {
        let (project, target) = (argument(&args.file), argument(target));
        return Err(Error::new(Code::CommandLine, "recordings are not written as an SSP, but projects are")
            .hint(format!("`costep export --ssp {project} --to {target}`"))
            .into());
    }
    refuse_system(
        &args.file,
        "`costep export DIR --to FILE`; `--ssp` writes the system itself, as a SystemStructure",
    )?;
    let source = recording_in(&args.file)?;
    let Some(target) = &args.to else { return list(&source, output) };
    let ending = target.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let wanted = names_in(&args.signals);
    let named = |error: Error| match Summary::read(&source) {
        Ok(summary) if error.code() == Code::UnknownColumn => {
            left_out(error, &source, &wanted, summary.columns(), summary.metadata())
        }
        _ => error,
    };
    let exported = match ending {
        "csv" => export_csv(&source, target, &wanted).map_err(named)?,
        "parquet" => export_parquet(&source, target, &wanted).map_err(named)?,
        "feather" | "arrow" => export_feather(&source, target, &wanted).map_err(named)?,
        _ => {
            let message = format!("`{}` ends in none of .csv, .parquet, .feather", target.display());
            let error = Error::new(Code::CommandLine, message);
            return Err(match ending {
                "mat" => error.hint(
                    "MATLAB reads Parquet: write FILE.parquet, and `parquetread(\"FILE.parquet\")` there",
                ),
                _ => error.hint("the ending of `--to` says the format: .csv, .parquet, or .feather (Arrow)"),
            }
            .into());
        }
    };
    if output.json {
        print_json(&json!({
            "file": target.display().to_string(),
            "rows": exported.rows,
            "complete": exported.complete,
            "damage": exported.damage.as_ref().map(to_json),
        }))?;
    } else {
        output.remark(&format!("{}: {}", target.display(), count(exported.rows, "row")));
        match &exported.damage {
            Some(damage) => print_error(damage),
            None if !exported.complete => {
                output.remark("the recording has no end marker: its run was killed or is still running");
            }
            None => {}
        }
    }
    // What could be read is exported; that something could not be read must not look like success.
    Ok(exported.damage.map_or(ExitCode::SUCCESS, |damage| ExitCode::from(damage.code().entry().exit.code())))
}

fn write_ssp(args: &ExportArgs, output: Output) -> Result<ExitCode, Failure> {
    let Some(target) = &args.to else {
        return Err(Error::new(Code::CommandLine, "the file to write is missing")
            .hint("--out FILE.ssp")
            .into());
    };
    let project = costep_project::load(&Source::find(&args.file.to_string_lossy())?, &[])?;
    project.write_ssp(target)?;
    if output.json {
        print_json(&json!({ "file": target.display().to_string(), "components": project.given.fmus.len() }))?;
    } else {
        let components = count(project.given.fmus.len(), "component");
        output.remark(&format!("{}: {components}", target.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(source: &Path, output: Output) -> Result<ExitCode, Failure> {
    let table = Summary::read(source)?;
    if output.json {
        let columns: Vec<_> = table
            .columns()
            .iter()
            .map(|column| json!({ "name": column.name, "unit": column.unit }))
            .collect();
        print_json(&json!({
            "rows": table.rows(),
            "complete": table.complete(),
            "metadata": table.metadata(),
            "damage": table.damage().map(to_json),
            "columns": columns,
        }))?;
    } else {
        let row = |column: &costep_results::Column| {
            vec![Cell::new(&column.name), Cell::new(column.unit.as_deref().unwrap_or("-"))]
        };
        print(&render(&["column", "unit"], &table.columns().iter().map(row).collect::<Vec<_>>()))?;
        let end = if table.complete() { "" } else { ", no end marker" };
        say!("  {}{end}", count(table.rows(), "row"))?;
        table.damage().into_iter().for_each(print_error);
    }
    // What could be read is listed; that something could not be read must not look like success.
    Ok(table.damage().map_or(ExitCode::SUCCESS, |damage| ExitCode::from(damage.code().entry().exit.code())))
}
