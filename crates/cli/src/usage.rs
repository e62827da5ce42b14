//! Mistakes of the command line, and what is asked about it.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use costep_core::{Code, Error, ExitClass};

use crate::failure::Failure;
use crate::style::note;

/// A mistake of the command line as one of our errors: the first paragraph is the message, the tip or the usage
/// is the help.
fn in_our_form(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut paragraphs =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = paragraphs.next().unwrap_or_default();
    let help =
        paragraphs.find(|paragraph| paragraph.starts_with("tip: ") || paragraph.starts_with("Usage: "));
    let own = tip(error);
    let error = Error::new(Code::CommandLine, message.strip_prefix("error: ").unwrap_or(&message));
    match own.or(help) {
        Some(help) => error.hint(help.strip_prefix("tip: ").unwrap_or(&help)),
        None => error,
    }
}

/// Words of other tools for verbs.
const OTHER_WORDS: [(&[&str], &str); 5] = [
    (&["simulate", "sim", "start", "execute", "exec"], "run"),
    (&["view", "show", "graph", "draw"], "plot"),
    (&["validate", "verify", "lint", "test"], "check"),
    (&["init", "create", "scaffold"], "new"),
    (&["info", "describe", "list"], "inspect"),
];

/// What is probably meant, where the parser does not know.
fn tip(error: &clap::Error) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.to_lowercase()),
        _ => None,
    };
    if let Some(word) = word(ContextKind::InvalidSubcommand) {
        let verb = OTHER_WORDS.iter().find(|(words, _)| words.contains(&word.as_str()));
        let is_file = word.ends_with(".toml") || word.ends_with(".fmu") || word.ends_with(".ssp");
        return match verb {
            _ if word == "version" => Some("`costep --version` says it".into()),
            Some((_, verb)) => Some(format!("`costep {verb}` does that")),
            None => is_file.then(|| "`costep run FILE` runs a system or an FMU".into()),
        };
    }
    let is_fmu = word(ContextKind::InvalidArg).is_some_and(|word| word.ends_with(".fmu"));
    is_fmu.then(|| {
        "`costep new DIR A.fmu B.fmu` makes a project of several FMUs, `costep run DIR` runs it".into()
    })
}

/// Prints help, version or a mistake of the command line.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let asked_for_json = crate::arguments().any(|arg| arg == "--json");
    if asked_for_json && !is_help {
        return Failure::from(in_our_form(error)).report(true);
    }
    // Nothing sensible can be done when the terminal is gone.
    let _ = error.print();
    if let Some(tip) = tip(error) {
        note(&format!("\n  tip: {tip}"));
    }
    if is_help { ExitCode::SUCCESS } else { ExitCode::from(ExitClass::Input.code()) }
}
