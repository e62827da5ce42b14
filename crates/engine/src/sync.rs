//! What `gate.rs` waits with and synchronises by. In `interleavings/` types of the same names take this place, which try
//! every order of events.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::thread::{Thread, park, yield_now};

/// How long an idle worker spins before it sleeps.
pub(crate) const SPINS: u32 = 4_000;

/// A value that threads hand to each other by other means.
pub(crate) struct Handed<T>(std::cell::UnsafeCell<T>);

impl<T> Handed<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Has a look at it.
    #[inline]
    pub(crate) fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        look(self.0.get())
    }

    /// Changes it.
    #[inline]
    pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.0.get())
    }
}
