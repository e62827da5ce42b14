//! Steps the subsystems of a stage on several threads, or on one.
//!
//! Persistent threads with a spinning barrier: subsystems often take microseconds, so the usual thread pools
//! would cost more than they bring. Each subsystem writes only its own slice, so the result cannot depend on
//! how they are shared out. The only file of this crate with `unsafe`.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};

use costep_core::{
    Code, Companion, Coupling, Description, Error, InputPolynomials, InputSegment, Interval, Layout, Place,
    Result, SegmentPlace, StepOutcome, Subsystem,
};

use crate::blame::blame;
use crate::clocks::Clock;
use crate::rows::Lane;

/// How long an idle worker spins before it sleeps.
const SPINS: u32 = 4_000;

/// What all subsystems of a stage are stepped with. A stage names a subsystem at most once
/// ([`crate::schedule::Schedule`] makes sure).
pub(crate) struct Job<'a> {
    pub(crate) descriptions: &'a [Description],
    pub(crate) interval: Interval,
    pub(crate) step: u64,
    pub(crate) stage: &'a [usize],
    pub(crate) layout: &'a Layout,
    pub(crate) coupling: &'a Coupling,
    pub(crate) inputs: &'a InputPolynomials,
    /// Where the inputs of each subsystem are.
    pub(crate) segments: &'a [SegmentPlace],
    /// The clocks of all subsystems, if this step is timed.
    pub(crate) clocks: Option<&'a [Clock]>,
    /// The rest of the system as each subsystem sees it; empty if nobody asks.
    pub(crate) companions: &'a [Companion],
}

/// Steps the subsystems of a stage one after the other, or lane by lane.
pub(crate) fn step_serial(
    job: &Job<'_>,
    lanes: &mut [Lane],
    subsystems: &mut [Box<dyn Subsystem>],
    y: &mut [f64],
) -> Result<()> {
    // One net for all: a net for each would be felt by small subsystems.
    let current = Cell::new(usize::MAX);
    let all = catch_unwind(AssertUnwindSafe(|| {
        lanes.iter_mut().try_for_each(|lane| match &mut lane.row {
            Some(row) if job.is_plain() => {
                let (first, u) = (lane.subsystems.start, &job.inputs.coefficients(0)[lane.inputs.clone()]);
                current.set(first);
                let mut alone = |i: usize, subsystem: &mut dyn Subsystem, y: &mut [f64]| {
                    current.set(first + i);
                    step_one(job, first + i, subsystem, y)
                };
                let members = &mut subsystems[lane.subsystems.clone()];
                row.step(job.interval, u, members, &mut y[lane.outputs.clone()], &mut alone)
            }
            _ => job.stage[lane.positions.clone()].iter().try_for_each(|i| {
                current.set(*i);
                step_one(job, *i, &mut *subsystems[*i], &mut y[job.layout.output_range(*i)])
            }),
        })
    }));
    all.unwrap_or_else(|payload| Err(panicked(job, current.get(), payload)))
}

/// Steps a subsystem; its panics become errors, on one thread as on many. A subsystem that has panicked is not asked
/// for anything any more, not even for its name.
fn step_caught(job: &Job<'_>, i: usize, subsystem: &mut dyn Subsystem, y: &mut [f64]) -> Result<()> {
    match catch_unwind(AssertUnwindSafe(|| step_one(job, i, subsystem, y))) {
        Ok(outcome) => outcome,
        Err(payload) => Err(panicked(job, i, payload)),
    }
}

#[inline(always)]
fn step_one(job: &Job<'_>, i: usize, subsystem: &mut dyn Subsystem, y: &mut [f64]) -> Result<()> {
    let outcome = if job.is_plain() {
        subsystem.step(job.interval, job.segment(i), y)
    } else {
        step_with_more(job, i, subsystem, y)
    };
    match outcome {
        Ok(outcome) if outcome.reached == job.interval.end => Ok(()),
        Ok(outcome) => Err(not_reached(job, i, outcome.reached)),
        Err(error) => Err(job.failed(i, error)),
    }
}

/// A step that is timed, or beside a model of the rest. Out of line, so that plain ones stay short.
#[inline(never)]
fn step_with_more(
    job: &Job<'_>,
    i: usize,
    subsystem: &mut dyn Subsystem,
    y: &mut [f64],
) -> Result<StepOutcome> {
    let mut step = || match job.companions.get(i) {
        Some(rest) if rest.is_active() => subsystem.step_with(job.interval, job.segment(i), rest, y),
        _ => subsystem.step(job.interval, job.segment(i), y),
    };
    match job.clocks {
        None => step(),
        Some(clocks) => clocks[i].time(step),
    }
}

#[cold]
fn not_reached(job: &Job<'_>, i: usize, reached: f64) -> Error {
    let name = &job.descriptions[i].name;
    let message = format!("`{name}` stopped at t = {reached} s instead of {} s", job.interval.end);
    job.place(i, Error::new(Code::TimeNotReached, message))
}

#[cold]
fn panicked(job: &Job<'_>, i: usize, payload: Box<dyn Any + Send>) -> Error {
    let text = payload.downcast_ref::<&str>().copied();
    let text =
        text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown").to_owned();
    // A payload of an unknown type may panic again when it is dropped.
    std::mem::forget(payload);
    let error = Error::new(Code::Bug, format!("`{}` panicked", job.descriptions[i].name)).because(text);
    job.place(i, error)
}

