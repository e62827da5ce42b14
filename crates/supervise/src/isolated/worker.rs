//! A process that hosts a subsystem, as seen by the one that started it.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use costep_core::{Code, Error, Place, Result};
use costep_fmi::trace::{Call, Slot};

use super::area::{Area, Sizes, load_bytes, store_bytes};
use super::error_bytes::read_error;
use super::mailbox::{Mailbox, Request};
use super::{GIVES_UP, WORKER_FLAG};
use crate::child::watched;
use crate::clock::{CallClock, longest_limit};
use crate::hand_over::{Program, Started, start};
use crate::report::{Culprit, Ending, describe, last_message};
use crate::watcher::is_debugged;

/// Time between two looks whether the process is still alive. An answer is noticed at once.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of an error.
const ERROR: usize = 64 << 10;

/// Failures that nobody could be told of, because they happened at the end of a subsystem.
static LATE: Mutex<Vec<Error>> = Mutex::new(Vec::new());

/// Failures of processes at the end of their subsystems, since this was last asked.
pub fn late_failures() -> Vec<Error> {
    std::mem::take(&mut *LATE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Bytes for what a process has to say beside its answers. Memory is taken as far as it is written to.
pub(crate) const NEWS: usize = 8 << 20;

/// Is told what a process has to say.
pub(crate) type Hear = Box<dyn Fn(&[u8]) + Send>;

/// A started process.
pub(super) struct Worker {
    pub(super) mailbox: Mailbox,
    pub(super) area: Area,
    name: String,
    /// Bytes of memory behind the area.
    extra: usize,
    hear: Hear,
    /// Shows that it is being asked; how long it may take is the business of this side.
    slot: Slot,
    /// Nothing if it has failed.
    started: RefCell<Option<Started>>,
    /// Why it cannot be asked any more.
    failure: RefCell<Option<Error>>,
}

impl Worker {
    /// Starts a program that calls [`host`](super::host) with this order, and waits until it is ready.
    pub(super) fn start(
        program: &Program,
        name: &str,
        sizes: Sizes,
        order: &[u8],
        hear: Hear,
    ) -> Result<Self> {
        let area = Area::new(sizes).ok_or_else(|| {
            Error::new(Code::NeedsMissing, format!("`{name}` is too large for a process of its own"))
        })?;
        let not_started = |cause: std::io::Error| {
            Error::new(Code::NoProcess, format!("the process for `{name}` cannot be started")).because(cause)
        };
        // The order is read once; then there is room for messages.
        let extra = order.len().max(NEWS);
        let mut mailbox = Mailbox::create(area.length(extra)).map_err(not_started)?;
        store_bytes(&mailbox, area.extra_at(), order);
        let lives_long = rustix::thread::gettid() == rustix::process::getpid();
        let words =
            [sizes.inputs, sizes.outputs, sizes.states, sizes.order, order.len(), lives_long.into(), extra];
        words.iter().enumerate().for_each(|(index, word)| mailbox.set_word(index, *word as u64));
        let output = watched().and_then(|watched| watched.output_of(name));
        let started = mailbox.file().and_then(|file| start(program, WORKER_FLAG, &[file], output));
        let started = started.map_err(not_started)?;
        mailbox.memory.close_file();
        let worker = Self {
            mailbox,
            area,
            name: name.to_owned(),
            extra,
            hear,
            slot: Slot::new(name, 0, None),
            started: RefCell::new(Some(started)),
            failure: RefCell::new(None),
        };
        worker.ask(Request::Start)?;
        Ok(worker)
    }

    /// Has something done. The error says what was not possible, or how the process ended.
    pub(super) fn ask(&self, request: Request) -> Result<()> {
        if let Some(failure) = &*self.failure.borrow() {
            return Err(failure.clone());
        }
        self.slot.during(Call::Elsewhere, || {
            self.mailbox.ask(request);
            if self.mailbox.is_answered(LOOK) { Ok(()) } else { self.wait() }
        })?;
        let messages = self.mailbox.take_messages();
        if messages > 0 {
            (self.hear)(&load_bytes(&self.mailbox, self.area.extra_at(), messages.min(self.extra)));
        }
        if self.mailbox.has_failed() {
            return Err(read_error(&self.area.load_bytes(&self.mailbox, ERROR)));
        }
        Ok(())
    }

    /// The same at the end, where nobody can be told: a failure is kept for [`late_failures`].
    pub(super) fn ask_at_end(&self, request: Request) {
        let was_well = self.failure.borrow().is_none();
        let outcome = self.ask(request);
        if let (true, Err(error)) = (was_well && self.failure.borrow().is_some(), outcome) {
            let error = match watched().map(|watched| watched.progress()) {
                Some((step, time)) => {
                    error.at(Place::Run { subsystem: Some(self.name.clone()), signal: None, time, step })
                }
                None => error,
            };
            LATE.lock().unwrap_or_else(PoisonError::into_inner).push(error);
        }
    }

    /// Waits for an answer that takes its time.
    #[cold]
    fn wait(&self) -> Result<()> {
        let mut clock = CallClock::new();
        while !self.mailbox.is_answered(LOOK) {
            let tick = clock.tick();
            let slots = self.mailbox.slots();
            let hung = clock.hung(slots, tick).map(|(index, limit)| (Some(index), limit));
            // It has something to do, and that is done by calls.
            let still = || longest_limit(slots).filter(|limit| clock.quiet() > *limit);
            let hung = hung.or_else(|| still().map(|limit| (None, limit)));
            let (has_ended, is_debugged) = self.look(hung.is_some());
            // What it did last may have been to answer.
            if has_ended && !self.mailbox.is_answered(Duration::ZERO) {
                return Err(self.fail(None));
            }
            if hung.is_some() && !is_debugged {
                return Err(self.fail(hung));
            }
            if GIVES_UP.get().is_some_and(|gives_up| gives_up()) {
                return Err(self.remember(Ok(Ending::Stopped), None));
            }
        }
        Ok(())
    }

    /// Whether it has ended; whether it is debugged, if that matters.
    fn look(&self, matters: bool) -> (bool, bool) {
        match &*self.started.borrow() {
            Some(started) => (started.has_ended(), matters && is_debugged(started)),
            None => (true, false),
        }
    }

    /// Ends the process, and remembers why.
    fn fail(&self, hung: Option<(Option<usize>, Duration)>) -> Error {
        let slots = self.mailbox.slots();
        let mut started = self.started.take();
        let ending = match (hung, &mut started) {
            (Some((index, limit)), _) => {
                let slot = index.and_then(|index| slots.get(index));
                let culprits = slot.and_then(|slot| Culprit::of(slot, slots)).into_iter().collect();
                Ok(Ending::Hung { limit, culprits })
            }
            (None, Some(started)) => started.wait().map(|status| Ending::of(status, Culprit::all(slots))),
            (None, None) => Err(std::io::ErrorKind::NotFound.into()),
        };
        self.remember(ending, started)
    }

    /// Remembers how the process ended. It is dropped, and by this killed, when it is clear what it was doing.
    fn remember(&self, ending: std::io::Result<Ending>, started: Option<Started>) -> Error {
        drop(started.or_else(|| self.started.take()));
        let error = match &ending {
            Ok(ending) => self.error(ending),
            Err(cause) => self.broken(&cause.to_string()),
        };
        *self.failure.borrow_mut() = Some(error.clone());
        error
    }

    fn error(&self, ending: &Ending) -> Error {
        let process = format!("the process of `{}`", self.name);
        let Some((error, culprits)) = describe(ending, (&process, true)) else {
            return self.broken("it has ended");
        };
        match last_message(culprits) {
            Some(cause) => error.because(cause),
            None => error,
        }
    }

    /// The error for a process that cannot be, or does not do, what it should.
    pub(super) fn broken(&self, cause: &str) -> Error {
        Error::new(
            Code::SubsystemFailed,
            format!("the process of `{}` does not answer as it should", self.name),
        )
        .because(cause)
    }
}
