//! What is left of a run that was killed, stopped or cut off, and that it goes on from there bit by bit.

#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use common::{Running, Sandbox};
use costep_results::Table;

/// Takes some seconds without optimisation: 10,000 macro steps of 2,500 inner steps in each of 6 parts.
const LONG_RUN: &str =
    "run chain --set n=6 --set micro_step=2e-7 --method nepce --threads 1 --step 0.5ms --t-end 5s";
const STEP: f64 = 0.0005;
const ROWS: usize = 10_001;

/// Some hundred macro steps per second: batches are written because of their age, not of their size. The step is one at
/// which the method is stable: a run that diverges ends before it can be killed.
const SLOW_RUN: &str =
    "run chain --set n=6 --set micro_step=3e-8 --method nepce --threads 1 --step 0.5ms --t-end 1h";

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

fn csv(sandbox: &Sandbox, folder: &str) -> Vec<u8> {
    sandbox.run(&format!("export {folder} --to {folder}.csv --quiet")).exits(0);
    fs::read(sandbox.path(format!("{folder}.csv"))).unwrap()
}

fn recording(sandbox: &Sandbox, folder: &str) -> PathBuf {
    sandbox.path(folder).join("results.arrows")
}

/// The steps of these runs vary: controls go on from where they stood, with ranges and errors of earlier steps.
#[test]
fn killed_runs_with_a_tolerance_give_the_same_bits() {
    // The second with an iteration under the control, which has a memory of its own.
    for (control, method, micro_step) in [("defect", "foh", 2e-7), ("richardson", "iqn-ils", 6e-7)] {
        let run = format!(
            "run chain --set n=6 --set micro_step={micro_step:e} --method {method} --threads 1 --tolerance 1e-4 --control {control} --t-end 2s --no-verify"
        );
        let (sandbox, mut chance) = (Sandbox::new(), Chance::new());
        sandbox.run(&format!("{run} --out whole")).exits(0);
        let whole = Table::open(&recording(&sandbox, "whole")).unwrap();
        let lengths: Vec<f64> = whole.values("t").unwrap().windows(2).map(|t| t[1] - t[0]).collect();
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        assert!(lengths.iter().filter(|length| **length < 0.5 * longest).count() > 10, "steps vary");
        let file = recording(&sandbox, "cut");
        let mut running = sandbox.start(&format!("{run} --out cut --checkpoint 20ms"));
        let bytes = size(&recording(&sandbox, "whole")) as f64 * (0.2 + 0.5 * chance.next());
        wait_for(&file, bytes as u64, &mut running);
        running.kill();
        let cut = Table::open(&file).unwrap();
        assert!(!cut.complete() && bits(&cut, cut.rows()) == bits(&whole, cut.rows()));
        sandbox.run("resume cut --no-verify").exits(0);
        assert!(csv(&sandbox, "cut") == csv(&sandbox, "whole"), "{control}: the exported files differ");
    }
}

#[test]
fn killed_again_and_again_a_run_still_gives_the_same_bits() {
    kill_again_and_again(LONG_RUN, 6);
}

/// With the tries of earlier steps in its memory.
#[test]
fn so_does_one_that_repeats_its_steps() {
    kill_again_and_again(&LONG_RUN.replace("nepce", "iqn-ils:sweep=jacobi").replace("2e-7", "6e-7"), 3);
}

