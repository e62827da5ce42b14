//! Types and functions of FMI 2.0, as far as Co-Simulation and Model Exchange need them.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use crate::call::symbols::function_table;

pub(crate) type Component = *mut c_void;
pub(crate) type State = *mut c_void;
pub(crate) type Status = c_int;
pub(crate) type Boolean = c_int;
type Text = *const c_char;

/// `fmi2ModelExchange` of `fmi2Type`.
pub(crate) const MODEL_EXCHANGE: c_int = 0;
/// `fmi2CoSimulation` of `fmi2Type`.
pub(crate) const CO_SIMULATION: c_int = 1;
/// `fmi2LastSuccessfulTime` of `fmi2StatusKind`.
pub(crate) const LAST_SUCCESSFUL_TIME: c_int = 2;
/// `fmi2Terminated` of `fmi2StatusKind`.
pub(crate) const TERMINATED: c_int = 3;

/// The logger of the standard: the text is a C format, its arguments follow.
pub(crate) type Logger = unsafe extern "C" fn(*mut c_void, Text, Status, Text, Text, ...);

/// `fmi2CallbackFunctions`.
#[repr(C)]
pub(crate) struct Callbacks {
    pub(crate) logger: Logger,
    pub(crate) allocate_memory: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub(crate) free_memory: unsafe extern "C" fn(*mut c_void),
    pub(crate) step_finished: Option<unsafe extern "C" fn(*mut c_void, Status)>,
    pub(crate) environment: *mut c_void,
}

/// `fmi2SetRealTYPE`.
pub(crate) type SetReal = unsafe extern "C-unwind" fn(Component, *const u32, usize, *const f64) -> Status;
/// `fmi2GetRealTYPE`.
pub(crate) type GetReal = unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut f64) -> Status;
/// `fmi2DoStepTYPE`.
pub(crate) type DoStep = unsafe extern "C-unwind" fn(Component, f64, f64, Boolean) -> Status;

unsafe extern "C" {
    /// The logger of FMI 1 and 2, in C (`logger.c`): formats a message and hands it to `costep_keep_message`.
    pub(crate) fn costep_logger(
        environment: *mut c_void,
        instance: Text,
        status: Status,
        category: Text,
        message: Text,
        ...
    );
    /// Memory for FMUs, from the C library.
    pub(crate) fn calloc(count: usize, size: usize) -> *mut c_void;
    /// Gives it back.
    pub(crate) fn free(memory: *mut c_void);
}

function_table! {
    /// The functions of an FMU of FMI 2.0. For Co-Simulation `do_step` is there, which is checked when it is loaded.
    Functions2 {
        required instantiate "fmi2Instantiate" (Text, c_int, Text, Text, *const Callbacks, Boolean, Boolean) -> Component;
        required free_instance "fmi2FreeInstance" (Component);
        required setup_experiment "fmi2SetupExperiment" (Component, Boolean, f64, f64, Boolean, f64) -> Status;
        required enter_initialization "fmi2EnterInitializationMode" (Component) -> Status;
        required exit_initialization "fmi2ExitInitializationMode" (Component) -> Status;
        required terminate "fmi2Terminate" (Component) -> Status;
        required reset "fmi2Reset" (Component) -> Status;
        required get_real "fmi2GetReal" (Component, *const u32, usize, *mut f64) -> Status;
        required set_real "fmi2SetReal" (Component, *const u32, usize, *const f64) -> Status;
        optional do_step "fmi2DoStep" (Component, f64, f64, Boolean) -> Status;
        optional get_integer "fmi2GetInteger" (Component, *const u32, usize, *mut c_int) -> Status;
        optional get_boolean "fmi2GetBoolean" (Component, *const u32, usize, *mut Boolean) -> Status;
        optional get_string "fmi2GetString" (Component, *const u32, usize, *mut Text) -> Status;
        optional set_integer "fmi2SetInteger" (Component, *const u32, usize, *const c_int) -> Status;
        optional set_boolean "fmi2SetBoolean" (Component, *const u32, usize, *const Boolean) -> Status;
        optional set_string "fmi2SetString" (Component, *const u32, usize, *const Text) -> Status;
        optional cancel_step "fmi2CancelStep" (Component) -> Status;
        optional get_real_status "fmi2GetRealStatus" (Component, c_int, *mut f64) -> Status;
        optional get_boolean_status "fmi2GetBooleanStatus" (Component, c_int, *mut Boolean) -> Status;
        optional get_state "fmi2GetFMUstate" (Component, *mut State) -> Status;
        optional set_state "fmi2SetFMUstate" (Component, State) -> Status;
        optional free_state "fmi2FreeFMUstate" (Component, *mut State) -> Status;
        optional state_size "fmi2SerializedFMUstateSize" (Component, State, *mut usize) -> Status;
        optional serialize "fmi2SerializeFMUstate" (Component, State, *mut c_char, usize) -> Status;
        optional deserialize "fmi2DeSerializeFMUstate" (Component, *const c_char, usize, *mut State) -> Status;
        optional directional "fmi2GetDirectionalDerivative"
            (Component, *const u32, usize, *const u32, usize, *const f64, *mut f64) -> Status;
        optional set_input_derivatives "fmi2SetRealInputDerivatives"
            (Component, *const u32, usize, *const c_int, *const f64) -> Status;
        optional get_output_derivatives "fmi2GetRealOutputDerivatives"
            (Component, *const u32, usize, *const c_int, *mut f64) -> Status;
    }
}

/// `fmi2EventInfo`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct EventInfo {
    pub(crate) new_discrete_states_needed: Boolean,
    pub(crate) terminate_simulation: Boolean,
    pub(crate) nominals_changed: Boolean,
    pub(crate) values_changed: Boolean,
    pub(crate) next_event_time_defined: Boolean,
    pub(crate) next_event_time: f64,
}

function_table! {
    /// The functions that Model Exchange adds.
    Exchange2 {
        required enter_event_mode "fmi2EnterEventMode" (Component) -> Status;
        required new_discrete_states "fmi2NewDiscreteStates" (Component, *mut EventInfo) -> Status;
        required enter_continuous_time_mode "fmi2EnterContinuousTimeMode" (Component) -> Status;
        required completed_step "fmi2CompletedIntegratorStep"
            (Component, Boolean, *mut Boolean, *mut Boolean) -> Status;
        required set_time "fmi2SetTime" (Component, f64) -> Status;
        required set_states "fmi2SetContinuousStates" (Component, *const f64, usize) -> Status;
        required get_states "fmi2GetContinuousStates" (Component, *mut f64, usize) -> Status;
        required get_derivatives "fmi2GetDerivatives" (Component, *mut f64, usize) -> Status;
        required get_indicators "fmi2GetEventIndicators" (Component, *mut f64, usize) -> Status;
        required get_nominals "fmi2GetNominalsOfContinuousStates" (Component, *mut f64, usize) -> Status;
    }
}
