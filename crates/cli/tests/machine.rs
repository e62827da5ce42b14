//! Faults of the machine: every change of a file that fails once, every read, too few open files, clocks that jump.
//! Between the program and its files stands a library that counts calls and lets one of them fail (`faulty_files.c`).
#![cfg(target_os = "linux")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Done, Sandbox, finished};
use costep_results::Table;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EMFILE: i32 = 24;
/// A signal in the place of an error.
const SIGTERM: i32 = -15;
/// No error, but only half of the bytes are taken.
const HALF: i32 = 0;

/// Few steps, each with a checkpoint, and a page.
const RUN: &str =
    "run dual-mass --step 2ms --t-end 8ms --out rig/out --checkpoint 0s --report rig/page.html --no-verify";

/// A folder whose files fail, and the library that lets them.
struct Machine {
    sandbox: Sandbox,
    library: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let sandbox = Sandbox::in_memory();
        let library = sandbox.path("faulty.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty_files.c");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut command = Command::new(compiler);
        command.args(["-O1", "-Wall", "-fPIC", "-shared", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(command.status().expect("a C compiler").success());
        let machine = Self { sandbox, library };
        machine.clear();
        machine
    }

    fn clear(&self) {
        let _ = std::fs::remove_dir_all(self.sandbox.path("rig"));
        std::fs::create_dir(self.sandbox.path("rig")).unwrap();
    }

    /// Runs a line while the call of this number fails: what it said, and which call on which file it was.
    fn run(&self, line: &str, kind: &str, number: usize, error: i32) -> (Done, String) {
        let (tally, files) = (self.sandbox.path("tally"), self.sandbox.path("rig"));
        let _ = std::fs::remove_file(&tally);
        let mut command = self.sandbox.command(line.split_whitespace());
        command.env("LD_PRELOAD", &self.library).env("COSTEP_TEST_FILES", "rig/");
        command.env("COSTEP_TEST_FAULT", format!("{kind} {number} {error}")).env("COSTEP_TEST_TALLY", &tally);
        let done = finished(command, format!("{line} ({kind} {number}, error {error})"));
        let text = std::fs::read_to_string(&tally).unwrap_or_default();
        let call = if number == 0 { text.lines().last() } else { text.lines().nth(number - 1) };
        (done, call.unwrap_or_default().replace(files.to_str().unwrap(), "rig"))
    }

    /// Number of calls of a line without a fault.
    fn calls(&self, line: &str, kind: &str) -> usize {
        let (done, last) = self.run(line, kind, 0, 0);
        done.exits(0);
        last.split(' ').next().unwrap().parse().unwrap()
    }

    fn bits(&self) -> Vec<Vec<u64>> {
        let table = Table::open(&self.sandbox.path("rig/out/results.arrows")).unwrap();
        assert!(table.complete());
        let bits = |name: &str| table.values(name).unwrap().iter().map(|y| y.to_bits()).collect();
        table.columns().iter().map(|column| bits(&column.name)).collect()
    }
}

/// Not a success, and said so by an error with a code: no panic, no signal, no silence.
#[track_caller]
fn assert_fails_well(done: &Done, call: &str) {
    let code = done.status.code().unwrap_or_else(|| panic!("{call}\n{}", done.story()));
    assert!((1..=4).contains(&code) && done.stderr.contains("error[E"), "{call}\n{}", done.story());
    assert!(!done.stderr.contains("panicked"), "{call}\n{}", done.story());
}

#[test]
fn a_disk_that_is_full_at_any_change_loses_nothing_that_was_promised() {
    let machine = Machine::new();
    let changes = machine.calls(RUN, "change");
    let whole = machine.bits();
    assert!(changes > 25, "{changes}");
    let (mut resumed, mut harmless) = (0, Vec::new());
    for (error, number) in [ENOSPC, EIO].into_iter().flat_map(|error| (1..=changes).map(move |n| (error, n)))
    {
        machine.clear();
        let (done, call) = machine.run(RUN, "change", number, error);
        if done.status.success() {
            harmless.push(call);
            assert!(machine.bits() == whole, "{}", done.story());
            continue;
        }
        assert_fails_well(&done, &call);
        let recording = machine.sandbox.path("rig/out/results.arrows");
        if recording.exists() && std::fs::metadata(&recording).unwrap().len() > 0 {
            let table = Table::open(&recording).unwrap_or_else(|error| panic!("{call}\n{error}"));
            assert_eq!(table.damage(), None, "{call}");
        }
        // What a checkpoint promised before the fault is still there after it.
        if error == ENOSPC && machine.sandbox.path("rig/out/checkpoint").exists() {
            machine.sandbox.run("resume rig/out --no-verify").exits(0);
            assert!(machine.bits() == whole, "{call}");
            resumed += 1;
        }
    }
    assert!(resumed > 5, "{resumed}");
    // Only the number in the file of the lock is not needed.
    assert!(harmless.iter().all(|call| call.ends_with("/.costep.lock")), "{harmless:#?}");
}

#[test]
fn writes_that_take_only_half_of_the_bytes_are_finished() {
    let machine = Machine::new();
    let changes = machine.calls(RUN, "change");
    let whole = machine.bits();
    let mut halves = 0;
    for number in 1..=changes {
        machine.clear();
        let (done, call) = machine.run(RUN, "change", number, HALF);
        assert!(done.status.success() && machine.bits() == whole, "{call}\n{}", done.story());
        halves += usize::from(call.contains(" write "));
    }
    assert!(halves > 5, "{halves}");
}

/// Every place between two steps at which a run touches a file is one where a signal may come.
#[test]
fn a_signal_at_any_change_of_a_file_stops_a_run_that_can_be_resumed() {
    let machine = Machine::new();
    let changes = machine.calls(RUN, "change");
    let whole = machine.bits();
    let (mut stopped, mut resumed) = (0, 0);
    for number in 1..=changes {
        machine.clear();
        let (done, call) = machine.run(RUN, "change", number, SIGTERM);
        // Before there is anything to lose it may end the program at once; after the last step there is nothing to stop.
        let is_known = [Some(0), Some(130), None].contains(&done.status.code());
        assert!(is_known && !done.stderr.contains("panicked"), "{call}\n{}", done.story());
        stopped += usize::from(done.status.code() == Some(130));
        if machine.sandbox.path("rig/out/checkpoint").exists() && !done.status.success() {
            machine.sandbox.run("resume rig/out --no-verify").exits(0);
            resumed += 1;
        }
        if machine.sandbox.path("rig/out/checkpoint").exists() || done.status.success() {
            assert!(machine.bits() == whole, "{call}");
        }
    }
    assert!(stopped > 10 && resumed > 5, "{stopped} stopped, {resumed} resumed of {changes}");
}

#[test]
fn reads_that_fail_are_errors_or_do_not_matter() {
    let machine = Machine::new();
    machine.sandbox.run(RUN).exits(0);
    let whole = machine.bits();
    std::fs::copy(machine.sandbox.path("rig/out/run.toml"), machine.sandbox.path("rig/run.toml")).unwrap();
    for (line, error) in [
        ("check rig/run.toml", EIO),
        ("inspect rig/out", EIO),
        ("export rig/out --to rig/r.csv", EIO),
        ("plot rig/out --out rig/plot.svg", EIO),
        ("resume rig/out --no-verify", EIO),
        ("inspect rig/out", EMFILE),
    ] {
        let (intact, last) = machine.run(line, "read", 0, 0);
        let intact = intact.exits(0);
        let reads: usize = last.split(' ').next().unwrap().parse().unwrap();
        for number in 1..=reads {
            let (done, call) = machine.run(line, "read", number, error);
            if done.status.success() && line.starts_with("resume") {
                assert!(machine.bits() == whole, "{call}");
            } else if done.status.success() {
                assert_eq!(done.stdout, intact.stdout, "{call}");
            } else {
                assert_fails_well(&done, &call);
            }
        }
    }
    machine.sandbox.run("resume rig/out --no-verify").exits(0);
    assert!(machine.bits() == whole);
}

#[test]
fn with_few_open_files_a_run_succeeds_or_says_what_is_missing() {
    let machine = Machine::new();
    machine.sandbox.run(RUN).exits(0);
    let (whole, mut refused) = (machine.bits(), 0);
    // With three the system finds no libraries for the program.
    for files in 4..=14 {
        machine.clear();
        let limited = format!("ulimit -n {files}; exec {} {RUN}", env!("CARGO_BIN_EXE_costep"));
        let done = finished(machine.sandbox.program("sh", ["-c", &limited]), format!("-n {files} {RUN}"));
        if done.status.success() {
            assert!(machine.bits() == whole, "{}", done.story());
        } else {
            assert_fails_well(&done, "");
            refused += 1;
        }
    }
    assert!((1..11).contains(&refused), "{refused}");
}

#[test]
fn clocks_that_jump_change_no_result() {
    let machine = Machine::new();
    machine.sandbox.run(RUN).exits(0);
    let whole = machine.bits();
    machine.clear();
    let mut command = machine.sandbox.command(RUN.split_whitespace());
    command.env("LD_PRELOAD", &machine.library).env("COSTEP_TEST_CLOCKS", "1");
    finished(command, "run with clocks that jump").exits(0);
    assert!(machine.bits() == whole);
}
