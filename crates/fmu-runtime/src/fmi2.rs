//! The functions of FMI 2.0.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]
// SAFETY of every function below: an importer keeps the contract of the standard. Handles are those of
// `fmi2Instantiate`, used by one thread at a time; arrays are as long as their counts say; texts end with zero.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::{c_char, c_int, c_void};

use costep_core::{Code, Error, Interval};

use crate::abi::{
    self, ERROR, Handle, Log, Logger2, OK, Status, Text, array, array_mut, call, free, instantiate, put, text,
};
use crate::instance::Kind;
use crate::plan::{Role, folder_of_uri};

type Boolean = c_int;

/// `fmi2CallbackFunctions`.
#[repr(C)]
pub(crate) struct Callbacks {
    logger: Option<Logger2>,
    allocate: *const c_void,
    free: *const c_void,
    finished: *const c_void,
    environment: *mut c_void,
}

/// `fmi2EventInfo`.
#[repr(C)]
pub(crate) struct EventInfo {
    flags: [Boolean; 5],
    next_event_time: f64,
}

#[unsafe(no_mangle)]
extern "C" fn fmi2GetTypesPlatform() -> Text {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn fmi2GetVersion() -> Text {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2Instantiate(
    name: Text,
    kind: c_int,
    token: Text,
    resources: Text,
    callbacks: *const Callbacks,
    _visible: Boolean,
    _logging: Boolean,
) -> Handle {
    let kind = if kind == 0 { Kind::ModelExchange } else { Kind::CoSimulation };
    unsafe {
        let log = callbacks.as_ref().map_or((None, std::ptr::null_mut()), |c| (c.logger, c.environment));
        instantiate((name, token), folder_of_uri(&text(resources)), kind, Log::V2(log.0, log.1), None)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2FreeInstance(c: Handle) {
    unsafe { free(c) }
}

#[unsafe(no_mangle)]
extern "C" fn fmi2SetDebugLogging(_: Handle, _: Boolean, _: usize, _: *const Text) -> Status {
    OK
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SetupExperiment(
    c: Handle,
    _: Boolean,
    _: f64,
    start: f64,
    _: Boolean,
    _: f64,
) -> Status {
    unsafe {
        call(c, |component| {
            component.start = start;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2EnterInitializationMode(c: Handle) -> Status {
    unsafe { call(c, |component| component.instance.enter_initialization(component.start)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2ExitInitializationMode(c: Handle) -> Status {
    unsafe { call(c, |component| component.instance.exit_initialization()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2Terminate(c: Handle) -> Status {
    unsafe { call(c, |component| component.instance.terminate()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2Reset(c: Handle) -> Status {
    unsafe {
        call(c, |component| {
            component.instance.reset();
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetReal(c: Handle, vr: *const u32, n: usize, values: *mut f64) -> Status {
    unsafe { call(c, |component| component.instance.get(array(vr, n), array_mut(values, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SetReal(c: Handle, vr: *const u32, n: usize, values: *const f64) -> Status {
    unsafe { call(c, |component| component.instance.set(array(vr, n), array(values, n))) }
}

/// Functions for types that no variable has: nothing can be got or set.
macro_rules! no_variables {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_: Handle, _: *const u32, n: usize, _: *mut c_void) -> Status {
            if n == 0 { OK } else { ERROR }
        }
    )* };
}
no_variables! { fmi2GetInteger fmi2GetBoolean fmi2GetString fmi2SetInteger fmi2SetBoolean fmi2SetString }

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetFMUstate(c: Handle, state: *mut Handle) -> Status {
    unsafe { abi::get_state(c, state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SetFMUstate(c: Handle, state: Handle) -> Status {
    unsafe { abi::set_state(c, state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2FreeFMUstate(_c: Handle, state: *mut Handle) -> Status {
    unsafe { abi::free_state(state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SerializedFMUstateSize(c: Handle, state: Handle, size: *mut usize) -> Status {
    unsafe { abi::state_size(c, state, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SerializeFMUstate(c: Handle, state: Handle, to: *mut c_char, size: usize) -> Status {
    unsafe { abi::serialize(c, state, to.cast(), size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: Handle,
    from: *const c_char,
    size: usize,
    state: *mut Handle,
) -> Status {
    unsafe { abi::deserialize(c, from.cast(), size, state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: Handle,
    unknowns: *const u32,
    rows: usize,
    knowns: *const u32,
    columns: usize,
    seed: *const f64,
    sensitivity: *mut f64,
) -> Status {
    unsafe {
        call(c, |component| {
            let references = (array(unknowns, rows), array(knowns, columns));
            component.instance.directional(references, array(seed, columns), array_mut(sensitivity, rows))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2EnterEventMode(c: Handle) -> Status {
    unsafe { call(c, |_| Ok(())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2NewDiscreteStates(c: Handle, info: *mut EventInfo) -> Status {
    // There are no discrete states and no events.
    unsafe {
        put(info, EventInfo { flags: [0; 5], next_event_time: 0.0 });
        call(c, |_| Ok(()))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2EnterContinuousTimeMode(c: Handle) -> Status {
    unsafe { call(c, |_| Ok(())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: Handle,
    _: Boolean,
    event: *mut Boolean,
    end: *mut Boolean,
) -> Status {
    unsafe {
        put(event, 0);
        put(end, 0);
        call(c, |_| Ok(()))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SetTime(c: Handle, time: f64) -> Status {
    unsafe { call(c, |component| component.instance.set_time(time)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SetContinuousStates(c: Handle, x: *const f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.set_states(array(x, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetDerivatives(c: Handle, x_dot: *mut f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.get_all(Role::Derivative, array_mut(x_dot, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetContinuousStates(c: Handle, x: *mut f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.get_all(Role::State, array_mut(x, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetNominalsOfContinuousStates(c: Handle, x: *mut f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.nominals(array_mut(x, n))) }
}

#[unsafe(no_mangle)]
extern "C" fn fmi2GetEventIndicators(_: Handle, _: *mut f64, n: usize) -> Status {
    if n == 0 { OK } else { ERROR }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: Handle,
    vr: *const u32,
    n: usize,
    orders: *const c_int,
    values: *const f64,
) -> Status {
    unsafe {
        call(c, |component| {
            component.instance.set_input_derivatives(array(vr, n), array(orders, n), array(values, n))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: Handle,
    _: *const u32,
    n: usize,
    _: *const c_int,
    _: *mut f64,
) -> Status {
    let what = "derivatives of outputs are not offered";
    unsafe { call(c, |_| if n == 0 { Ok(()) } else { Err(Error::new(Code::NeedsMissing, what)) }) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi2DoStep(c: Handle, start: f64, length: f64, _no_return: Boolean) -> Status {
    unsafe {
        call(c, |component| {
            component.instance.check_step(start, length)?;
            component.instance.advance(Interval { start, end: start + length, length })
        })
    }
}

#[unsafe(no_mangle)]
extern "C" fn fmi2CancelStep(_: Handle) -> Status {
    ERROR
}

/// Steps are complete or failed: there is nothing to ask about them.
macro_rules! no_status {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_: Handle, _: c_int, _: *mut c_void) -> Status {
            2 // fmi2Discard, as the standard wants it
        }
    )* };
}
no_status! { fmi2GetStatus fmi2GetRealStatus fmi2GetIntegerStatus fmi2GetBooleanStatus fmi2GetStringStatus }
