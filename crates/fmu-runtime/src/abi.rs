//! What the functions of both versions of FMI share: instances behind pointers, messages, no panic that leaves.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use costep_core::{Code, Error, Result};

use crate::instance::{Instance, Kind};
use crate::plan::Plan;
use crate::stored::Stored;

pub(crate) type Status = c_int;
pub(crate) type Text = *const c_char;
pub(crate) type Handle = *mut c_void;

pub(crate) const OK: Status = 0;
pub(crate) const ERROR: Status = 3;

/// The logger of FMI 2.
pub(crate) type Logger2 = unsafe extern "C" fn(*mut c_void, Text, Status, Text, Text, ...);
/// The logger of FMI 3.
pub(crate) type Logger3 = unsafe extern "C" fn(*mut c_void, Status, Text, Text);
/// `fmi3IntermediateUpdateCallback`.
pub(crate) type Update = unsafe extern "C" fn(*mut c_void, f64, bool, bool, bool, bool, *mut bool, *mut f64);

/// Where messages go.
#[derive(Clone, Copy)]
pub(crate) enum Log {
    V2(Option<Logger2>, *mut c_void),
    V3(Option<Logger3>, *mut c_void),
}

impl Log {
    fn write(self, name: &CStr, message: &str) {
        // A message is a C format in FMI 2, and plain text in FMI 3.
        let message = message.replace('\0', " ");
        let message = if matches!(self, Self::V2(..)) { message.replace('%', "%%") } else { message };
        let text = CString::new(message).unwrap_or_default();
        let category = c"logStatusError".as_ptr();
        // SAFETY: the importer promises that its logger can be called; all texts end with a zero byte.
        unsafe {
            match self {
                Self::V2(Some(logger), environment) => {
                    logger(environment, name.as_ptr(), ERROR, category, text.as_ptr());
                }
                Self::V3(Some(logger), environment) => logger(environment, ERROR, category, text.as_ptr()),
                _ => {}
            }
        }
    }
}

/// What a handle points to.
pub(crate) struct Component {
    pub(crate) instance: Instance,
    pub(crate) log: Log,
    pub(crate) name: CString,
    /// Intermediate update, with the environment it wants.
    pub(crate) update: Option<(Update, *mut c_void)>,
    /// Start time given before the initialisation (FMI 2).
    pub(crate) start: f64,
}

/// Makes an instance; null if that fails.
///
/// # Safety
/// Texts are null or end with a zero byte.
pub(crate) unsafe fn instantiate(
    (name, token): (Text, Text),
    resources: Option<PathBuf>,
    kind: Kind,
    log: Log,
    update: Option<(Update, *mut c_void)>,
) -> Handle {
    // SAFETY: by the contract of this function.
    let (name, token) = unsafe { (text(name), text(token)) };
    let made = catch_unwind(|| {
        let plan =
            plan(&resources.ok_or_else(|| Error::new(Code::FmuFiles, "the resources are not given"))?)?;
        if plan.token != token {
            return Err(Error::new(Code::FmuNotInstantiated, "the token belongs to another FMU"));
        }
        Instance::new(&plan, kind)
    });
    let name = CString::new(name).unwrap_or_default();
    match made {
        Ok(Ok(instance)) => {
            let component = Component { instance, log, name, update, start: 0.0 };
            Box::into_raw(Box::new(component)).cast()
        }
        Ok(Err(error)) => {
            log.write(&name, &words(&error));
            std::ptr::null_mut()
        }
        Err(_) => std::ptr::null_mut(),
    }
}

/// The plan among these resources. The last one is kept: instances of one FMU have the same.
fn plan(resources: &Path) -> Result<Arc<Plan>> {
    static LAST: Mutex<Option<(PathBuf, Arc<Plan>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some((path, plan)) if path == resources => Ok(Arc::clone(plan)),
        _ => {
            let plan = Arc::new(Plan::read(resources)?);
            *last = Some((resources.to_owned(), Arc::clone(&plan)));
            Ok(plan)
        }
    }
}

/// Frees an instance.
///
/// # Safety
/// `handle` is null or from [`instantiate`], and not used any more.
pub(crate) unsafe fn free(handle: Handle) {
    if !handle.is_null() {
        // SAFETY: by the contract of this function.
        drop(unsafe { Box::from_raw(handle.cast::<Component>()) });
    }
}

