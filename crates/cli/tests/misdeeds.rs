//! What FMUs do to the process that they are in, beside crashing: each deed ends in a whole result or in an error with a code.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;
#[path = "common/rig.rs"]
mod rig;

use std::time::{Duration, Instant};

use common::{Done, Running, finished, left_over};
use rig::Rig;

const MODES: [&str; 3] = ["none", "process", "sandbox"];

/// Runs what was compiled with these flags in every mode. No process and no unpacked folder is left.
fn run_all(flags: &[&str], mut look: impl FnMut(&str, &Rig, Done)) {
    let rig = Rig::new(1, flags);
    let [mark, temporary] = ["mark", "temporary"].map(|name| rig.0.path(name));
    std::fs::create_dir(&temporary).unwrap();
    for mode in MODES {
        rig.describe(1, &format!("isolation = \"{mode}\""));
        let _ = std::fs::remove_dir_all(rig.0.path("out"));
        let line = "run rig --out out --checkpoint 0s --threads 1";
        let mut command = rig.0.command(line.split(' '));
        command.env("COSTEP_TEST_MARK", &mark).env("TMPDIR", &temporary);
        let done = finished(command, format!("{line} ({flags:?}, {mode})"));
        assert_eq!(left_over(&mark), 0, "{}", done.story());
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{}", done.story());
        look(mode, &rig, done);
    }
}

fn bits(rig: &Rig) -> Vec<Vec<u64>> {
    let table = rig.recording();
    let bits = |name: &str| table.values(name).unwrap().iter().map(|y| y.to_bits()).collect();
    table.columns().iter().map(|column| bits(&column.name)).collect()
}

/// The run is whole, with the bits of one in which nothing was done.
fn changes_nothing(flags: &[&str], words: &str) {
    let plain = Rig::new(1, &[]);
    plain.run("").exits(0);
    run_all(flags, |mode, rig, done| {
        let done = done.exits(0);
        assert!(rig.recording().complete() && bits(rig) == bits(&plain), "{}", done.story());
        // A sandbox does not let everything be done at all.
        if mode != "sandbox" {
            done.says(words);
        }
    });
}

/// The run ends with the FMU's name and call, and keeps the rows before.
fn ends_the_run(flags: &[&str], how: &str) {
    run_all(flags, |mode, rig, done| {
        let done = done.exits(2).says("error[E0405]: `bad` ").says(" in fmi2DoStep");
        let done = if mode == "sandbox" { done } else { done.says(how) };
        assert_eq!(rig.recording().rows(), 4, "{}", done.story());
    });
}

#[test]
fn a_copy_of_the_process_that_comes_back_from_a_call_is_ended() {
    let words = "a copy of the process, made by fork inside of a call, came back from it and was ended";
    for deed in ["-DDEED=come_back_twice", "-DDEED=come_back_twice_raw"] {
        changes_nothing(&[deed], words);
    }
    ends_the_run(&["-DDEED=go_into_background"], "ended the program with exit code 0");
}

#[test]
fn signals_that_an_fmu_handles_ignores_or_blocks_change_nothing() {
    let stops = "-DAT_UNLOAD=signal(SIGALRM, SIG_IGN)";
    changes_nothing(&["-DDEED=interrupt", stops], "");
    changes_nothing(&["-DDEED=ignore_children"], "");
    changes_nothing(&["-DDEED=block_signals"], "");
}

#[test]
fn environment_and_files_of_a_process_do_not_matter() {
    changes_nothing(&["-DDEED=clear_environment"], "");
    changes_nothing(&["-DDEED=replace_files"], "");
}

#[test]
fn messages_may_be_long_empty_and_from_any_thread() {
    changes_nothing(&["-DDEED=log_much"], "bad: warning [logStatusWarning]: aaaa");
    changes_nothing(&["-DDEED=log_from_threads"], "bad: warning [logStatusWarning]: from a thread");
}

#[test]
fn faults_that_come_later_or_in_disguise_are_seen() {
    ends_the_run(&["-DDEED=fault_later"], "died with SIGSEGV");
    ends_the_run(&["-DDEED=hide_fault"], "ended the program with exit code 0");
    ends_the_run(&["-DDEED=ring_alarm"], "died with signal 14");
}

/// Nobody says who sent such a signal.
#[test]
fn a_process_that_kills_itself_is_not_blamed_but_named() {
    run_all(&["-DDEED=kill_itself"], |_, rig, done| {
        let done = done.exits(130).says("was killed by SIGKILL").says("or by itself: `bad` in fmi2DoStep");
        assert_eq!(rig.recording().rows(), 4, "{}", done.story());
    });
}

