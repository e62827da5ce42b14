//! `costep import`: a system of another tool as a project folder.

use std::process::ExitCode;

use costep_project::ssp;
use serde_json::json;

use crate::args::ImportArgs;
use crate::failure::Failure;
use crate::phrases::{argument, count};
use crate::style::{Output, print_json};
use crate::verbs::inspect_ssp;

pub(crate) fn run(args: &ImportArgs, output: Output) -> Result<ExitCode, Failure> {
    let imported = ssp::import(&args.file, &args.out, args.allow_outside)?;
    let flat = &imported.flat;
    if output.json {
        print_json(&json!({
            "project": imported.file.display().to_string(),
            "components": flat.components.len(),
            "connections": flat.links.len(),
            "notes": inspect_ssp::notes_to_json(&flat.notes),
        }))?;
    } else {
        inspect_ssp::list(&flat.notes)?;
        output.remark(&format!(
            "{}: {}, {}",
            imported.file.display(),
            count(flat.components.len(), "component"),
            count(flat.links.len(), "connection")
        ));
        output.remark(&format!("next: costep run {}", argument(&args.out)));
    }
    // What could be kept is there; that something could not be must not look like success.
    Ok(inspect_ssp::exit_code(&flat.notes))
}
