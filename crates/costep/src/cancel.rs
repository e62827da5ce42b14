//! A flag by which another thread, or a signal handler, ends a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// One that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises it. Whether it was raised before.
    pub fn raise(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error once it was raised.
    pub fn check(&self) -> Result<()> {
        if self.is_raised() { Err(Error::new(Code::Stopped, "stopped by the user")) } else { Ok(()) }
    }

    /// The flag itself, for observers.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
