//! `kill -9` at random moments of runs with native parts, FMUs, isolated and confined ones: the recording can be read,
//! no process stays, and the resumed run has the bits of one that was never broken. Few here; `COSTEP_KILLS=100` does a
//! hundred of each kind (`cargo xtask kills`).
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{Running, Sandbox};
use costep_results::Table;

/// A system and the folder of its unbroken run.
struct Victim {
    sandbox: Sandbox,
    line: String,
}

impl Victim {
    fn native() -> Self {
        let victim = Self { sandbox: Sandbox::in_memory(), line: "dual-mass --step 20us --t-end 2s".into() };
        victim.unbroken()
    }

    fn of_fmus(isolation: &str) -> Self {
        let sandbox = Sandbox::in_memory();
        std::fs::create_dir(sandbox.path("rig")).unwrap();
        std::fs::copy(fmus::build(fmus::Fmi::V2, "Lag").path, sandbox.path("rig/Lag.fmu")).unwrap();
        let fmu = |name: &str, x0: f64| {
            format!("[fmu.{name}]\nfile = \"Lag.fmu\"\nisolation = \"{isolation}\"\nset = {{ x0 = {x0} }}\n")
        };
        let text = format!(
            "[system]\nstop = \"1 s\"\n[step]\nsize = \"20 us\"\n[method]\nid = \"foh\"\n{}{}\
             [[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n[[connect]]\nfrom = \"b.y\"\nto = \"a.u\"\n",
            fmu("a", 1.0),
            fmu("b", -0.5)
        );
        sandbox.write("rig/system.toml", text);
        Self { sandbox, line: "rig".into() }.unbroken()
    }

    fn unbroken(self) -> Self {
        self.sandbox.run(&format!("run {} --out whole --no-verify", self.line)).exits(0);
        self
    }

    fn bits(&self, run: &str) -> Vec<Vec<u64>> {
        let table = Table::open(&self.sandbox.path(run).join("results.arrows")).unwrap();
        assert!(table.complete());
        let bits = |name: &str| table.values(name).unwrap().iter().map(|y| y.to_bits()).collect();
        table.columns().iter().map(|column| bits(&column.name)).collect()
    }

    /// Kills a run this long after its start or its first checkpoint; whether it could be resumed.
    fn kill_after(&self, time: Duration, at_start: bool) -> bool {
        let _ = std::fs::remove_dir_all(self.sandbox.path("parts"));
        let mark = self.sandbox.path("mark");
        let line = format!("run {} --out parts --no-verify --checkpoint 0.01s", self.line);
        let mut command = self.sandbox.command(line.split_whitespace());
        command.env("COSTEP_TEST_MARK", &mark).stdout(std::process::Stdio::null());
        let mut running = Running::of(command);
        while !at_start && !self.sandbox.path("parts/checkpoint").exists() && !running.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(time);
        running.kill();
        let start = Instant::now();
        while is_left(&mark) {
            assert!(start.elapsed() < Duration::from_secs(20), "a process outlives the run");
            std::thread::sleep(Duration::from_millis(5));
        }
        let recording = self.sandbox.path("parts/results.arrows");
        if recording.exists() && std::fs::metadata(&recording).unwrap().len() > 0 {
            assert!(Table::open(&recording).unwrap().damage().is_none());
        }
        if !self.sandbox.path("parts/checkpoint").exists() {
            return false;
        }
        self.sandbox.run("resume parts --no-verify").exits(0);
        true
    }
}

/// Whether a process that was started with a mark in its environment still runs.
fn is_left(mark: &Path) -> bool {
    let mark = mark.to_str().unwrap().as_bytes();
    let has_mark = |entry: std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark)
    };
    std::fs::read_dir("/proc").unwrap().flatten().any(has_mark)
}

fn survives(victim: &Victim) {
    let kills = wanted_kills();
    let (whole, mut resumed) = (victim.bits("whole"), 0_u64);
    for kill in 0..kills {
        // Spread over a fifth of a second, in no order.
        let time = Duration::from_micros(kill.wrapping_mul(7_919_773) % 200_000);
        if victim.kill_after(time, kill % 4 == 3) {
            resumed += 1;
            assert!(victim.bits("parts") == whole, "kill {kill} after {time:?}");
        }
    }
    assert!(4 * resumed >= 3 * kills - 3, "{resumed} of {kills}");
    println!("{kills} kills, {resumed} of them behind a checkpoint and resumed bit for bit");
}

