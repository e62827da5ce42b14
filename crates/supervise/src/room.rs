//! Work in a thread with a stack of its own, for which the first thread waits.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

type Job = Box<dyn FnOnce() + Send>;

/// By this the first thread is asked to do something, while it waits.
static ASKED: Mutex<Option<Sender<Job>>> = Mutex::new(None);

fn asked() -> MutexGuard<'static, Option<Sender<Job>>> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the waiting, also where the work panics.
struct Waiting;

impl Drop for Waiting {
    fn drop(&mut self) {
        *asked() = None;
    }
}

/// Does work in a thread with so many bytes of stack.
pub fn with_stack<R: Send>(bytes: usize, work: impl FnOnce() -> R + Send) -> std::io::Result<R> {
    let (sender, jobs) = channel::<Job>();
    *asked() = Some(sender);
    let waiting = Waiting;
    std::thread::scope(|scope| {
        let work = move || {
            let _waiting = waiting;
            work()
        };
        let thread = Builder::new().name("main".into()).stack_size(bytes).spawn_scoped(scope, work)?;
        jobs.iter().for_each(|job| job());
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Has the first thread do this too, if it waits for the one that works. What a system allows is a matter of threads, and
/// handlers of signals run in any of them.
pub(crate) fn in_first_thread<R: Send + 'static>(job: impl FnOnce() -> R + Send + 'static) -> Option<R> {
    let (answer, answered) = channel();
    let sender = asked().clone()?;
    sender.send(Box::new(move || drop(answer.send(job())))).ok()?;
    answered.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thread_does_what_it_is_asked_for_while_it_waits() {
        let first = std::thread::current().id();
        let here = || std::thread::current().id();
        assert_eq!(in_first_thread(here), None);
        let (worked, answered) = with_stack(1 << 20, || (here(), in_first_thread(here))).unwrap();
        assert!(worked != first && answered == Some(first));
        let panic = std::panic::catch_unwind(|| with_stack(1 << 20, || panic!("on purpose")));
        assert!(panic.is_err() && in_first_thread(here).is_none());
    }
}
