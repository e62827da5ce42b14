//! Exchange of values inside a step (FMI 3): inputs along their polynomials, outputs as micro samples.
#![allow(unsafe_code)]

use std::cmp::Ordering;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex};

use costep_core::{InputSegment, Interval, MicroBuffer, MicroSamples, MicroSampling};
use costep_fmu_file::ModelDescription;

use crate::call::ffi3::{Flag, Functions3};
use crate::call::live;
use crate::call::log::LogSink;
use crate::cs::signals::Followed;
use crate::trace::MessageSlot;

/// Micro samples kept of one step; further ones take the place of the last.
const MOST_SAMPLES: usize = 1 << 20;
/// Part of a step within which a time counts as its end.
const END_TOLERANCE: f64 = 1e-9;

/// What the callbacks of an instance work on.
#[derive(Default)]
pub(crate) struct Environment {
    pub(crate) log: Arc<LogSink>,
    pub(crate) exchange: Mutex<Exchange>,
}

impl Drop for Environment {
    fn drop(&mut self) {
        live::leave(std::ptr::from_ref(self).cast());
    }
}

impl Environment {
    /// An environment whose last message is shown to whoever watches this process; and whether the FMU hands
    /// its component to the logger in its place.
    pub(crate) fn showing(instance: &str, messages: MessageSlot, fmu: Arc<ModelDescription>) -> Self {
        Self { log: Arc::new(LogSink::showing(instance, messages, fmu)), exchange: Mutex::default() }
    }
}

type Get = unsafe extern "C-unwind" fn(*mut c_void, *const u32, usize, *mut f64, usize) -> c_int;
type Set = unsafe extern "C-unwind" fn(*mut c_void, *const u32, usize, *const f64, usize) -> c_int;

/// The instance behind the callback.
#[derive(Clone, Copy)]
struct Target {
    handle: *mut c_void,
    get: Get,
    set: Set,
}

/// What is exchanged inside the present step.
#[derive(Default)]
pub(crate) struct Exchange {
    target: Option<Target>,
    inputs: Followed,
    outputs: Vec<u32>,
    /// Number of outputs that are exchanged, elements counted.
    width: usize,
    start: f64,
    length: f64,
    /// Order of the inputs of this step; 0 = they are held.
    order: usize,
    /// Coefficients of s^0 of all inputs, then of s^1 and so on.
    coefficients: Vec<f64>,
    u: Vec<f64>,
    record: bool,
    /// Outputs of other types come behind and keep their values inside a step.
    samples: MicroBuffer,
    /// How often the FMU asked for inputs in this step.
    requests: u64,
    /// The first status of a call from inside the callback that was not OK or Warning.
    pub(crate) failed: Option<c_int>,
}

/// Variables that are exchanged; of outputs the references and the number of elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchanged {
    pub(crate) inputs: Followed,
    pub(crate) outputs: (Vec<u32>, usize),
    /// Number of all outputs, those of other types included.
    pub(crate) row: usize,
    /// Highest order of the inputs.
    pub(crate) order: usize,
}

impl Exchange {
    /// Takes all memory that inputs need.
    pub(crate) fn prepare(&mut self, handle: *mut c_void, functions: &Functions3, what: Exchanged) {
        self.target = Some(Target { handle, get: functions.get_float64, set: functions.set_float64 });
        let width = what.inputs.places.len();
        self.coefficients = vec![0.0; width * (what.order + 1)];
        self.u = vec![0.0; width];
        (self.inputs, self.outputs, self.width) = (what.inputs, what.outputs.0, what.outputs.1);
        self.samples = MicroBuffer::with_capacity(0, what.row);
    }

    /// Whether micro samples are wanted.
    pub(crate) fn set_record(&mut self, on: bool, expected: usize) {
        self.record = on;
        if on {
            let expected = expected.min(MOST_SAMPLES);
            self.samples.reserve(expected);
        }
    }

    /// Starts a step from the outputs `y`, which count only if samples are recorded.
    pub(crate) fn begin(&mut self, interval: Interval, u: InputSegment<'_>, y: &[f64]) {
        (self.start, self.length) = (interval.start, interval.length);
        (self.order, self.requests, self.failed) = (u.order(), 0, None);
        // Held inputs need none, and there is no room for them if inputs are not exchanged.
        for a in 0..if u.order() > 0 { u.order() + 1 } else { 0 } {
            let (width, all) = (self.u.len(), u.coefficients(a));
            let own = &mut self.coefficients[a * width..(a + 1) * width];
            own.iter_mut().zip(&self.inputs.places).for_each(|(own, place)| *own = all[*place]);
        }
        self.samples.clear();
        if self.record {
            self.samples.push(interval.start).copy_from_slice(y);
        }
    }

