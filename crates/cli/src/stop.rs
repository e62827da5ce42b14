//! Ctrl-C and termination signals, for work that is done in this process.

use std::io::IsTerminal;
use std::process;
use std::sync::LazyLock;

use costep::{Cancel, Error, ExitClass};

use crate::style::note;

/// Raised by the first signal.
static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// The first signal raises the flag, so that the work ends at its next point; a second one ends the program at once.
pub(crate) fn listen() {
    let handler = || {
        if STOP.raise() {
            process::exit(i32::from(ExitClass::Stopped.code()));
        }
        if std::io::stderr().is_terminal() {
            note("stopping at the next step; press again to stop at once");
        }
    };
    // Without a handler the work is still done; it can only not be stopped softly.
    let _ = ctrlc::set_handler(handler);
}

/// For runs.
pub(crate) fn flag() -> &'static Cancel {
    &STOP
}

/// An error once a signal came.
pub(crate) fn check() -> Result<(), Error> {
    STOP.check()
}
