//! FMUs of one library that are stepped in a row: set inputs, step, get outputs, and next to nothing else.
//!
//! A plain step is one that needs no more than these three calls of FMI 2. As long as every member of a row is ready for
//! one, nothing but the row touches the members in a round: what they would note down about their step stands here, once
//! for all, until they are asked. When a call does not return OK, the member finishes its step alone, and so do those
//! that follow.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use costep_core::{Interval, Result, Row, StepAlone, Subsystem};

use crate::call::ffi2;
use crate::call::floating_point;
use crate::call::instance::{Instance, OK};
use crate::call::library::{FmuLibrary, Functions};
use crate::call::place::{CALLS, Interruption, Place, RowState};
use crate::trace::{Call, RowMember, RowSlot};

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

/// A row of instances of one library with the same variables as inputs and outputs.
struct FmuRow {
    library: Arc<FmuLibrary>,
    calls: PlainCalls,
    /// Value references.
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    members: Vec<Member>,
    shared: Arc<RowState>,
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
        self.place = Some(Place::new(&row.shared, row.members.len()));
        row.members.push(Member { handle: self.handle, name: RowSlot::member(&self.slot), subsystem });
        row.keeps_inputs |= wants_inputs;
        true
    }
}
