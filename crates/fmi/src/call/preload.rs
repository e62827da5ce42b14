//! Libraries whose symbols FMUs take for granted.
//!
//! FMUs made of Python code (PythonFMU and others) do not name the library of Python they need: they expect its symbols in
//! the program, as in an interpreter. Here it is loaded for them, globally and for good: Python cannot be started twice.
#![allow(unsafe_code)]

use std::path::Path;
#[cfg(unix)]
use std::sync::OnceLock;

use costep_core::{Code, Error, Result};

/// Path or name of the library of Python to load, instead of those that are looked for.
#[cfg(unix)]
const VARIABLE: &str = "COSTEP_PYTHON_LIBRARY";
/// Versions of Python 3 that are looked for, the newest first.
#[cfg(unix)]
const MINORS: std::ops::RangeInclusive<u32> = 8..=15;

/// What to do if nothing was found.
pub(crate) const PYTHON_HINT: &str = "the FMU needs the library of Python: install it (libpython3), or name it: COSTEP_PYTHON_LIBRARY=/path/libpython3.11.so";

/// Loads a library so that FMUs loaded later find its symbols, for the rest of the process. A name without a slash is
/// looked for where the operating system does.
pub fn preload(library: &Path) -> Result<()> {
    open(library).map_err(|error| {
        let message = format!("cannot load the library `{}`", library.display());
        Error::new(Code::FmuNotLoaded, message).because(error)
    })
}

#[cfg(unix)]
fn open(library: &Path) -> Result<(), libloading::Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: its initialisers run here; the user named it, or it is that of Python.
    let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_GLOBAL) }?;
    std::mem::forget(library);
    Ok(())
}

#[cfg(not(unix))]
fn open(library: &Path) -> Result<(), libloading::Error> {
    // SAFETY: its initialisers run here; the user named it.
    std::mem::forget(unsafe { libloading::Library::new(library) }?);
    Ok(())
}

/// Whether an FMU that could not be loaded lacks Python, by the words of the loader.
pub(crate) fn lacks_python(cause: &str) -> bool {
    cause.contains("undefined symbol: Py") || cause.contains("undefined symbol: _Py")
}

/// Loads a library of Python, once per process; says whether there is one now.
#[cfg(unix)]
pub(crate) fn python() -> bool {
    static LOADED: OnceLock<bool> = OnceLock::new();
    *LOADED.get_or_init(|| match std::env::var_os(VARIABLE) {
        Some(named) => preload(Path::new(&named)).is_ok(),
        None => MINORS.rev().any(|minor| preload(Path::new(&format!("libpython3.{minor}.so.1.0"))).is_ok()),
    })
}

/// On Windows libraries name what they need.
#[cfg(not(unix))]
pub(crate) fn python() -> bool {
    false
}
