//! How a watched process ended, in words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use costep_core::quantity::format_limit;
use costep_core::{Code, Error, Place};
use costep_fmi::trace::{Call, SlotData};

use crate::page::Page;

/// An FMU that was in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// Its name in the system.
    pub name: String,
    /// The call, `fmi2DoStep`.
    pub call: String,
    /// Its last message.
    pub message: Option<String>,
}

impl Culprit {
    /// The FMU of a slot, one of `all`, if it is in a call.
    pub(crate) fn of(slot: &SlotData, all: &[SlotData]) -> Option<Self> {
        let view = slot.read(all);
        let call = view.call_name()?;
        Some(Self { name: view.fmu.name(), call, message: view.fmu.message() })
    }

    /// All FMUs that are in a call.
    pub(crate) fn anywhere(slots: &[SlotData]) -> Vec<Self> {
        slots.iter().filter_map(|slot| Self::of(slot, slots)).collect()
    }

    /// All FMUs that are in a call of this process: those that can have ended it.
    pub(crate) fn all(slots: &[SlotData]) -> Vec<Self> {
        let is_here = |slot: &&SlotData| slot.read(slots).call != Some(Call::Elsewhere);
        slots.iter().filter(is_here).filter_map(|slot| Self::of(slot, slots)).collect()
    }
}

/// How a watched process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code; it has said what there is to say.
    Finished(u8),
    /// By a signal.
    Died {
        /// Its number.
        signal: i32,
        /// FMUs that were in a call: one, or one per thread.
        culprits: Vec<Culprit>,
    },
    /// Somebody called `exit`.
    Exited {
        /// The exit code.
        code: i32,
        /// As above.
        culprits: Vec<Culprit>,
    },
    /// A call took longer than it may, or nothing was done for so long outside of calls, and the process was killed.
    Hung {
        /// The limit.
        limit: Duration,
        /// The FMU; nobody outside of calls.
        culprits: Vec<Culprit>,
    },
    /// The time limit of the run passed while an FMU was in a call, or long ago, and the process was killed.
    OutOfTime {
        /// The limit.
        limit: Duration,
        /// The FMU; nobody outside of calls.
        culprits: Vec<Culprit>,
    },
    /// It used more memory than it may, and was killed.
    OutOfMemory {
        /// The limit in bytes.
        limit: u64,
        /// FMUs that were in a call.
        culprits: Vec<Culprit>,
    },
    /// The user asked twice to stop it, and it was killed.
    Stopped,
}

impl Ending {
    /// The end of a process that has not come to its own one.
    pub(crate) fn of(status: ExitStatus, culprits: Vec<Culprit>) -> Self {
        match (status.signal(), status.code()) {
            (Some(signal), _) => Self::Died { signal, culprits },
            (None, code) => Self::Exited { code: code.unwrap_or(-1), culprits },
        }
    }
}

/// What is left of a watched process.
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    pub(crate) page: Page,
    /// The last lines that foreign code printed.
    pub lines: Vec<String>,
    /// How many further lines were not passed on.
    pub unseen: u64,
}

impl Report {
    /// Rows of the recording from this number on, one after another. Rows have `width` values.
    pub fn rows_from(&self, number: u64, width: usize) -> Vec<f64> {
        self.page.rows_from(number, width)
    }

    /// Time of the last checkpoint.
    pub fn checkpoint(&self) -> Option<f64> {
        let header = self.page.header();
        (header.checkpoints.load(Relaxed) > 0).then(|| f64::from_bits(header.checkpoint.load(Relaxed)))
    }

    /// Whether the run was complete and only its verdict was to come.
    pub fn was_verifying(&self) -> bool {
        self.page.header().verifies.load(Relaxed) == 1
    }

    /// The error that the process could not report itself; nothing if it came to its own end.
    pub fn error(&self) -> Option<Error> {
        let (error, culprits) = describe(&self.ending, ("the process of the run", false))?;
        let header = self.page.header();
        let (steps, time) = (header.step.load(Relaxed), f64::from_bits(header.time.load(Relaxed)));
        let subsystem = match &culprits {
            [culprit] => Some(culprit.name.clone()),
            _ => None,
        };
        let error = match steps.checked_sub(1) {
            Some(step) => error.at(Place::Run { subsystem, signal: None, time, step }),
            None => error,
        };
        let message = last_message(culprits);
        let printed =
            || (!self.lines.is_empty()).then(|| format!("last printed: {}", self.lines.join(" | ")));
        Some(match message.or_else(printed) {
            Some(cause) => error.because(cause),
            None => error,
        })
    }
}

/// What the FMU said last, if it is clear which one is to blame.
pub(crate) fn last_message(culprits: &[Culprit]) -> Option<String> {
    match culprits {
        [culprit] => culprit.message.as_ref().map(|text| format!("its last message: {text}")),
        _ => None,
    }
}

