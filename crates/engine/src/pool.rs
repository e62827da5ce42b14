//! Steps the subsystems of a stage on several threads.
//!
//! Persistent threads with a spinning barrier: subsystems often take microseconds, so the usual thread pools
//! would cost more than they bring. Each subsystem writes only its own slice, so the result cannot depend on
//! how they are shared out. How they begin and end together is in `gate.rs`; the two have all `unsafe` code of this crate.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};

use costep_core::{Code, Error, Result};

use crate::gate::Gate;
use crate::job::{Job, step_caught};
use crate::units::StepUnit;

/// Persistent worker threads.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<(JoinHandle<()>, Thread)>,
}

struct Shared {
    gate: Gate<Task>,
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

impl Task {
    const NOTHING: Self =
        Self { job: std::ptr::null(), units: std::ptr::null_mut(), y: std::ptr::null_mut(), chunk: 1 };
}

impl Pool {
    /// A pool of `threads` threads, the calling one included.
    pub(crate) fn new(threads: usize) -> Self {
        let helpers = threads.max(1) - 1;
        let shared = Arc::new(Shared {
            gate: Gate::new(helpers, Task::NOTHING),
            failed: AtomicBool::new(false),
            first_error: Mutex::new(None),
        });
        let spawn = |index| {
            let shared = Arc::clone(&shared);
            let work = move || shared.gate.serve(index, |task| shared.take_part(task));
            let handle = std::thread::spawn(work);
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
        let task =
            Task { job: std::ptr::from_ref(job).cast(), units: units.as_mut_ptr(), y: y.as_mut_ptr(), chunk };
        let shared = &*self.shared;
        {
            // SAFETY: this pool is borrowed as a whole, so there is no other job. The lifetime of `job` is only extended for
            // the time of the guard, and what the task points to is borrowed for longer.
            let _all_done = unsafe { shared.gate.open(task, self.workers.iter().map(|(_, thread)| thread)) };
            shared.take_part(task);
        }
        if shared.failed.swap(false, Ordering::Acquire) { Err(shared.take_error()) } else { Ok(()) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.gate.end();
        for (handle, thread) in self.workers.drain(..) {
            thread.unpark();
            // A worker catches the panics of subsystems, so joining cannot fail.
            let _ = handle.join();
        }
    }
}

impl Shared {
    /// Steps chunks of subsystems until none is left. For the owner of the pool and workers behind the gate.
    fn take_part(&self, task: Task) {
        // SAFETY: `Pool::step` keeps the job alive until no worker is behind the gate.
        let job = unsafe { &*task.job };
        loop {
            let start = self.gate.take(task.chunk);
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
