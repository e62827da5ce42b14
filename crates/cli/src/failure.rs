//! Errors on their way out of the program: text or JSON, and the exit code.

use std::process::ExitCode;

use costep_core::{Error, ExitClass, Place};
use serde_json::{Value, json};

use crate::style;
use crate::words::count;

/// One or more errors. Empty never happens: it is made from an error or from a list with one at least.
pub(crate) struct Failure(Vec<Error>);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

impl From<Vec<Error>> for Failure {
    fn from(errors: Vec<Error>) -> Self {
        Self(errors)
    }
}

impl Failure {
    /// Prints the errors and gives the exit code of the first.
    pub(crate) fn report(&self, as_json: bool) -> ExitCode {
        if as_json {
            let errors: Vec<_> = self.0.iter().map(to_json).collect();
            if let Err(error) = style::print_json(&json!({ "errors": errors })) {
                self.0.iter().chain([&error]).for_each(style::print_error);
            }
        } else {
            self.0.iter().for_each(style::print_error);
            if self.0.len() > 1 {
                style::note(&count(self.0.len(), "error"));
            }
        }
        let class = self.0.first().map_or(ExitClass::Bug, |error| error.code().entry().exit);
        crate::supervision::exit_code(class.code())
    }
}

/// An error as JSON.
pub(crate) fn to_json(error: &Error) -> Value {
    let details = error.details();
    let place = match &details.place {
        Place::Nowhere => Value::Null,
        Place::File { path, line, text } => {
            json!({ "file": path.display().to_string(), "line": line, "text": text })
        }
        Place::Run { subsystem, signal, time, step } => {
            json!({ "subsystem": subsystem, "signal": signal, "time": time, "step": step })
        }
    };
    json!({
        "code": details.code.entry().id,
        "message": details.message,
        "place": place,
        "cause": details.cause,
        "help": error.help(),
    })
}
