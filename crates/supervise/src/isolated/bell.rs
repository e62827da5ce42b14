//! A number that one side raises and the other waits for. What was written before it was raised is seen after it was heard.
//!
//! `interleavings/` tries this very file in every order of events.

use std::time::Duration;

use super::futex::{AtomicU32, Ordering, wait, wake};

/// The number, in memory that two processes may share.
#[repr(transparent)]
pub(crate) struct Bell(pub(super) AtomicU32);

impl Bell {
    /// The number, whatever was written before it.
    pub(crate) fn number(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes it this number and wakes who waits for it.
    pub(crate) fn ring(&self, number: u32) {
        self.0.store(number, Ordering::Release);
        wake(&self.0);
    }

    /// Waits until it is this number; false if it is another one after some time.
    pub(crate) fn has_rung(&self, number: u32, patience: Duration) -> bool {
        let seen = self.0.load(Ordering::Acquire);
        if seen == number {
            return true;
        }
        wait(&self.0, seen, Some(patience));
        self.0.load(Ordering::Acquire) == number
    }

    /// Waits until it is no longer this number, for ever if it has to, and gives the new one.
    pub(crate) fn next(&self, last: u32) -> u32 {
        loop {
            let number = self.0.load(Ordering::Acquire);
            if number != last {
                return number;
            }
            wait(&self.0, last, None);
        }
    }
}
