//! FMUs of one library that are stepped in a row: set inputs, step, get outputs, and next to nothing else.
//!
//! A plain step is one that needs no more than these three calls of FMI 2. As long as every member of a row is ready for
//! one, nothing but the row touches the members in a round: what they would note down about their step stands here, once
//! for all, until they are asked. When a call does not return OK, the member finishes its step alone, and so do those
//! that follow.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

use costep_core::{Interval, Result, Row, StepAlone, Subsystem};
use costep_supervise::{Call, RowMember, RowSlot};

use crate::call::ffi2;
use crate::call::floating_point;
use crate::call::instance::{Instance, OK};
use crate::call::library::{FmuLibrary, Functions};

/// The calls of a plain step, looked up once.
#[derive(Clone, Copy)]
struct PlainCalls {
    set: ffi2::SetReal,
    do_step: ffi2::DoStep,
    get: ffi2::GetReal,
}

impl PlainCalls {
    fn of(library: &FmuLibrary) -> Option<Self> {
        match &library.functions {
            Functions::V2(f) => Some(Self { set: f.set_real, do_step: f.do_step?, get: f.get_real }),
            Functions::V3(_) => None,
        }
    }
}

/// What a row and its members know of each other. Used by one thread at a time; atomic because nobody proves that.
#[derive(Debug, Default)]
struct Shared {
    /// Every member is ready for a plain step.
    is_whole: AtomicBool,
    /// How many members were ready after the last step that they did alone, each counted once, and its number.
    ready: AtomicUsize,
    step_alone: AtomicU64,
    /// There is no row any more.
    is_over: AtomicBool,
    /// Number of the last round, the bits of the time it led to, and how many members have done it. All have done the
    /// one before, or a step alone after it.
    round: AtomicU64,
    time: AtomicU64,
    time_before: AtomicU64,
    done: AtomicUsize,
    /// The call, 0 = none, that was not OK for the member that comes after those; and its status.
    call: AtomicUsize,
    status: AtomicU64,
    /// Bits of the inputs of the last round, if a member wants to know them.
    inputs: OnceLock<Box<[AtomicU64]>>,
}

impl Shared {
    /// Notes down a round that the first `done` members have done.
    fn publish(&self, interval: &Interval, done: usize) {
        self.round.store(self.round.load(Relaxed) + 1, Relaxed);
        self.time_before.store(self.time.load(Relaxed), Relaxed);
        self.time.store(interval.end.to_bits(), Relaxed);
        self.done.store(done, Relaxed);
    }
}

/// The place of an instance in a row.
#[derive(Debug)]
pub(crate) struct Place {
    shared: Arc<Shared>,
    index: usize,
    /// The last round that the instance knows of.
    seen: u64,
    /// The last step alone that it was counted in.
    counted: u64,
}

/// What an instance has missed: the round of its row that it did last.
pub(crate) struct Missed<'a> {
    pub(crate) time: f64,
    place: &'a Place,
}

impl Missed<'_> {
    /// The inputs that it had.
    pub(crate) fn copy_inputs(&self, inputs: &mut [f64]) {
        let Some(all) = self.place.shared.inputs.get() else { return };
        let own = &all[self.place.index * inputs.len()..];
        inputs.iter_mut().zip(own).for_each(|(to, from)| *to = f64::from_bits(from.load(Relaxed)));
    }
}

/// A call of a plain step that was not OK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interruption {
    pub(crate) call: Call,
    pub(crate) status: c_int,
}

/// More members than a row can have, and room to count on.
const NEVER: usize = usize::MAX / 2;

/// The calls of a plain step.
const CALLS: [Call; 3] = [Call::SetReals, Call::DoStep, Call::GetReals];

impl Place {
    /// A round that its instance does not know of yet.
    pub(crate) fn missed(&self) -> Option<Missed<'_>> {
        let shared = &*self.shared;
        let unseen = shared.round.load(Relaxed) - self.seen;
        let time = match self.index < shared.done.load(Relaxed) {
            true if unseen > 0 => &shared.time,
            // The last round did not come as far as here.
            false if unseen > 1 => &shared.time_before,
            _ => return None,
        };
        Some(Missed { time: f64::from_bits(time.load(Relaxed)), place: self })
    }

    /// Now it knows of the last round.
    pub(crate) fn catch_up(&mut self) {
        self.seen = self.shared.round.load(Relaxed);
    }

    /// How far the row has come with a step that the instance is to finish.
    pub(crate) fn take_interruption(&self) -> Option<Interruption> {
        let shared = &*self.shared;
        if self.index != shared.done.load(Relaxed) {
            return None;
        }
        let call = shared.call.swap(0, Relaxed).checked_sub(1)?;
        Some(Interruption { call: *CALLS.get(call)?, status: shared.status.load(Relaxed) as c_int })
    }

    /// After a step alone: whether the next one can be plain.
    pub(crate) fn report(&mut self, is_ready: bool) {
        if self.shared.is_over.load(Relaxed) {
            return;
        }
        if is_ready {
            let step = self.shared.step_alone.load(Relaxed);
            if std::mem::replace(&mut self.counted, step) != step {
                self.shared.ready.fetch_add(1, Relaxed);
            }
        } else {
            self.break_up();
        }
    }

    /// The next step of the instance cannot be plain, or it is not known.
    pub(crate) fn break_up(&self) {
        self.shared.is_whole.store(false, Relaxed);
        // Also when it was counted as ready before, in a step alone that has not come to its end.
        self.shared.ready.store(NEVER, Relaxed);
    }
}

