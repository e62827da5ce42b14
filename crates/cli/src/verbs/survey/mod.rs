//! `costep survey`: which files of a folder costep reads and runs, and whether FMUs give the same results as in
//! FMPy. Everything that is foreign runs in processes of its own, so that no file can end the table.

mod files;
mod page;
mod peer;
mod trial;

use std::process::ExitCode;

use costep_core::codes::ExitClass;
use costep_core::{Code, Error};
use costep_results::write_file;
use serde_json::json;

use crate::args::SurveyArgs;
use crate::failure::Failure;
use crate::progress::many_runs;
use crate::style::{Output, print, print_json};
use peer::Peer;
use trial::{Limits, Outcome, Row};

pub(crate) fn run(args: &SurveyArgs, output: Output) -> Result<ExitCode, Failure> {
    if !args.folder.exists() {
        return Err(costep_fmu_file::not_there(&args.folder).into());
    }
    let subjects = files::find(&args.folder)?;
    if subjects.is_empty() {
        let message = format!("`{}` has no FMU and no system", args.folder.display());
        return Err(Error::new(Code::FileNotReadable, message)
            .hint("name a folder with files of other tools: .fmu, .ssp, .ssd, .msim, OspSystemStructure.xml")
            .into());
    }
    let peer = args.fmpy.as_deref().map(Peer::new).transpose()?;
    let limits = Limits { time: args.time_limit, steps: args.steps };
    let bar = many_runs(output, subjects.len());
    let mut rows = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        bar.set_message(page::shown(&subject.name));
        let row = trial::row(subject, &limits, peer.as_ref())?;
        // Where there is no bar, lines show how far it is.
        if bar.is_hidden() {
            output.remark(&format!("{} of {}: {}", index + 1, subjects.len(), page::line(&row)));
        }
        rows.push(row);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(args, &rows, peer.as_ref(), output)
}

/// What stands in a page, a table or JSON.
fn report(args: &SurveyArgs, rows: &[Row], peer: Option<&Peer>, output: Output) -> Result<ExitCode, Failure> {
    if let Some(file) = &args.to {
        write_file(file, page::markdown(args, rows, peer).as_bytes())?;
        output.remark(&format!("wrote {}", file.display()));
    }
    if output.json {
        print_json(&json!({
            "fmpy": peer.map(|peer| peer.version.clone()),
            "files": rows.iter().map(Row::to_json).collect::<Vec<_>>(),
        }))?;
    } else if args.to.is_none() {
        print(&page::table(rows, peer.is_some()))?;
    }
    output.remark(&page::summary(rows, peer));
    Ok(exit_code(rows))
}

/// What FMPy simulates and costep does not is a failure, other results are not accurate.
fn exit_code(rows: &[Row]) -> ExitCode {
    let fails =
        |row: &Row| matches!(row.outcome, Outcome::Fails(_)) && row.peer.as_ref().is_some_and(Result::is_ok);
    let class = if rows.iter().any(fails) {
        ExitClass::Model
    } else if rows.iter().any(Row::differs) {
        ExitClass::Diverged
    } else {
        return ExitCode::SUCCESS;
    };
    ExitCode::from(class.code())
}
