//! An FMU confined in its process: what it does not need for computing is refused by the kernel.
//!
//! Landlock: it reads its unpacked folder and libraries of the system, and writes to a scratch folder, nothing else. A
//! filter of system calls: no network, no new processes or programs, no signals to others and no look into them, no
//! administration. Limits on memory, files and time. What it opens and what is refused is told as messages of the
//! category [`CATEGORY`].
//!
//! | module | role |
//! |---|---|
//! | `files` | what may be read and written |
//! | `filter` | which calls are refused |
//! | `listener` | hears of refused calls and opened files; `unsafe` code |
//! | `deeds` | what was opened and refused, on its way to messages |

mod deeds;
mod files;
mod filter;
mod listener;

use std::path::Path;

use costep_core::{Code, Error, Result};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::limit;
use crate::room::in_first_thread;

pub(crate) use deeds::tell;

/// The category of messages of a sandbox.
pub const CATEGORY: &str = "sandbox";

/// Bytes of memory, of one file; open files; seconds of computing.
const LIMITS: [(Resource, u64); 5] = [
    (Resource::Data, 16 << 30),
    (Resource::Fsize, 4 << 30),
    (Resource::Nofile, 256),
    (Resource::Cpu, 30 * 24 * 3600),
    (Resource::Core, 0),
];

/// Confines this process from now on, for good: to reading `unpacked` and writing to `scratch`. It has no other threads yet than
/// the first one and that which calls this: rules for files do not reach them.
pub(crate) fn confine(unpacked: &Path, scratch: &Path) -> Result<()> {
    for (resource, most) in LIMITS {
        // A lower limit than this stays.
        let present = limit(resource).ok_or_else(|| missing("limits", "/proc/self/limits cannot be read"))?;
        let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let limit = Rlimit { current: lower(present.current), maximum: lower(present.maximum) };
        setrlimit(resource, limit).map_err(|cause| missing("limits", cause))?;
    }
    std::env::set_current_dir(scratch).map_err(|cause| missing("a scratch folder", cause))?;
    let allowed = files::Allowed::new(unpacked, scratch);
    // Opened before nothing can be opened any more.
    let memory = std::fs::File::open("/proc/self/mem").map_err(|cause| missing("/proc", cause))?;
    let all_rules_hold = files::restrict(&allowed)?;
    let for_first = allowed.clone();
    in_first_thread(move || files::restrict(&for_first)).transpose()?;
    let program = filter::program(all_rules_hold)?;
    deeds::prepare(allowed);
    listener::listen(memory)?;
    listener::hand_over(listener::install(&program)?);
    Ok(())
}

/// The error for something that the kernel does not offer.
fn missing(what: &str, cause: impl std::fmt::Display) -> Error {
    Error::new(Code::NoSandbox, format!("this system has no {what} for a sandbox")).because(cause)
}
