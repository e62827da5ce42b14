//! The error type of all crates: a stable code, the place, the cause and a hint.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::codes::Code;
use crate::quantity::plain_time;

/// Where an error happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Place {
    /// No place is known, or the message says it.
    #[default]
    Nowhere,
    /// A file, with the line (counted from 1) and its text where known.
    File {
        /// Path as the user wrote it.
        path: PathBuf,
        /// Line, counted from 1.
        line: Option<usize>,
        /// The text of that line.
        text: Option<String>,
    },
    /// A moment of a run.
    Run {
        /// The subsystem concerned.
        subsystem: Option<String>,
        /// The signal concerned, `subsystem.port`.
        signal: Option<String>,
        /// Simulated time in seconds.
        time: f64,
        /// Number of the macro step, from 0.
        step: u64,
    },
}

/// An error with everything a user needs to fix it. One pointer wide, so that `Result` stays cheap in the
/// macro-step loop.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Details>);

/// What an [`Error`] holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// The stable code.
    pub code: Code,
    /// One sentence that names the thing concerned.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Why, often the words of another library or of the operating system.
    pub cause: Option<String>,
    /// What to do about it, if there is more to say than the remedy of its code.
    pub hint: Option<String>,
}

/// Result with costep's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What helps against divergence.
pub const SMALLER_STEP: &str = "try a smaller step or another method: `costep compare`";

impl Error {
    /// An error with a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            code,
            message: message.into(),
            place: Place::Nowhere,
            cause: None,
            hint: None,
        }))
    }

    /// The error of a run that has diverged.
    pub fn diverged(message: impl Into<String>) -> Self {
        Self::new(Code::Diverged, message).hint(SMALLER_STEP)
    }

    /// Says where.
    pub fn at(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }

    /// Says in which file.
    pub fn in_file(self, path: impl Into<PathBuf>) -> Self {
        self.at(Place::File { path: path.into(), line: None, text: None })
    }

    /// Says why.
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Says what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says where a relative path was looked for: it may be another folder than was thought.
    pub fn looked_for(self, path: &Path) -> Self {
        match std::path::absolute(path) {
            Ok(whole) if path.is_relative() => self.because(format!("looked for `{}`", whole.display())),
            _ => self,
        }
    }

    /// Adds "did you mean" when a candidate is close, otherwise the whole list when it is short.
    pub fn suggest<'a>(self, wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        match crate::suggest::suggestion(wrong, candidates) {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// What to do about it: its own hint, or what helps with all errors of its code.
    pub fn help(&self) -> &str {
        self.0.hint.as_deref().unwrap_or(self.code().entry().remedy)
    }

    /// Everything about it.
    pub fn details(&self) -> &Details {
        &self.0
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }
}

impl fmt::Display for Error {
    /// The form of the terminal: `error[E0203]: ...` and indented lines for place, cause and help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = self.details();
        let id = details.code.entry().id;
        let word = if id.starts_with('W') { "warning" } else { "error" };
        write!(f, "{word}[{id}]: {}", printable(&details.message))?;
        match &details.place {
            Place::Nowhere => {}
            Place::File { path, line, text } => {
                write!(f, "\n  {}", path.display())?;
                if let Some(line) = line {
                    write!(f, ":{line}")?;
                }
                if let Some(text) = text {
                    write!(f, "   {}", printable(text.trim()))?;
                }
            }
            Place::Run { subsystem, signal, time, step } => {
                write!(f, "\n  at t = {} s (step {step})", plain_time(*time))?;
                if let Some(name) = signal.as_ref().or(subsystem.as_ref()) {
                    write!(f, " in `{name}`")?;
                }
            }
        }
        if let Some(cause) = &details.cause {
            write!(f, "\n  cause: {}", printable(cause))?;
        }
        write!(f, "\n  help: {}", printable(self.help()))
    }
}

/// Text from files and command lines, without what a terminal would obey.
fn printable(text: &str) -> std::borrow::Cow<'_, str> {
    let is_command = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(is_command) { text.replace(is_command, "\u{fffd}").into() } else { text.into() }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_code_place_cause_and_help() {
        let error = Error::new(Code::UnknownPort, "unknown port `brake.torqe`")
            .at(Place::File {
                path: "system.toml".into(),
                line: Some(18),
                text: Some("from = \"brake.torqe\"".into()),
            })
            .suggest("torqe", ["torque", "speed"]);
        assert_eq!(
            error.to_string(),
            "error[E0203]: unknown port `brake.torqe`\n  system.toml:18   from = \"brake.torqe\"\n  help: did you mean `torque`?"
        );
    }

    #[test]
    fn a_result_of_nothing_is_one_pointer_wide() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
