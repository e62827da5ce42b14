//! Steps the subsystems of a stage on several threads.
//!
//! Persistent threads with a spinning barrier: subsystems often take microseconds, so the usual thread pools
//! would cost more than they bring. Each subsystem writes only its own slice, so the result cannot depend on
//! how they are shared out. The only file of this crate with `unsafe`.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};

use costep_core::{Code, Error, Result};

use crate::job::{Job, step_caught};
use crate::units::StepUnit;

/// How long an idle worker spins before it sleeps.
const SPINS: u32 = 4_000;
/// The gate is closed.
const CLOSED: usize = 1;
/// One worker behind the gate.
const WORKER: usize = 2;

/// Persistent worker threads.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<(JoinHandle<()>, Thread)>,
}

struct Shared {
    /// Counts jobs; a change tells the workers that `task` is new.
    epoch: AtomicUsize,
    /// Workers take part in a job only behind the gate: their number, and whether it is closed. A worker that comes late,
    /// because other programs have its core, finds it closed, and nobody waits for it.
    gate: AtomicUsize,
    /// Next subsystem to take.
    next: AtomicUsize,
    stop: AtomicBool,
    asleep: Vec<AtomicBool>,
    task: UnsafeCell<Task>,
    /// Whether `first_error` holds one: spares the lock in every step.
    failed: AtomicBool,
    /// The error of the subsystem that comes first in the stage, so that the report does not depend on timing.
    first_error: Mutex<Option<(usize, Error)>>,
}

/// Raw parts of a [`Job`] and of the slices it works on. Only valid while `Pool::step` waits.
#[derive(Clone, Copy)]
struct Task {
    job: *const Job<'static>,
    units: *mut StepUnit,
    y: *mut f64,
    chunk: usize,
}

// SAFETY: `task` is written by the owner of the pool only while the gate is closed and nobody behind it, and read by
// workers only behind the gate; everything else in `Shared` is atomic or locked.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointers in `task` are to data whose owner waits until all workers are done.
unsafe impl Send for Shared {}

impl Pool {
    /// A pool of `threads` threads, the calling one included.
    pub(crate) fn new(threads: usize) -> Self {
        let helpers = threads.max(1) - 1;
        let task =
            Task { job: std::ptr::null(), units: std::ptr::null_mut(), y: std::ptr::null_mut(), chunk: 1 };
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            gate: AtomicUsize::new(CLOSED),
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            asleep: (0..helpers).map(|_| AtomicBool::new(false)).collect(),
            task: UnsafeCell::new(task),
            failed: AtomicBool::new(false),
            first_error: Mutex::new(None),
        });
        let spawn = |index| {
            let shared = Arc::clone(&shared);
            let handle = std::thread::spawn(move || shared.work_until_stopped(index));
            let thread = handle.thread().clone();
            (handle, thread)
        };
        let workers = (0..helpers).map(spawn).collect();
        Self { shared, workers }
    }

    /// Steps the subsystems of a stage on all threads. Each is a unit of its own.
    pub(crate) fn step(&mut self, job: &Job<'_>, units: &mut [StepUnit], y: &mut [f64]) -> Result<()> {
        assert!(job.subsystems().iter().all(|i| *i < units.len()) && y.len() == job.plan.layout.outputs());
        let chunk = (job.subsystems().len() / (4 * (self.workers.len() + 1))).max(1);
        let shared = &*self.shared;
        // SAFETY: the gate is closed and no worker behind it (the last call waited for them), so nobody reads `task`. The
        // lifetime of `job` is only extended for the time this function waits.
        unsafe {
            *shared.task.get() = Task {
                job: std::ptr::from_ref(job).cast(),
                units: units.as_mut_ptr(),
                y: y.as_mut_ptr(),
                chunk,
            };
        }
        shared.next.store(0, Ordering::Relaxed);
        // Whoever comes through sees the task.
        shared.gate.store(0, Ordering::Release);
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        for ((_, thread), asleep) in self.workers.iter().zip(&shared.asleep) {
            if asleep.swap(false, Ordering::SeqCst) {
                thread.unpark();
            }
        }
        {
            // Also when this thread unwinds: the workers hold pointers to what the caller owns.
            let _all_done = CloseGate(shared);
            shared.take_part();
        }
        if shared.failed.swap(false, Ordering::Acquire) { Err(shared.take_error()) } else { Ok(()) }
    }
}

/// Closes the gate, when dropped, and waits until no worker is behind it.
struct CloseGate<'a>(&'a Shared);

impl Drop for CloseGate<'_> {
    fn drop(&mut self) {
        self.0.gate.fetch_or(CLOSED, Ordering::AcqRel);
        let mut spins = 0;
        while self.0.gate.load(Ordering::Acquire) != CLOSED {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// A worker behind the gate. It leaves when this is dropped: also when it unwinds.
struct Inside<'a>(&'a AtomicUsize);

impl<'a> Inside<'a> {
    /// Comes through, unless the gate is closed.
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

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        for (handle, thread) in self.workers.drain(..) {
            thread.unpark();
            // A worker catches the panics of subsystems, so joining cannot fail.
            let _ = handle.join();
        }
    }
}

impl Shared {
    fn work_until_stopped(&self, index: usize) {
        let mut seen = 0;
        loop {
            seen = self.wait_for_change(index, seen);
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            if let Some(_inside) = Inside::enter(&self.gate) {
                self.take_part();
            }
        }
    }

    fn wait_for_change(&self, index: usize, seen: usize) -> usize {
        for _ in 0..SPINS {
            let epoch = self.epoch.load(Ordering::Acquire);
            if epoch != seen {
                return epoch;
            }
            std::hint::spin_loop();
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
            std::thread::park();
        }
    }

    /// Steps chunks of subsystems until none is left. For the owner of the pool and workers behind the gate.
    fn take_part(&self) {
        // SAFETY: written before the gate opened, and not again before it is closed and nobody behind it.
        let task = unsafe { *self.task.get() };
        // SAFETY: `Pool::step` keeps the job alive until no worker is behind the gate.
        let job = unsafe { &*task.job };
        loop {
            let start = self.next.fetch_add(task.chunk, Ordering::Relaxed);
            if start >= job.subsystems().len() {
                return;
            }
            let end = job.subsystems().len().min(start + task.chunk);
            for position in start..end {
                // SAFETY: every position of the stage is taken by one thread only, a subsystem stands in a
                // stage once, and `Pool::step` has checked that the indices are in range.
                if let Err(error) = unsafe { step_raw(task, job, job.subsystems()[position]) } {
                    self.report(position, error);
                }
            }
        }
    }

    #[cold]
    fn report(&self, position: usize, error: Error) {
        let mut first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| position < *other) {
            *first = Some((position, error));
        }
        self.failed.store(true, Ordering::Release);
    }

    #[cold]
    fn take_error(&self) -> Error {
        let mut first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
        first
            .take()
            .map_or_else(|| Error::new(Code::Bug, "a step failed without an error"), |(_, error)| error)
    }
}

/// Steps subsystem `i` of a task.
///
/// # Safety
/// `i` is in range, no other thread works on subsystem `i`, and the task is alive.
unsafe fn step_raw(task: Task, job: &Job<'_>, i: usize) -> Result<()> {
    let range = job.plan.layout.output_range(i);
    // SAFETY: by the contract above, the subsystem and its outputs belong to this thread alone.
    let (unit, y) = unsafe {
        (&mut *task.units.add(i), std::slice::from_raw_parts_mut(task.y.add(range.start), range.len()))
    };
    step_caught(job, i, unit.member_mut(0), y)
}
