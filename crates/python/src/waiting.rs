//! Long work without the lock of the interpreter. Meanwhile the calling thread heeds signals, so that Ctrl-C ends the
//! work, and tells how far it is.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use costep::{Cancel, Code, Error};
use pyo3::prelude::*;

use crate::errors;

/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(20);
/// Time between two calls that tell of progress.
const TELL: Duration = Duration::from_millis(100);
/// How long work that was asked to stop is waited for. It goes on alone if it takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(150);

/// What a signal raised while the process of an FMU did not answer.
static INTERRUPT: Mutex<Option<PyErr>> = Mutex::new(None);

/// The thread that imported the package. Signals are its business.
static IMPORTER: OnceLock<ThreadId> = OnceLock::new();

/// Has signals heeded also while the process of an FMU does not answer: one that hangs is ended. Other threads of a run never
/// wait for the interpreter here: the thread that holds it may be waiting for them.
#[pyfunction]
pub(crate) fn heed_signals() {
    IMPORTER.get_or_init(|| std::thread::current().id());
    costep_supervise::give_up_when(|| {
        if IMPORTER.get() != Some(&std::thread::current().id()) {
            return false;
        }
        let raised = Python::try_attach(|py| py.check_signals().err()).flatten();
        let is_raised = raised.is_some();
        if is_raised {
            *INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) = raised;
        }
        is_raised
    });
}

/// Gives and forgets it.
pub(crate) fn taken_interrupt() -> Option<PyErr> {
    INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// How far a run is, written by its thread and read by another.
#[derive(Default)]
pub(crate) struct Shown {
    steps: AtomicU64,
    time: AtomicU64,
}

impl Shown {
    #[inline]
    pub(crate) fn set(&self, steps: u64, time: f64) {
        self.steps.store(steps, Relaxed);
        self.time.store(time.to_bits(), Relaxed);
    }

    fn get(&self) -> (u64, f64) {
        (self.steps.load(Relaxed), f64::from_bits(self.time.load(Relaxed)))
    }
}

/// Whom to tell how far a run is: a callable that takes steps and time.
pub(crate) struct Teller {
    tell: Option<Py<PyAny>>,
    last: Instant,
}

impl Teller {
    pub(crate) fn new(tell: Option<Py<PyAny>>) -> Self {
        Self { tell, last: Instant::now() }
    }

    /// Heeds signals, and tells if it is time to. The error is what Ctrl-C raises.
    pub(crate) fn look(&mut self, py: Python<'_>, steps: u64, time: f64) -> PyResult<()> {
        py.check_signals()?;
        if let Some(tell) = &self.tell
            && self.last.elapsed() > TELL
        {
            self.last = Instant::now();
            tell.call1(py, (steps, time))?;
        }
        Ok(())
    }
}

/// What came of work, and the exception that interrupted it.
pub(crate) struct Waited<T> {
    pub(crate) outcome: Option<T>,
    pub(crate) interrupt: Option<PyErr>,
}

/// Does work on a thread of its own.
pub(crate) fn apart<T: Send + 'static>(
    py: Python<'_>,
    mut teller: Teller,
    cancel: &Cancel,
    work: impl FnOnce(Arc<Shown>) -> T + Send + 'static,
) -> PyResult<Waited<T>> {
    let shown = Arc::new(Shown::default());
    let (done, mut end) = sync_channel(1);
    let seen = shown.clone();
    let worker = std::thread::Builder::new().name("costep".into()).spawn(move || {
        let _ = done.send(work(seen));
    });
    let worker = worker.map_err(|cause| {
        errors::raise(Error::new(Code::SubsystemFailed, "no thread can be started").because(cause))
    })?;
    let mut interrupt: Option<PyErr> = None;
    loop {
        let patience = if interrupt.is_some() { PATIENCE } else { LOOK };
        let waited = {
            let end = &mut end;
            py.detach(move || end.recv_timeout(patience))
        };
        match waited {
            Ok(outcome) => {
                // Its memory is given back before the caller goes on.
                let _ = py.detach(|| worker.join());
                return Ok(Waited { outcome: Some(outcome), interrupt });
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(Error::new(Code::Bug, "the thread of the run panicked")));
            }
            Err(RecvTimeoutError::Timeout) if interrupt.is_some() => {
                return Ok(Waited { outcome: None, interrupt });
            }
            Err(RecvTimeoutError::Timeout) => {
                let (steps, time) = shown.get();
                if let Err(raised) = teller.look(py, steps, time) {
                    cancel.raise();
                    interrupt = Some(raised);
                }
            }
        }
    }
}
