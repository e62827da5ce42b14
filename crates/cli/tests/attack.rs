//! What an attack on the first version found: one test per finding, named after it.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::fmt::Write as _;
use std::path::Path;

use common::{Done, Sandbox, finished};
use costep_results::Table;
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
        let _ = std::fs::remove_dir_all(self.0.path("out"));
        self.0.run(&format!("run rig --out out {flags}"))
    }

    /// Runs it once in the process of the run and once in a process of its own.
    fn run_both(&self, flags: &str, mut look: impl FnMut(Done)) {
        for more in ["", "isolation = \"process\""] {
            self.describe(1, more);
            look(self.run(flags));
        }
    }

    fn recording(&self) -> Table {
        Table::open(&self.0.path("out/results.arrows")).unwrap()
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

#[test]
fn an_fmu_reaches_no_file_of_costep() {
    for deed in ["close_files", "write_files", "cut_files", "fill_shared"] {
        let rig = Rig::new(1, &[&format!("-DDEED={deed}")]);
        rig.run_both("", |done| {
            let done = done.exits(0);
            assert!(done.stdout.contains("verdict"), "{deed}\n{}", done.story());
            assert!(rig.recording().complete() && rig.recording().rows() == 6, "{deed}\n{}", done.story());
        });
    }
}

#[test]
fn a_recording_that_something_else_has_changed_is_no_success() {
    let rig = Rig::new(1, &["-DDEED=spoil_recording"]);
    rig.run_both("", |done| drop(done.exits(1).says("out/results.arrows` is not a costep recording")));
}

#[test]
fn an_exception_names_the_call_that_it_left() {
    let places = [
        ("AT_INSTANTIATE", "Instantiate"),
        ("AT_ENTER", "EnterInitializationMode"),
        ("AT_TERMINATE", "Terminate"),
    ];
    for (place, call) in places {
        let rig = Rig::new(1, &[&format!("-DTHROWS={place}")]);
        rig.run_both("--threads 1", |done| drop(done.exits(2).says(&format!("in fmi2{call}"))));
    }
}

#[test]
fn standard_error_of_an_fmu_is_limited_and_harmless() {
    let rig = Rig::new(1, &["-DDEED=flood_errors"]);
    rig.run_both("", |done| {
        let done = done.exits(0).says("printed by an FMU: complaint 7").says("further lines printed by FMUs");
        assert!(done.stderr.lines().count() < 150, "{}", done.stderr.len());
    });
    let rig = Rig::new(1, &["-DDEED=forge_errors"]);
    rig.run_both("", |done| {
        let done = done.exits(0);
        let line = done.stderr.lines().find(|line| line.contains("forged")).unwrap();
        assert!(line.starts_with("printed by an FMU: ") && !done.stderr.contains('\x1b'), "{}", done.story());
    });
}

#[test]
fn a_time_limit_ends_a_call_that_does_not_return() {
    let rig = Rig::new(1, &["-DDEED=hang"]);
    rig.run_both("--time-limit 1s", |done| {
        drop(done.exits(4).says("error[E0603]: the time limit of 1s was reached while `bad` in"));
        assert_eq!(rig.recording().rows(), 4);
    });
}

#[test]
fn a_library_that_hangs_while_it_is_loaded_is_ended_by_step_timeout() {
    let rig = Rig::new(1, &["-DHANG_ON_LOAD"]);
    for more in ["", "isolation = \"process\""] {
        rig.describe(1, &format!("step_timeout = \"0.3 s\"\n{more}"));
        rig.run("").exits(4).says("loading its library has not returned for 300ms");
    }
}

#[test]
fn a_child_that_has_left_its_session_does_not_outlive_the_run() {
    let rig = Rig::new(1, &["-DDEED=leave_child"]);
    let mark = rig.0.path("mark");
    for more in ["", "isolation = \"process\""] {
        rig.describe(1, more);
        let mut command = rig.0.command(["run", "rig", "--out", "out"]);
        command.env("COSTEP_TEST_MARK", &mark);
        let done = finished(command, "run rig").exits(0);
        assert_eq!(processes_with(&mark), 0, "{}", done.story());
    }
}

/// Processes that were started with a mark in their environment and still run.
fn processes_with(mark: &Path) -> usize {
    let mark = mark.to_str().unwrap().as_bytes();
    let has_mark = |entry: &std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(has_mark).count()
}
