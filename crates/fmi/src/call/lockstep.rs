//! FMUs of one library that are stepped together: set inputs, step, get outputs, and next to nothing else.
//!
//! As long as every member needs no more than these three calls of FMI 1 or 2, nothing but their handles is
//! touched in a round: what the members would note down about their step stands in the batch, once for all,
//! until one of them is asked for. When a call does not return OK, its member finishes the step alone, and
//! so do those that follow.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use costep_core::{Batch, InputPolynomials, Interval, Result, StepOutcome, Subsystem};

use crate::call::floating_point;
use crate::call::instance::{Instance, OK};
use crate::call::library::{FmuLibrary, Functions};
use crate::call::{ffi1, ffi2};
use crate::copies::ending_copies;
use crate::cs::CoSimulationSubsystem;
use crate::trace::{BatchMember, BatchSlot, Call};
use crate::unwinding::stopping_exceptions;

/// A call of a step that was not OK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interruption {
    pub(crate) call: Call,
    pub(crate) status: c_int,
}

/// The calls of a step under held inputs, looked up once.
#[derive(Clone, Copy)]
struct Calls {
    set: ffi2::SetReal,
    do_step: DoStep,
    get: ffi2::GetReal,
}

/// What differs between the versions: the Boolean at the end, which is true for both. That no state before
/// the step will be put back, or that the step is a new one.
#[derive(Clone, Copy)]
enum DoStep {
    V1(ffi1::DoStep),
    V2(ffi2::DoStep),
}

impl Calls {
    fn of(library: &FmuLibrary) -> Option<Self> {
        match &library.functions {
            Functions::V1(f) => Some(Self {
                set: f.values.set_real,
                do_step: DoStep::V1(f.slave.as_ref()?.do_step),
                get: f.values.get_real,
            }),
            Functions::V2(f) => {
                Some(Self { set: f.set_real, do_step: DoStep::V2(f.do_step?), get: f.get_real })
            }
            Functions::V3(_) => None,
        }
    }
}

/// What a round needs of a member.
#[derive(Clone, Copy)]
struct Handle {
    instance: *mut c_void,
    name: BatchMember,
}

impl Handle {
    fn of(instance: &Instance) -> Self {
        Self { instance: instance.handle, name: BatchSlot::member(&instance.slot) }
    }
}

/// Instances of one library with the same variables as inputs and outputs.
pub(crate) struct Lockstep {
    library: Arc<FmuLibrary>,
    calls: Calls,
    /// Value references.
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    /// One per member, in the same order. They live as long as the members, which nothing takes out again;
    /// whoever asks for a member may have its FMU made anew, after which they are looked up again.
    handles: Vec<Handle>,
    slot: BatchSlot,
    members: Vec<CoSimulationSubsystem>,
    /// All members are ready for a round: nobody has touched them since that was found.
    ready: bool,
    /// The end of the last round, if the members do not know of it.
    unknown: Option<f64>,
    /// Inputs of the last round, if a member wants to know them.
    keeps_inputs: bool,
    kept: Vec<f64>,
    /// Inputs of a member that steps alone, and which one it is.
    alone: InputPolynomials,
    at_work: usize,
}

// SAFETY: an FMU may be called from any thread, one at a time; the batch owns the instances that its handles are of, so
// that whoever has it exclusively has them too.
unsafe impl Send for Lockstep {}

impl Lockstep {
    /// Makes an FMU a member of an open batch of its kind, or the first one of a new batch. Gives it back if it cannot be.
    pub(crate) fn join(
        member: Box<CoSimulationSubsystem>,
        open: &mut Option<Box<dyn Batch>>,
    ) -> Result<(), Box<dyn Subsystem>> {
        match open {
            Some(batch) => match (&mut **batch as &mut dyn Any).downcast_mut::<Self>() {
                Some(batch) if batch.fits(&member) => batch.push(*member),
                _ => return Err(member),
            },
            None => match Self::new(&member) {
                Some(mut batch) => {
                    batch.push(*member);
                    *open = Some(Box::new(batch));
                }
                None => return Err(member),
            },
        }
        Ok(())
    }

    fn new(first: &CoSimulationSubsystem) -> Option<Self> {
        let (inputs, outputs) = first.references();
        let library = &first.instance().library;
        Some(Self {
            calls: Calls::of(library)?,
            library: Arc::clone(library),
            alone: InputPolynomials::new(inputs.len(), 0),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            handles: Vec::new(),
            slot: BatchSlot::new()?,
            members: Vec::new(),
            ready: false,
            unknown: None,
            keeps_inputs: false,
            kept: Vec::new(),
            at_work: 0,
        })
    }

    fn fits(&self, member: &CoSimulationSubsystem) -> bool {
        let (inputs, outputs) = member.references();
        Arc::ptr_eq(&self.library, &member.instance().library)
            && self.inputs == inputs
            && self.outputs == outputs
    }

    fn push(&mut self, member: CoSimulationSubsystem) {
        self.settle();
        self.keeps_inputs |= member.keeps_inputs();
        self.handles.push(Handle::of(member.instance()));
        self.members.push(member);
        if self.keeps_inputs {
            self.kept.resize(self.members.len() * self.inputs.len(), 0.0);
        }
    }

