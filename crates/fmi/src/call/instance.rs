//! One instance of an FMU and the calls of a run.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::{Arc, MutexGuard, PoisonError};

use costep_core::{Code, Error, Experiment, Result};
use costep_fmu_file::short;

use crate::call::ffi2::Callbacks;
use crate::call::first::Startup;
use crate::call::floating_point;
use crate::call::intermediate::{Environment, Exchange};
use crate::call::library::{FmuLibrary, Functions};
use crate::call::log::{Message, Status, one_line};
use crate::call::python_code;
use crate::call::shared::Shared;
use crate::notice::{Notice, tell};
use crate::trace::{Call, Slot};

pub(crate) const OK: c_int = 0;

/// An instance of an FMU. Which call is allowed when is the business of its owner; an instance only sees to it that
/// nothing is called after Fatal.
pub(crate) struct Instance {
    pub(crate) handle: *mut c_void,
    pub(crate) library: Arc<FmuLibrary>,
    /// Shows which call it is in to whoever watches this process.
    pub(super) slot: Slot,
    /// A call returned Error or worse, or the instance has been terminated: it can be reset or freed, no more.
    pub(super) ended: Cell<bool>,
    pub(super) name: CString,
    pub(super) environment: ManuallyDrop<Shared<Environment>>,
    /// The FMU keeps a pointer to these (FMI 2).
    pub(super) callbacks: ManuallyDrop<Option<Shared<Callbacks>>>,
    pub(super) warnings: Cell<u64>,
    /// Time at which the FMU has asked to end the simulation; not a number = it has not.
    pub(super) end: Cell<f64>,
    /// How far its initialisation is (FMI 1).
    pub(super) startup: Cell<Startup>,
    /// It was asked for debug messages.
    pub(super) logging: bool,
    /// It does not come to the exact ends of steps, which has been said.
    pub(super) misses_ends: Cell<bool>,
    /// Events are handled at its asking, not inside of it (FMI 3).
    pub(crate) has_event_mode: bool,
}

// SAFETY: an FMU may be called from any thread, one at a time; nothing else has the handle, and the log is behind a
// lock.
unsafe impl Send for Instance {}

