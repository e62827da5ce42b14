//! What is said of a signal that a recording does not have.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use costep::{Code, Error};
use costep_core::Place;
use costep_core::pattern::matches;
use costep_results::Column;

use crate::phrases::argument;

/// More columns than this are not listed.
const MOST_LISTED: usize = 12;

/// The error of a signal of a known part that `[record]` of the run has left out; another error as it is.
pub(crate) fn left_out(
    error: Error,
    file: &Path,
    wanted: &[String],
    columns: &[Column],
    metadata: &BTreeMap<String, String>,
) -> Error {
    if error.code() != Code::UnknownColumn {
        return error;
    }
    let project = metadata.get("project").map_or("", String::as_str);
    let missing = wanted.iter().find(|name| !columns.iter().any(|column| matches(name, &column.name)));
    let (Some((_, signals)), Some(name)) = (record_line(project), missing) else { return error };
    if !names_a_part(project, name) {
        return error;
    }
    let message = match name.contains('*') {
        true => format!("nothing that matches `{name}` was recorded"),
        false => format!("`{name}` was not recorded"),
    };
    let hint = format!("add it to `signals`, and run again; {}", listed(columns, file));
    let error = Error::new(Code::UnknownColumn, message);
    let error = match place_of(file, signals) {
        Some(place) => error.at(place).because("`signals` in [record] says what is recorded"),
        None => error.in_file(file).because("`signals` in [record] of its project said what is recorded"),
    };
    error.hint(hint)
}

/// What there is, or how to list it.
fn listed(columns: &[Column], file: &Path) -> String {
    let names: Vec<_> = columns.iter().skip(1).map(|column| column.name.as_str()).collect();
    if names.len() <= MOST_LISTED {
        return format!("recorded: {}", names.join(", "));
    }
    format!("`costep export {} --list` lists the {} that are recorded", argument(file), names.len())
}

/// The line of a project that says what is recorded, counted from 1.
fn record_line(project: &str) -> Option<(usize, &str)> {
    let mut table = "";
    project.lines().enumerate().find_map(|(index, line)| {
        let line = line.trim();
        if line.starts_with('[') {
            table = line.split('#').next().unwrap_or_default().trim();
        }
        let is_there = table == "[record]" && line.strip_prefix("signals")?.trim_start().starts_with('=');
        is_there.then_some((index + 1, line))
    })
}

/// Where the project beside a recording says it, if it still says the same.
fn place_of(file: &Path, signals: &str) -> Option<Place> {
    let same = |text: &str| text.split_whitespace().collect::<String>();
    ["system.toml", "run.toml"].into_iter().find_map(|name| {
        let path = file.with_file_name(name);
        let text = fs::read_to_string(&path).ok()?;
        let (line, words) = record_line(&text)?;
        let is_same = same(words).starts_with(&same(signals));
        is_same.then(|| Place::File { path, line: Some(line), text: Some(words.to_owned()) })
    })
}

/// Whether a signal is one of a part of the project, which the spelling of others is no help for.
fn names_a_part(project: &str, signal: &str) -> bool {
    let tables = project.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
    let parts = tables.filter_map(|table| {
        let part = table.strip_prefix("fmu.").or_else(|| table.strip_prefix("native."))?;
        Some(part.trim_matches('"'))
    });
    parts.into_iter().any(|part| signal.strip_prefix(part).is_some_and(|rest| rest.starts_with('.')))
}
