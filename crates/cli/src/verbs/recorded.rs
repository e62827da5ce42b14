//! What is said of a signal that a recording does not have.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use costep::{Code, Error, RECORDING};
use costep_core::Place;
use costep_core::pattern::matches;
use costep_results::Column;

use crate::phrases::{argument, given_by};

/// More columns than this are not listed.
const MOST_LISTED: usize = 12;

/// The error of a signal of a known part that `[record]` of the run has left out; of another name that is not there, with the option
/// that gave it and how to see what is there.
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
    let Some(name) = missing else { return error };
    let Some((_, signals)) = record_line(project).filter(|_| names_a_part(project, name)) else {
        return not_there(error, name, columns, file);
    };
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

/// The error of a name that nothing in the recording has.
fn not_there(error: Error, name: &str, columns: &[Column], file: &Path) -> Error {
    let hint = match error.details().hint.clone() {
        Some(hint) if columns.len() <= MOST_LISTED => hint,
        Some(hint) => format!("{hint}; `costep export {} --list` lists all", argument(run_of(file))),
        None => listed(columns, file),
    };
    given_by(error, &format!("--signals {}", argument(Path::new(name)))).hint(hint)
}

/// How a recording is named on the command line: by its folder, where it has the usual name.
fn run_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.filter(|_| file.file_name().is_some_and(|name| name == RECORDING)).unwrap_or(file)
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
