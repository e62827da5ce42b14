//! Third-party FMUs from package registries, fetched once; also included by the tests of other crates.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::python::{cache, run};

/// The folder with these FMUs. Any Python will do.
pub(crate) fn fetched(python: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmu-export/tests/python");
    let (folder, script) = (cache().join("third-party"), here.join("fetch_fmus.py"));
    let (wanted, stamp) = (fs::read_to_string(&script).unwrap(), folder.join("fetched.txt"));
    let lock = File::create(cache().join("third-party.lock")).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return folder;
    }
    run(Command::new(python).arg(&script).arg(&folder));
    fs::write(&stamp, wanted).unwrap();
    folder
}
