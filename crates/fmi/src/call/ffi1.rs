//! Types and functions of FMI 1.0, for stand-alone Co-Simulation and for Model Exchange. Their names in a
//! library begin with the identifier of the model and an underscore.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::call::ffi2::Logger;
use crate::call::symbols::function_table;

pub(crate) type Component = *mut c_void;
pub(crate) type Status = c_int;
/// A Boolean, which is a character here; 0 = false.
pub(crate) type Boolean = c_char;
type Text = *const c_char;

/// What kind of FMU is instantiated: one that needs no other program.
pub(crate) const MIME_TYPE: &CStr = c"application/x-fmu-sharedlibrary";
/// `fmiLastSuccessfulTime` of `fmiStatusKind`.
pub(crate) const LAST_SUCCESSFUL_TIME: c_int = 2;
/// `fmiUndefinedValueReference`: a state that is no variable.
pub(crate) const UNDEFINED_REFERENCE: u32 = u32::MAX;

/// `fmiCallbackFunctions`, which is handed over by value: on the stack or by a hidden pointer, being larger
/// than two words. That of Model Exchange lacks the last function, so that an FMU for it does not look at
/// that one.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Callbacks {
    pub(crate) logger: Logger,
    pub(crate) allocate_memory: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub(crate) free_memory: unsafe extern "C" fn(*mut c_void),
    pub(crate) step_finished: Option<unsafe extern "C" fn(Component, Status)>,
}

/// `fmiDoStep`.
pub(crate) type DoStep = unsafe extern "C-unwind" fn(Component, f64, f64, Boolean) -> Status;

/// The functions of an FMU of FMI 1.0.
pub(crate) struct Functions1 {
    /// Those that both uses have.
    pub(crate) values: Values1,
    /// Those of Co-Simulation, if that is what it is used for.
    pub(crate) slave: Option<Slave1>,
}

function_table! {
    /// The functions that set and get variables.
    Values1 {
        required get_real "fmiGetReal" (Component, *const u32, usize, *mut f64) -> Status;
        required set_real "fmiSetReal" (Component, *const u32, usize, *const f64) -> Status;
        optional get_integer "fmiGetInteger" (Component, *const u32, usize, *mut c_int) -> Status;
        optional get_boolean "fmiGetBoolean" (Component, *const u32, usize, *mut Boolean) -> Status;
        optional get_string "fmiGetString" (Component, *const u32, usize, *mut Text) -> Status;
        optional set_integer "fmiSetInteger" (Component, *const u32, usize, *const c_int) -> Status;
        optional set_boolean "fmiSetBoolean" (Component, *const u32, usize, *const Boolean) -> Status;
        optional set_string "fmiSetString" (Component, *const u32, usize, *const Text) -> Status;
    }
}

function_table! {
    /// The functions of Co-Simulation.
    Slave1 {
        required instantiate "fmiInstantiateSlave"
            (Text, Text, Text, Text, f64, Boolean, Boolean, Callbacks, Boolean) -> Component;
        required initialize "fmiInitializeSlave" (Component, f64, Boolean, f64) -> Status;
        required terminate "fmiTerminateSlave" (Component) -> Status;
        required free_instance "fmiFreeSlaveInstance" (Component);
        required do_step "fmiDoStep" (Component, f64, f64, Boolean) -> Status;
        optional reset "fmiResetSlave" (Component) -> Status;
        optional cancel_step "fmiCancelStep" (Component) -> Status;
        optional get_real_status "fmiGetRealStatus" (Component, c_int, *mut f64) -> Status;
        optional set_input_derivatives "fmiSetRealInputDerivatives"
            (Component, *const u32, usize, *const c_int, *const f64) -> Status;
        optional get_output_derivatives "fmiGetRealOutputDerivatives"
            (Component, *const u32, usize, *const c_int, *mut f64) -> Status;
    }
}

/// `fmiEventInfo`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct EventInfo {
    pub(crate) iteration_converged: Boolean,
    pub(crate) state_references_changed: Boolean,
    pub(crate) state_values_changed: Boolean,
    pub(crate) terminate_simulation: Boolean,
    pub(crate) upcoming_time_event: Boolean,
    pub(crate) next_event_time: f64,
}

function_table! {
    /// The functions of Model Exchange.
    Exchange1 {
        required instantiate "fmiInstantiateModel" (Text, Text, Callbacks, Boolean) -> Component;
        required free_instance "fmiFreeModelInstance" (Component);
        required initialize "fmiInitialize" (Component, Boolean, f64, *mut EventInfo) -> Status;
        required terminate "fmiTerminate" (Component) -> Status;
        required event_update "fmiEventUpdate" (Component, Boolean, *mut EventInfo) -> Status;
        required completed_step "fmiCompletedIntegratorStep" (Component, *mut Boolean) -> Status;
        required set_time "fmiSetTime" (Component, f64) -> Status;
        required set_states "fmiSetContinuousStates" (Component, *const f64, usize) -> Status;
        required get_states "fmiGetContinuousStates" (Component, *mut f64, usize) -> Status;
        required get_derivatives "fmiGetDerivatives" (Component, *mut f64, usize) -> Status;
        required get_indicators "fmiGetEventIndicators" (Component, *mut f64, usize) -> Status;
        required get_nominals "fmiGetNominalContinuousStates" (Component, *mut f64, usize) -> Status;
        optional get_state_references "fmiGetStateValueReferences" (Component, *mut u32, usize) -> Status;
    }
}
