//! Work that calls FMUs, and that nobody waits for longer than it is worth.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use costep_core::{Code, Error, Result};
use costep_supervise::hear_no_more;

use crate::supervised;

/// How long work that has had its time may take to see that.
const OVERTIME: Duration = Duration::from_millis(500);
/// Time between two looks at the clock.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of stack, as many as the first thread of a program usually has.
const STACK: usize = 8 << 20;

/// Does work that ends by itself after this time, unless an FMU does not return: then it is left alone in its call. That is only for
/// processes that end when they have said what there is to say; elsewhere it is waited for.
pub(crate) fn within<R: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> Result<R> + Send + 'static,
) -> Result<R> {
    if !supervised::is_watched() {
        return work();
    }
    let (sender, done) = channel();
    let start = Instant::now();
    let told = move || drop(sender.send(work()));
    let thread = Builder::new()
        .name("second run".into())
        .stack_size(STACK)
        .spawn(told)
        .map_err(|cause| Error::new(Code::NoProcess, "no thread can be started").because(cause))?;
    let mut calls = supervised::Calls::new();
    loop {
        match done.recv_timeout(LOOK) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => {
                // It has panicked, which is told as everywhere.
                return thread.join().map_or_else(|panic| std::panic::resume_unwind(panic), |()| Err(lost()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        calls.look();
        let is_over = start.elapsed() > time.saturating_add(OVERTIME);
        // A slow FMU returns, and what was found by then counts.
        if let Some(error) = is_over.then(|| calls.unreturned()).flatten() {
            // The thread is left alone, and may go on after all: what it says is none of the run.
            hear_no_more();
            return Err(error);
        }
    }
}

#[cold]
fn lost() -> Error {
    Error::new(Code::Bug, "a thread has ended without a result")
}
