//! Types and functions of FMI 3.0, as far as Co-Simulation and Model Exchange need them.
//!
//! A Boolean that the FMU writes is declared as a byte here: it may write any, which a `bool` must not hold.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use crate::call::symbols::function_table;

pub(crate) type Instance = *mut c_void;
pub(crate) type State = *mut c_void;
pub(crate) type Status = c_int;
/// A Boolean written by the FMU; 0 = false.
pub(crate) type Flag = u8;
type Text = *const c_char;

/// `fmi3LogMessageCallback`.
pub(crate) type LogMessage = unsafe extern "C" fn(*mut c_void, Status, Text, Text);
/// `fmi3IntermediateUpdateCallback`: environment, time, set requested, get allowed, step finished, can return
/// early; early return requested and its time.
pub(crate) type IntermediateUpdate =
    unsafe extern "C" fn(*mut c_void, f64, Flag, Flag, Flag, Flag, *mut Flag, *mut f64);

function_table! {
    /// The functions of an FMU of FMI 3.0. For Co-Simulation `instantiate` and `do_step` are there, which is checked
    /// when it is loaded.
    Functions3 {
        optional instantiate "fmi3InstantiateCoSimulation"
            (Text, Text, Text, bool, bool, bool, bool, *const u32, usize, *mut c_void, Option<LogMessage>,
             Option<IntermediateUpdate>) -> Instance;
        required free_instance "fmi3FreeInstance" (Instance);
        required enter_initialization "fmi3EnterInitializationMode" (Instance, bool, f64, f64, bool, f64) -> Status;
        required exit_initialization "fmi3ExitInitializationMode" (Instance) -> Status;
        required terminate "fmi3Terminate" (Instance) -> Status;
        required reset "fmi3Reset" (Instance) -> Status;
        required get_float64 "fmi3GetFloat64" (Instance, *const u32, usize, *mut f64, usize) -> Status;
        required set_float64 "fmi3SetFloat64" (Instance, *const u32, usize, *const f64, usize) -> Status;
        optional do_step "fmi3DoStep"
            (Instance, f64, f64, bool, *mut Flag, *mut Flag, *mut Flag, *mut f64) -> Status;
        optional enter_event_mode "fmi3EnterEventMode" (Instance) -> Status;
        optional enter_step_mode "fmi3EnterStepMode" (Instance) -> Status;
        optional update_discrete_states "fmi3UpdateDiscreteStates"
            (Instance, *mut Flag, *mut Flag, *mut Flag, *mut Flag, *mut Flag, *mut f64) -> Status;
        optional set_clock "fmi3SetClock" (Instance, *const u32, usize, *const bool) -> Status;
        optional get_interval "fmi3GetIntervalDecimal" (Instance, *const u32, usize, *mut f64, *mut c_int) -> Status;
        optional enter_configuration "fmi3EnterConfigurationMode" (Instance) -> Status;
        optional exit_configuration "fmi3ExitConfigurationMode" (Instance) -> Status;
        optional get_float32 "fmi3GetFloat32" (Instance, *const u32, usize, *mut f32, usize) -> Status;
        optional set_float32 "fmi3SetFloat32" (Instance, *const u32, usize, *const f32, usize) -> Status;
        optional get_int8 "fmi3GetInt8" (Instance, *const u32, usize, *mut i8, usize) -> Status;
        optional set_int8 "fmi3SetInt8" (Instance, *const u32, usize, *const i8, usize) -> Status;
        optional get_uint8 "fmi3GetUInt8" (Instance, *const u32, usize, *mut u8, usize) -> Status;
        optional set_uint8 "fmi3SetUInt8" (Instance, *const u32, usize, *const u8, usize) -> Status;
        optional get_int16 "fmi3GetInt16" (Instance, *const u32, usize, *mut i16, usize) -> Status;
        optional set_int16 "fmi3SetInt16" (Instance, *const u32, usize, *const i16, usize) -> Status;
        optional get_uint16 "fmi3GetUInt16" (Instance, *const u32, usize, *mut u16, usize) -> Status;
        optional set_uint16 "fmi3SetUInt16" (Instance, *const u32, usize, *const u16, usize) -> Status;
        optional get_int32 "fmi3GetInt32" (Instance, *const u32, usize, *mut i32, usize) -> Status;
        optional set_int32 "fmi3SetInt32" (Instance, *const u32, usize, *const i32, usize) -> Status;
        optional get_uint32 "fmi3GetUInt32" (Instance, *const u32, usize, *mut u32, usize) -> Status;
        optional set_uint32 "fmi3SetUInt32" (Instance, *const u32, usize, *const u32, usize) -> Status;
        optional get_int64 "fmi3GetInt64" (Instance, *const u32, usize, *mut i64, usize) -> Status;
        optional set_int64 "fmi3SetInt64" (Instance, *const u32, usize, *const i64, usize) -> Status;
        optional get_uint64 "fmi3GetUInt64" (Instance, *const u32, usize, *mut u64, usize) -> Status;
        optional set_uint64 "fmi3SetUInt64" (Instance, *const u32, usize, *const u64, usize) -> Status;
        optional get_boolean "fmi3GetBoolean" (Instance, *const u32, usize, *mut Flag, usize) -> Status;
        optional set_boolean "fmi3SetBoolean" (Instance, *const u32, usize, *const bool, usize) -> Status;
        optional get_string "fmi3GetString" (Instance, *const u32, usize, *mut Text, usize) -> Status;
        optional set_string "fmi3SetString" (Instance, *const u32, usize, *const Text, usize) -> Status;
        optional get_binary "fmi3GetBinary"
            (Instance, *const u32, usize, *mut usize, *mut *const u8, usize) -> Status;
        optional set_binary "fmi3SetBinary"
            (Instance, *const u32, usize, *const usize, *const *const u8, usize) -> Status;
        optional get_state "fmi3GetFMUState" (Instance, *mut State) -> Status;
        optional set_state "fmi3SetFMUState" (Instance, State) -> Status;
        optional free_state "fmi3FreeFMUState" (Instance, *mut State) -> Status;
        optional state_size "fmi3SerializedFMUStateSize" (Instance, State, *mut usize) -> Status;
        optional serialize "fmi3SerializeFMUState" (Instance, State, *mut u8, usize) -> Status;
        optional deserialize "fmi3DeserializeFMUState" (Instance, *const u8, usize, *mut State) -> Status;
        optional directional "fmi3GetDirectionalDerivative"
            (Instance, *const u32, usize, *const u32, usize, *const f64, usize, *mut f64, usize) -> Status;
        optional adjoint "fmi3GetAdjointDerivative"
            (Instance, *const u32, usize, *const u32, usize, *const f64, usize, *mut f64, usize) -> Status;
        optional get_output_derivatives "fmi3GetOutputDerivatives"
            (Instance, *const u32, usize, *const i32, *mut f64, usize) -> Status;
    }
}