    /// Gives a step up.
    pub(crate) fn cancel(&mut self) {
        self.order = 0;
    }

    /// Ends a step with the outputs `y`; false if inputs were to follow polynomials and the FMU never asked.
    pub(crate) fn finish(&mut self, end: f64, y: &[f64]) -> bool {
        let asked = self.order == 0 || self.u.is_empty() || self.requests > 0;
        self.order = 0;
        if self.record {
            let is_there =
                self.samples.len() > 1 && self.samples.last_time().is_some_and(|last| self.is_end(last));
            let row = if is_there { self.samples.move_last(end) } else { self.samples.push(end) };
            row.copy_from_slice(y);
        }
        asked
    }

    /// Times and outputs of the last step.
    pub(crate) fn samples(&self) -> &MicroBuffer {
        &self.samples
    }

    fn is_end(&self, time: f64) -> bool {
        (time - self.start - self.length).abs() <= END_TOLERANCE * self.length
    }

    /// The FMU is at `time` inside the step. Values are got before any is set: the standard has this order.
    fn update(&mut self, time: f64, set: bool, get: bool) {
        let Some(target) = self.target else { return };
        if get {
            self.sample(target, time);
        }
        if set && self.order > 0 && !self.u.is_empty() {
            self.follow(target, time);
        }
    }

    /// Records the outputs at `time`.
    fn sample(&mut self, target: Target, time: f64) {
        let last = self.samples.last_time().unwrap_or(f64::NAN);
        if !self.record || self.width == 0 || time.partial_cmp(&last) != Some(Ordering::Greater) {
            return;
        }
        let row = match self.samples.len() < MOST_SAMPLES {
            true => self.samples.push_again(time),
            false => self.samples.move_last(time),
        };
        let (n, to) = (self.outputs.len(), row[..self.width].as_mut_ptr());
        // SAFETY: the FMU has called back and allows this; there is room for `width` values.
        let status = unsafe { (target.get)(target.handle, self.outputs.as_ptr(), n, to, self.width) };
        self.note(status);
    }

    /// Sets the inputs as their polynomials have them at `time`.
    fn follow(&mut self, target: Target, time: f64) {
        self.requests += 1;
        let s = if self.is_end(time) { self.length } else { (time - self.start).clamp(0.0, self.length) };
        let width = self.u.len();
        self.u.fill(0.0);
        for a in (0..=self.order).rev() {
            let coefficients = &self.coefficients[a * width..(a + 1) * width];
            self.u.iter_mut().zip(coefficients).for_each(|(u, c)| *u = *u * s + c);
        }
        let references = &self.inputs.references;
        let (n, from) = (references.len(), self.u.as_ptr());
        // SAFETY: the FMU has called back and asked for this; it is told both lengths.
        let status = unsafe { (target.set)(target.handle, references.as_ptr(), n, from, width) };
        self.note(status);
    }

    fn note(&mut self, status: c_int) {
        if !matches!(status, 0 | 1) && self.failed.is_none() {
            self.failed = Some(status);
        }
    }
}

/// `fmi3IntermediateUpdateCallback`. No step is returned from early.
///
/// # Safety
/// `environment` is an [`Environment`] that lives; the other pointers are null or can be written to.
pub(crate) unsafe extern "C" fn intermediate_update(
    environment: *mut c_void,
    time: f64,
    set_requested: Flag,
    get_allowed: Flag,
    step_finished: Flag,
    _can_return_early: Flag,
    early_return: *mut Flag,
    _early_return_time: *mut f64,
) {
    if !early_return.is_null() {
        // SAFETY: by the contract of this function.
        unsafe { *early_return = 0 };
    }
    // SAFETY: by the contract of this function.
    let Some(environment) = (unsafe { environment.cast::<Environment>().as_ref() }) else { return };
    // An FMU that calls back from inside a get or set, or from two threads at once, is not answered.
    if let Ok(mut exchange) = environment.exchange.try_lock() {
        exchange.update(time, set_requested != 0, get_allowed != 0 && step_finished != 0);
    }
}

/// A copy of the micro samples, which outlives the lock.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) buffer: MicroBuffer,
    /// The steps that follow are trials: they leave these samples as they are.
    pub(crate) paused: bool,
}

impl Samples {
    /// When they are taken: an FMU calls back at the ends of its inner steps.
    pub(crate) const SAMPLING: MicroSampling = MicroSampling::End;

    pub(crate) fn view(&self) -> MicroSamples<'_> {
        self.buffer.samples(Self::SAMPLING)
    }
}
