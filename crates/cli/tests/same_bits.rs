//! Runs give the bits they have always given: recordings and checkpoints are compared with digests
//! that are kept in `data/same_bits.txt`.
//!
//! `COSTEP_WRITE_BITS=1` writes this file anew instead of comparing; that is right only where other
//! numbers are wanted. Elementary functions are the system's: where they give other bits than on the
//! machine that made the file, runs that differ are not failures, but have to agree with themselves.
#![cfg(unix)]

#[path = "same_bits/cases.rs"]
mod cases;
mod common;
#[path = "same_bits/digest.rs"]
mod digest;
#[path = "same_bits/projects.rs"]
mod projects;
#[path = "same_bits/table.rs"]
mod table;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{Done, Sandbox};
use digest::Bits;
use table::difference;

/// A folder with all projects and models that runs ask for.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::in_memory();
    projects::write(&sandbox);
    sandbox.run(cases::IDENTIFY).exits(0);
    sandbox
}

/// What comes after every command: a checkpoint at every step, the last of which is at the last step.
fn flags(line: &str, folder: &str) -> String {
    let reference = if line.contains("--reference") { "" } else { "--reference none" };
    format!("{line} {reference} --no-verify --checkpoint 0s --quiet --out {folder}")
}

/// What a run left in its folder, which is removed. Those that diverge leave bits as well; where a run is
/// refused or crashes, there is nothing but its exit code.
fn left_by(sandbox: &Sandbox, done: &Done, folder: &str) -> (Bits, Vec<String>) {
    let exit = done.status.code().unwrap_or(-1);
    let bits = match exit {
        0 | 3 => digest::of_run(&sandbox.path(folder), &sandbox.path(""), exit),
        _ => {
            println!("{}", done.story());
            (Bits { exit, ..Bits::default() }, Vec::new())
        }
    };
    let _ = std::fs::remove_dir_all(sandbox.path(folder));
    bits
}

/// Runs a line from its start to its end.
fn whole(sandbox: &Sandbox, line: &str, folder: &str) -> (Bits, Vec<String>) {
    left_by(sandbox, &sandbox.run(&flags(line, folder)), folder)
}

