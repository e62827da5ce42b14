//! How the owner of a pool and its workers begin and end a job together, without a lock: workers take part in a job only
//! behind a gate. A worker that comes late, because other programs have its core, finds it closed, and nobody waits for it.
//!
//! `interleavings/` tries this very file in every order of events.
#![allow(unsafe_code)]

use crate::sync::{AtomicBool, AtomicUsize, Handed, Ordering, SPINS, Thread, park, spin_loop, yield_now};

/// The gate is closed.
const CLOSED: usize = 1;
/// One worker behind the gate.
const WORKER: usize = 2;

/// The gate, and the task of the job behind it.
pub(crate) struct Gate<T> {
    /// Counts jobs; a change tells the workers that there is a new one.
    epoch: AtomicUsize,
    /// Number of workers behind the gate, and whether it is closed.
    inside: AtomicUsize,
    /// Next piece of the job to take.
    next: AtomicUsize,
    stop: AtomicBool,
    asleep: Vec<AtomicBool>,
    task: Handed<T>,
}

// SAFETY: `task` is written by the owner only while the gate is closed and nobody behind it, and read by workers only
// behind the gate; everything else is atomic. What a task points to is looked after by whoever opens the gate.
unsafe impl<T: Copy> Sync for Gate<T> {}
// SAFETY: as above.
unsafe impl<T: Copy> Send for Gate<T> {}

impl<T: Copy> Gate<T> {
    /// A closed gate for so many workers. `nothing` stands for a task until there is one.
    pub(crate) fn new(workers: usize, nothing: T) -> Self {
        Self {
            epoch: AtomicUsize::new(0),
            inside: AtomicUsize::new(CLOSED),
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            asleep: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            task: Handed::new(nothing),
        }
    }

    /// Begins a job and wakes the workers, one thread each. The job lasts until the guard is dropped, which waits for all
    /// workers behind the gate.
    ///
    /// # Safety
    /// No other job lasts, and no other thread begins one. What the task points to is alive until the guard is dropped.
    #[inline]
    pub(crate) unsafe fn open<'a>(
        &self,
        task: T,
        workers: impl Iterator<Item = &'a Thread>,
    ) -> Opened<'_, T> {
        // SAFETY: the gate is closed and nobody behind it (the last guard waited for them), so nobody reads it.
        self.task.with_mut(|place| unsafe { *place = task });
        self.next.store(0, Ordering::Relaxed);
        // Whoever comes through sees the task.
        self.inside.store(0, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::SeqCst);
        for (thread, asleep) in workers.zip(&self.asleep) {
            if asleep.swap(false, Ordering::SeqCst) {
                thread.unpark();
            }
        }
        Opened(self)
    }

    /// The first of so many pieces of the job that are this thread's alone.
    #[inline]
    pub(crate) fn take(&self, pieces: usize) -> usize {
        self.next.fetch_add(pieces, Ordering::Relaxed)
    }

    /// Has all workers end, when they are unparked.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// What worker number `index` does until the end: takes part in jobs.
    pub(crate) fn serve(&self, index: usize, take_part: impl Fn(T)) {
        let mut seen = 0;
        loop {
            seen = self.wait_for_change(index, seen);
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            if let Some(inside) = Inside::enter(&self.inside) {
                // SAFETY: written before the gate opened, and not again before it is closed and nobody behind it.
                let task = self.task.with(|place| unsafe { *place });
                take_part(task);
                drop(inside);
            }
        }
    }

    fn wait_for_change(&self, index: usize, seen: usize) -> usize {
        for _ in 0..SPINS {
            let epoch = self.epoch.load(Ordering::Acquire);
            if epoch != seen {
                return epoch;
            }
            spin_loop();
        }
        loop {
            // The flag is raised before the last look at the epoch, and the owner changes the epoch before it
            // looks at the flag: one of the two sees the other.
            self.asleep[index].store(true, Ordering::SeqCst);
            let epoch = self.epoch.load(Ordering::SeqCst);
            if epoch != seen {
                self.asleep[index].store(false, Ordering::SeqCst);
                return epoch;
            }
            park();
        }
    }
}

/// A job that lasts. Closes the gate, when dropped, and waits until no worker is behind it: also when the owner unwinds, as
/// workers hold pointers to what it owns.
pub(crate) struct Opened<'a, T>(&'a Gate<T>);

impl<T> Drop for Opened<'_, T> {
    fn drop(&mut self) {
        self.0.inside.fetch_or(CLOSED, Ordering::AcqRel);
        let mut spins = 0;
        while self.0.inside.load(Ordering::Acquire) != CLOSED {
            spins += 1;
            if spins < SPINS { spin_loop() } else { yield_now() }
        }
    }
}

/// A worker behind the gate. It leaves when this is dropped: also when it unwinds.
struct Inside<'a>(&'a AtomicUsize);

impl<'a> Inside<'a> {
    /// Comes through, unless the gate is closed.
    #[inline]
    fn enter(gate: &'a AtomicUsize) -> Option<Self> {
        let one_more = |inside: usize| (inside & CLOSED == 0).then_some(inside + WORKER);
        gate.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).ok().map(|_| Self(gate))
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(WORKER, Ordering::Release);
    }
}