impl Job<'_> {
    /// Whether steps are neither timed nor beside a model of the rest.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.clocks.is_none() && self.companions.is_empty()
    }

    #[inline(always)]
    fn segment(&self, i: usize) -> InputSegment<'_> {
        self.inputs.at(self.segments[i])
    }

    #[cold]
    fn failed(&self, i: usize, error: Error) -> Error {
        let first = self.layout.input_range(i).start;
        let coupled = (self.coupling, first);
        self.place(i, blame(error, &self.descriptions[i], self.segment(i), coupled, self.interval.length))
    }

    #[cold]
    fn place(&self, i: usize, error: Error) -> Error {
        let subsystem = Some(self.descriptions[i].name.clone());
        error.at(Place::Run { subsystem, signal: None, time: self.interval.start, step: self.step })
    }
}

/// Says in which subsystem and when.
#[cold]
pub(crate) fn place(subsystem: &dyn Subsystem, time: f64, step: u64, error: Error) -> Error {
    let subsystem = Some(subsystem.description().name.clone());
    error.at(Place::Run { subsystem, signal: None, time, step })
}

/// Persistent worker threads.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<(JoinHandle<()>, Thread)>,
}

struct Shared {
    /// Counts jobs; a change tells the workers that `task` is new.
    epoch: AtomicUsize,
    /// Workers still busy with the current job.
    busy: AtomicUsize,
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
    subsystems: *mut Box<dyn Subsystem>,
    y: *mut f64,
    chunk: usize,
}

// SAFETY: `task` is written by the owner of the pool only while no worker is busy, and read by workers only
// after they have seen the new epoch; everything else in `Shared` is atomic or locked.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointers in `task` are to data whose owner waits until all workers are done.
unsafe impl Send for Shared {}

impl Pool {
    /// A pool of `threads` threads, the calling one included.
    pub(crate) fn new(threads: usize) -> Self {
        let helpers = threads.max(1) - 1;
        let task = Task {
            job: std::ptr::null(),
            subsystems: std::ptr::null_mut(),
            y: std::ptr::null_mut(),
            chunk: 1,
        };
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
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

    /// Steps the subsystems of a stage on all threads.
    pub(crate) fn step(
        &mut self,
        job: &Job<'_>,
        subsystems: &mut [Box<dyn Subsystem>],
        y: &mut [f64],
    ) -> Result<()> {
        assert!(job.stage.iter().all(|i| *i < subsystems.len()) && y.len() == job.layout.outputs());
        let chunk = (job.stage.len() / (4 * (self.workers.len() + 1))).max(1);
        let shared = &*self.shared;
        // SAFETY: no worker is busy here (the last call waited for them), so nobody reads `task`. The lifetime
        // of `job` is only extended for the time this function waits.
        unsafe {
            *shared.task.get() = Task {
                job: std::ptr::from_ref(job).cast(),
                subsystems: subsystems.as_mut_ptr(),
                y: y.as_mut_ptr(),
                chunk,
            };
        }
        shared.next.store(0, Ordering::Relaxed);
        shared.busy.store(self.workers.len(), Ordering::Relaxed);
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        for ((_, thread), asleep) in self.workers.iter().zip(&shared.asleep) {
            if asleep.swap(false, Ordering::SeqCst) {
                thread.unpark();
            }
        }
        {
            // Also when this thread unwinds: the workers hold pointers to what the caller owns.
            let _all_done = WaitForWorkers(shared);
            shared.take_part();
        }
        if shared.failed.swap(false, Ordering::Acquire) { Err(shared.take_error()) } else { Ok(()) }
    }
}

/// Waits, when dropped, until no worker is busy.
struct WaitForWorkers<'a>(&'a Shared);

impl Drop for WaitForWorkers<'_> {
    fn drop(&mut self) {
        let mut spins = 0;
        while self.0.busy.load(Ordering::Acquire) > 0 {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// Counts a worker as done, when dropped: also when it unwinds.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
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
            let _done = Done(&self.busy);
            self.take_part();
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

    /// Steps chunks of subsystems until none is left.
    fn take_part(&self) {
        // SAFETY: written before the epoch changed, and not again before all workers are done.
        let task = unsafe { *self.task.get() };
        // SAFETY: `Pool::step` keeps the job alive until all workers are done.
        let job = unsafe { &*task.job };
        loop {
            let start = self.next.fetch_add(task.chunk, Ordering::Relaxed);
            if start >= job.stage.len() {
                return;
            }
            let end = job.stage.len().min(start + task.chunk);
            for position in start..end {
                // SAFETY: every position of the stage is taken by one thread only, a subsystem stands in a
                // stage once, and `Pool::step` has checked that the indices are in range.
                if let Err(error) = unsafe { step_raw(task, job, job.stage[position]) } {
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
    let range = job.layout.output_range(i);
    // SAFETY: by the contract above, the subsystem and its outputs belong to this thread alone.
    let (subsystem, y) = unsafe {
        (&mut **task.subsystems.add(i), std::slice::from_raw_parts_mut(task.y.add(range.start), range.len()))
    };
    step_caught(job, i, subsystem, y)
}
