//! Errors of methods that need local models.

use costep_core::{Code, Error, Signals};

/// A subsystem has no local model.
#[cold]
pub(crate) fn no_model(signals: &Signals<'_>, i: usize) -> Error {
    let name = &signals.subsystems[i].description().name;
    Error::new(Code::NeedsMissing, format!("there is no local model of `{name}`"))
        .hint("choose a method that needs none: `costep methods`")
}

/// A local model cannot be used.
#[cold]
pub(crate) fn bad_model(signals: &Signals<'_>, i: usize, cause: &str) -> Error {
    let name = &signals.subsystems[i].description().name;
    Error::new(Code::NotFinite, format!("the local model of `{name}` cannot be used")).because(cause)
}
