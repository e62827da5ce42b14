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
        let dir = argument(&args.out);
        output.remark(&match flat.errors().count() {
            0 => format!("next: costep run {dir}"),
            errors => format!(
                "next: {} left out of it, {} to be corrected by hand: see above, and  costep check {dir}",
                if errors == 1 { "what the error names was" } else { "what the errors name was" },
                count(errors, "place")
            ),
        });
    }
    // What could be kept is there; that something could not be must not look like success.
    Ok(inspect_ssp::exit_code(&flat.notes))
}
