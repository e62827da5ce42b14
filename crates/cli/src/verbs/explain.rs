//! `costep explain`: the long text of an error code.

use std::process::ExitCode;

use costep_core::codes::{CODES, CodeEntry};
use costep_core::{Code, Error};
use serde_json::{Value, json};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::style::{Output, STRONG, paint, print, print_json, say};
use crate::table::{Cell, render};

pub(crate) fn run(args: &ExplainArgs, output: Output) -> Result<ExitCode, Failure> {
    let Some(id) = &args.code else {
        if output.json {
            print_json(&CODES.iter().map(to_json).collect::<Vec<_>>())?;
        } else {
            let row = |entry: &CodeEntry| vec![Cell::styled(entry.id, STRONG), Cell::new(entry.title)];
            print(&render(&["code", ""], &CODES.iter().map(row).collect::<Vec<_>>()))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let entry = Code::find(id).ok_or_else(|| {
        Error::new(Code::CommandLine, format!("there is no error code `{id}`"))
            .suggest(id, CODES.iter().map(|entry| entry.id))
    })?;
    if output.json {
        print_json(&to_json(entry))?;
    } else {
        say!("{}  {}\n\n  {}", paint(STRONG, entry.id), entry.title, entry.explanation)?;
        say!("  help: {}\n  exit code {}", entry.remedy, entry.exit.code())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(entry: &CodeEntry) -> Value {
    json!({
        "code": entry.id,
        "title": entry.title,
        "explanation": entry.explanation,
        "help": entry.remedy,
        "exit": entry.exit.code(),
    })
}