function_table! {
    /// The functions that Model Exchange adds.
    Exchange3 {
        required instantiate "fmi3InstantiateModelExchange"
            (Text, Text, Text, bool, bool, *mut c_void, Option<LogMessage>) -> Instance;
        required enter_event_mode "fmi3EnterEventMode" (Instance) -> Status;
        required update_discrete_states "fmi3UpdateDiscreteStates"
            (Instance, *mut Flag, *mut Flag, *mut Flag, *mut Flag, *mut Flag, *mut f64) -> Status;
        required enter_continuous_time_mode "fmi3EnterContinuousTimeMode" (Instance) -> Status;
        required completed_step "fmi3CompletedIntegratorStep" (Instance, bool, *mut Flag, *mut Flag) -> Status;
        required set_time "fmi3SetTime" (Instance, f64) -> Status;
        required set_states "fmi3SetContinuousStates" (Instance, *const f64, usize) -> Status;
        required get_states "fmi3GetContinuousStates" (Instance, *mut f64, usize) -> Status;
        required get_derivatives "fmi3GetContinuousStateDerivatives" (Instance, *mut f64, usize) -> Status;
        required get_indicators "fmi3GetEventIndicators" (Instance, *mut f64, usize) -> Status;
        required get_nominals "fmi3GetNominalsOfContinuousStates" (Instance, *mut f64, usize) -> Status;

    }
}
