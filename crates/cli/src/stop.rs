//! Ctrl-C and termination signals, for work that is done in this process.

use std::io::IsTerminal;
use std::process;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use costep::{Cancel, Error, ExitClass};

use crate::failure::Failure;
use crate::style::{Output, note};

/// Raised by the first signal.
static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);
/// Whether somebody looks at the flag every now and then.
static LOOKED_AT: AtomicBool = AtomicBool::new(false);

/// The first signal raises the flag, so that the work ends at its next point; a second one ends the program at once, and
/// so does the first one during work that does not look.
pub(crate) fn listen(output: Output) {
    LOOKED_AT.store(true, Ordering::SeqCst);
    let handler = move || {
        if STOP.raise() {
            process::exit(i32::from(ExitClass::Stopped.code()));
        }
        if !LOOKED_AT.load(Ordering::SeqCst) {
            let _ = check().map_err(|stopped| Failure::from(stopped).report(output.json));
            process::exit(i32::from(ExitClass::Stopped.code()));
        }
        if std::io::stderr().is_terminal() {
            note("stopping at the next step; press again to stop at once");
        }
    };
    // Without a handler the work is still done; it can only not be stopped softly.
    let _ = ctrlc::set_handler(handler);
}

/// Does work that does not look at the flag and leaves nothing behind: a signal ends the program at once.
pub(crate) fn deaf<T>(work: impl FnOnce() -> T) -> T {
    look(false);
    let result = work();
    look(true);
    result
}

/// Whether the work that begins now looks at the flag.
pub(crate) fn look(looks: bool) {
    LOOKED_AT.store(looks, Ordering::SeqCst);
}

/// For runs.
pub(crate) fn flag() -> &'static Cancel {
    &STOP
}

/// An error once a signal came.
pub(crate) fn check() -> Result<(), Error> {
    STOP.check()
}