fn wanted_kills() -> u64 {
    std::env::var("COSTEP_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(2)
}

/// What has been counted in files of this name below a folder.
fn counted(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: std::path::PathBuf| match std::fs::read(&path) {
        Ok(bytes) if path.ends_with("count") => bytes.try_into().map_or(0, u64::from_ne_bytes),
        _ => counted(&path),
    };
    entries.map(|entry| count(entry.path())).max().unwrap_or(0)
}

/// Kills a run that counts its steps in files of this folder, some time behind the first; steps of which no row is left.
fn rows_lost(command: std::process::Command, temporary: &Path, recording: &Path, time: Duration) -> u64 {
    let _ = std::fs::remove_dir_all(temporary);
    std::fs::create_dir(temporary).unwrap();
    let _ = std::fs::remove_file(recording);
    let mut running = Running::of(command);
    let start = Instant::now();
    // What tries an FMU does a few steps.
    while counted(temporary) < 100 {
        assert!(start.elapsed() < Duration::from_secs(60) && !running.has_ended(), "it does not run");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(time);
    running.kill();
    // Processes of FMUs end with it, but not at once.
    std::thread::sleep(Duration::from_millis(50));
    let rows = Table::open(recording).map_or(0, |table| table.rows() as u64);
    // The first row is that of the start.
    (counted(temporary) + 1).saturating_sub(rows)
}

/// The promise of the README, with everything that a run consists of.
fn loses_few_rows(
    name: &str,
    temporary: &Path,
    recording: &Path,
    command: impl Fn() -> std::process::Command,
) {
    let kills = wanted_kills();
    let time = |kill: u64| Duration::from_micros(kill.wrapping_mul(7_919_773) % 400_000);
    let lost =
        (0..kills).map(|kill| rows_lost(command(), temporary, recording, time(kill))).max().unwrap_or(0);
    println!("{name}: {kills} kills, at most {lost} rows lost");
    assert!(lost <= 4096, "{lost} rows are lost");
}

#[test]
fn kills_of_runs_of_fmus_lose_at_most_4096_rows() {
    let sandbox = Sandbox::in_memory();
    std::fs::create_dir(sandbox.path("rig")).unwrap();
    std::fs::copy(fmus::build_hostile(1, &["-DCOUNTS"]).path, sandbox.path("rig/Hostile.fmu")).unwrap();
    for isolation in ["none", "process", "sandbox"] {
        let fmu = |name: &str| format!("[fmu.{name}]\nfile = \"Hostile.fmu\"\nisolation = \"{isolation}\"\n");
        sandbox.write(
            "rig/system.toml",
            format!(
                "[system]\nstop = \"100 s\"\n[step]\nsize = \"20 us\"\n[method]\nid = \"zoh\"\n{}{}\
                 [[connect]]\nfrom = \"other.y[0]\"\nto = \"good.u[0]\"\n",
                fmu("other"),
                fmu("good")
            ),
        );
        let temporary = sandbox.path("temporary");
        loses_few_rows(isolation, &temporary, &sandbox.path("out/results.arrows"), || {
            let mut command = sandbox.command(["run", "rig", "--out", "out", "--no-verify"]);
            command.env("TMPDIR", &temporary).stdout(std::process::Stdio::null());
            command
        });
    }
}

#[test]
#[ignore = "child of the next one; is killed"]
fn child_counts_its_steps() {
    use std::os::unix::fs::FileExt;
    let place = |name: &str| std::path::PathBuf::from(std::env::var_os(name).unwrap());
    let counter = std::fs::File::create(place("TMPDIR").join("count")).unwrap();
    let folder = costep::RunFolder::lock(&place("COSTEP_TEST_OUT")).unwrap();
    let run = costep::Run::new().step(2e-6).stop(1e3).record(&folder);
    let mut steps = 0_u64;
    let count = &mut |_: &costep::Step<'_>| {
        counter.write_at(&steps.to_ne_bytes(), 0).unwrap();
        steps += 1;
        Ok(costep::Flow::Continue)
    };
    drop(costep::System::open("dual-mass").unwrap().run_with(run, count));
}

#[test]
fn kills_of_native_runs_lose_at_most_4096_rows() {
    let sandbox = Sandbox::in_memory();
    let temporary = sandbox.path("temporary");
    loses_few_rows("native parts", &temporary, &sandbox.path("out/results.arrows"), || {
        let words = ["child_counts_its_steps", "--exact", "--ignored"];
        let mut command = sandbox.program(std::env::current_exe().unwrap(), words);
        command.env("TMPDIR", &temporary).env("COSTEP_TEST_OUT", sandbox.path("out"));
        command.stdout(std::process::Stdio::null());
        command
    });
}

/// A process and all that it and those have started.
fn family(id: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let children: String =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()).collect();
    let children = children.split_whitespace().flat_map(|child| family(child.parse().unwrap()));
    [id.to_string()].into_iter().chain(children).collect()
}

