//! Ctrl-C, termination signals and limits of time, for work that is done in this process.

use std::io::IsTerminal;
use std::process;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use costep::{Cancel, Code, Error, ExitClass};
use costep_core::quantity::format_limit;

use crate::failure::Failure;
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
    #[cfg(target_os = "linux")]
    heed_processor_time();
}

/// Raises the flag shortly before the processor time of the shell (`ulimit -t`) is used up: the system then ends the program
/// by a signal.
#[cfg(target_os = "linux")]
fn heed_processor_time() {
    use costep_supervise::ProcessorTime;
    const LEAST: Duration = Duration::from_millis(250);
    const MOST: Duration = Duration::from_secs(5);
    let Some(ProcessorTime { limit, .. }) = ProcessorTime::of_this_process() else { return };
    let reserve = (limit / 10).clamp(LEAST, MOST);
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u32;
    let watch = move || {
        while let Some(ProcessorTime { left, .. }) = ProcessorTime::of_this_process() {
            if left <= reserve {
                let message = "the processor time that the shell allows is nearly used up";
                let hint = "raise the limit of the shell (`ulimit -t`)";
                STOP.raise_because(Error::new(Code::TimeLimit, message).hint(hint));
                return;
            }
            // So much can be used at once, and never all of it between two looks.
            thread::sleep(((left - reserve) / cores).clamp(LEAST / 25, MOST));
        }
    };
    // Where there is no thread for it, the system ends the program.
    let _ = thread::Builder::new().name("processor time".into()).spawn(watch);
}

/// For runs.
pub(crate) fn flag() -> &'static Cancel {
    &STOP
}

/// An error once a signal came.
pub(crate) fn check() -> Result<(), Error> {
    STOP.check()
}

/// What a run that looks at the clock after each macro step gets beyond its limit.
const GRACE: Duration = Duration::from_secs(1);

/// Ends the program if the work before its drop takes longer than a limit: one macro step of a large native system may
/// take minutes, and nobody looks at the clock within. What has been recorded can be read, as after `kill -9`.
pub(crate) struct Deadline {
    _done: Option<Sender<()>>,
}

impl Deadline {
    pub(crate) fn begin(limit: Option<Duration>, as_json: bool) -> Self {
        let Some(limit) = limit else { return Self { _done: None } };
        let (done, wait) = channel();
        thread::spawn(move || {
            if wait.recv_timeout(limit.saturating_add(GRACE)) == Err(RecvTimeoutError::Timeout) {
                let message = format!(
                    "the time limit of {} was reached, and nothing that could be ended came within a second",
                    format_limit(limit)
                );
                Failure::from(Error::new(Code::TimeLimit, message)).report(as_json);
                process::exit(i32::from(Code::TimeLimit.entry().exit.code()));
            }
        });
        Self { _done: Some(done) }
    }
}
