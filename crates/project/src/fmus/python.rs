//! FMUs that carry Python code: in the process that hosts one, the virtual environment that is active here
//! is used.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use costep_supervise::Program;

use crate::fmus::FmuFile;

/// The library of Python that FMUs get, if the user names it.
const LIBRARY: &str = "COSTEP_PYTHON_LIBRARY";

/// The program that hosts an FMU, with what the Python inside has to know.
pub(super) fn with_environment(program: &Program, file: &FmuFile) -> Program {
    let mut program = program.clone();
    if file.carries_python {
        // A program that is a script of Python itself is started without what the FMU may want to import.
        program.script.retain(|word| !word.to_string_lossy().starts_with('-'));
    }
    if file.carries_python
        && let Some(folder) = env::var_os("VIRTUAL_ENV").filter(|folder| !folder.is_empty())
    {
        let is_named = env::var_os(LIBRARY).is_some();
        let variables = variables(Path::new(&folder), env::var_os("PATH").unwrap_or_default());
        program.environment =
            variables.into_iter().filter(|(name, _)| !(is_named && *name == LIBRARY)).collect();
    }
    program
}

/// The library of Python that an environment was made with, and a path on which its interpreter is the
/// first. Python looks from there for the modules of the environment.
fn variables(folder: &Path, path: OsString) -> Vec<(OsString, OsString)> {
    let mut paths = vec![folder.join("bin")];
    paths.extend(env::split_paths(&path));
    let mut found = Vec::new();
    if let Ok(paths) = env::join_paths(paths) {
        found.push(("PATH".into(), paths));
    }
    if let Some(library) =
        std::fs::read_to_string(folder.join("pyvenv.cfg")).ok().and_then(|text| library(&text))
    {
        found.push((LIBRARY.into(), library.into()));
    }
    found
}

/// The library of the Python that a configuration file names: beside its interpreter if it is there, else as
/// the system finds it.
fn library(configuration: &str) -> Option<PathBuf> {
    let value = |wanted: &str| {
        let mut pairs = configuration.lines().filter_map(|line| line.split_once('='));
        pairs.find(|(key, _)| key.trim() == wanted).map(|(_, value)| value.trim())
    };
    let version = value("version").or_else(|| value("version_info"))?;
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (Some(Ok(3)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    let name = format!("libpython3.{minor}.so.1.0");
    let beside = value("home").map(|home| Path::new(home).join("../lib").join(&name));
    Some(beside.filter(|file| file.is_file()).unwrap_or_else(|| name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_that_of_the_environment() {
        let text = "home = /nowhere/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n";
        assert_eq!(library(text), Some("libpython3.11.so.1.0".into()));
        assert_eq!(library("version_info = 3.9.1.final.0"), Some("libpython3.9.so.1.0".into()));
        for wrong in ["", "version = 2.7.1", "version = x", "home = /usr/bin"] {
            assert_eq!(library(wrong), None, "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        for part in ["bin", "lib"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        let file = folder.path().join("lib/libpython3.12.so.1.0");
        std::fs::write(&file, "").unwrap();
        let text = format!("home = {}\nversion = 3.12.0", folder.path().join("bin").display());
        assert_eq!(library(&text).unwrap().canonicalize().unwrap(), file.canonicalize().unwrap());
    }

    #[test]
    fn its_interpreter_comes_first() {
        let found = variables(Path::new("/env"), "/usr/bin:/bin".into());
        assert_eq!(found, [("PATH".into(), "/env/bin:/usr/bin:/bin".into())]);
    }
}