/// Runs all lines, on two threads. The results have the order of the lines.
fn run_all(sandbox: &Sandbox, lines: &[String]) -> Vec<(Bits, Vec<String>)> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((at, line)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, lines.get(at)?)))
                {
                    let result = whole(sandbox, line, &format!("out-{at}"));
                    results.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn recordings_and_checkpoints_have_the_bits_that_are_kept() {
    let (sandbox, lines, functions) = (prepared(), cases::all(), digest::of_functions());
    let models = digest::of_text(&sandbox.path("models.toml"));
    let results = run_all(&sandbox, &lines);
    if std::env::var_os("COSTEP_WRITE_BITS").is_some() {
        assert!(results.iter().all(|(bits, _)| bits.rows > 0), "a run left nothing");
        table::write(functions, models, lines.iter().zip(results.iter().map(|(bits, _)| bits)));
        println!("wrote the bits of {} runs", lines.len());
        return;
    }
    let mut kept = table::read();
    let same_functions = functions == kept.functions;
    let (mut failures, mut skipped) = (Vec::new(), 0);
    for (line, (now, columns)) in lines.iter().zip(&results) {
        let Some(then) = kept.runs.remove(line) else {
            failures.push(format!("{line}\n    its bits are not kept"));
            continue;
        };
        let Some(words) = difference(&then, now, columns) else { continue };
        if same_functions {
            failures.push(format!("{line}\n    {words}"));
            continue;
        }
        println!("skipped, as elementary functions are others here: {line}: {words}");
        skipped += 1;
        let (again, _) = whole(&sandbox, line, "again");
        if let Some(words) = difference(now, &again, columns) {
            failures.push(format!("{line}\n    two runs differ: {words}"));
        }
    }
    failures.extend(kept.runs.keys().map(|line| format!("{line}\n    bits are kept, but it is not run")));
    if same_functions && models != kept.models {
        failures.push(format!("{}\n    the file of models differs", cases::IDENTIFY));
    }
    if !same_functions {
        println!(
            "sin, exp and others give other bits on this machine than where the table was made: {skipped} of {} runs \
             differ from it and were only compared with themselves",
            lines.len()
        );
    }
    assert!(
        failures.is_empty(),
        "{} of {} runs have other bits (to see the numbers, run a line with this program and with an earlier one and \
         compare what `costep export` makes of them):\n{}",
        failures.len(),
        lines.len(),
        failures.join("\n")
    );
}

/// Runs that are stopped, killed, or given other numbers of threads: local models of every kind, identified
/// ones, a solver with a history, FMUs of both kinds, one of them isolated.
const AGAIN: [&str; 12] = [
    "run dual-mass --step 1ms --t-end 40ms --method nepce:smooth=true",
    "run chain --step 1ms --t-end 40ms --set frequency=100 --method predictive",
    "run chain --set n=12 --step 1ms --t-end 40ms --set frequency=100 --method identified",
    "run dual-mass-nonlinear --step 1ms --t-end 40ms --method prestep:source=moesp,learning=5,window=12,interval=2",
    "run dual-mass-nonlinear --step 1ms --t-end 40ms --method predictive:source=probe,every=3",
    "run coupled-pendula --step 20ms --t-end 800ms --method mbcorr:source=finite-difference,refresh=changed",
    "run triple-spring --step 100ms --t-end 4s --method lis",
    "run coupled-pendula --step 20ms --t-end 800ms --method monolithic",
    "run groups-predictive.toml",
    "run fmu-3-cs --t-end 20ms --method auto",
    "run fmu-2-me --t-end 20ms --method zoh",
    "run isolated-3-cs --t-end 20ms --method predictive",
];

#[test]
fn a_run_that_is_stopped_at_each_of_its_first_steps_has_the_same_bits() {
    let sandbox = prepared();
    for line in AGAIN {
        let (expected, columns) = whole(&sandbox, line, "whole");
        sandbox.run(&format!("{} --time-limit 0s", flags(line, "stopped"))).exits(4);
        for _ in 0..8 {
            sandbox.run("resume stopped --time-limit 0s").exits(4);
        }
        let (bits, _) =
            left_by(&sandbox, &sandbox.run("resume stopped --no-verify --checkpoint 0s"), "stopped");
        assert!(bits.rows > 10, "{line}");
        assert_eq!(difference(&expected, &bits, &columns), None, "{line}");
    }
}

#[test]
fn a_run_that_is_killed_has_the_same_bits() {
    let sandbox = prepared();
    for line in AGAIN {
        let (expected, columns) = whole(&sandbox, line, "whole");
        let mut running = sandbox.start(&flags(line, "killed"));
        let (start, checkpoint) = (Instant::now(), sandbox.path("killed/checkpoint"));
        while !checkpoint.exists() && !running.has_ended() {
            assert!(start.elapsed() < Duration::from_secs(60), "no checkpoint: {line}");
        }
        running.kill();
        let (bits, _) =
            left_by(&sandbox, &sandbox.run("resume killed --no-verify --checkpoint 0s"), "killed");
        assert!(bits.rows > 10, "{line}");
        assert_eq!(difference(&expected, &bits, &columns), None, "{line}");
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let sandbox = prepared();
    for line in AGAIN {
        let [(one, columns), (two, _)] =
            [1, 2].map(|threads| whole(&sandbox, &format!("{line} --threads {threads}"), "threads"));
        assert!(one.rows > 10, "{line}");
        // What they differ in is the number itself, in the identity of the run.
        let without_identity = |mut bits: Bits| {
            bits.checkpoint.whole = 0;
            if let Some(identity) = bits.checkpoint.items.first_mut() {
                *identity = 0;
            }
            bits
        };
        let (one, two) = (without_identity(one), without_identity(two));
        assert_eq!(difference(&one, &two, &columns), None, "{line}");
    }
}
