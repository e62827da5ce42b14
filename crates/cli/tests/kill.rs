//! What is left of a run that was killed, stopped or cut off, and that it goes on from there bit by bit.

#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use common::{Desk, Running};
use costep_results::Table;

/// Takes some seconds without optimisation: 10,000 macro steps of 2,500 inner steps in each of 6 parts.
const LONG_RUN: &str =
    "run chain --set n=6 --set micro_step=2e-7 --method nepce --threads 1 --step 0.5ms --t-end 5s";
const STEP: f64 = 0.0005;
const ROWS: usize = 10_001;

/// Some hundred macro steps per second: batches are written because of their age, not of their size.
const SLOW_RUN: &str =
    "run chain --set n=6 --set micro_step=2e-7 --method nepce --threads 1 --step 3ms --t-end 1h";

/// Numbers from 0 to 1, others in each test run.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        println!("seed {seed}");
        Self(seed | 1)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn sleep(&mut self, longest: Duration) {
        sleep(longest.mul_f64(self.next()));
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Waits until a recording has this size.
fn wait_for(path: &Path, bytes: u64, running: &mut Running) {
    let start = Instant::now();
    while size(path) < bytes {
        assert!(!running.has_ended(), "the run ended before it could be killed");
        assert!(start.elapsed() < Duration::from_secs(60), "the recording does not grow");
        sleep(Duration::from_millis(2));
    }
}

/// Opens a recording whose rows must be the communication points from 0 on, without a gap.
fn contiguous(path: &Path, step: f64) -> Table {
    let table = Table::open(path).unwrap();
    assert!(table.damage().is_none());
    for (k, t) in table.values("t").unwrap().iter().enumerate() {
        assert_eq!(*t, k as f64 * step);
    }
    table
}

/// All values of the first rows, as bits.
fn bits(table: &Table, rows: usize) -> Vec<Vec<u64>> {
    let column =
        |name: &str| table.values(name).unwrap()[..rows].iter().map(|value| value.to_bits()).collect();
    table.columns().iter().map(|c| column(&c.name)).collect()
}

fn csv(desk: &Desk, folder: &str) -> Vec<u8> {
    desk.run(&format!("export {folder} --to {folder}.csv --quiet")).exits(0);
    fs::read(desk.path(format!("{folder}.csv"))).unwrap()
}

fn recording(desk: &Desk, folder: &str) -> PathBuf {
    desk.path(folder).join("results.arrows")
}

#[test]
fn killed_again_and_again_a_run_still_gives_the_same_bits() {
    const KILLS: usize = 6;
    let (desk, mut chance) = (Desk::new(), Chance::new());
    desk.run(&format!("{LONG_RUN} --out whole")).exits(0);
    let file = recording(&desk, "cut");
    let whole = contiguous(&recording(&desk, "whole"), STEP);
    assert!(whole.complete() && whole.rows() == ROWS);
    let whole_size = size(&recording(&desk, "whole")) as f64;

    let mut running = desk.start(&format!("{LONG_RUN} --out cut --checkpoint 50ms"));
    for kill in 0..KILLS {
        let share = 0.75 * (kill as f64 + chance.next()) / KILLS as f64;
        wait_for(&file, (share * whole_size) as u64 + 1, &mut running);
        chance.sleep(Duration::from_millis(60));
        let rows_before = contiguous(&file, STEP).rows();
        running.kill();

        let cut = contiguous(&file, STEP);
        assert!(!cut.complete() && cut.rows() >= rows_before && cut.rows() < ROWS);
        assert!(bits(&cut, cut.rows()) == bits(&whole, cut.rows()), "other values before kill {kill}");
        running = match desk.path("cut/checkpoint").exists() || desk.path("cut/checkpoint.previous").exists()
        {
            true => desk.start("resume cut --checkpoint 50ms"),
            // Killed within the first 50 ms.
            false => desk.start(&format!("{LONG_RUN} --out cut --checkpoint 50ms")),
        };
    }
    assert!(running.wait().success());

    assert!(contiguous(&file, STEP).complete());
    assert!(csv(&desk, "cut") == csv(&desk, "whole"), "the exported files differ");
}

/// CPU time of the main thread of a process, in s. Unlike wall time it does not pass while others have the CPU.
#[cfg(target_os = "linux")]
fn cpu_seconds(id: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{id}/schedstat")).unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-9
}

/// The promise: at most the last second is lost. A second of wall time holds at most a second of computing, so
/// the computing between the last growth of the file and the kill is looked at: it shows the promise on a busy
/// machine as well.
#[cfg(target_os = "linux")]
#[test]
fn kill_loses_at_most_the_last_second() {
    const ALLOWED: f64 = 1.0;
    // Looking every 10 ms, on a machine that may be busy.
    const INACCURACY: f64 = 0.5;
    let (desk, mut chance) = (Desk::new(), Chance::new());
    for kill in 0..2 {
        let folder = format!("run{kill}");
        let (file, running) = (recording(&desk, &folder), desk.start(&format!("{SLOW_RUN} --out {folder}")));
        let moment = 1.3 + 1.2 * chance.next();
        let (mut seen, mut grown_at, mut before) = (0, 0.0, 0.0);
        while before < moment {
            sleep(Duration::from_millis(10));
            let now = cpu_seconds(running.id());
            if size(&file) > seen {
                (seen, grown_at) = (size(&file), before);
            }
            before = now;
        }
        let killed_at = cpu_seconds(running.id());
        running.kill();
        let lost = killed_at - grown_at;
        println!("killed after {killed_at:.2} s of computing, at most {lost:.2} s lost");
        assert!(lost < ALLOWED + INACCURACY, "{lost} s lost");

        let table = contiguous(&file, 0.003);
        assert!(table.rows() > 1 && !table.complete());
        assert!(table.rows() < 4096, "the rows were written because of their number, not of their age");
        let done = desk.run(&format!("export {folder} --to {folder}.csv")).exits(0).says("no end mark");
        assert!(done.stderr.contains(&format!("{} rows", table.rows())), "{}", done.story());
    }
}

#[test]
fn a_run_killed_at_once_leaves_a_recording_that_opens() {
    let desk = Desk::new();
    let (file, mut running) = (recording(&desk, "rig"), desk.start(&format!("{LONG_RUN} --out rig")));
    wait_for(&file, 1, &mut running);
    running.kill();
    let table = contiguous(&file, STEP);
    assert_eq!(table.columns()[0].name, "t");
    desk.run("resume rig")
        .exits(1)
        .says("error[E0201]: there is no checkpoint")
        .says("costep run rig/run.toml");
    let again = desk.run("run rig/run.toml --set micro_step=1e-5 --out rig2").exits(0);
    assert!(again.stderr.contains("10001 rows"), "{}", again.story());
}

#[test]
fn a_soft_stop_finishes_the_step_and_can_be_resumed() {
    let (desk, mut chance) = (Desk::new(), Chance::new());
    desk.run(&format!("{LONG_RUN} --out whole")).exits(0);
    let whole = csv(&desk, "whole");
    for (signal, code, error) in [("INT", 130, "E0604"), ("TERM", 130, "E0604"), ("time limit", 4, "E0603")] {
        let folder = signal.replace(' ', "-");
        let limit = if signal == "time limit" { "--time-limit 0.4s" } else { "" };
        let line = format!("{LONG_RUN} --out {folder} --json {limit}");
        let (mut stdout, mut command) =
            (tempfile::tempfile().unwrap(), desk.command(line.split_whitespace()));
        command.stdout(stdout.try_clone().unwrap());
        let mut running = Running::of(command);
        if limit.is_empty() {
            wait_for(&recording(&desk, &folder), 1, &mut running);
            // The handler is there a moment after the file.
            sleep(Duration::from_millis(200));
            chance.sleep(Duration::from_millis(300));
            running.signal(signal);
        }
        assert_eq!(running.wait().code(), Some(code), "{signal}");

        let object: serde_json::Value = serde_json::from_str(&common::text(&mut stdout)).unwrap();
        assert_eq!((&object["verdict"], &object["error"]["code"]), (&"failed".into(), &error.into()));
        let table = contiguous(&recording(&desk, &folder), STEP);
        assert!(table.complete(), "{signal}: the recording has no end mark");
        assert!(table.rows() > 1 && table.rows() < ROWS);
        assert_eq!(object["rows"], table.rows());
        assert_eq!(object["macro_steps"], table.rows() - 1, "{signal}: the last step is not recorded");

        // Nothing is computed twice: it goes on from the last row.
        let last = (table.rows() - 1) as f64 * STEP;
        desk.run(&format!("resume {folder}")).exits(0).says(&format!("resuming at t = {last} s"));
        assert!(csv(&desk, &folder) == whole, "{signal}: the exported files differ");
    }
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let desk = Desk::new();
    // A macro step of several seconds, so that the first signal has to wait for its end.
    let line = "run dual-mass --set micro_step=2e-7 --step 10s --t-end 1h --out rig";
    let mut running = desk.start(line);
    wait_for(&recording(&desk, "rig"), 1, &mut running);
    sleep(Duration::from_millis(300));
    running.signal("INT");
    sleep(Duration::from_millis(100));
    running.signal("INT");
    assert_eq!(running.wait().code(), Some(130));
    assert!(Table::open(&recording(&desk, "rig")).is_ok());
}

/// A finished run with a checkpoint at its end and one a step before it, both taken because every step is due.
fn with_checkpoints(desk: &Desk, line: &str, folder: &str) {
    desk.run(&format!("{line} --out {folder} --checkpoint 0s --quiet"));
    assert!(desk.path(folder).join("checkpoint.previous").is_file());
}

#[test]
fn a_damaged_checkpoint_is_noticed_and_the_previous_one_used() {
    let desk = Desk::new();
    with_checkpoints(&desk, "run dual-mass --t-end 20ms", "rig");
    let (whole, good) = (csv(&desk, "rig"), fs::read(desk.path("rig/checkpoint")).unwrap());
    let flipped = |byte: usize| {
        let mut bytes = good.clone();
        bytes[byte] ^= 1;
        bytes
    };
    let damages = [
        ("the first byte", flipped(0)),
        ("a byte in the middle", flipped(good.len() / 2)),
        ("the checksum", flipped(good.len() - 1)),
        ("a missing end", good[..good.len() - 9].to_vec()),
        ("nothing left", Vec::new()),
    ];
    for (what, bytes) in &damages {
        desk.write("rig/checkpoint", bytes);
        desk.run("resume rig").exits(0).says("resuming at t = 0.019 s").says("rig/checkpoint.previous");
        assert!(csv(&desk, "rig") == whole, "{what}");
    }
    // A kill between two renames leaves no current one.
    fs::remove_file(desk.path("rig/checkpoint")).unwrap();
    desk.run("resume rig").exits(0).says("rig/checkpoint.previous");
    assert!(csv(&desk, "rig") == whole);

    let recorded = fs::read(recording(&desk, "rig")).unwrap();
    for (_, bytes) in &damages {
        desk.write("rig/checkpoint", bytes);
        desk.write("rig/checkpoint.previous", bytes);
        desk.run("resume rig")
            .exits(1)
            .says("error[E0504]: the checkpoint is damaged")
            .says("rig/checkpoint\n");
    }
    assert!(fs::read(recording(&desk, "rig")).unwrap() == recorded, "a refused resume changed the recording");
}

#[test]
fn a_finished_run_resumes_to_itself() {
    let desk = Desk::new();
    with_checkpoints(&desk, "run dual-mass --t-end 20ms", "rig");
    let whole = csv(&desk, "rig");
    desk.run("resume rig").exits(0).says("resuming at t = 0.02 s");
    assert!(csv(&desk, "rig") == whole);
}

#[test]
fn a_resumed_run_is_judged_like_one_that_never_stopped() {
    let desk = Desk::new();
    // Resumed for the last step only, which alone says nothing about growth.
    for (folder, set, code) in [("stable", "", 0), ("unstable", "--set ck=2e5 --set dk=200", 3)] {
        let line = format!("run dual-mass {set} --method zoh --step 1ms");
        let whole = desk.run(&format!("{line} --no-record --json")).exits(code).json();
        assert_eq!(whole["verdict"], folder);
        with_checkpoints(&desk, &line, folder);
        fs::remove_file(desk.path(folder).join("checkpoint")).unwrap();
        let resumed = desk.run(&format!("resume {folder} --json")).exits(code).json();
        for key in ["verdict", "amplitude_ratio", "macro_steps", "subsystem_steps"] {
            assert_eq!(resumed[key], whole[key], "{folder}: {key}");
        }
    }
}

#[test]
fn the_checkpoint_of_another_run_is_refused_and_the_difference_named() {
    let desk = Desk::new();
    with_checkpoints(&desk, "run dual-mass --set ck=2e5 --t-end 20ms --method nepce", "rig");
    let (project, recorded) =
        (fs::read_to_string(desk.path("rig/run.toml")).unwrap(), fs::read(recording(&desk, "rig")).unwrap());
    for (then, now) in [
        ("ck = 200000.0", "ck = 300000.0"),
        ("id = \"nepce\"", "id = \"foh\""),
        ("size = \"1 ms\"", "size = \"2 ms\""),
        ("stop = \"20 ms\"", "stop = \"30 ms\""),
    ] {
        assert!(project.contains(then), "{project}");
        desk.write("rig/run.toml", project.replace(then, now));
        desk.run("resume rig")
            .exits(1)
            .says("error[E0505]: the checkpoint belongs to another run")
            .says(&format!("it was `{then}`, now it is `{now}`"));
    }
    assert!(fs::read(recording(&desk, "rig")).unwrap() == recorded, "a refused resume changed the recording");
    // What does not change the run may be written in another way.
    desk.write("rig/run.toml", project.replace("ck = 200000.0", "ck = 2e5   # stiffer"));
    desk.run("resume rig").exits(0);
}

#[test]
fn only_the_folder_of_a_run_can_be_resumed() {
    let desk = Desk::new();
    fs::create_dir(desk.path("empty")).unwrap();
    desk.write("file", "text");
    for folder in ["missing", "empty", "file"] {
        desk.run(&format!("resume {folder}"))
            .exits(1)
            .says("error[E0201]: this is not the folder of a run")
            .says("costep run --out DIR");
    }
    desk.run("demo").exits(0);
    desk.run("resume costep-demo").exits(1).says("it has no run.toml");

    with_checkpoints(&desk, "run dual-mass --t-end 20ms", "rig");
    let recorded = fs::read(recording(&desk, "rig")).unwrap();
    desk.write("rig/results.arrows", &recorded[..recorded.len() / 2]);
    desk.run("resume rig").exits(1).says("error[E0502]").says(" rows, 21 are needed");
    desk.write("rig/results.arrows", "no recording");
    desk.run("resume rig").exits(1).says("error[E0501]");
    fs::remove_file(recording(&desk, "rig")).unwrap();
    desk.run("resume rig").exits(1).says("error[E0201]").says("results.arrows");
    desk.write("rig/run.toml", "[system]\nmodl = \"dual-mass\"\n");
    desk.run("resume rig").exits(1).says("rig/run.toml:2").says("did you mean `model`?");
}