/// A row of instances of one library with the same variables as inputs and outputs.
struct FmuRow {
    library: Arc<FmuLibrary>,
    calls: PlainCalls,
    /// Value references.
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    members: Vec<Member>,
    shared: Arc<Shared>,
    slot: RowSlot,
    keeps_inputs: bool,
}

#[derive(Clone, Copy)]
struct Member {
    handle: *mut c_void,
    name: RowMember,
    /// Where its subsystem is. Whoever holds that exclusively may use the handle.
    subsystem: *const (),
}

// SAFETY: the handles are used only by a thread that holds the subsystems of the members exclusively.
unsafe impl Send for FmuRow {}

impl FmuRow {
    fn new(library: &Arc<FmuLibrary>, inputs: &[u32], outputs: &[u32]) -> Option<Self> {
        Some(Self {
            calls: PlainCalls::of(library)?,
            library: Arc::clone(library),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            members: Vec::new(),
            shared: Arc::default(),
            slot: RowSlot::new()?,
            keeps_inputs: false,
        })
    }

    /// A plain step of every member, up to the first that is not at its place or has a call that is not OK.
    ///
    /// # Safety
    /// The members are whole, nobody else uses their subsystems meanwhile, and there is an input and an output for each of
    /// their references.
    unsafe fn round(
        &mut self,
        interval: &Interval,
        subsystems: &[Box<dyn Subsystem>],
        mut u: *const f64,
        mut y: *mut f64,
    ) -> Result<(), (usize, Option<Interruption>)> {
        let PlainCalls { set, do_step, get } = self.calls;
        let (inputs, outputs) = (&self.inputs[..], &self.outputs[..]);
        let round = self.slot.round();
        for (i, (member, subsystem)) in self.members.iter().zip(subsystems).enumerate() {
            let Member { handle, name, subsystem: place } = *member;
            // A member that does not live any more has broken the row up. So one that is at its place is the one that
            // joined, and its handle may be used.
            if !ptr::addr_eq(&raw const **subsystem, place) {
                return Err((i, None));
            }
            let interrupted = |call, status| Err((i, Some(Interruption { call, status })));
            if !inputs.is_empty() {
                round.enter(name, Call::SetReals);
                // SAFETY: by the contract.
                let status = unsafe { set(handle, inputs.as_ptr(), inputs.len(), u) };
                if status != OK {
                    return interrupted(Call::SetReals, status);
                }
            }
            round.enter(name, Call::DoStep);
            // SAFETY: by the contract. No state before the step will be put back: nobody has stored one.
            let status = unsafe { do_step(handle, interval.start, interval.length, 1) };
            floating_point::restore_results();
            if status != OK {
                return interrupted(Call::DoStep, status);
            }
            if !outputs.is_empty() {
                round.enter(name, Call::GetReals);
                // SAFETY: by the contract.
                let status = unsafe { get(handle, outputs.as_ptr(), outputs.len(), y) };
                if status != OK {
                    return interrupted(Call::GetReals, status);
                }
            }
            u = u.wrapping_add(inputs.len());
            y = y.wrapping_add(outputs.len());
        }
        Ok(())
    }

    /// Steps the members from number `first` on as all subsystems are stepped.
    fn step_alone(
        &self,
        first: usize,
        subsystems: &mut [Box<dyn Subsystem>],
        y: &mut [f64],
        alone: &mut StepAlone<'_>,
    ) -> Result<()> {
        let width = self.outputs.len();
        for (i, subsystem) in subsystems.iter_mut().enumerate().skip(first) {
            alone(i, &mut **subsystem, &mut y[i * width..(i + 1) * width])?;
        }
        Ok(())
    }

    /// Notes down the inputs of the members that have done a round, if one of them wants to know.
    fn keep_inputs(&self, u: &[f64], done: usize) {
        if self.keeps_inputs {
            let kept = self.shared.inputs.get_or_init(|| u.iter().map(|_| AtomicU64::new(0)).collect());
            let u = &u[..done * self.inputs.len()];
            kept.iter().zip(u).for_each(|(to, from)| to.store(from.to_bits(), Relaxed));
        }
    }
}

