//! A valid project that the tests change.

#![allow(dead_code, reason = "each test file uses its own part of this one")]

pub(crate) mod cases;

use std::path::Path;

use costep_core::{Code, Error, Place};
use costep_project::{Override, Project, load_text};

/// Two native parts, a group of its own for one connection, and every table used.
pub(crate) const RIG: &str = r#"[system]
name = "rig"
stop = "50 ms"
solver = "euler:10us"

[step]
size = "1 ms"

[method]
id = "nepce"
alpha = 0.5

[schedule]
kind = "sequential"
order = ["b", "a"]

[native.a]
model = "dual-mass"
part = "s1"

[native.b]
model = "dual-mass"
part = "s2"
set = { ck = 2e5 }

[[connect]]
from = "b.F"
to = "a.F"
sum = true
bond = "shaft"

[[connect]]
from = "a.x"
to = "b.x"

[[connect]]
from = "a.v"
to = "b.v"
gain = 1.5
group = "fast"
bond = "shaft"
[group.fast]
id = "foh"

[[external]]
to = "a.F"
sum = true
sine = { amplitude = 10, frequency = 50.0, start = "5 ms" }

[record]
every = "2 ms"
signals = ["a.*", "b.F"]

[guard]
bounds = { "b.F" = [-2e9, 2e9] }

[run]
threads = "auto"
"#;

/// A built-in model as a whole.
pub(crate) const WHOLE: &str = "[system]\nmodel = \"dual-mass\"\n[parameters]\nck = 2e5\n[group.force]\nid = \"zoh\"\ninputs = [\"s1.*\"]\n";

pub(crate) fn read(text: &str) -> Result<Project, Vec<Error>> {
    load_text(text, Path::new("rig/system.toml"), &[])
}

pub(crate) fn read_with(text: &str, overrides: &[(&str, &str)]) -> Result<Project, Vec<Error>> {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|(path, value)| Override::new(*path, *value, format!("--set {path}={value}")))
        .collect();
    load_text(text, Path::new("rig/system.toml"), &overrides)
}

pub(crate) fn good(text: &str) -> Project {
    read(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

pub(crate) fn good_with(text: &str, overrides: &[(&str, &str)]) -> Project {
    read_with(text, overrides).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

pub(crate) fn errors(text: &str) -> Vec<Error> {
    read(text).err().unwrap_or_else(|| panic!("accepted:\n{text}"))
}

pub(crate) fn errors_with(text: &str, overrides: &[(&str, &str)]) -> Vec<Error> {
    read_with(text, overrides).err().unwrap_or_else(|| panic!("accepted {overrides:?}:\n{text}"))
}

/// The line an error names, 0 for none.
pub(crate) fn line(error: &Error) -> usize {
    match error.details().place {
        Place::File { line: Some(line), .. } => line,
        _ => 0,
    }
}

pub(crate) fn codes(errors: &[Error]) -> Vec<Code> {
    errors.iter().map(Error::code).collect()
}