/// Starts a run on a terminal of its own, closes that once there is a checkpoint, and gives the exit code.
const DYING_TERMINAL: &str = "
import os, pty, sys, time
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.set_blocking(terminal, False)
while not os.path.exists('parts/checkpoint'):
    try:
        os.read(terminal, 4096)
    except BlockingIOError:
        pass
    time.sleep(0.002)
os.close(terminal)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)";

/// Whatever is printed from then on fails, and the processes get SIGHUP.
#[test]
fn a_terminal_that_goes_away_while_it_is_written_to_is_a_soft_stop() {
    for victim in [Victim::native(), Victim::of_fmus("process")] {
        let line = format!("run {} --out parts --no-verify --checkpoint 0.01s", victim.line);
        let words = [DYING_TERMINAL, env!("CARGO_BIN_EXE_costep")].into_iter().chain(line.split_whitespace());
        let command = victim.sandbox.program("python3", ["-c"].into_iter().chain(words));
        common::finished(command, &line).exits(130);
        victim.sandbox.run("resume parts --no-verify").exits(0);
        assert!(victim.bits("parts") == victim.bits("whole"), "{line}");
    }
}

/// Starts a run, stops it by a debugger's means once there is a checkpoint, does so many instructions one by one, has SIGTERM
/// come at the next one, and gives the exit code; 99 where nobody may debug.
const AT_AN_INSTRUCTION: &str = "
import ctypes, os, signal, sys, time
SEIZE, INTERRUPT, STEP, DETACH = 0x4206, 0x4207, 9, 17
library = ctypes.CDLL(None)
library.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
child = os.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
while not os.path.exists('parts/checkpoint'):
    time.sleep(0.001)
if library.ptrace(SEIZE, child, None, None) or library.ptrace(INTERRUPT, child, None, None):
    os.kill(child, signal.SIGKILL)
    raise SystemExit(99)
os.waitpid(child, 0)
for step in range(int(sys.argv[1])):
    library.ptrace(STEP, child, None, None)
    os.waitpid(child, 0)
os.kill(child, signal.SIGTERM)
library.ptrace(DETACH, child, None, None)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)";

#[test]
fn a_signal_between_any_two_instructions_is_a_soft_stop() {
    let victim = Victim::native();
    let line = format!("run {} --out parts --no-verify --checkpoint 0.01s", victim.line);
    let mut stopped = 0;
    for instructions in [0, 1, 5, 21, 89, 377, 1597] {
        let _ = std::fs::remove_dir_all(victim.sandbox.path("parts"));
        let words = [AT_AN_INSTRUCTION, &instructions.to_string(), env!("CARGO_BIN_EXE_costep")];
        let words = words.into_iter().chain(line.split_whitespace());
        let command = victim.sandbox.program("python3", ["-c"].into_iter().chain(words));
        let done = common::finished(command, format!("{line}, {instructions} instructions"));
        match done.status.code() {
            Some(99) => return eprintln!("skipped: nobody may debug here"),
            // It was faster than the debugger.
            Some(0) => continue,
            _ => drop(done.exits(130)),
        }
        victim.sandbox.run("resume parts --no-verify").exits(0);
        assert!(victim.bits("parts") == victim.bits("whole"), "{instructions} instructions");
        stopped += 1;
    }
    assert!(stopped > 3, "{stopped}");
}

/// For a second here; `COSTEP_SUSPENDED=180` has it last for minutes.
#[test]
fn a_run_that_was_suspended_for_longer_than_a_call_may_take_goes_on() {
    let victim = Victim::of_fmus("process");
    let limits = "--set fmu.a.step_timeout=0.3s --set fmu.b.step_timeout=0.3s";
    let line = format!("run rig --out parts --no-verify --checkpoint 0.01s {limits}");
    let mut running = victim.sandbox.start(&line);
    while !victim.sandbox.path("parts/checkpoint").exists() && !running.has_ended() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let family = family(running.id());
    let send = |signal: &str| {
        let status = std::process::Command::new("kill").args(["-s", signal]).args(&family).status().unwrap();
        assert!(status.success(), "{family:?}");
    };
    assert!(family.len() > 2, "the run, its watcher and FMUs: {family:?}");
    send("STOP");
    let seconds =
        std::env::var("COSTEP_SUSPENDED").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    std::thread::sleep(Duration::from_secs(seconds));
    send("CONT");
    assert!(running.wait().success());
    assert!(victim.bits("parts") == victim.bits("whole"));
}

#[test]
fn native_runs_survive_kills() {
    survives(&Victim::native());
}

#[test]
fn runs_of_fmus_survive_kills() {
    survives(&Victim::of_fmus("none"));
}

#[test]
fn runs_of_isolated_fmus_survive_kills() {
    survives(&Victim::of_fmus("process"));
}

#[test]
fn runs_of_confined_fmus_survive_kills() {
    survives(&Victim::of_fmus("sandbox"));
}
