//! Mistakes of the command line, and what is asked about it.

use std::process::ExitCode;

use clap::error::ErrorKind;
use costep_core::{Code, Error, ExitClass};

use crate::failure::Failure;

/// A mistake of the command line as one of our errors: the first paragraph is the message, the tip or the usage
/// is the help.
fn in_our_form(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut paragraphs =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = paragraphs.next().unwrap_or_default();
    let help =
        paragraphs.find(|paragraph| paragraph.starts_with("tip: ") || paragraph.starts_with("Usage: "));
    let error = Error::new(Code::CommandLine, message.strip_prefix("error: ").unwrap_or(&message));
    match help {
        Some(help) => error.hint(help.strip_prefix("tip: ").unwrap_or(&help)),
        None => error,
    }
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
    if is_help { ExitCode::SUCCESS } else { ExitCode::from(ExitClass::Input.code()) }
}
