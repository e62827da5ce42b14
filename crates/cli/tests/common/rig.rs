//! A project of hostile FMUs.
#![allow(dead_code, reason = "each test file uses its own part of this one")]

use std::fmt::Write as _;

use costep_results::Table;

use crate::common::{Done, Sandbox};
use crate::fmus::build_hostile;

/// A folder with the project `rig`: two hostile FMUs of so many signals, `bad` and `good`, the first of which feeds the
/// second.
pub(crate) struct Rig(pub(crate) Sandbox);

impl Rig {
    pub(crate) fn new(width: usize, flags: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("rig")).unwrap();
        std::fs::copy(build_hostile(width, flags).path, sandbox.path("rig/Hostile.fmu")).unwrap();
        let rig = Self(sandbox);
        rig.describe(width, "");
        rig
    }

    /// Writes the project; `more` are keys of the table of `bad`.
    pub(crate) fn describe(&self, width: usize, more: &str) {
        let mut text = format!(
            "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n[fmu.bad]\nfile = \"Hostile.fmu\"\n{more}\n\
             [fmu.good]\nfile = \"Hostile.fmu\"\n"
        );
        for k in 0..width {
            write!(text, "[[connect]]\nfrom = \"bad.y[{k}]\"\nto = \"good.u[{k}]\"\n").unwrap();
        }
        self.0.write("rig/system.toml", text);
    }

    /// Changes the first place of the project where these words stand.
    pub(crate) fn change(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.0.path("rig/system.toml")).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        self.0.write("rig/system.toml", text.replacen(from, to, 1));
    }

    pub(crate) fn run(&self, flags: &str) -> Done {
        let _ = std::fs::remove_dir_all(self.0.path("out"));
        self.0.run(&format!("run rig --out out {flags}"))
    }

    /// Runs it once in the process of the run and once in a process of its own.
    pub(crate) fn run_both(&self, flags: &str, mut look: impl FnMut(Done)) {
        for more in ["", "isolation = \"process\""] {
            self.describe(1, more);
            look(self.run(flags));
        }
    }

    pub(crate) fn recording(&self) -> Table {
        Table::open(&self.0.path("out/results.arrows")).unwrap()
    }
}