fn kill_again_and_again(long_run: &str, kills: usize) {
    let (sandbox, mut chance) = (Sandbox::new(), Chance::new());
    sandbox.run(&format!("{long_run} --out whole")).exits(0);
    let file = recording(&sandbox, "cut");
    let whole = contiguous(&recording(&sandbox, "whole"), STEP);
    assert!(whole.complete() && whole.rows() == ROWS);
    let whole_size = size(&recording(&sandbox, "whole")) as f64;

    let mut running = sandbox.start(&format!("{long_run} --out cut --checkpoint 50ms"));
    for kill in 0..kills {
        let share = 0.75 * (kill as f64 + chance.next()) / kills as f64;
        wait_for(&file, (share * whole_size) as u64 + 1, &mut running);
        chance.sleep(Duration::from_millis(60));
        let rows_before = contiguous(&file, STEP).rows();
        running.kill();

        let cut = contiguous(&file, STEP);
        assert!(!cut.complete() && cut.rows() >= rows_before && cut.rows() < ROWS);
        assert!(bits(&cut, cut.rows()) == bits(&whole, cut.rows()), "other values before kill {kill}");
        running = match sandbox.path("cut/checkpoint").exists()
            || sandbox.path("cut/checkpoint.previous").exists()
        {
            true => sandbox.start("resume cut --checkpoint 50ms"),
            // Killed within the first 50 ms.
            false => sandbox.start(&format!("{long_run} --out cut --checkpoint 50ms")),
        };
    }
    assert!(running.wait().success());

    assert!(contiguous(&file, STEP).complete());
    assert!(csv(&sandbox, "cut") == csv(&sandbox, "whole"), "the exported files differ");
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
    let (sandbox, mut chance) = (Sandbox::new(), Chance::new());
    for kill in 0..2 {
        let folder = format!("run{kill}");
        let (file, mut running) =
            (recording(&sandbox, &folder), sandbox.start(&format!("{SLOW_RUN} --out {folder}")));
        let moment = 1.3 + 1.2 * chance.next();
        let (mut seen, mut grown_at, mut before) = (0, 0.0, 0.0);
        while before < moment {
            sleep(Duration::from_millis(10));
            assert!(!running.has_ended(), "the run ended before it could be killed");
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

        let table = contiguous(&file, STEP);
        assert!(table.rows() > 1 && !table.complete());
        assert!(table.rows() < 4096, "the rows were written because of their number, not of their age");
        let done = sandbox.run(&format!("export {folder} --to {folder}.csv")).exits(0).says("no end mark");
        assert!(done.stderr.contains(&format!("{} rows", table.rows())), "{}", done.story());
    }
}

#[test]
fn a_run_killed_at_once_leaves_a_recording_that_opens() {
    let sandbox = Sandbox::new();
    let (file, mut running) = (recording(&sandbox, "rig"), sandbox.start(&format!("{LONG_RUN} --out rig")));
    wait_for(&file, 1, &mut running);
    running.kill();
    let table = contiguous(&file, STEP);
    assert_eq!(table.columns()[0].name, "t");
    sandbox
        .run("resume rig")
        .exits(1)
        .says("error[E0201]: there is no checkpoint")
        .says("costep run rig/run.toml");
    let again = sandbox.run("run rig/run.toml --set micro_step=1e-5 --out rig2").exits(0);
    assert!(again.stderr.contains("10001 rows"), "{}", again.story());
}

#[test]
fn a_soft_stop_finishes_the_step_and_can_be_resumed() {
    let (sandbox, mut chance) = (Sandbox::new(), Chance::new());
    sandbox.run(&format!("{LONG_RUN} --out whole")).exits(0);
    let whole = csv(&sandbox, "whole");
    // `HUP` is what a terminal sends that goes away.
    let stops = ["INT", "TERM", "HUP"].map(|signal| (signal, 130, "E0604"));
    for (signal, code, error) in stops.into_iter().chain([("time limit", 4, "E0603")]) {
        let folder = signal.replace(' ', "-");
        let limit = if signal == "time limit" { "--time-limit 0.4s" } else { "" };
        let line = format!("{LONG_RUN} --out {folder} --json {limit}");
        let (mut stdout, mut command) =
            (tempfile::tempfile().unwrap(), sandbox.command(line.split_whitespace()));
        command.stdout(stdout.try_clone().unwrap());
        let mut running = Running::of(command);
        if limit.is_empty() {
            wait_for(&recording(&sandbox, &folder), 1, &mut running);
            // The handler is there a moment after the file.
            sleep(Duration::from_millis(200));
            chance.sleep(Duration::from_millis(300));
            running.signal(signal);
        }
        assert_eq!(running.wait().code(), Some(code), "{signal}");

        let object: serde_json::Value = serde_json::from_str(&common::text(&mut stdout)).unwrap();
        assert_eq!((&object["verdict"], &object["error"]["code"]), (&"failed".into(), &error.into()));
        let table = contiguous(&recording(&sandbox, &folder), STEP);
        assert!(table.complete(), "{signal}: the recording has no end mark");
        assert!(table.rows() > 1 && table.rows() < ROWS);
        assert_eq!(object["rows"], table.rows());
        assert_eq!(object["macro_steps"], table.rows() - 1, "{signal}: the last step is not recorded");

        // Nothing is computed twice: it goes on from the last row.
        let last = (table.rows() - 1) as f64 * STEP;
        let last = (last * 1e9).round() * 1e-9;
        let resumed = sandbox.run(&format!("resume {folder} --no-verify")).exits(0);
        let time = resumed.stderr.split("resuming at t = ").nth(1).and_then(|rest| rest.split(' ').next());
        assert!((time.unwrap().parse::<f64>().unwrap() - last).abs() < 1e-9, "{}", resumed.story());
        assert!(csv(&sandbox, &folder) == whole, "{signal}: the exported files differ");
    }
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let sandbox = Sandbox::new();
    // A macro step of several seconds, so that the first signal has to wait for its end.
    let line = "run dual-mass --set micro_step=2e-7 --step 10s --t-end 1h --out rig";
    let mut running = sandbox.start(line);
    wait_for(&recording(&sandbox, "rig"), 1, &mut running);
    sleep(Duration::from_millis(300));
    running.signal("INT");
    sleep(Duration::from_millis(100));
    running.signal("INT");
    assert_eq!(running.wait().code(), Some(130));
    assert!(Table::open(&recording(&sandbox, "rig")).is_ok());
}

/// A finished run with a checkpoint at its end and one a step before it, both taken because every step is due.
fn with_checkpoints(sandbox: &Sandbox, line: &str, folder: &str) {
    sandbox.run(&format!("{line} --out {folder} --checkpoint 0s --quiet"));
    assert!(sandbox.path(folder).join("checkpoint.previous").is_file());
}

#[test]
fn a_damaged_checkpoint_is_noticed_and_the_previous_one_used() {
    let sandbox = Sandbox::new();
    with_checkpoints(&sandbox, "run dual-mass --t-end 20ms", "rig");
    let (whole, good) = (csv(&sandbox, "rig"), fs::read(sandbox.path("rig/checkpoint")).unwrap());
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
        sandbox.write("rig/checkpoint", bytes);
        sandbox.run("resume rig").exits(0).says("resuming at t = 0.019 s").says("rig/checkpoint.previous");
        assert!(csv(&sandbox, "rig") == whole, "{what}");
    }
    // A kill between two renames leaves no current one.
    fs::remove_file(sandbox.path("rig/checkpoint")).unwrap();
    sandbox.run("resume rig").exits(0).says("rig/checkpoint.previous");
    assert!(csv(&sandbox, "rig") == whole);

    let recorded = fs::read(recording(&sandbox, "rig")).unwrap();
    for (_, bytes) in &damages {
        sandbox.write("rig/checkpoint", bytes);
        sandbox.write("rig/checkpoint.previous", bytes);
        sandbox
            .run("resume rig")
            .exits(1)
            .says("error[E0504]: the checkpoint is damaged")
            .says("rig/checkpoint\n");
    }
    assert!(
        fs::read(recording(&sandbox, "rig")).unwrap() == recorded,
        "a refused resume changed the recording"
    );
}