/// An FMU apart from the run limits itself alone. What becomes of a run without memory is by chance, but known.
#[test]
fn limits_that_an_fmu_sets_are_errors_of_files_or_its_own() {
    for deed in ["limit_files", "limit_sizes", "limit_memory"] {
        run_all(&[&format!("-DDEED={deed}")], |mode, rig, done| {
            if mode == "none" && deed == "limit_memory" {
                let is_whole = done.status.success() && rig.recording().complete();
                assert!(is_whole || done.stderr.contains("error[E"), "{}", done.story());
            } else if mode == "none" {
                let done = done.exits(2).says("error[E0503]");
                assert!(!rig.recording().complete(), "{}", done.story());
            } else {
                let done = done.exits(0);
                assert!(rig.recording().complete() && rig.recording().rows() == 6, "{}", done.story());
            }
        });
    }
}

/// The results are there, and the end of the program is no success.
#[test]
fn what_an_fmu_does_when_it_is_unloaded_is_its_fault() {
    for (deed, how) in [("_exit(0)", "ended the program with exit code 0"), ("abort()", "died with SIGABRT")]
    {
        for when in ["AT_UNLOAD", "AT_EXIT_OF_PROGRAM"] {
            run_all(&[&format!("-D{when}={deed}")], |_, rig, done| {
                let done = done.exits(2).says(&format!("`Hostile.fmu` {how} in unloading its library"));
                assert!(rig.recording().complete() && rig.recording().rows() == 6, "{}", done.story());
            });
        }
    }
}

/// A library that stays to the end of the program, as that of Python does with what its packages have loaded.
#[test]
fn what_a_library_that_stays_would_do_at_the_end_of_the_program_is_not_done() {
    let flags = [
        "-Wl,-z,nodelete",
        "-DDEED=print_a_bit",
        "-DAT_EXIT_OF_PROGRAM=(fputs(\"I stay\\n\", stderr), abort())",
    ];
    let rig = Rig::new(1, &flags);
    rig.run_both("", |done| {
        let done = done.exits(0).says("printed by bad").says("last words");
        assert!(rig.recording().complete() && !done.stderr.contains("I stay"), "{}", done.story());
    });
}

/// Whoever waits for input holds the lock of its stream, for which the end of the program waited.
#[test]
fn a_thread_that_waits_for_input_does_not_hold_up_the_end() {
    let rig = Rig::new(1, &["-Wl,-z,nodelete", "-DDEED=hold_stream"]);
    rig.run_both("", |done| {
        done.exits(0);
        assert!(rig.recording().complete());
    });
}

/// What it says of itself in shared memory is not believed.
#[test]
fn an_end_that_is_forged_is_no_success() {
    run_all(&["-DDEED=forge_end"], |_, rig, done| {
        assert!(done.status.code().is_some_and(|code| (1..=4).contains(&code)), "{}", done.story());
        assert!(done.stderr.contains("error[E"), "{}", done.story());
        assert!(rig.recording().rows() <= 4, "{}", done.story());
    });
}

