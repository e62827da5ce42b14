//! Colours and printing. `anstream` drops colours when the output is no terminal or NO_COLOR is set.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use costep_core::Error;

/// What the user wants to see.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Output {
    /// A remark for people, on standard error.
    pub(crate) fn remark(&self, text: &str) {
        if !self.json && !self.quiet {
            anstream::eprintln!("{text}");
        }
    }
}

pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints an error, its first words in red.
pub(crate) fn print_error(error: &Error) {
    let text = error.to_string();
    let (head, rest) = text.split_once(": ").unwrap_or((&text, ""));
    anstream::eprintln!("{}: {rest}", paint(BAD, head));
}

/// Prints one JSON object on standard output. A reader that has gone away is no error of ours.
pub(crate) fn print_json(value: &impl serde::Serialize) {
    let text =
        serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    let _ = writeln!(std::io::stdout(), "{text}");
}
