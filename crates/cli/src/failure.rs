//! Errors on their way out of the program: text or JSON, and the exit code.

use std::process::ExitCode;

pub(crate) use costep::error_to_json as to_json;
use costep::{Error, Errors, ExitClass};
use serde_json::json;

use crate::phrases::count;
use crate::style;

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

impl From<Errors> for Failure {
    fn from(errors: Errors) -> Self {
        Self(errors.into())
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