#[test]
fn a_finished_run_resumes_to_itself() {
    let sandbox = Sandbox::new();
    with_checkpoints(&sandbox, "run dual-mass --t-end 20ms", "rig");
    let whole = csv(&sandbox, "rig");
    sandbox.run("resume rig").exits(0).says("resuming at t = 0.02 s");
    assert!(csv(&sandbox, "rig") == whole);
}

#[test]
fn a_resumed_run_is_judged_like_one_that_never_stopped() {
    let sandbox = Sandbox::new();
    // Resumed for the last step only, which alone says nothing about growth.
    for (folder, set, code) in [("stable", "", 0), ("unstable", "--set ck=2e5 --set dk=200", 3)] {
        let line = format!("run dual-mass {set} --method zoh --step 1ms");
        let whole = sandbox.run(&format!("{line} --no-record --json")).exits(code).json();
        assert_eq!(whole["verdict"], folder);
        with_checkpoints(&sandbox, &line, folder);
        fs::remove_file(sandbox.path(folder).join("checkpoint")).unwrap();
        let resumed = sandbox.run(&format!("resume {folder} --json")).exits(code).json();
        for key in ["verdict", "amplitude_ratio", "macro_steps", "subsystem_steps"] {
            assert_eq!(resumed[key], whole[key], "{folder}: {key}");
        }
    }
}

#[test]
fn the_checkpoint_of_another_run_is_refused_and_the_difference_named() {
    let sandbox = Sandbox::new();
    with_checkpoints(&sandbox, "run dual-mass --set ck=2e5 --t-end 20ms --method nepce", "rig");
    let (project, recorded) = (
        fs::read_to_string(sandbox.path("rig/run.toml")).unwrap(),
        fs::read(recording(&sandbox, "rig")).unwrap(),
    );
    for (then, now) in [
        ("ck = 200000.0", "ck = 300000.0"),
        ("id = \"nepce\"", "id = \"foh\""),
        ("size = \"1 ms\"", "size = \"2 ms\""),
        ("stop = \"20 ms\"", "stop = \"30 ms\""),
    ] {
        assert!(project.contains(then), "{project}");
        sandbox.write("rig/run.toml", project.replace(then, now));
        sandbox
            .run("resume rig")
            .exits(1)
            .says("error[E0505]: the checkpoint belongs to another run")
            .says(&format!("it was `{then}`, now it is `{now}`"));
    }
    assert!(
        fs::read(recording(&sandbox, "rig")).unwrap() == recorded,
        "a refused resume changed the recording"
    );
    // What does not change the run may be written in another way.
    sandbox.write("rig/run.toml", project.replace("ck = 200000.0", "ck = 2e5   # stiffer"));
    sandbox.run("resume rig").exits(0);
}