/// Calls into an instance. Errors and panics become messages and the status Error.
///
/// # Safety
/// `handle` is null or an instance that lives and that nothing else is using.
#[inline]
pub(crate) unsafe fn call(handle: Handle, action: impl FnOnce(&mut Component) -> Result<()>) -> Status {
    // SAFETY: by the contract of this function.
    let Some(component) = (unsafe { handle.cast::<Component>().as_mut() }) else { return ERROR };
    match catch_unwind(AssertUnwindSafe(|| action(component))) {
        Ok(Ok(())) => OK,
        Ok(Err(error)) => failed(component, &error),
        Err(_) => failed(component, &Error::new(Code::Bug, "internal error of the FMU")),
    }
}

#[cold]
fn failed(component: &Component, error: &Error) -> Status {
    component.log.write(&component.name, &words(error));
    ERROR
}

fn words(error: &Error) -> String {
    let details = error.details();
    match &details.cause {
        Some(cause) => format!("{}: {cause}", details.message),
        None => details.message.clone(),
    }
}

/// An array from C.
///
/// # Safety
/// `start` points to `count` values, unless `count` is 0.
#[inline]
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize) -> &'a [T] {
    // SAFETY: by the contract of this function.
    if count == 0 || start.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(start, count) } }
}

/// An array of C to write to.
///
/// # Safety
/// As for [`array`], and nothing else uses it.
#[inline]
pub(crate) unsafe fn array_mut<'a, T>(start: *mut T, count: usize) -> &'a mut [T] {
    if count == 0 || start.is_null() {
        &mut []
    } else {
        // SAFETY: by the contract of this function.
        unsafe { std::slice::from_raw_parts_mut(start, count) }
    }
}

/// A text from C.
///
/// # Safety
/// It is null or ends with a zero byte.
pub(crate) unsafe fn text(start: Text) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: by the contract of this function.
    unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned()
}

/// Writes a value for C, if it wants it.
///
/// # Safety
/// `place` is null or can be written to.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: by the contract of this function.
        unsafe { place.write(value) };
    }
}

fn stored<'a>(state: Handle) -> Result<&'a mut Stored> {
    // SAFETY: importers hand back what they were given by `get_state` or `deserialize`.
    unsafe { state.cast::<Stored>().as_mut() }.ok_or_else(|| Error::new(Code::FmuError, "no state is given"))
}

/// The functions for states, equal in both versions.
///
/// # Safety
/// Of all of them: `handle` as for [`call`]; states are null or of this instance; pointers are null or fit the counts.
pub(crate) unsafe fn get_state(handle: Handle, state: *mut Handle) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        call(handle, |component| {
            let Some(state) = state.as_mut() else {
                return Err(Error::new(Code::FmuError, "no place for the state"));
            };
            if state.is_null() {
                let mut fresh = Box::<Stored>::default();
                component.instance.store(&mut fresh)?;
                *state = Box::into_raw(fresh).cast();
                return Ok(());
            }
            component.instance.store(stored(*state)?)
        })
    }
}

/// See [`get_state`].
pub(crate) unsafe fn set_state(handle: Handle, state: Handle) -> Status {
    // SAFETY: by the contract of this function.
    unsafe { call(handle, |component| component.instance.put_back(stored(state)?)) }
}

/// See [`get_state`].
pub(crate) unsafe fn free_state(state: *mut Handle) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        if let Some(state) = state.as_mut()
            && !state.is_null()
        {
            drop(Box::from_raw(state.cast::<Stored>()));
            *state = std::ptr::null_mut();
        }
    }
    OK
}

/// See [`get_state`].
pub(crate) unsafe fn state_size(handle: Handle, state: Handle, size: *mut usize) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        call(handle, |component| {
            put(size, component.instance.serialize(stored(state)?).len());
            Ok(())
        })
    }
}

/// See [`get_state`].
pub(crate) unsafe fn serialize(handle: Handle, state: Handle, to: *mut u8, size: usize) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        call(handle, |component| {
            let bytes = component.instance.serialize(stored(state)?);
            if bytes.len() > size {
                return Err(Error::new(Code::FmuValue, format!("{size} bytes are too few for the state")));
            }
            array_mut(to, bytes.len()).copy_from_slice(&bytes);
            Ok(())
        })
    }
}

/// See [`get_state`].
pub(crate) unsafe fn deserialize(handle: Handle, from: *const u8, size: usize, state: *mut Handle) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        call(handle, |component| {
            let fresh = component.instance.deserialize(array(from, size))?;
            free_state(state);
            put(state, Box::into_raw(Box::new(fresh)).cast());
            Ok(())
        })
    }
}
