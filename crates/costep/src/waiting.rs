//! How long somebody waits for a reference or a second run.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use costep_core::quantity::format_limit;
use costep_core::{Code, Error, Result};

use crate::cancel::Cancel;
use crate::supervised;

/// Until it is cancelled, the process that watches asks to stop, or a time has come.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    cancel: Cancel,
    limit: Option<(Instant, Duration)>,
}

impl Waiting {
    /// From now on, for so long at most.
    pub(crate) fn new(cancel: &Cancel, limit: Option<Duration>) -> Self {
        Self { cancel: cancel.clone(), limit: limit.map(|limit| (Instant::now(), limit)) }
    }

    /// The same, and no longer than this from now on.
    pub(crate) fn no_longer_than(&self, limit: Duration) -> Self {
        let left =
            self.limit.map_or(limit, |(start, whole)| limit.min(whole.saturating_sub(start.elapsed())));
        Self::new(&self.cancel, Some(left))
    }

    /// What is left of the time; nothing where there is no limit.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.limit.map(|(start, limit)| limit.saturating_sub(start.elapsed()))
    }

    /// What cancels it.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The same as a flag, for observers.
    pub(crate) fn flag(&self) -> &AtomicBool {
        self.cancel.flag()
    }

    /// An error when it is over.
    pub(crate) fn check(&self) -> Result<()> {
        self.cancel.check()?;
        supervised::check_stop()?;
        match self.limit {
            Some((start, limit)) if start.elapsed() > limit => {
                let message = format!("the time limit of {} was reached", format_limit(limit));
                Err(Error::new(Code::TimeLimit, message))
            }
            _ => Ok(()),
        }
    }
}
