//! FMUs that carry Python code: in the process that hosts one, the virtual environment that is active here
//! is used.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use costep_fmi::{PYTHON_LIBRARY, python_of_environment};
use costep_supervise::Program;

use crate::fmus::FmuFile;

/// The program that hosts an FMU, with what the Python inside has to know.
pub(super) fn with_environment(program: &Program, file: &FmuFile) -> Program {
    let mut program = program.clone();
    if file.carries_python {
        // A program that is a script of Python itself is started without what the FMU may want to import.
        program.script.retain(|word| !word.to_string_lossy().starts_with('-'));
        program.environment = python_environment();
    }
    program
}

/// What the environment of a process says that hosts FMUs with Python code, so that each finds the modules of the virtual
/// environment that is active here; nothing if none is.
pub fn python_environment() -> Vec<(OsString, OsString)> {
    let Some(folder) = env::var_os("VIRTUAL_ENV").filter(|folder| !folder.is_empty()) else {
        return Vec::new();
    };
    let is_named = env::var_os(PYTHON_LIBRARY).is_some();
    let mut variables = variables(Path::new(&folder), env::var_os("PATH").unwrap_or_default());
    variables.retain(|(name, _)| !(is_named && *name == PYTHON_LIBRARY));
    variables
}

/// The library of Python that an environment was made with, and a path on which its interpreter is the first: from there Python
/// looks for the modules of the environment. Programs that give themselves another name, as the FMUs of PythonFMU3 do, are not found on
/// the path; the packages of the user come before those of the installation, and lie in the same folders below their base.
fn variables(folder: &Path, path: OsString) -> Vec<(OsString, OsString)> {
    let mut paths = vec![folder.join("bin")];
    paths.extend(env::split_paths(&path));
    let mut found = vec![("PYTHONUSERBASE".into(), folder.into()), ("PYTHONNOUSERSITE".into(), "".into())];
    if let Ok(paths) = env::join_paths(paths) {
        found.push(("PATH".into(), paths));
    }
    found.extend(python_of_environment(folder).map(|library| (PYTHON_LIBRARY.into(), library.into())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_interpreter_and_its_packages_come_first() {
        let found = variables(Path::new("/env"), "/usr/bin:/bin".into());
        let expected =
            [("PYTHONUSERBASE", "/env"), ("PYTHONNOUSERSITE", ""), ("PATH", "/env/bin:/usr/bin:/bin")];
        assert_eq!(found, expected.map(|(name, value)| (name.into(), value.into())));
    }
}
