//! The functions of FMI 3.0.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]
// SAFETY of every function below: an importer keeps the contract of the standard. Handles are those of the
// functions that instantiate, used by one thread at a time; arrays are as long as their counts say; texts end with
// zero.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;
use std::path::PathBuf;

use costep_core::{Code, Error, Result};

use crate::abi::{
    self, ERROR, Handle, Log, Logger3, OK, Status, Text, Update, array, array_mut, call, free, instantiate,
    put, text,
};
use crate::instance::Kind;
use crate::plan::Role;

#[unsafe(no_mangle)]
extern "C" fn fmi3GetVersion() -> Text {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn fmi3SetDebugLogging(_: Handle, _: bool, _: usize, _: *const Text) -> Status {
    OK
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3InstantiateModelExchange(
    name: Text,
    token: Text,
    resources: Text,
    _visible: bool,
    logging: bool,
    environment: *mut c_void,
    logger: Option<Logger3>,
) -> Handle {
    let log = Log::V3(logger.filter(|_| logging), environment);
    unsafe { instantiate((name, token), path_of(resources), Kind::ModelExchange, log, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: Text,
    token: Text,
    resources: Text,
    _visible: bool,
    logging: bool,
    _event_mode: bool,
    _early_return: bool,
    _intermediate: *const u32,
    intermediates: usize,
    environment: *mut c_void,
    logger: Option<Logger3>,
    update: Option<Update>,
) -> Handle {
    let log = Log::V3(logger.filter(|_| logging), environment);
    let update = update.filter(|_| intermediates > 0).map(|update| (update, environment));
    unsafe { instantiate((name, token), path_of(resources), Kind::CoSimulation, log, update) }
}

#[unsafe(no_mangle)]
extern "C" fn fmi3InstantiateScheduledExecution(
    _: Text,
    _: Text,
    _: Text,
    _: bool,
    _: bool,
    _: *mut c_void,
    _: *const c_void,
    _: *const c_void,
    _: *const c_void,
    _: *const c_void,
) -> Handle {
    std::ptr::null_mut()
}

unsafe fn path_of(resources: Text) -> Option<PathBuf> {
    (!resources.is_null()).then(|| PathBuf::from(unsafe { text(resources) }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3FreeInstance(c: Handle) {
    unsafe { free(c) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3EnterInitializationMode(
    c: Handle,
    _: bool,
    _: f64,
    start: f64,
    _: bool,
    _: f64,
) -> Status {
    unsafe { call(c, |component| component.instance.enter_initialization(start)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3ExitInitializationMode(c: Handle) -> Status {
    unsafe { call(c, |component| component.instance.exit_initialization()) }
}

/// Changes of mode that mean nothing to equations without events.
macro_rules! no_change {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(c: Handle) -> Status {
            unsafe { call(c, |_| Ok(())) }
        }
    )* };
}
no_change! { fmi3EnterEventMode fmi3EnterContinuousTimeMode fmi3EnterStepMode fmi3EvaluateDiscreteStates }

/// What is not offered at all.
macro_rules! not_offered {
    ($($name:ident ($($argument:ty),*))*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $argument),*) -> Status {
            ERROR
        }
    )* };
}
not_offered! {
    fmi3EnterConfigurationMode (Handle)
    fmi3ExitConfigurationMode (Handle)
    fmi3GetIntervalDecimal (Handle, *const u32, usize, *mut f64, *mut c_void)
    fmi3GetIntervalFraction (Handle, *const u32, usize, *mut u64, *mut u64, *mut c_void)
    fmi3GetShiftDecimal (Handle, *const u32, usize, *mut f64)
    fmi3GetShiftFraction (Handle, *const u32, usize, *mut u64, *mut u64)
    fmi3SetIntervalDecimal (Handle, *const u32, usize, *const f64)
    fmi3SetIntervalFraction (Handle, *const u32, usize, *const u64, *const u64)
    fmi3SetShiftDecimal (Handle, *const u32, usize, *const f64)
    fmi3SetShiftFraction (Handle, *const u32, usize, *const u64, *const u64)
    fmi3ActivateModelPartition (Handle, u32, f64)
    fmi3GetNumberOfVariableDependencies (Handle, u32, *mut usize)
    fmi3GetVariableDependencies (Handle, u32, *mut usize, *mut u32, *mut usize, *mut c_void, usize)
    fmi3GetOutputDerivatives (Handle, *const u32, usize, *const i32, *mut f64, usize)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3Terminate(c: Handle) -> Status {
    unsafe { call(c, |component| component.instance.terminate()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3Reset(c: Handle) -> Status {
    unsafe {
        call(c, |component| {
            component.instance.reset();
            Ok(())
        })
    }
}

/// All variables are scalars.
#[inline]
fn same(references: usize, values: usize) -> Result<()> {
    if references == values { Ok(()) } else { Err(not_scalar(references, values)) }
}

#[cold]
fn not_scalar(references: usize, values: usize) -> Error {
    Error::new(Code::FmuValue, format!("{values} values for {references} scalar variables"))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetFloat64(
    c: Handle,
    vr: *const u32,
    n: usize,
    values: *mut f64,
    count: usize,
) -> Status {
    unsafe {
        call(c, |component| {
            same(n, count)?;
            component.instance.get(array(vr, n), array_mut(values, n))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3SetFloat64(
    c: Handle,
    vr: *const u32,
    n: usize,
    values: *const f64,
    count: usize,
) -> Status {
    unsafe {
        call(c, |component| {
            same(n, count)?;
            component.instance.set(array(vr, n), array(values, n))
        })
    }
}

/// Functions for types that no variable has: nothing can be got or set.
macro_rules! no_variables {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_: Handle, _: *const u32, n: usize, _: *mut c_void, _: usize) -> Status {
            if n == 0 { OK } else { ERROR }
        }
    )* };
}
no_variables! {
    fmi3GetFloat32 fmi3GetInt8 fmi3GetUInt8 fmi3GetInt16 fmi3GetUInt16 fmi3GetInt32 fmi3GetUInt32 fmi3GetInt64
    fmi3GetUInt64 fmi3GetBoolean fmi3GetString fmi3SetFloat32 fmi3SetInt8 fmi3SetUInt8 fmi3SetInt16 fmi3SetUInt16
    fmi3SetInt32 fmi3SetUInt32 fmi3SetInt64 fmi3SetUInt64 fmi3SetBoolean fmi3SetString fmi3GetClock fmi3SetClock
}

/// The same for binaries, which come with their sizes.
macro_rules! no_binaries {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_: Handle, _: *const u32, n: usize, _: *mut usize, _: *mut c_void, _: usize) -> Status {
            if n == 0 { OK } else { ERROR }
        }
    )* };
}
no_binaries! { fmi3GetBinary fmi3SetBinary }

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetFMUState(c: Handle, state: *mut Handle) -> Status {
    unsafe { abi::get_state(c, state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3SetFMUState(c: Handle, state: Handle) -> Status {
    unsafe { abi::set_state(c, state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3FreeFMUState(_c: Handle, state: *mut Handle) -> Status {
    unsafe { abi::free_state(state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3SerializedFMUStateSize(c: Handle, state: Handle, size: *mut usize) -> Status {
    unsafe { abi::state_size(c, state, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3SerializeFMUState(c: Handle, state: Handle, to: *mut u8, size: usize) -> Status {
    unsafe { abi::serialize(c, state, to, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3DeserializeFMUState(
    c: Handle,
    from: *const u8,
    size: usize,
    state: *mut Handle,
) -> Status {
    unsafe { abi::deserialize(c, from, size, state) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetDirectionalDerivative(
    c: Handle,
    unknowns: *const u32,
    rows: usize,
    knowns: *const u32,
    columns: usize,
    seed: *const f64,
    seeds: usize,
    sensitivity: *mut f64,
    sensitivities: usize,
) -> Status {
    unsafe {
        call(c, |component| {
            same(columns, seeds)?;
            same(rows, sensitivities)?;
            let references = (array(unknowns, rows), array(knowns, columns));
            component.instance.directional(references, array(seed, columns), array_mut(sensitivity, rows))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetAdjointDerivative(
    c: Handle,
    unknowns: *const u32,
    rows: usize,
    knowns: *const u32,
    columns: usize,
    seed: *const f64,
    seeds: usize,
    sensitivity: *mut f64,
    sensitivities: usize,
) -> Status {
    unsafe {
        call(c, |component| {
            same(rows, seeds)?;
            same(columns, sensitivities)?;
            let references = (array(unknowns, rows), array(knowns, columns));
            component.instance.adjoint(references, array(seed, rows), array_mut(sensitivity, columns))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3UpdateDiscreteStates(
    c: Handle,
    again: *mut bool,
    end: *mut bool,
    nominals: *mut bool,
    values: *mut bool,
    event: *mut bool,
    event_time: *mut f64,
) -> Status {
    // There are no discrete states and no events.
    unsafe {
        [again, end, nominals, values, event].into_iter().for_each(|flag| put(flag, false));
        put(event_time, 0.0);
        call(c, |_| Ok(()))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3CompletedIntegratorStep(
    c: Handle,
    _: bool,
    event: *mut bool,
    end: *mut bool,
) -> Status {
    unsafe {
        put(event, false);
        put(end, false);
        call(c, |_| Ok(()))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3SetTime(c: Handle, time: f64) -> Status {
    unsafe { call(c, |component| component.instance.set_time(time)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3SetContinuousStates(c: Handle, x: *const f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.set_states(array(x, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetContinuousStateDerivatives(c: Handle, x_dot: *mut f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.get_all(Role::Derivative, array_mut(x_dot, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetContinuousStates(c: Handle, x: *mut f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.get_all(Role::State, array_mut(x, n))) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetNominalsOfContinuousStates(c: Handle, x: *mut f64, n: usize) -> Status {
    unsafe { call(c, |component| component.instance.nominals(array_mut(x, n))) }
}

#[unsafe(no_mangle)]
extern "C" fn fmi3GetEventIndicators(_: Handle, _: *mut f64, n: usize) -> Status {
    if n == 0 { OK } else { ERROR }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetNumberOfEventIndicators(c: Handle, count: *mut usize) -> Status {
    unsafe {
        put(count, 0);
        call(c, |_| Ok(()))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3GetNumberOfContinuousStates(c: Handle, count: *mut usize) -> Status {
    unsafe {
        call(c, |component| {
            put(count, component.instance.states());
            Ok(())
        })
    }
}
