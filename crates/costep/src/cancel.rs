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
    /// The end of the run, if it was not the user's wish.
    reason: OnceLock<Error>,
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

    /// Raises it for another reason than that the user wants to stop. A run then ends with this error; what is made of several
    /// runs is stopped with its message.
    pub fn raise_because(&self, reason: Error) -> bool {
        if !self.is_raised() {
            let _ = self.0.reason.set(reason);
        }
        self.raise()
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::Relaxed)
    }

    /// An error once it was raised.
    pub fn check(&self) -> Result<()> {
        if !self.is_raised() {
            return Ok(());
        }
        Err(match self.0.reason.get().map(Error::details) {
            None => Error::new(Code::Stopped, "stopped by the user"),
            Some(reason) => {
                let error = Error::new(Code::Stopped, &reason.message);
                match &reason.hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                }
            }
        })
    }

    /// What the end of a run is, that was stopped by it.
    pub(crate) fn named(&self, stopped: Error) -> Error {
        match self.0.reason.get() {
            None => stopped,
            Some(reason) => reason.clone().at(stopped.details().place.clone()),
        }
    }

    /// The flag itself, for observers.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0.is_raised
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_is_the_one_that_is_told() {
        let near = || Error::new(Code::TimeLimit, "a limit is near").hint("raise it");
        let cancel = Cancel::new();
        assert!(!cancel.raise_because(near()));
        let stopped = cancel.check().unwrap_err();
        assert_eq!((stopped.code(), &*stopped.details().message), (Code::Stopped, "a limit is near"));
        assert_eq!(stopped.details().hint.as_deref(), Some("raise it"));
        assert_eq!(cancel.named(stopped).code(), Code::TimeLimit);
        let cancel = Cancel::new();
        assert!(!cancel.raise() && cancel.raise_because(near()));
        assert_eq!(cancel.check().unwrap_err().details().message, "stopped by the user");
    }
}
