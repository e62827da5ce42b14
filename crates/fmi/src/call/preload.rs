//! Libraries whose symbols FMUs take for granted.
//!
//! FMUs made of Python code (PythonFMU and others) do not name the library of Python they need: they expect its symbols in
//! the program, as in an interpreter. Here it is loaded for them, globally and for good: Python cannot be started twice.
#![allow(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::OnceLock;

use costep_core::{Code, Error, Result};

/// Path or name of the library of Python to load, instead of those that are looked for.
pub const PYTHON_LIBRARY: &str = "COSTEP_PYTHON_LIBRARY";
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

/// Loads a library of Python, once per process; says whether there is one now. An error if the one that the user names cannot be
/// loaded: no other one is meant.
#[cfg(unix)]
pub(crate) fn python() -> Result<bool> {
    static LOADED: OnceLock<Result<bool>> = OnceLock::new();
    LOADED.get_or_init(load_python).clone()
}

#[cfg(unix)]
fn load_python() -> Result<bool> {
    if let Some(named) = named_python() {
        let named = Path::new(&named);
        return match missing_python() {
            Some(missing) => Err(missing),
            None => preload(named).map(|()| true).map_err(|error| error.hint(NAMED_HINT)),
        };
    }
    let by_name = |minor| PathBuf::from(library_name(minor));
    let mut found = chosen_python().into_iter().chain(MINORS.rev().map(by_name));
    Ok(found.any(|library| preload(&library).is_ok()))
}

/// On Windows libraries name what they need.
#[cfg(not(unix))]
pub(crate) fn python() -> Result<bool> {
    Ok(false)
}

/// The error that libraries of several Pythons are in this process: each would take what the others have set up for its own.
#[cfg(target_os = "linux")]
pub(crate) fn refuse_two_pythons() -> Result<()> {
    // Without a list nothing is known to be wrong.
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return Ok(()) };
    let libraries = pythons_among(&maps);
    if libraries.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = libraries.iter().map(|path| format!("`{path}`")).collect();
    let message = format!("two libraries of Python would be in one process: {}", names.join(" and "));
    Err(Error::new(Code::FmuNotLoaded, message)
        .hint("give each FMU with Python code a process of its own: `isolation = \"process\"`"))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn refuse_two_pythons() -> Result<()> {
    Ok(())
}

/// The libraries of versions of Python in a list of what is mapped; `libpython3.so` only leads to one of them.
#[cfg(any(target_os = "linux", test))]
fn pythons_among(maps: &str) -> std::collections::BTreeSet<&str> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
    let is_python = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.strip_prefix("libpython3.").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    paths.filter(is_python).collect()
}

const NAMED_HINT: &str =
    "correct COSTEP_PYTHON_LIBRARY, or unset it: the library of the active Python is then looked for";

fn named_python() -> Option<OsString> {
    env::var_os(PYTHON_LIBRARY).filter(|named| !named.is_empty())
}

/// The error that the user names a file as the library of Python which is not there. Names without a folder are looked for by the
/// operating system.
pub fn missing_python() -> Option<Error> {
    let named = PathBuf::from(named_python()?);
    if named.components().count() < 2 || named.is_file() {
        return None;
    }
    let message = format!("COSTEP_PYTHON_LIBRARY names `{}`, which does not exist", named.display());
    Some(Error::new(Code::FmuNotLoaded, message).hint(NAMED_HINT))
}

/// The library of the virtual environment that is active, else the one beside the interpreter that comes first on the path: an
/// interpreter finds its modules from there, and a library of another version would load what is not made for it.
#[cfg(unix)]
fn chosen_python() -> Option<PathBuf> {
    let active = env::var_os("VIRTUAL_ENV").filter(|folder| !folder.is_empty());
    if let Some(library) = active.and_then(|folder| python_of_environment(Path::new(&folder))) {
        return Some(library);
    }
    let path = env::var_os("PATH")?;
    let interpreter =
        env::split_paths(&path).map(|folder| folder.join("python3")).find(|file| file.is_file())?;
    let folder = interpreter.canonicalize().ok()?.parent()?.join("../lib");
    MINORS.rev().map(|minor| folder.join(library_name(minor))).find(|file| file.is_file())
}

fn library_name(minor: u32) -> String {
    format!("libpython3.{minor}.so.1.0")
}

/// The library of the Python that a virtual environment was made with: beside its interpreter if it is there, else as the system
/// finds it.
pub fn python_of_environment(folder: &Path) -> Option<PathBuf> {
    library_of(&std::fs::read_to_string(folder.join("pyvenv.cfg")).ok()?)
}

/// By the text of its configuration.
fn library_of(configuration: &str) -> Option<PathBuf> {
    let value = |wanted: &str| {
        let mut pairs = configuration.lines().filter_map(|line| line.split_once('='));
        pairs.find(|(key, _)| key.trim() == wanted).map(|(_, value)| value.trim())
    };
    let version = value("version").or_else(|| value("version_info"))?;
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (Some(Ok(3)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    let name = library_name(minor);
    let beside = value("home").map(|home| Path::new(home).join("../lib").join(&name));
    Some(beside.filter(|file| file.is_file()).unwrap_or_else(|| name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_two_pythons_are_seen() {
        let line = |file: &str| format!("7f00-7f01 r-xp 00000000 fe:00 12 {file}\n");
        let one = line("/usr/lib/libpython3.11.so.1.0");
        let maps =
            [one.clone(), one.clone(), line("/usr/lib/libpython3.so"), line("/usr/lib/libc.so.6"), line("")];
        assert_eq!(pythons_among(&maps.concat()).len(), 1);
        assert_eq!(pythons_among(&(one + &line("/opt/lib/libpython3.12.so.1.0"))).len(), 2);
    }

    #[test]
    fn the_library_is_that_of_the_environment() {
        let text = "home = /nowhere/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n";
        assert_eq!(library_of(text), Some("libpython3.11.so.1.0".into()));
        assert_eq!(library_of("version_info = 3.9.1.final.0"), Some("libpython3.9.so.1.0".into()));
        for wrong in ["", "version = 2.7.1", "version = x", "home = /usr/bin"] {
            assert_eq!(library_of(wrong), None, "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        for part in ["bin", "lib"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        let file = folder.path().join("lib/libpython3.12.so.1.0");
        std::fs::write(&file, "").unwrap();
        let text = format!("home = {}\nversion = 3.12.0", folder.path().join("bin").display());
        assert_eq!(library_of(&text).unwrap().canonicalize().unwrap(), file.canonicalize().unwrap());
    }
}