    /// The three calls for every member, up to the first that is not OK.
    ///
    /// # Safety
    /// All members are initialised and alive, and there is an input and an output for each of their references.
    #[inline(always)]
    unsafe fn round(
        &mut self,
        interval: &Interval,
        mut u: *const f64,
        mut y: *mut f64,
    ) -> Result<(), (usize, Interruption)> {
        let Calls { set, do_step, get } = self.calls;
        let (inputs, outputs) = (&self.inputs[..], &self.outputs[..]);
        let round = self.slot.round();
        // Inside of the round, so that an exception ends the process while it is seen whose turn it is. A copy made by `fork`
        // ends with it.
        let calls = || {
            for (i, Handle { instance, name }) in self.handles.iter().copied().enumerate() {
                let interrupted = |call, status| Err((i, Interruption { call, status }));
                if !inputs.is_empty() {
                    round.enter(name, Call::SetReals);
                    // SAFETY: by the contract.
                    let status = unsafe { set(instance, inputs.as_ptr(), inputs.len(), u) };
                    if status != OK {
                        return interrupted(Call::SetReals, status);
                    }
                }
                round.enter(name, Call::DoStep);
                // SAFETY: by the contract. No state before the step will be put back: nobody has stored one.
                let status = unsafe {
                    match do_step {
                        DoStep::V1(do_step) => do_step(instance, interval.start, interval.length, 1),
                        DoStep::V2(do_step) => do_step(instance, interval.start, interval.length, 1),
                    }
                };
                floating_point::restore_results();
                if status != OK {
                    return interrupted(Call::DoStep, status);
                }
                if !outputs.is_empty() {
                    round.enter(name, Call::GetReals);
                    // SAFETY: by the contract.
                    let status = unsafe { get(instance, outputs.as_ptr(), outputs.len(), y) };
                    if status != OK {
                        return interrupted(Call::GetReals, status);
                    }
                }
                u = u.wrapping_add(inputs.len());
                y = y.wrapping_add(outputs.len());
            }
            Ok(())
        };
        ending_copies(|| stopping_exceptions(calls))
    }

    /// Tells the members what they did in the last round.
    fn settle(&mut self) {
        if self.unknown.is_some() {
            (0..self.members.len()).for_each(|i| self.tell(i));
            self.unknown = None;
        }
    }

    fn tell(&self, i: usize) {
        if let Some(time) = self.unknown {
            let width = self.inputs.len();
            self.members[i].note_round(time, self.kept.get(i * width..(i + 1) * width));
        }
    }

    /// The members from `first` on step as any subsystem does.
    fn step_alone(&mut self, first: usize, interval: Interval, u: &[f64], y: &mut [f64]) -> Outcome {
        let (m, r) = (self.inputs.len(), self.outputs.len());
        for (i, member) in self.members.iter_mut().enumerate().skip(first) {
            self.at_work = i;
            self.alone.coefficients_mut(0).copy_from_slice(&u[i * m..(i + 1) * m]);
            let outcome = member.step(interval, self.alone.segment(0..m, 0), &mut y[i * r..(i + 1) * r]);
            arrived(i, interval, outcome)?;
        }
        Ok(())
    }

    /// Member `i` and those that follow finish a round.
    #[cold]
    fn finish(
        &mut self,
        (i, interruption): (usize, Interruption),
        interval: Interval,
        u: &[f64],
        y: &mut [f64],
    ) -> Outcome {
        floating_point::restore();
        let (m, r) = (self.inputs.len(), self.outputs.len());
        // All have done the round before, only those before it have done this one.
        self.settle();
        self.keep(u);
        self.unknown = Some(interval.end);
        (0..i).for_each(|i| self.tell(i));
        (self.unknown, self.ready) = (None, false);
        self.at_work = i;
        let (held, own) = (&u[i * m..(i + 1) * m], &mut y[i * r..(i + 1) * r]);
        arrived(i, interval, self.members[i].finish_step(interruption, interval, held, own))?;
        self.step_alone(i + 1, interval, u, y)
    }

    fn keep(&mut self, u: &[f64]) {
        if !self.kept.is_empty() {
            self.kept.copy_from_slice(u);
        }
    }

    /// Whether all members are ready for a round.
    fn are_ready(&self) -> bool {
        self.members.iter().all(|member| member.is_ready_for_rounds())
    }
}

type Outcome = std::result::Result<(), (usize, Result<StepOutcome>)>;

/// Whether the step of a member has come to its end.
fn arrived(i: usize, interval: Interval, outcome: Result<StepOutcome>) -> Outcome {
    match outcome {
        Ok(outcome) if outcome.reached == interval.end => Ok(()),
        other => Err((i, other)),
    }
}

impl Batch for Lockstep {
    fn members(&self) -> usize {
        self.members.len()
    }

    fn member(&self, i: usize) -> &dyn Subsystem {
        self.tell(i);
        &self.members[i]
    }

    fn member_mut(&mut self, i: usize) -> &mut dyn Subsystem {
        self.settle();
        self.ready = false;
        &mut self.members[i]
    }

    #[inline]
    fn step(&mut self, interval: &Interval, u: &[f64], y: &mut [f64]) -> Outcome {
        let count = self.members.len();
        assert!(u.len() == count * self.inputs.len() && y.len() == count * self.outputs.len());
        if !self.ready || self.library.is_fatal() {
            self.settle();
            self.ready = self.are_ready();
            self.handles.clear();
            self.handles.extend(self.members.iter().map(|member| Handle::of(member.instance())));
            if !self.ready {
                return self.step_alone(0, *interval, u, y);
            }
        }
        // SAFETY: the members are alive and ready, since nobody has touched them after that was found, and their library
        // has not failed; they are owned by this batch, which is borrowed exclusively; the lengths are equal.
        match unsafe { self.round(interval, u.as_ptr(), y.as_mut_ptr()) } {
            Ok(()) => {
                self.keep(u);
                self.unknown = Some(interval.end);
                Ok(())
            }
            Err(interrupted) => self.finish(interrupted, *interval, u, y),
        }
    }

    fn at_work(&self) -> usize {
        self.at_work
    }
}
