//! Colours and printing. `anstream` drops colours when the output is not a terminal or NO_COLOR is set.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use costep_core::{Code, Error, Result};

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
            note(text);
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

/// Prints an error, its first words in red, or a warning in yellow.
pub(crate) fn print_error(error: &Error) {
    print_error_text(&error.to_string());
}

/// The same for one that is known by its words.
pub(crate) fn print_error_text(text: &str) {
    let (head, rest) = text.split_once(": ").unwrap_or((text, ""));
    let style = if head.starts_with("warning") { WARN } else { BAD };
    note(&format!("{}: {rest}", paint(style, head)));
}

/// A line on standard error. When that is gone, nobody is left to tell.
pub(crate) fn note(text: &str) {
    if crate::supervision::say(&format!("{text}\n")) {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints one JSON value on standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|cause| Error::new(Code::Bug, "the result cannot be written as JSON").because(cause))?;
    print(&(text + "\n"))
}

/// Prints a result on standard output. A reader that has gone away (`| head`) is not an error; a full disk is.
pub(crate) fn print(text: &str) -> Result<()> {
    if crate::supervision::hold_back(text) {
        return Ok(());
    }
    let mut stdout = anstream::stdout();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// The outcome of writing to standard output.
pub(crate) fn written(outcome: std::io::Result<()>) -> Result<()> {
    match outcome {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(Code::FileNotReadable, "cannot write to standard output").because(cause))
        }
        _ => Ok(()),
    }
}

/// A line on standard output.
macro_rules! say {
    ($($text:tt)*) => { $crate::style::print(&(format!($($text)*) + "\n")) };
}
pub(crate) use say;