/// A project whose run is stopped after its first steps.
const RIG: &str = "[system]\nmodel = \"dual-mass\"\nstop = \"20 ms\"\n[parameters]\nck = 2e5\n[step]\nsize = \"1 ms\"\n\
                   [record]\nevery = \"1 ms\"\n";

#[test]
fn a_project_that_has_changed_since_the_run_began_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("rig/system.toml", RIG);
    for folder in ["rig", "out"] {
        with_checkpoints(&sandbox, "run rig --set dk=200", folder);
        let whole = csv(&sandbox, folder);
        for (then, now, place, says) in [
            ("20 ms", "30 ms", ":3", "[system] stop was `20 ms`, now it is `30 ms`"),
            ("ck = 2e5", "ck = 3e5", ":5", "[parameters] ck was `200000.0`, now it is `300000.0`"),
            ("[step]", "[method]\nid = \"foh\"\n[step]", ":7", "[method] id was `auto`, now it is `foh`"),
            ("[step]", "[schedule]\nkind = \"parallel\"\n[step]", ":7", "[schedule] kind was `auto`"),
            ("ck = 2e5", "kc = 2e5", ":5", "has no parameter `kc`"),
        ] {
            sandbox.write("rig/system.toml", RIG.replace(then, now));
            sandbox
                .run(&format!("resume {folder}"))
                .exits(1)
                .says("error[E0507]: the run is complete up to its stop of 20 ms")
                .says(&format!("rig/system.toml{place}"))
                .says(says)
                .says("costep run rig/system.toml --set dk=200");
            assert!(csv(&sandbox, folder) == whole, "a refused resume changed the recording");
        }
        // What gives the same results may change, and is told of where it has no effect.
        sandbox.write("rig/system.toml", format!("# stiffer\n{}", RIG.replace("2e5", "200000.0")));
        assert!(!sandbox.run(&format!("resume {folder}")).exits(0).stderr.contains("changed"));
        sandbox.write("rig/system.toml", RIG.replace("every = \"1 ms\"", "every = \"2 ms\""));
        sandbox
            .run(&format!("resume {folder}"))
            .exits(0)
            .says("[record] every has changed: the run goes on as it began");
        sandbox.write("rig/system.toml", RIG);
        assert!(csv(&sandbox, folder) == whole);
    }
    // Both may be moved, and the project may be gone.
    fs::rename(sandbox.path("rig"), sandbox.path("moved")).unwrap();
    sandbox.run("resume moved").exits(0);
    sandbox.write("moved/system.toml", RIG.replace("20 ms", "30 ms"));
    sandbox.run("resume moved").exits(1).says("E0507").says("moved/system.toml:3").says("again, up to 30 ms");
    // One that was stopped could go on.
    sandbox.write("moved/system.toml", RIG);
    sandbox.run("run moved --out cut --time-limit 0s").exits(4);
    sandbox.write("moved/system.toml", RIG.replace("20 ms", "30 ms"));
    let done = sandbox.run("resume cut").exits(1);
    done.says("error[E0505]: the project has changed since the run began").says("put back what was there");
    sandbox.run("resume out").exits(0).says("which the run began with, is not there");
}

#[test]
fn only_the_folder_of_a_run_can_be_resumed() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.write("file", "text");
    sandbox.run("resume missing").exits(1).says("error[E0201]: `missing` does not exist");
    for folder in ["empty", "file"] {
        sandbox
            .run(&format!("resume {folder}"))
            .exits(1)
            .says("error[E0201]: this is not the folder of a run")
            .says("costep run --out DIR");
    }
    sandbox.run("demo").exits(0);
    sandbox.run("resume costep-demo").exits(1).says("it has no run.toml");

    with_checkpoints(&sandbox, "run dual-mass --t-end 20ms", "rig");
    let recorded = fs::read(recording(&sandbox, "rig")).unwrap();
    sandbox.write("rig/results.arrows", &recorded[..recorded.len() / 2]);
    sandbox.run("resume rig").exits(1).says("error[E0502]").says(" rows, 21 are needed");
    sandbox.write("rig/results.arrows", "no recording");
    sandbox.run("resume rig").exits(1).says("error[E0501]");
    fs::remove_file(recording(&sandbox, "rig")).unwrap();
    sandbox.run("resume rig").exits(1).says("error[E0201]").says("results.arrows");
    sandbox.write("rig/run.toml", "[system]\nmodl = \"dual-mass\"\n");
    sandbox.run("resume rig").exits(1).says("rig/run.toml:2").says("did you mean `model`?");
}