impl Instance {
    /// Messages that are kept.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.environment.log.messages()
    }

    /// What is exchanged inside steps.
    pub(crate) fn exchange(&self) -> MutexGuard<'_, Exchange> {
        lock(&self.environment)
    }

    /// Number of messages so far.
    pub(crate) fn message_count(&self) -> u64 {
        self.environment.log.total()
    }

    /// Number of calls that returned Warning.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.get()
    }

    /// An error if nothing may be called any more.
    #[inline]
    pub(crate) fn alive(&self) -> Result<()> {
        if self.library.is_fatal() || self.ended.get() { Err(self.over()) } else { Ok(()) }
    }

    /// Nothing may be called any more.
    fn close(&self) {
        self.ended.set(true);
    }

    #[cold]
    fn over(&self) -> Error {
        let name = self.name.to_string_lossy();
        if self.library.is_fatal() {
            return fatal(&name, &self.library);
        }
        Error::new(Code::FmuError, format!("`{name}` has ended and cannot go on"))
    }

    /// Does a call that returns a status, and turns that into a result.
    #[inline(always)]
    pub(crate) fn call(&self, call: Call, work: impl FnOnce() -> c_int) -> Result<()> {
        let status = self.watched(call, work);
        if status == OK { Ok(()) } else { self.not_ok(status, call.name(self.version())) }
    }

    /// Does any call into the FMU: whoever watches this process can see it, and afterwards the mode of floating-point
    /// numbers is what it was; not after copying values, which happens often and comes with a call that computes. After
    /// calls that compute and are made often, traps of the vector unit alone are not seen.
    #[inline(always)]
    pub(crate) fn watched<R>(&self, call: Call, work: impl FnOnce() -> R) -> R {
        watched(&self.slot, call, work)
    }

    /// Turns a status into a result.
    #[inline]
    pub(crate) fn check(&self, status: c_int, call: &str) -> Result<()> {
        if status == OK { Ok(()) } else { self.not_ok(status, call) }
    }

    #[cold]
    fn not_ok(&self, status: c_int, call: &str) -> Result<()> {
        floating_point::restore();
        let (code, word) = match Status::from_raw(status) {
            Status::Ok => return Ok(()),
            Status::Warning => {
                self.warnings.set(self.warnings.get() + 1);
                tell(&self.name.to_string_lossy(), Notice::Warned(call));
                return Ok(());
            }
            Status::Discard => (Code::FmuDiscard, "Discard".to_owned()),
            Status::Error => (Code::FmuError, "Error".to_owned()),
            Status::Fatal => (Code::FmuFatal, "Fatal".to_owned()),
            Status::Pending => (Code::FmuPending, "Pending".to_owned()),
            Status::Unknown(other) => (Code::FmuError, format!("the unknown status {other}")),
        };
        match code {
            Code::FmuFatal => self.library.set_fatal(),
            Code::FmuPending => self.cancel(),
            _ => {}
        }
        if code != Code::FmuDiscard {
            self.close();
        }
        let error = self.error(code, &format!("{}{call} returned {word}", self.prefix()));
        if code == Code::FmuFatal {
            self.library.set_fatal_cause(&error);
        }
        let is_step = call.ends_with("DoStep");
        let error = match error.details().cause {
            Some(_) if is_step && code == Code::FmuError => error.hint(STEP),
            Some(_) => error,
            None if code == Code::FmuPending => error.because(NO_MESSAGE),
            None if !self.logging => error.because(NO_MESSAGE).hint(NOT_ASKED),
            None if is_step => error.because(NO_MESSAGE).hint(SILENT_STEP),
            None => error.because(NO_MESSAGE).hint(SILENT),
        };
        Err(python_code::explained(error, self.library.description(), "the method"))
    }

    /// Tells of something about the FMU that is worth a warning.
    #[cold]
    pub(crate) fn warn(&self, code: Code, text: String) {
        let message = Message { status: Status::Warning, category: code.entry().id.into(), text };
        tell(&self.name.to_string_lossy(), Notice::Logged(&message));
    }

    /// An error of this instance, with its last message as cause.
    #[cold]
    pub(crate) fn error(&self, code: Code, what: &str) -> Error {
        let error = Error::new(code, format!("`{}`: {what}", self.name.to_string_lossy()));
        match self.environment.log.last() {
            Some(text) => error.because(one_line(&text)),
            None => error,
        }
    }

    pub(crate) fn prefix(&self) -> &'static str {
        match self.library.functions {
            Functions::V1(_) => "fmi",
            Functions::V2(_) => "fmi2",
            Functions::V3(_) => "fmi3",
        }
    }

    pub(crate) fn version(&self) -> u32 {
        self.library.version()
    }

    /// A function of the library, or an error if the library lacks it.
    pub(crate) fn need<F>(&self, function: Option<F>, call: &str) -> Result<F> {
        function.ok_or_else(|| self.lacks(call))
    }

    /// The library lacks a function.
    #[cold]
    pub(super) fn lacks(&self, call: &str) -> Error {
        let (name, prefix) = (self.name.to_string_lossy(), self.prefix());
        Error::new(Code::FmuSymbol, format!("the library of `{name}` has no function `{prefix}{call}`"))
    }

    /// Gives up a step that is computed in the background.
    fn cancel(&self) {
        let function = match &self.library.functions {
            Functions::V1(f) => f.slave.as_ref().and_then(|f| f.cancel_step),
            Functions::V2(f) => f.cancel_step,
            Functions::V3(_) => None,
        };
        if let Some(cancel) = function {
            // SAFETY: the instance is alive and in a pending step.
            self.watched(Call::CancelStep, || unsafe { cancel(self.handle) });
        }
    }

    /// Tells an FMU of FMI 2.0 about the experiment, before any value is set: those of 20-sim forget what
    /// was set earlier.
    pub(crate) fn setup_experiment(&self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()> {
        let stop = told_stop(experiment);
        let (defined, value) = (tolerance.is_some(), tolerance.unwrap_or(0.0));
        match &self.library.functions {
            // SAFETY: the instance is alive and freshly made or reset.
            Functions::V2(f) => self.call(Call::SetupExperiment, || unsafe {
                (f.setup_experiment)(self.handle, defined.into(), value, experiment.start, 1, stop)
            }),
            _ => Ok(()),
        }
    }

    /// Enters the initialisation.
    pub(crate) fn enter_initialization(&self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()> {
        let stop = told_stop(experiment);
        let (defined, value) = (tolerance.is_some(), tolerance.unwrap_or(0.0));
        match &self.library.functions {
            Functions::V1(_) => self.expect_inputs(experiment, tolerance),
            Functions::V2(f) => {
                // SAFETY: the instance is alive and was told about the experiment.
                self.call(Call::EnterInitialization, || unsafe { (f.enter_initialization)(self.handle) })
            }
            Functions::V3(f) => {
                // SAFETY: the instance is alive and freshly made or reset.
                self.call(Call::EnterInitialization, || unsafe {
                    (f.enter_initialization)(self.handle, defined, value, experiment.start, true, stop)
                })
            }
        }
    }

    /// Leaves the initialisation.
    pub(crate) fn exit_initialization(&self) -> Result<()> {
        let function = match &self.library.functions {
            Functions::V1(_) => return self.begin(false),
            Functions::V2(f) => f.exit_initialization,
            Functions::V3(f) => f.exit_initialization,
        };
        // SAFETY: the instance is alive.
        self.call(Call::ExitInitialization, || unsafe { function(self.handle) })
    }

    /// Puts it back to what it was when it was made. Allowed after an error too.
    pub(crate) fn reset(&mut self) -> Result<()> {
        if self.library.is_fatal() {
            return Err(self.over());
        }
        let function = match &self.library.functions {
            Functions::V1(_) => None,
            Functions::V2(f) => Some(f.reset),
            Functions::V3(f) => Some(f.reset),
        };
        match function {
            None => self.reset_1()?,
            // SAFETY: the instance is alive.
            Some(function) => self.call(Call::Reset, || unsafe { function(self.handle) })?,
        }
        self.ended.set(false);
        self.set_end(f64::NAN);
        Ok(())
    }

    /// Ends a run.
    pub(crate) fn terminate(&self) {
        if self.alive().is_ok() {
            let function = match &self.library.functions {
                Functions::V1(_) => None,
                Functions::V2(f) => Some(f.terminate),
                Functions::V3(f) => Some(f.terminate),
            };
            let _ = match function {
                None => self.terminate_1(),
                // SAFETY: the instance is alive and initialised.
                Some(function) => self.call(Call::Terminate, || unsafe { function(self.handle) }),
            };
            self.close();
        }
    }

    /// Sets variables of type Real or Float64. In FMI 3 an array has several values for its one reference.
    #[inline]
    pub(crate) fn set_reals(&self, references: &[u32], values: &[f64]) -> Result<()> {
        let set_real = match &self.library.functions {
            Functions::V1(f) => f.values.set_real,
            Functions::V2(f) => f.set_real,
            Functions::V3(f) => {
                let (n, values, count) = (references.len(), values.as_ptr(), values.len());
                // SAFETY: the instance is alive, the FMU is told both lengths.
                return self.call(Call::SetReals, || unsafe {
                    (f.set_float64)(self.handle, references.as_ptr(), n, values, count)
                });
            }
        };
        assert_eq!(references.len(), values.len());
        // SAFETY: the instance is alive, the lengths are equal.
        self.call(Call::SetReals, || unsafe {
            set_real(self.handle, references.as_ptr(), references.len(), values.as_ptr())
        })
    }

    /// Gets variables of type Real or Float64.
    #[inline]
    pub(crate) fn get_reals(&self, references: &[u32], values: &mut [f64]) -> Result<()> {
        let get_real = match &self.library.functions {
            Functions::V1(f) => f.values.get_real,
            Functions::V2(f) => f.get_real,
            Functions::V3(f) => {
                let (n, count, values) = (references.len(), values.len(), values.as_mut_ptr());
                // SAFETY: the instance is alive, the FMU is told both lengths.
                let outcome = self.call(Call::GetReals, || unsafe {
                    (f.get_float64)(self.handle, references.as_ptr(), n, values, count)
                });
                return outcome.map_err(|error| self.while_reading(error, references));
            }
        };
        assert_eq!(references.len(), values.len());
        // SAFETY: the instance is alive, the lengths are equal.
        let outcome = self.call(Call::GetReals, || unsafe {
            get_real(self.handle, references.as_ptr(), references.len(), values.as_mut_ptr())
        });
        outcome.map_err(|error| self.while_reading(error, references))
    }

    /// The error of reading variables, with their names.
    #[cold]
    fn while_reading(&self, error: Error, references: &[u32]) -> Error {
        let all = self.library.description().variables().iter();
        let names: Vec<String> = all
            .filter(|variable| variable.kind.is_float() && references.contains(&variable.value_reference))
            .map(|variable| format!("`{}`", short(&variable.name)))
            .take(NAMED + 1)
            .collect();
        let more = if names.len() > NAMED { ", ..." } else { "" };
        let read = format!("while reading {}{more}", names[..names.len().min(NAMED)].join(", "));
        let error = match &error.details().cause {
            _ if names.is_empty() => error,
            Some(cause) => {
                let cause = format!("{cause}; {read}");
                error.because(cause)
            }
            None => error.because(read),
        };
        match python_code::is_exception(&error, self.library.description()) {
            true => error.hint(NO_NUMBER),
            false => error,
        }
    }

    /// Sets derivatives of inputs of any orders at the start of the next step (not in FMI 3).
    pub(crate) fn set_input_derivatives(
        &self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<()> {
        let function = match &self.library.functions {
            Functions::V1(f) => f.slave.as_ref().and_then(|f| f.set_input_derivatives),
            Functions::V2(f) => f.set_input_derivatives,
            Functions::V3(_) => None,
        };
        let function = self.need(function, "SetRealInputDerivatives")?;
        let count = references.len();
        assert!(orders.len() == count && values.len() == count);
        // SAFETY: the instance is alive, the lengths are equal.
        self.call(Call::SetInputDerivatives, || unsafe {
            function(self.handle, references.as_ptr(), count, orders.as_ptr(), values.as_ptr())
        })
    }
}

/// The stop time as FMUs are told: what those get that add the length of the last step to its start, which may be a rounding
/// behind the stop time. Some refuse to go further than they were told. Lengths stay as they are: others refuse to change them.
pub(super) fn told_stop(experiment: &Experiment) -> f64 {
    experiment.latest_sum(1)
}

#[inline(always)]
pub(super) fn watched<R>(slot: &Slot, call: Call, work: impl FnOnce() -> R) -> R {
    let result = slot.during(call, work);
    match call {
        // They copy, and come with a call that computes.
        Call::GetReals | Call::SetReals | Call::SetTime | Call::SetContinuousStates => {}
        Call::DoStep | Call::GetDerivatives | Call::GetEventIndicators => floating_point::restore_results(),
        _ => floating_point::restore(),
    }
    result
}

pub(super) fn lock(environment: &Environment) -> MutexGuard<'_, Exchange> {
    environment.exchange.lock().unwrap_or_else(PoisonError::into_inner)
}

const NO_MESSAGE: &str = "the FMU gave no message with it";

/// What to do about an FMU that fails in a step, and about one that says nothing.
const STEP: &str =
    "see the message of the FMU in the cause; try a smaller step, or other inputs and parameters";
const NO_NUMBER: &str =
    "what is registered as `Real` has to hold a number: look where the Python code of the FMU assigns to it";
/// Variables that are named where they cannot be read.
const NAMED: usize = 4;
const NOT_ASKED: &str = "`log = true` in its table of the project asks it for more messages; `costep check --probe` tests it by itself";
const SILENT_STEP: &str =
    "`costep check --probe` tests the FMU by itself; try a smaller step, or other inputs and parameters";
const SILENT: &str = "`costep check --probe` tests the FMU by itself; try other inputs and parameters";

pub(super) fn fatal(name: &str, library: &FmuLibrary) -> Error {
    let message = format!("`{name}` cannot be used: a call into its FMU has returned Fatal before");
    Error::new(Code::FmuFatal, message).because(library.fatal_cause())
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.library.leave();
        if self.library.is_fatal() {
            // The FMU may still hold pointers to environment and callbacks: they stay.
            return;
        }
        let function = match &self.library.functions {
            Functions::V1(_) => None,
            Functions::V2(f) => Some(f.free_instance),
            Functions::V3(f) => Some(f.free_instance),
        };
        match function {
            None => self.free_1(),
            // SAFETY: the instance is alive and not used any more.
            Some(function) => self.watched(Call::FreeInstance, || unsafe { function(self.handle) }),
        }
        // SAFETY: neither is used any more, and the FMU has no instance to use them for.
        unsafe {
            ManuallyDrop::drop(&mut self.environment);
            ManuallyDrop::drop(&mut self.callbacks);
        }
    }
}
