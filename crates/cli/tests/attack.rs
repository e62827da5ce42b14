//! What an attack on the first version found: one test per finding, named after it.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::fmt::Write as _;

use common::{Done, Sandbox};
use fmus::build_hostile;

/// A folder with the project `rig`: two hostile FMUs of so many signals, `bad` and `good`, the first of which feeds the
/// second.
struct Rig(Sandbox);

impl Rig {
    fn new(width: usize, flags: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("rig")).unwrap();
        std::fs::copy(build_hostile(width, flags).path, sandbox.path("rig/Hostile.fmu")).unwrap();
        let rig = Self(sandbox);
        rig.describe(width, "");
        rig
    }

    /// Writes the project; `more` are keys of the table of `bad`.
    fn describe(&self, width: usize, more: &str) {
        let mut text = format!(
            "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n[fmu.bad]\nfile = \"Hostile.fmu\"\n{more}\n\
             [fmu.good]\nfile = \"Hostile.fmu\"\n"
        );
        for k in 0..width {
            write!(text, "[[connect]]\nfrom = \"bad.y[{k}]\"\nto = \"good.u[{k}]\"\n").unwrap();
        }
        self.0.write("rig/system.toml", text);
    }

    fn run(&self, flags: &str) -> Done {
        self.0.run(&format!("run rig --out out {flags}"))
    }
}

#[test]
fn memory_of_the_default_method_is_linear_in_the_signals() {
    // 1,000 signals took 2.5 GB once.
    let rig = Rig::new(5000, &[]);
    rig.run("--memory-limit 200MB").exits(0).says("method: identified");
}

#[test]
fn loops_that_are_too_wide_to_be_learnt_are_extrapolated_with_a_warning() {
    let rig = Rig::new(60, &[]);
    let text = std::fs::read_to_string(rig.0.path("rig/system.toml")).unwrap();
    let back = "[[connect]]\nfrom = \"good.y[7]\"\nto = \"bad.u[7]\"\n";
    rig.0.write("rig/system.toml", format!("{text}{back}"));
    let limited = rig.run("--no-verify --method identified:largest=100").exits(0);
    limited.says("warning[W0303]: method: nothing is learnt of `bad` and 1 more");
    let learnt = rig.run("--no-verify").exits(0);
    assert!(!learnt.stderr.contains("W0303"), "{}", learnt.story());
}
