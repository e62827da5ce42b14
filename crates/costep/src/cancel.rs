//! A flag by which another thread, or a signal handler, ends a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use costep_core::{Code, Error, Result};

/// Raised once, seen by everything that was given a copy. A run that sees it ends at its next communication
/// point with the error `Stopped`; what it has computed and recorded until then counts.
///
/// ```
/// use costep::{Cancel, Code, Run, System};
///
/// let cancel = Cancel::new();
/// cancel.raise(); // usually by another thread
/// let outcome = System::open("dual-mass")?.run(Run::new().cancel(&cancel))?;
/// assert_eq!(outcome.report.error.unwrap().code(), Code::Stopped);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_raised: AtomicBool,
    /// Why, if it was not the user.
    reason: OnceLock<String>,
}

impl Cancel {
    /// One that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises it. Whether it was raised before.
    pub fn raise(&self) -> bool {
        self.0.is_raised.swap(true, Ordering::SeqCst)
    }

    /// Raises it because a limit is near that the user has set elsewhere. A run then ends with the error `TimeLimit`.
    pub fn raise_because(&self, reason: impl Into<String>) -> bool {
        if !self.is_raised() {
            let _ = self.0.reason.set(reason.into());
        }
        self.raise()
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::Relaxed)
    }

    /// An error once it was raised.
    pub fn check(&self) -> Result<()> {
        let reason = || self.0.reason.get().map_or("stopped by the user", String::as_str);
        if self.is_raised() { Err(Error::new(Code::Stopped, reason())) } else { Ok(()) }
    }

    /// What the end of a run is, that was stopped by it.
    pub(crate) fn named(&self, stopped: Error) -> Error {
        match self.0.reason.get() {
            None => stopped,
            Some(reason) => {
                let error = Error::new(Code::TimeLimit, reason).at(stopped.details().place.clone());
                error.hint("raise the limit of the shell (`ulimit -t`)")
            }
        }
    }

    /// The flag itself, for observers.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0.is_raised
    }
}