impl Row for FmuRow {
    fn step(
        &mut self,
        interval: &Interval,
        u: &[f64],
        subsystems: &mut [Box<dyn Subsystem>],
        y: &mut [f64],
        alone: &mut StepAlone<'_>,
    ) -> Result<()> {
        let count = self.members.len();
        assert_eq!(subsystems.len(), count);
        assert!(u.len() == count * self.inputs.len() && y.len() == count * self.outputs.len());
        if !self.shared.is_whole.load(Relaxed) || self.library.is_fatal() {
            self.shared.ready.store(0, Relaxed);
            self.shared.step_alone.fetch_add(1, Relaxed);
            self.step_alone(0, subsystems, y, alone)?;
            let is_whole = self.shared.ready.load(Relaxed) == count;
            self.shared.is_whole.store(is_whole, Relaxed);
            return Ok(());
        }
        // SAFETY: a member that has ended, or is not ready, has broken the row up; nobody else can use them, because this
        // function holds the subsystems exclusively; the lengths are equal.
        let outcome = unsafe { self.round(interval, subsystems, u.as_ptr(), y.as_mut_ptr()) };
        match outcome {
            Ok(()) => {
                self.keep_inputs(u, count);
                self.shared.publish(interval, count);
                Ok(())
            }
            Err((i, interruption)) => {
                self.keep_inputs(u, i);
                self.interrupt(interval, i, interruption);
                self.step_alone(i, subsystems, y, alone)
            }
        }
    }
}

impl Drop for FmuRow {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Relaxed);
    }
}

impl FmuRow {
    /// Leaves the rest of a round to member i and those that follow.
    #[cold]
    fn interrupt(&self, interval: &Interval, i: usize, interruption: Option<Interruption>) {
        floating_point::restore();
        if let Some(Interruption { call, status }) = interruption {
            let place = CALLS.iter().position(|other| *other == call).unwrap_or(0);
            self.shared.call.store(place + 1, Relaxed);
            self.shared.status.store(status as u64, Relaxed);
            self.shared.is_whole.store(false, Relaxed);
        }
        self.shared.publish(interval, i);
    }
}

impl Instance {
    /// Joins a row, or begins one. `subsystem` is the place of the one that owns this instance; inputs and outputs come
    /// as their value references. `wants_inputs`: it will ask for the inputs of a round.
    pub(crate) fn join_row(
        &mut self,
        row: &mut Option<Box<dyn Row>>,
        subsystem: *const (),
        (inputs, outputs): (&[u32], &[u32]),
        wants_inputs: bool,
    ) -> bool {
        if row.is_none() {
            *row = FmuRow::new(&self.library, inputs, outputs).map(|row| Box::new(row) as Box<dyn Row>);
        }
        let Some(row) = row.as_deref_mut().and_then(|row| (row as &mut dyn Any).downcast_mut::<FmuRow>())
        else {
            return false;
        };
        if !Arc::ptr_eq(&row.library, &self.library) || row.inputs != inputs || row.outputs != outputs {
            return false;
        }
        if let Some(other) = &self.place {
            other.break_up();
        }
        self.place =
            Some(Place { shared: Arc::clone(&row.shared), index: row.members.len(), seen: 0, counted: 0 });
        row.members.push(Member { handle: self.handle, name: RowSlot::member(&self.slot), subsystem });
        row.keeps_inputs |= wants_inputs;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(shared: &Arc<Shared>, index: usize) -> Place {
        Place { shared: Arc::clone(shared), index, seen: 0, counted: 0 }
    }

    fn times(places: &[Place]) -> Vec<Option<f64>> {
        places.iter().map(|place| place.missed().map(|missed| missed.time)).collect()
    }

    #[test]
    fn a_round_that_is_interrupted_hides_no_earlier_one() {
        let shared = Arc::<Shared>::default();
        let mut places = [0, 1, 2].map(|index| place(&shared, index));
        shared.publish(&Interval::new(0.0, 1.0), 1);
        assert_eq!(times(&places), [Some(1.0), None, None], "the first round of all");
        places.iter_mut().for_each(Place::catch_up);
        shared.publish(&Interval::new(1.0, 2.0), 3);
        places[0].catch_up();
        assert_eq!(times(&places), [None, Some(2.0), Some(2.0)]);
        shared.publish(&Interval::new(2.0, 3.0), 1);
        assert_eq!(times(&places), [Some(3.0), Some(2.0), Some(2.0)]);
        places.iter_mut().for_each(Place::catch_up);
        assert_eq!(times(&places), [None; 3]);
    }

    #[test]
    fn one_that_breaks_the_row_up_after_its_report_is_not_counted() {
        let shared = Arc::<Shared>::default();
        shared.step_alone.store(1, Relaxed);
        let mut places = [0, 1].map(|index| place(&shared, index));
        places[0].report(true);
        places[0].break_up();
        places[1].report(true);
        assert!(shared.ready.load(Relaxed) > places.len());
    }

    #[test]
    fn one_that_reports_twice_is_counted_once_and_none_when_the_row_is_over() {
        let shared = Arc::<Shared>::default();
        shared.step_alone.store(1, Relaxed);
        let mut places = [0, 1].map(|index| place(&shared, index));
        places[0].report(true);
        places[0].report(true);
        assert_eq!(shared.ready.load(Relaxed), 1);
        shared.is_over.store(true, Relaxed);
        places[1].report(true);
        assert_eq!(shared.ready.load(Relaxed), 1);
    }
}
