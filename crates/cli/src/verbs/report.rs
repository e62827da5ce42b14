//! `costep report`: a recorded run as an HTML page; and what other verbs need to write pages.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use costep::pages::{check_page_file, write_page};
use costep::{Error, RecordedRun};
use serde_json::{Value, json};

use crate::args::ReportArgs;
use crate::failure::{Failure, to_json};
use crate::style::{Output, print_error, print_json};
use crate::supervision;

pub(crate) fn run(args: &ReportArgs, output: Output) -> Result<ExitCode, Failure> {
    let target = args.out.clone().unwrap_or_else(|| default_file(&args.run));
    check_page_file(&target)?;
    let run = RecordedRun::read(&args.run)?;
    // With FMUs, a reference is another run of them.
    if args.reference {
        match run.system {
            Err(errors) => return Err(errors.into()),
            Ok(ref system) => {
                if let Some(code) = supervision::elsewhere_at_any_cost(system.project(), output)? {
                    return Ok(code);
                }
            }
        }
    }
    let reference = run.solution(args.reference)?;
    write_page(&target, &run.page(reference.as_ref()))?;
    let damage = run.signals.damage.as_ref();
    if output.json {
        print_json(&json!({
            "file": target.display().to_string(),
            "verdict": run.outcome["verdict"],
            "rows": run.signals.rows,
            "damage": damage.map(to_json),
        }))?;
    } else {
        output.remark(&target.display().to_string());
        damage.into_iter().for_each(print_error);
    }
    // What could be read is shown; that something could not be read must not look like success.
    Ok(damage.map_or(ExitCode::SUCCESS, |damage| ExitCode::from(damage.code().entry().exit.code())))
}

fn default_file(run: &Path) -> PathBuf {
    let folder = if run.is_dir() { run } else { run.parent().unwrap_or(Path::new("")) };
    folder.join("report.html")
}

/// The command line of this process, as a page shows it.
pub(crate) fn command() -> Value {
    let mut words: Vec<String> = vec!["costep".into()];
    let mut arguments = crate::arguments();
    while let Some(word) = arguments.next() {
        let word = word.to_string_lossy().into_owned();
        match word.as_str() {
            // Of the process that watches this one.
            "--watched" => drop(arguments.next()),
            word if word.starts_with("--watched=") => {}
            _ => words.push(word),
        }
    }
    json!(words)
}

/// Writes the page of a run that has just ended, with the monolithic solution where that is cheap.
pub(crate) fn write_run_page(folder: &Path, file: &Path, output: Output) -> Result<(), Error> {
    let run = RecordedRun::read(folder)?;
    let reference = run.solution(false)?;
    write_page(file, &run.page(reference.as_ref()))?;
    output.remark(&file.display().to_string());
    Ok(())
}
