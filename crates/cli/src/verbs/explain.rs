//! `costep explain`: the long text of an error code.

use std::process::ExitCode;

use costep::Registry;
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
    let entry = find(id).ok_or_else(|| unknown(id))?;
    if output.json {
        print_json(&to_json(entry))?;
    } else {
        say!("{}  {}\n\n  {}", paint(STRONG, entry.id), entry.title, entry.explanation)?;
        match entry.id.starts_with('W') {
            true => say!("  help: {}\n  a warning: the exit code is that of the run", entry.remedy)?,
            false => say!("  help: {}\n  exit code {}", entry.remedy, entry.exit.code())?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The entry of a code, which may also be given by its number alone: `203`.
fn find(id: &str) -> Option<&'static CodeEntry> {
    let digits = id.trim_start_matches(['e', 'E', 'w', 'W']);
    let number = digits.parse::<u16>().ok();
    let whole = |letter: char| Code::find(&format!("{letter}{:04}", number?));
    let [first, then] = if id.starts_with(['w', 'W']) { ['W', 'W'] } else { ['E', 'W'] };
    let is_number = digits.len() == id.len();
    Code::find(id).or_else(|| whole(first)).or_else(|| whole(then).filter(|_| is_number))
}

/// What a word is that is no code, and where it is explained.
fn unknown(id: &str) -> Error {
    let error = Error::new(Code::CommandLine, format!("there is no error code `{id}`"));
    let registry = Registry::standard();
    let has_method = registry.methods().find(id).is_ok() || registry.methods().sources().find(id).is_ok();
    if has_method {
        return error.hint(format!("`costep methods {id}` explains the method or source of models"));
    }
    if registry.model(id).is_ok() {
        return error.hint(format!("`costep models {id}` explains the model"));
    }
    let ends = |letter: char| {
        let ids = || CODES.iter().map(|entry| entry.id).filter(move |id| id.starts_with(letter));
        format!("{} to {}", ids().next().unwrap_or_default(), ids().next_back().unwrap_or_default())
    };
    let all = format!("`costep explain` lists all codes: errors {}, warnings {}", ends('E'), ends('W'));
    let range =
        id.get(..3).filter(|range| CODES.iter().any(|entry| entry.id.starts_with(&range.to_uppercase())));
    match range.filter(|_| id.len() == 5) {
        Some(range) => {
            let range = range.to_uppercase();
            let near = CODES.iter().filter(|entry| entry.id.starts_with(&range));
            let near: Vec<&str> = near.map(|entry| entry.id).collect();
            error.hint(format!("{all}; those from {range}00 on are {} to {}", near[0], near[near.len() - 1]))
        }
        None => error.hint(all),
    }
}

fn to_json(entry: &CodeEntry) -> Value {
    json!({
        "code": entry.id,
        "title": entry.title,
        "explanation": entry.explanation,
        "help": entry.remedy,
        "exit": (!entry.id.starts_with('W')).then(|| entry.exit.code()),
    })
}
