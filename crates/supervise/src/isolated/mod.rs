//! Subsystems in processes of their own.
//!
//! [`Isolated`] is a subsystem whose calls are done by another process, which runs [`host`]. The two share memory of a
//! layout that follows from the description of the subsystem alone; whoever waits sleeps on a futex. Nothing that the
//! other process writes is believed: places are fixed, numbers are any numbers, and lengths are checked.
//!
//! | module | role |
//! |---|---|
//! | `mailbox` | whose turn it is, and with which request |
//! | `bell`, `futex` | a number to wait for, and the sleep until it changes |
//! | `area` | where inputs, outputs, telemetry, local model and bytes lie |
//! | `facts` | what a subsystem can do, said once |
//! | `words` | errors as bytes |
//! | `worker` | a started process: asks it, and says how it failed |
//! | `proxy`, `host` | the subsystem on this and on the other side |

mod area;
mod bell;
mod error_bytes;
mod facts;
mod futex;
mod host;
mod mailbox;
mod proxy;
mod worker;

use std::sync::OnceLock;

use crate::hand_over::Program;

pub use host::host;
pub(crate) use mailbox::Control;
pub use proxy::{Isolated, Outline};
pub use worker::late_failures;
pub(crate) use worker::{Hear, NEWS};

/// The flag by which a program is told that it hosts a subsystem.
pub const WORKER_FLAG: &str = "--worker";

static PROGRAM: OnceLock<Program> = OnceLock::new();
static GIVES_UP: OnceLock<fn() -> bool> = OnceLock::new();

/// Says how it is found out, while a process does not answer, whether its answer is still wanted. A process whose answer is not
/// wanted any more is ended.
pub fn give_up_when(check: fn() -> bool) {
    let _ = GIVES_UP.set(check);
}

/// Says that this program, started with [`WORKER_FLAG`], calls [`host`].
pub fn offer_workers() {
    let _ = PROGRAM.set(Program::this([]));
}

/// The program that hosts subsystems; nothing if the present one is not made for it.
pub fn worker_program() -> Option<&'static Program> {
    PROGRAM.get()
}