/// Of a run that is done by threads the system does not end the processes of FMUs with the one that started them, and a
/// sandbox refuses them to signal their group.
#[test]
fn a_killed_run_of_many_threads_leaves_no_process() {
    let rig = Rig::new(1, &["-DDEED=hang"]);
    let mark = rig.0.path("mark");
    for mode in ["process", "sandbox"] {
        rig.describe(1, &format!("isolation = \"{mode}\""));
        let line = format!("map rig --methods zoh --steps 50ms,100ms --no-radius --jobs 2 --out {mode}");
        let mut command = rig.0.command(line.split(' '));
        command.env("COSTEP_TEST_MARK", &mark).stdout(std::process::Stdio::null());
        let running = Running::of(command);
        let wait_for = |is_there: &dyn Fn(usize) -> bool| {
            let start = Instant::now();
            while !is_there(left_over(&mark)) {
                assert!(start.elapsed() < Duration::from_secs(30), "{mode}: {}", left_over(&mark));
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // The watcher, the runs, two FMUs.
        wait_for(&|processes| processes >= 4);
        std::thread::sleep(Duration::from_millis(100));
        running.kill();
        wait_for(&|processes| processes == 0);
    }
}

#[test]
fn states_may_change_their_size_from_checkpoint_to_checkpoint() {
    run_all(&["-DGROWING_STATE"], |mode, rig, done| {
        done.exits(0);
        let whole = bits(rig);
        rig.run("--checkpoint 0s --time-limit 0s --no-verify").exits(4);
        rig.0.run("resume out --no-verify").exits(0);
        assert!(bits(rig) == whole, "{mode}");
    });
}

/// Timers, handlers of signals and filters of calls that an FMU leaves can stop the thread that called it when no FMU is
/// called any more.
#[test]
fn a_process_that_does_nothing_outside_of_calls_is_ended() {
    let rig = Rig::new(1, &["-DDEED=lose_thread"]);
    for mode in ["none", "process"] {
        rig.describe(1, &format!("isolation = \"{mode}\"\nstep_timeout = \"1 s\""));
        rig.change("[fmu.good]", "[fmu.good]\nstep_timeout = \"1 s\"");
        let who = if mode == "none" { "the process of the run" } else { "the process of `bad`" };
        let done = rig.run("--checkpoint 0s --threads 1").exits(4);
        done.says(&format!("error[E0406]: {who} has done nothing for 1s while no FMU was being called"));
        // The step in which it happened may have been answered without a call of the system.
        assert!((4..=5).contains(&rig.recording().rows()), "{mode}: {}", rig.recording().rows());
    }
    rig.describe(1, "");
    rig.run("--checkpoint 0s --threads 1 --time-limit 0.5s").exits(4).says("while a macro step did not end");
}

/// Libraries are unloaded when the run has read its recording again.
#[test]
fn a_recording_that_is_changed_at_the_end_of_the_program_is_no_success() {
    for when in ["AT_UNLOAD", "AT_EXIT_OF_PROGRAM"] {
        for (deed, code) in [("cut_recording", "E0501"), ("remove_recording", "E0201")] {
            let rig = Rig::new(1, &[&format!("-D{when}={deed}()")]);
            rig.run("").exits(1).says(&format!("error[{code}]: "));
            let done = rig.run("--json").exits(1);
            assert_eq!(done.json()["errors"][0]["code"], code, "{}", done.story());
        }
    }
}

/// Whoever opens a pipe waits for somebody at its other end.
#[test]
fn pipes_that_an_fmu_puts_in_the_place_of_files_are_not_waited_for() {
    for (deed, code) in [("pipe_recording", 2), ("pipe_others", 1)] {
        run_all(&[&format!("-DDEED={deed}")], |mode, rig, done| {
            let done = done.exits(if mode == "sandbox" { 2 } else { code });
            match (mode, deed) {
                // It ends itself where it may not.
                ("sandbox", _) => drop(done.says("error[E0405]: `bad` died with SIGABRT in fmi2DoStep")),
                (_, "pipe_recording") => drop(done.says("error[E0503]: cannot write the recording")),
                _ => {
                    done.says("a file of the run is a link or a pipe")
                        .says("printed by bad")
                        .says(": printed");
                    assert!(rig.recording().complete());
                }
            }
        });
    }
}

/// They hold the other end of what tells a process of an FMU that nobody needs it any more.
#[test]
fn files_that_one_fmu_closes_end_no_process_of_another() {
    let plain = Rig::new(1, &[]);
    plain.run("").exits(0);
    for deed in ["close_files", "replace_files"] {
        let rig = Rig::new(1, &[&format!("-DDEED={deed}")]);
        rig.change("[fmu.good]", "[fmu.good]\nisolation = \"process\"");
        rig.run("").exits(0);
        assert!(bits(&rig) == bits(&plain), "{deed}");
    }
}

#[test]
fn what_an_fmu_writes_over_requests_and_answers_is_its_own_fault() {
    let plain = Rig::new(1, &[]);
    plain.run("").exits(0);
    let rig = Rig::new(1, &["-DDEED=fill_mailbox"]);
    for mode in ["process", "sandbox"] {
        rig.describe(1, &format!("isolation = \"{mode}\""));
        let done = rig.run("--checkpoint 0s");
        assert!(!done.stderr.contains("panicked") && !done.stderr.contains("E0901"), "{}", done.story());
        // By chance the answer was there already.
        match done.status.success() {
            true => assert!(rig.recording().complete() && bits(&rig) == bits(&plain), "{}", done.story()),
            false => drop(done.exits(2).says("error[E04")),
        }
    }
}

/// It is read behind the call that gave it.
#[test]
fn a_text_that_is_nowhere_is_a_fault_of_the_call_that_gave_it() {
    run_all(&["-DWILD_TEXT"], |_, rig, done| {
        let done = done.exits(2).says("error[E0405]: `bad` died with SIGSEGV in fmi2Get");
        assert_eq!(rig.recording().rows(), 4, "{}", done.story());
    });
}
