//! Stands for `crates/supervise/src/isolated/futex.rs`: as in a kernel, the number is compared and the sleep begun under a lock
//! that whoever wakes takes too. Nobody loses patience here: a wake that is lost is a deadlock, which `loom` finds.

use std::time::Duration;

pub(super) use loom::sync::atomic::Ordering;
use loom::sync::{Condvar, Mutex, atomic};

pub(super) struct AtomicU32 {
    number: atomic::AtomicU32,
    sleepers: (Mutex<()>, Condvar),
}

impl AtomicU32 {
    pub(super) fn new(number: u32) -> Self {
        Self { number: atomic::AtomicU32::new(number), sleepers: (Mutex::new(()), Condvar::new()) }
    }

    pub(super) fn load(&self, order: Ordering) -> u32 {
        self.number.load(order)
    }

    pub(super) fn store(&self, number: u32, order: Ordering) {
        self.number.store(number, order);
    }
}

pub(super) fn wait(number: &AtomicU32, seen: u32, _patience: Option<Duration>) {
    let (lock, sleepers) = &number.sleepers;
    let turn = lock.lock().unwrap();
    if number.load(Ordering::Relaxed) == seen {
        drop(sleepers.wait(turn).unwrap());
    }
}

pub(super) fn wake(number: &AtomicU32) {
    let (lock, sleepers) = &number.sleepers;
    let _turn = lock.lock().unwrap();
    sleepers.notify_one();
}