/// An ending of a process, called `process` and perhaps that of one FMU alone, as an error, and who is to blame.
pub(crate) fn describe<'a>(
    ending: &'a Ending,
    (process, is_own): (&str, bool),
) -> Option<(Error, &'a [Culprit])> {
    const KILL: i32 = 9;
    const TIME_USED_UP: i32 = 24;
    const HANGS: &str = "it may be in a loop without end, or wait for a dialog, a licence or an answer; a longer `step_timeout` \
                         gives one that is only slow more time";
    const OUTSIDE_OF_CALLS: &str =
        "a timer, a handler of signals or a thread of an FMU may have stopped it, or a bug of costep";
    Some(match ending {
        Ending::Finished(_) => return None,
        Ending::Died { signal: KILL, culprits } => {
            let error = Error::new(Code::Killed, format!("{process} was killed by SIGKILL"));
            let others = "by a user, or by the system because it was out of memory";
            let cause = match culprits.as_slice() {
                [] => others.to_owned(),
                // Nobody says who sent it.
                _ => format!("{others}, or by itself: {}", subject(culprits, "be called")),
            };
            (error.because(cause), &[])
        }
        Ending::Died { signal: TIME_USED_UP, culprits } => {
            let when = match culprits.as_slice() {
                [] => "while no FMU was being called".to_owned(),
                culprits => subject(culprits, "be called"),
            };
            let message = format!("{process} has used up its processor time (`ulimit -t`): {when}");
            let error = Error::new(Code::TimeLimit, message);
            (error.hint("raise the limit, or look what takes so long"), culprits)
        }
        Ending::Died { signal, culprits } => {
            (crash((process, is_own), culprits, &format!("died with {}", signal_name(*signal))), culprits)
        }
        Ending::Exited { code, culprits } => (
            crash((process, is_own), culprits, &format!("ended the program with exit code {code}")),
            culprits,
        ),
        Ending::Hung { limit, culprits } if culprits.is_empty() => {
            let message = format!("{process} has done nothing for {limit:?} while no FMU was being called");
            (Error::new(Code::Hung, message).hint(OUTSIDE_OF_CALLS), culprits)
        }
        Ending::Hung { limit, culprits } => {
            let message = format!("{} has not returned for {limit:?}", subject(culprits, "call"));
            (Error::new(Code::Hung, message).hint(HANGS), culprits)
        }
        Ending::OutOfTime { limit, culprits } if culprits.is_empty() => {
            let message = format!(
                "the time limit of {} was reached while a macro step did not end",
                format_limit(*limit)
            );
            (Error::new(Code::TimeLimit, message), culprits)
        }
        Ending::OutOfTime { limit, culprits } => {
            let message = format!(
                "the time limit of {} was reached while {} did not return",
                format_limit(*limit),
                subject(culprits, "call")
            );
            (Error::new(Code::TimeLimit, message), culprits)
        }
        Ending::OutOfMemory { limit, culprits } => {
            let when = match culprits.as_slice() {
                [] => "while no FMU was being called".to_owned(),
                culprits => subject(culprits, "be called"),
            };
            let message = format!("more than {} of memory were used: {when}", size(*limit));
            (Error::new(Code::MemoryLimit, message), culprits)
        }
        Ending::Stopped => (Error::new(Code::Stopped, "stopped immediately by the user"), &[]),
    })
}

/// `a` in fmi2DoStep, or `b` in fmi2DoStep.
fn subject(culprits: &[Culprit], nothing: &str) -> String {
    const LISTED: usize = 4;
    let mut list: Vec<String> = culprits
        .iter()
        .take(LISTED)
        .map(|culprit| format!("`{}` in {}", culprit.name, culprit.call))
        .collect();
    match culprits.len() {
        0 => return format!("no FMU was to {nothing}"),
        count if count > LISTED => list.push(format!("{} more", count - LISTED)),
        _ => {}
    }
    list.join(" or ")
}

/// Bytes in the unit that most likely was asked for.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{} MB", bytes as f64 / 1e6)
    }
}

/// What to do about an FMU that has ended a process of its own.
const ALONE: &str = "it runs in a process of its own, which spares the other parts: what ended it is in the FMU, or in the values that it got; \
     `costep check --probe` tests it by itself, `log = true` in its table shows all it says; report it to the maker of the FMU";

fn crash((process, is_own): (&str, bool), culprits: &[Culprit], how: &str) -> Error {
    match culprits {
        [] => {
            let message = format!("{process} {how} while no FMU was being called");
            Error::new(Code::Crashed, message).hint("a thread of an FMU may have done it, or a bug of costep")
        }
        [culprit] => {
            let error = Error::new(Code::Crashed, format!("`{}` {how} in {}", culprit.name, culprit.call));
            // It may be alone in a process already, of which one call is made at a time.
            if is_own { error.hint(ALONE) } else { error }
        }
        several => Error::new(Code::Crashed, format!("{} {how}", subject(several, "call")))
            .hint("they ran at the same time; `--threads 1` shows which"),
    }
}

/// The name of a signal.
pub(crate) fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 15] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
        (31, "SIGSYS"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
