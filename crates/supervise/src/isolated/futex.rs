//! Sleep until a number in shared memory changes. In `interleavings/` functions of the same names take this place.

pub(super) use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::thread::futex::{self, Flags, Timespec};

/// Sleeps while the number is `seen`, at most so long; may also end for no reason.
pub(super) fn wait(number: &AtomicU32, seen: u32, patience: Option<Duration>) {
    let timeout = patience.map(|patience| Timespec {
        tv_sec: patience.as_secs() as i64,
        tv_nsec: patience.subsec_nanos().into(),
    });
    let _ = futex::wait(number, Flags::empty(), seen, timeout.as_ref());
}

/// Wakes the one who sleeps.
pub(super) fn wake(number: &AtomicU32) {
    let _ = futex::wake(number, Flags::empty(), 1);
}
