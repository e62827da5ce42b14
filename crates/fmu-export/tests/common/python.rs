//! Virtual environments of Python with pinned packages for tests; also included by the tests of other crates.
//!
//! Without Python or without a way to get the packages these tests fail. `COSTEP_SKIP_PYTHON=1` leaves them out, for
//! machines without a network.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that stays between runs.
pub(crate) fn cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// Whether tests with Python are left out; says so.
pub(crate) fn skipped() -> bool {
    let skipped = std::env::var_os("COSTEP_SKIP_PYTHON").is_some_and(|value| value == "1");
    if skipped {
        eprintln!("SKIPPED: COSTEP_SKIP_PYTHON=1");
    }
    skipped
}

/// The interpreter of a virtual environment, made if it is missing or older than its requirements.
pub(crate) fn environment(name: &str, requirements: &Path) -> PathBuf {
    let folder = cache().join(name);
    let wanted = fs::read_to_string(requirements).unwrap();
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = folder.join("installed.txt");
    // Test programs run side by side; one of them makes it.
    let lock = File::create(cache().join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return python;
    }
    let _ = fs::remove_dir_all(&folder);
    let base = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    run(Command::new(base).args(["-m", "venv"]).arg(&folder));
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    run(Command::new(&python).args(install).arg(requirements));
    fs::write(&stamp, wanted).unwrap();
    python
}

/// Runs a command that has to succeed; gives its output.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| {
        panic!("{shown}: {error}\nThese tests need Python 3 with venv and pip; COSTEP_SKIP_PYTHON=1 leaves them out.")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{shown} failed:\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
