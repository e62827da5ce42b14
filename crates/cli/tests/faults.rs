//! FMUs that crash, hang and misbehave in every way: the run ends with a message that names FMU, call and time, what was
//! recorded stays, and no process is left.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{Done, Running, Sandbox, finished, left_over};
use costep_results::Table;
use fmus::{BOTH, EVERY, Fmi, Variant, build_as, build_edited};
use serde_json::Value;

/// Numbers of faults, as in the C source of the FMU.
mod fault {
    pub(crate) const NAN: i32 = 5;
    pub(crate) const SEGV_STEP: i32 = 19;
    pub(crate) const SEGV_INIT: i32 = 20;
    pub(crate) const SEGV_GET: i32 = 21;
    pub(crate) const SEGV_SET: i32 = 22;
    pub(crate) const SEGV_TERMINATE: i32 = 23;
    pub(crate) const SEGV_FREE: i32 = 24;
    pub(crate) const SEGV_STATE: i32 = 25;
    pub(crate) const ABORT: i32 = 26;
    pub(crate) const EXIT: i32 = 27;
    pub(crate) const STACK_OVERFLOW: i32 = 28;
    pub(crate) const DIVIDE: i32 = 29;
    pub(crate) const EXIT_INIT: i32 = 30;
    pub(crate) const LOOP: i32 = 31;
    pub(crate) const SLEEP: i32 = 32;
    pub(crate) const HANG_INIT: i32 = 33;
    pub(crate) const HANG_TERMINATE: i32 = 34;
    pub(crate) const HANG_FREE: i32 = 35;
    pub(crate) const EAT_MEMORY: i32 = 36;
    pub(crate) const PRINT: i32 = 37;
    pub(crate) const PRINT_FLOOD: i32 = 38;
    pub(crate) const CLOSE_STDOUT: i32 = 39;
    pub(crate) const FLUSH_DENORMALS: i32 = 40;
    pub(crate) const ROUND_UP: i32 = 41;
    pub(crate) const TRAPS: i32 = 42;
    pub(crate) const CHANGE_FOLDER: i32 = 43;
    pub(crate) const SIGNAL_HANDLERS: i32 = 44;
    pub(crate) const LEAVE_CHILD: i32 = 45;
    pub(crate) const LEAVE_THREAD: i32 = 46;
    pub(crate) const CRASH_IN_THREAD: i32 = 47;
    pub(crate) const INFINITE: i32 = 48;
    pub(crate) const DENORMAL: i32 = 49;
    pub(crate) const LOG_AND_SEGV: i32 = 50;
    pub(crate) const DISCARD_LONG: i32 = 51;
    pub(crate) const EXCEPTION: i32 = 53;
    pub(crate) const LOCALE: i32 = 54;
    pub(crate) const PRINT_ERRORS: i32 = 56;
    pub(crate) const TRAPS_IN_STEP: i32 = 57;
    pub(crate) const UMASK: i32 = 58;
    pub(crate) const SEGV_SHORT: i32 = 63;
    pub(crate) const CHANGE_FOLDER_INIT: i32 = 64;
    pub(crate) const HANG_SHORT: i32 = 65;
}

/// A folder with the FMU and the project `rig`: the FMU, fed by itself, and a good one beside it.
struct Rig {
    sandbox: Sandbox,
    step: String,
}

impl Rig {
    fn new(fmi: Fmi) -> Self {
        Self::with(fmi, Variant::default())
    }

    fn with(fmi: Fmi, variant: Variant) -> Self {
        Self::of(fmi, &build_as(fmi, "Fault", "Fault", variant).path)
    }

    fn of(fmi: Fmi, fmu: &Path) -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("rig")).unwrap();
        std::fs::copy(fmu, sandbox.path("rig/Fault.fmu")).unwrap();
        Self { sandbox, step: fmi.name("DoStep") }
    }

    /// The project with a fault at t = 0.3 s, of an FMU of this name; `more` are keys of its table.
    fn set(&self, name: &str, fault: i32, more: &str) {
        let text = format!(
            "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n[fmu.{name}]\nfile = \"Fault.fmu\"\n{more}\n\
             set = {{ fault = {fault}, at = 0.3, x0 = 1.0 }}\n[fmu.good]\nfile = \"Fault.fmu\"\n\
             [[connect]]\nfrom = \"{name}.y\"\nto = \"good.u\"\n[[connect]]\nfrom = \"good.y\"\nto = \"{name}.u\"\n"
        );
        self.sandbox.write("rig/system.toml", text);
    }

    /// Runs the project as it is. No process is left afterwards.
    fn run(&self, flags: &str) -> Done {
        let line = format!("run rig --out out --threads 1 {flags}");
        let mut command = self.sandbox.command(line.split_whitespace());
        let temporary = self.sandbox.path("temporary");
        std::fs::create_dir_all(&temporary).unwrap();
        command.env("COSTEP_TEST_MARK", self.sandbox.path("mark")).env("TMPDIR", &temporary);
        let done = finished(command, line);
        assert_eq!(left_over(&self.sandbox.path("mark")), 0, "{}", done.story());
        let folders = std::fs::read_dir(&temporary).unwrap().count();
        assert_eq!(folders, 0, "temporary folders stay behind\n{}", done.story());
        done
    }

    /// Runs it with a fault.
    fn fault(&self, fault: i32, flags: &str) -> Done {
        // Only those that hang are waited for in vain; others may take their time on a busy machine.
        let limit = if (fault::LOOP..=fault::HANG_FREE).contains(&fault) { "0.4 s" } else { "20 s" };
        self.set("bad", fault, &format!("step_timeout = \"{limit}\""));
        let _ = std::fs::remove_dir_all(self.sandbox.path("out"));
        self.run(flags)
    }

    /// Times of the rows that were recorded.
    fn times(&self) -> Vec<f64> {
        Table::open(&self.sandbox.path("out/results.arrows")).unwrap().values("t").unwrap().to_vec()
    }

    fn recorded(&self) -> bool {
        self.sandbox.path("out/results.arrows").exists()
    }
}

/// Rows from 0 s to 0.3 s.
const UP_TO_THE_FAULT: [f64; 4] = [0.0, 0.1, 0.2, 0.1 * 3.0];

#[test]
fn crashes_in_a_step_keep_every_row() {
    use fault::*;
    for fmi in EVERY {
        let rig = Rig::with(fmi, Variant { flag: "-DEXCEPTIONS", ..Variant::default() });
        for (fault, how) in [
            (SEGV_STEP, "died with SIGSEGV"),
            (LOG_AND_SEGV, "died with SIGSEGV"),
            (ABORT, "died with SIGABRT"),
            (EXCEPTION, "died with SIGABRT"),
            (STACK_OVERFLOW, "died with SIG"),
            (DIVIDE, "died with SIGFPE"),
            (EXIT, "ended the program with exit code 0"),
            (CRASH_IN_THREAD, "died with SIGSEGV"),
        ] {
            let done = rig.fault(fault, "").exits(2);
            let done = done.says(&format!("error[E0405]: `bad` {how}")).says(&format!(" in {}", rig.step));
            let done = done.says("at t = 0.3 s (step 3) in `bad`");
            let done = done.says("kept: out/results.arrows up to t = 0.3 s (4 rows)");
            if fault == LOG_AND_SEGV {
                assert!(
                    done.stderr.contains("its last message: [logStatusError] lookup table out of range"),
                    "{}",
                    done.story()
                );
                let log = std::fs::read_to_string(rig.sandbox.path("out/bad.log")).unwrap();
                let line = "t = 0.3 s  bad  error [logStatusError]: lookup table out of range\n";
                assert!(log.ends_with(line), "{log}");
            }
            assert_eq!(rig.times(), UP_TO_THE_FAULT, "{fault}");
            assert_eq!(done.stdout, "");
        }
        // The last words of the process are part of the report.
        let done = rig.fault(EXCEPTION, "--json").exits(2);
        let object = done.json();
        assert_eq!(object["errors"][0]["code"], "E0405");
        assert!(object["errors"][0]["cause"].as_str().unwrap().contains("foreign exception"), "{object}");
        assert_eq!((&object["kept"]["rows"], &object["kept"]["checkpoint"]), (&4.into(), &Value::Null));
    }
}

#[test]
fn a_panic_of_rust_code_in_an_fmu_is_its_own_fault() {
    for (fmi, abi) in [(Fmi::V2, "C"), (Fmi::V2, "C-unwind"), (Fmi::V3, "C"), (Fmi::V3, "C-unwind")] {
        let rig = Rig::of(fmi, &fmus::build_panicking(fmi, abi).path);
        let done = rig.fault(fault::EXCEPTION, "").exits_without_success(2);
        let done = done.says("error[E0405]: `bad` died with SIGABRT").says(&format!(" in {}", rig.step));
        let done = done.says("at t = 0.3 s (step 3) in `bad`");
        done.says("kept: out/results.arrows up to t = 0.3 s (4 rows)");
        assert_eq!(rig.times(), UP_TO_THE_FAULT, "{abi}");
        let isolated = "isolation = \"process\"\nstep_timeout = \"20 s\"";
        rig.set("bad", fault::EXCEPTION, isolated);
        let _ = std::fs::remove_dir_all(rig.sandbox.path("out"));
        rig.run("").exits_without_success(2).says("`bad` died with SIGABRT").says(&rig.step);
    }
}

#[test]
fn crashes_in_other_calls_name_the_call() {
    use fault::*;
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        let (get, set) = if fmi == Fmi::V3 { ("GetFloat64", "SetFloat64") } else { ("GetReal", "SetReal") };
        let [initialise, terminate, free] = names(fmi);
        for (fault, call, rows) in [
            (SEGV_INIT, initialise, 0),
            (SEGV_GET, get, 3),
            (SEGV_SET, set, 4),
            (SEGV_TERMINATE, terminate, 6),
            (SEGV_FREE, free, 6),
        ] {
            let done = rig.fault(fault, "").exits(2);
            let done = done.says(&format!("error[E0405]: `bad` died with SIGSEGV in {}", fmi.name(call)));
            assert_eq!(done.stdout, "", "{}", done.story());
            match rows {
                0 => assert!(!rig.recorded()),
                rows => assert_eq!(rig.times().len(), rows, "{}", done.story()),
            }
        }
        let done = rig.fault(EXIT_INIT, "").exits(2);
        done.says("`bad` ended the program with exit code 0 in").says(initialise);
        if fmi != Fmi::V1 {
            // States are stored for checkpoints.
            let done = rig.fault(SEGV_STATE, "--checkpoint 0s").exits(2).says("GetFMU");
            let done =
                done.says("checkpoint at t = 0.2 s").says("`costep resume out` continues from t = 0.2 s");
            assert!(done.stderr.contains("4 rows"), "{}", done.story());
        }

        rig.set("crash", 0, "");
        rig.run("").exits(2).says("`crash` died with SIGSEGV in").says("Instantiate");
        let broken = Rig::with(fmi, Variant { flag: "-DCRASH_ON_LOAD", ..Variant::default() });
        broken.fault(0, "").exits(2).says("`Fault.fmu` died with SIGSEGV in loading its library");
    }
}

/// What initialises, terminates and frees.
fn names(fmi: Fmi) -> [&'static str; 3] {
    match fmi {
        Fmi::V1 => ["InitializeSlave", "TerminateSlave", "FreeSlaveInstance"],
        _ => ["EnterInitializationMode", "Terminate", "FreeInstance"],
    }
}

#[test]
fn calls_that_do_not_return_are_ended() {
    use fault::*;
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        let [initialise, terminate, free] = names(fmi);
        for (fault, call, rows) in [
            (LOOP, "DoStep", 4),
            (SLEEP, "DoStep", 4),
            (HANG_INIT, initialise, 0),
            (HANG_TERMINATE, terminate, 6),
            (HANG_FREE, free, 6),
        ] {
            let start = Instant::now();
            let done = rig.fault(fault, "").exits(4);
            let words = format!("error[E0406]: `bad` in {} has not returned for 400ms", fmi.name(call));
            let done = done
                .says(&words)
                .says("a loop without end")
                .says("write `step_timeout = \"4 s\"` in [fmu.bad], rig/system.toml:");
            assert!(start.elapsed() < Duration::from_secs(20));
            match rows {
                0 => assert!(!rig.recorded()),
                rows => assert_eq!(rig.times().len(), rows, "{}", done.story()),
            }
        }
        let done = rig.fault(LOOP, "--json").exits(4);
        assert_eq!(done.json()["errors"][0]["code"], "E0406");
    }
}

#[test]
fn memory_is_limited() {
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        rig.set("bad", fault::EAT_MEMORY, "");
        let done = rig.run("--memory-limit 256MiB").exits(2);
        done.says("error[E0407]: more than 256 MiB of memory were used: `bad` in").says(&rig.step);
        assert_eq!(rig.times(), UP_TO_THE_FAULT);
        rig.fault(0, "--memory-limit 256MiB").exits(0);
        rig.fault(0, "--memory-limit 256").exits(1).says("a size has a unit");
    }
}

#[test]
fn values_that_are_no_numbers_stop_the_run() {
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        let done =
            rig.fault(fault::NAN, "").exits(2).says("error[E0402]: `bad.y` became NaN").says("t = 0.3 s");
        // Other methods would fail too: what it has been given tells more.
        let done = done.says("look at the inputs of `bad` before that time").says("[guard]");
        assert!(!done.stderr.contains("costep compare"), "{}", done.story());
        rig.fault(fault::INFINITE, "").exits(2).says("error[E0402]: `bad.y` became -inf");
        let mut stopped = 0;
        for method in
            ["zoh", "foh", "soh", "nepce", "feedthrough", "mbcorr", "prestep", "predictive", "identified"]
        {
            let done = rig.fault(fault::NAN, &format!("--method {method}"));
            // Some need more than this FMU has.
            if done.stderr.contains("error[E0304]") {
                done.exits(1);
            } else {
                done.exits(2).says("error[E0402]: `bad.y` became NaN");
                stopped += 1;
            }
        }
        assert!(stopped >= if fmi == Fmi::V1 { 3 } else { 5 }, "{stopped}");
        rig.fault(fault::NAN, "").exits(2);
        assert_eq!(rig.times().len(), 3);
        rig.fault(fault::DENORMAL, "--no-verify").exits(0);
    }
}

#[test]
fn statuses_of_steps_lead_to_codes() {
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        for (fault, exit, words) in [
            (3, 2, "error[E0116]: `bad`: "),
            (9, 2, "error[E0117]: `bad`: "),
            (10, 2, "error[E0118]: `bad`: "),
            (6, 2, "error[E0115]: `bad`: the FMU did not complete the step"),
            (15, 2, "the unknown status 42"),
            (8, 2, "%n%n%y%s 100 %"),
            (1, 2, "no initial state"),
            (2, 2, "did not converge"),
            (4, 2, "get failed"),
            (11, 2, "set failed"),
            (7, 0, ""),
            (16, 0, ""),
        ] {
            let done = rig.fault(fault, "").exits(exit).says(words);
            if exit == 2 && ![1, 2, 4, 11].contains(&fault) {
                assert_eq!(rig.times(), UP_TO_THE_FAULT, "{}", done.story());
            }
        }
    }
}

#[test]
fn an_fmu_may_ask_for_the_end() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        // Inside a step the others stand elsewhere; at its end the last point counts.
        for (fault, time, rows) in [(13, "0.35", 4), (60, "0.4", 5)] {
            let done = rig.fault(fault, "").exits(0);
            let words = format!("ended    `bad`: the FMU asked to end the simulation at t = {time}");
            assert!(done.stdout.contains(&words), "{}", done.story());
            assert_eq!(rig.times().len(), rows, "{}", done.story());
            let object = rig.fault(fault, "--json").exits(0).json();
            assert_eq!(object["ended"]["code"], "E0134");
            assert_eq!((&object["error"], &object["macro_steps"]), (&Value::Null, &(rows - 1).into()));
        }
        assert_eq!(rig.fault(0, "--json").exits(0).json()["ended"], Value::Null);
        // A few points of a long run say nothing about its stability.
        let object = rig.fault(13, "--t-end 3s --json").exits(0).json();
        let verdict = (&object["verdict"], &object["amplitude_ratio"], &object["macro_steps"]);
        assert_eq!(verdict, (&"not judged".into(), &Value::Null, &3.into()), "{object:#}");
        // What needs the whole run fails.
        rig.fault(60, "");
        let done = rig.sandbox.run("compare rig --methods zoh --reference none").exits(2);
        assert!(done.stdout.contains("asked to end the simulation"), "{}", done.story());
    }
}

/// An FMU that ends the run in its first step leaves nothing behind: no success. One that ends it with that step is told of.
#[test]
fn an_fmu_that_ends_the_run_in_its_first_step_is_no_success() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        // A run of one step may be ended within it.
        let done = rig.fault(13, "--set system.start=0.4").exits(0);
        assert!(done.stdout.contains("ended    `bad`"), "{}", done.story());
        let done = rig.fault(13, "--set system.start=0.4 --t-end 0.8s").exits(2).says("error[E0134]: `bad`");
        let done = done.says("not a single step has been done").says("log = true");
        assert!(!done.stderr.contains("next:") && !done.stdout.contains("real time"), "{}", done.story());
        let done =
            rig.fault(60, "--set system.start=0.4 --t-end 0.8s").exits(0).says("warning[W0134]: `bad`");
        assert!(done.stdout.contains("ended    `bad`"), "{}", done.story());
    }
}

#[test]
fn clocks_of_fmus_that_differ_are_seen() {
    // FMI 2 has no way to tell.
    let rig = Rig::new(Fmi::V3);
    rig.fault(61, "").exits(0).says("warning [W0110]: after the step from 0.3").says("beyond its end");
    let done = rig.fault(62, "").exits(2).says("error[E0403]: `bad` says it is at t = 0.42");
    done.says("cause: that is 2.000e-2 s too far").says("help: ");
    let done = rig.fault(14, "").exits(2).says("error[E0403]: `bad` says it is at t = 0.3");
    assert_eq!(rig.times(), UP_TO_THE_FAULT, "{}", done.says("1.000e-1 s short").story());
}

#[test]
fn a_stop_between_two_points_is_met_or_passed_with_a_warning() {
    let yes = "canHandleVariableCommunicationStepSize=\"true\"";
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        rig.set("other", 0, "");
        for method in ["auto", "zoh", "identified"] {
            let done = rig.run(&format!("--t-end 0.45s --method {method}")).exits(0);
            assert_eq!((rig.times().len(), rig.times()[5]), (6, 0.45), "{}", done.story());
        }
        let rig = Rig::of(fmi, &build_edited(fmi, "Fault", |text| text.replace(yes, "")).path);
        rig.set("other", 0, "");
        let done = rig.run("--t-end 0.45s").exits(0).says("warning[W0207]: the run ends at 500 ms");
        done.says("cause: `other` cannot do a shorter last step");
        assert_eq!((rig.times().len(), rig.times()[5]), (6, 0.5));
    }
}

#[test]
fn a_state_that_is_not_put_back_is_found() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        rig.set("bad", 55, "");
        let json = rig.sandbox.run("check rig --probe --json").exits(2).json();
        let cards = json["probes"].as_array().unwrap();
        let taken_back = |name: &str| {
            let card = cards.iter().find(|card| card["part"] == name).unwrap_or_else(|| panic!("{json}"));
            card["taken_back"].as_bool()
        };
        assert_eq!((taken_back("bad"), taken_back("good")), (Some(false), Some(true)), "{json}");
    }
}

#[test]
fn discarded_steps_are_done_again_if_wanted() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        rig.set("bad", fault::DISCARD_LONG, "");
        rig.run("--method zoh").exits(2).says("error[E0115]").says("write `retry_discarded = true`");
        assert_eq!(rig.times(), UP_TO_THE_FAULT);
        rig.set("bad", fault::DISCARD_LONG, "retry_discarded = true");
        rig.run("--method zoh").exits(0);
        assert_eq!(rig.times().len(), 6);
        // A method that goes back anyway needs no option for it.
        rig.set("bad", fault::DISCARD_LONG, "");
        rig.run("--method fixed-point:inputs=held,predictor=hold").exits(0);
        assert_eq!(rig.times().len(), 6);
        rig.set("bad", fault::DISCARD_LONG, "retry_discarded = true");
        rig.run("--method zoh").exits(0);
        assert!(
            std::fs::read_to_string(rig.sandbox.path("out/run.toml"))
                .unwrap()
                .contains("retry_discarded = true")
        );
    }
}

#[test]
fn what_fmus_print_never_disturbs_results() {
    use fault::*;
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        let plain = rig.fault(0, "--json").exits(0).json();
        for fault in [PRINT, PRINT_ERRORS, PRINT_FLOOD, CLOSE_STDOUT] {
            let object = rig.fault(fault, "--json").exits(0).json();
            assert_eq!((&object["rows"], &object["verdict"]), (&plain["rows"], &plain["verdict"]));
        }
        let done =
            rig.fault(PRINT, "").exits(0).says("printed by bad or good: % hello from the FMU {\"a\": 1}");
        assert!(done.stdout.starts_with("done in") && !done.stdout.contains("hello"), "{}", done.story());
        let done = rig.fault(PRINT_FLOOD, "").exits(0).says("line 7").says("further lines printed by FMUs");
        assert!(done.stderr.lines().count() < 30, "{}", done.story());
        let printed = std::fs::read_to_string(rig.sandbox.path("out/printed.log")).unwrap();
        assert!(printed.lines().count() > 100 && printed.contains("line 7\n"), "{}", printed.len());
        // It is that of the last run: one that finds the folder taken, and one that has nothing to go on with, leave it alone.
        let kept =
            || std::fs::read_to_string(rig.sandbox.path("out/printed.log")).unwrap().starts_with(&printed);
        let held = costep::RunFolder::lock(&rig.sandbox.path("out")).unwrap();
        rig.sandbox.run("run rig --out out").exits(1).says("another run");
        drop(held);
        assert!(kept());
        rig.sandbox.run("resume out").exits(1).says("E0507");
        assert!(kept());
        assert_eq!(rig.fault(PRINT, "--quiet").exits(0).stderr, "");
    }
}

#[test]
fn other_fmus_are_not_disturbed() {
    use fault::*;
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        // FMI 1 cannot store states, so that there are no checkpoints.
        let saves = fmi != Fmi::V1;
        let bits = |table: &Table| -> Vec<Vec<u64>> {
            let values = |c: &costep_results::Column| {
                table.values(&c.name).unwrap().iter().map(|v| v.to_bits()).collect()
            };
            table.columns().iter().map(values).collect()
        };
        let recorded = || bits(&Table::open(&rig.sandbox.path("out/results.arrows")).unwrap());
        rig.fault(0, "").exits(0);
        let plain = recorded();
        let modes = [FLUSH_DENORMALS, ROUND_UP, TRAPS, TRAPS_IN_STEP, LOCALE, UMASK];
        for fault in modes.into_iter().chain([LEAVE_THREAD, LEAVE_CHILD, SIGNAL_HANDLERS]) {
            rig.fault(fault, "--checkpoint 0s").exits(0);
            // Others than root have to read it too.
            use std::os::unix::fs::PermissionsExt;
            if saves {
                let mode =
                    std::fs::metadata(rig.sandbox.path("out/checkpoint")).unwrap().permissions().mode();
                assert!(mode & 0o600 == 0o600, "{fault}: {mode:o}");
            }
            // In the step that changes it the FMU itself computes otherwise.
            if fault != ROUND_UP {
                assert!(recorded() == plain, "{fault}");
            }
        }
        // A folder of its own does not lead recording and checkpoints astray.
        rig.fault(CHANGE_FOLDER, "--checkpoint 0s").exits(0);
        assert!(recorded() == plain && rig.sandbox.path("out/checkpoint").exists() == saves);
    }
}

/// An FMU that hangs in every trial is named, whatever is left of the time; a limit that nobody has set is a share of that.
#[test]
fn advice_names_an_fmu_that_hangs() {
    let rig = Rig::new(BOTH[0]);
    rig.set("bad", fault::SLEEP, "step_timeout = \"0.4 s\"");
    let object = rig.sandbox.run("advise rig --time 60s --json").exits(4).json();
    assert_eq!(object["errors"][0]["code"], "E0406", "{object:#}");
    let message = object["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("`bad` in") && message.contains("400ms"), "{message}");
    let warnings = object["warnings"].as_array().unwrap();
    assert_eq!(warnings.iter().filter(|warning| warning["code"] == "W0741").count(), 3, "{object:#}");
    assert!(object["choice"].is_null(), "{object:#}");
    rig.set("bad", fault::SLEEP, "isolation = \"process\"");
    rig.sandbox.run("advise rig --time 1s").exits(4).says("`bad` in").says("has not returned for 2s");
}

#[test]
fn faults_of_a_comparison_are_reported_too() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        rig.set("bad", fault::SEGV_STEP, "");
        let compared =
            rig.sandbox.run("compare rig --methods zoh,foh --reference none --json").exits(2).json();
        assert_eq!(compared["runs"].as_array().map(Vec::len), Some(2), "{compared}");
        for run in [0, 1] {
            assert_eq!(compared["runs"][run]["error"]["code"], "E0405", "{compared}");
        }
        rig.set("bad", fault::SLEEP, "step_timeout = \"0.4 s\"");
        rig.sandbox.run("compare rig --methods zoh --reference none").exits(4).says("E0406");
        rig.set("bad", fault::SEGV_INIT, "");
        rig.sandbox.run("check rig").exits(0);
        rig.sandbox
            .run("check rig --probe")
            .exits(2)
            .says("`bad` died with SIGSEGV in")
            .says("InitializationMode");
    }
}

/// A run that came to its end stays, whatever an FMU does in the second one at half its step.
#[test]
fn a_crash_in_the_verification_leaves_the_run_alone() {
    for fmi in EVERY {
        let rig = Rig::new(fmi);
        let why = "not verified: at half the step, `bad` died with SIGSEGV";
        let done = rig.fault(fault::SEGV_SHORT, "--method zoh").exits(0).says(why);
        assert!(done.stdout.contains("(defect)"), "{}", done.story());
        assert_eq!(rig.times().len(), 6);
    }
}

/// The second run has a time of its own, which is over long before a step counts as hung.
#[test]
fn an_fmu_that_hangs_in_the_verification_is_not_waited_for() {
    let rig = Rig::new(BOTH[0]);
    for isolation in ["none", "process"] {
        rig.set("bad", fault::HANG_SHORT, &format!("isolation = \"{isolation}\""));
        let done = rig.run("--method zoh").exits(0);
        for words in ["not verified: the second run was cut: `bad` in ", "did not return within ", "(defect)"]
        {
            assert!(done.stdout.contains(words), "{words}\n{}", done.story());
        }
        assert_eq!(rig.times().len(), 6);
    }
}

#[test]
fn a_crash_in_one_run_of_a_comparison_ends_that_run() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        rig.set("bad", fault::SEGV_STATE, "");
        let done = rig
            .sandbox
            .run("compare rig --set bad.at=0.4 --methods zoh,predictive:source=finite-difference,nepce --reference none")
            .exits(2)
            .says("warning[W0113]: `bad` died with SIGSEGV in")
            .says("(E0405); all is done again with `bad` in its own process");
        let rows: Vec<&str> = done.stdout.lines().collect();
        let row = |method: &str| {
            let found = rows.iter().find(|row| row.trim_start().starts_with(method));
            found.unwrap_or_else(|| panic!("{method}\n{}", done.story()))
        };
        assert!(row("predictive:source=finite-difference").contains("failed"), "{}", done.story());
        for method in ["zoh", "nepce"] {
            assert!(!row(method).contains("failed"), "{}", done.story());
        }
        assert_eq!(left_over(&rig.sandbox.path("mark")), 0);
    }
}

/// The runs before the crash, and those after it with the FMU in a process of its own, are rows of one plan.
#[test]
fn a_run_that_crashes_or_hangs_is_a_row_of_a_map_and_of_a_plan() {
    let rig = Rig::new(Fmi::V2);
    rig.set("bad", 0, "step_timeout = \"0.4 s\"");
    for fault in [fault::SEGV_STEP, fault::SLEEP] {
        let line =
            format!("map rig --vary bad.fault=0,{fault} --methods zoh --no-radius --out map{fault} --json");
        let done = rig.sandbox.run(&line).exits(0);
        let failed = &done.json()["failed"];
        assert_eq!(failed[0]["runs"], 1, "{}", done.story());
    }
    let plan = format!(
        "[plan]\nsystem = \"rig\"\nmethod = \"zoh\"\n[parameters]\n\"bad.fault\" = [0, {}]\n\"bad.x0\" = [1, 2]\n",
        fault::SEGV_STEP
    );
    rig.sandbox.write("plan.toml", plan);
    let done = rig.sandbox.run("doe plan.toml --out doe --json").exits(0);
    let found = done.json();
    assert_eq!((&found["runs"], &found["failed"][0]["runs"]), (&4.into(), &2.into()), "{}", done.story());
    rig.sandbox
        .run("doe plan.toml --out again")
        .exits(0)
        .says("all is done again with `bad` in its own process");
}

#[test]
fn an_fmu_that_leaves_the_folder_as_it_starts_does_not_lead_files_astray() {
    let rig = Rig::new(Fmi::V2);
    let absolute = rig.sandbox.path("whole").display().to_string();
    rig.fault(fault::CHANGE_FOLDER_INIT, "--report page.html").exits(0);
    let written = ["out/run.toml", "out/outcome.json", "out/results.arrows", "page.html"];
    assert!(written.iter().all(|file| rig.sandbox.path(file).is_file()));
    rig.sandbox.run(&format!("run rig --out {absolute}")).exits(0);
    rig.sandbox.run("run out/run.toml --out again").exits(0);
    rig.sandbox.run("compare rig --methods zoh,nepce --out compared --report compared.html").exits(0);
    assert!(rig.sandbox.path("compared.html").is_file());
    rig.sandbox.run("map rig --vary bad.x0=1,2,3 --methods zoh --jobs 1 --out map").exits(0);
    assert!(rig.sandbox.path("map/map.parquet").is_file());
}

#[test]
fn states_that_do_not_work_are_not_used() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        for (fault, why) in
            [(55, "a step from a restored state differs"), (fault::SEGV_STATE, "`bad` died with SIGSEGV in")]
        {
            rig.set("bad", fault, "");
            rig.run("--method predictive:source=finite-difference")
                .exits(1)
                .says("`bad`: its state is not stored and restored: ")
                .says(why);
            rig.run("--method zoh").exits(0);
        }
    }
}

#[test]
fn each_fmu_is_probed_alone_and_the_right_one_is_blamed() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        for fault in [fault::SEGV_INIT, fault::SEGV_STEP, fault::SEGV_STATE, fault::EXIT_INIT] {
            // Faults happen at 0.3 s, and 20 steps of 0.1 s are tried.
            rig.set("bad", fault, "");
            let json = rig.sandbox.run("check rig --probe --json").exits(2).json();
            let cards = json["probes"].as_array().unwrap();
            assert_eq!(cards[0]["error"]["code"], "E0405", "{fault} {json}");
            assert_eq!((&cards[1]["part"], &cards[1]["error"]), (&"good".into(), &Value::Null), "{json}");
            assert_eq!(cards[1]["taken_back"], true, "{json}");
        }
    }
}

/// Waits until the recording is there and the FMU sleeps; the numbers of watcher and watched process.
fn sleeping(rig: &Rig) -> (Running, u32) {
    let mut command = rig.sandbox.command("run rig --out out".split_whitespace());
    command.env("COSTEP_TEST_MARK", rig.sandbox.path("mark"));
    let running = Running::of(command);
    let start = Instant::now();
    let child = loop {
        assert!(start.elapsed() < Duration::from_secs(60));
        let path = format!("/proc/{0}/task/{0}/children", running.id());
        let children = std::fs::read_to_string(path).unwrap_or_default();
        match children.split_whitespace().next() {
            Some(child) if rig.recorded() => break child.parse().unwrap(),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    std::thread::sleep(Duration::from_millis(100));
    (running, child)
}

fn no_process_is_left(rig: &Rig) {
    let start = Instant::now();
    while left_over(&rig.sandbox.path("mark")) > 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "a process is left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killing_either_process_ends_both_and_keeps_the_recording() {
    let rig = Rig::new(Fmi::V2);
    rig.set("bad", fault::SLEEP, "");
    for kill_watcher in [true, false] {
        let _ = std::fs::remove_dir_all(rig.sandbox.path("out"));
        let (running, child) = sleeping(&rig);
        if kill_watcher {
            running.kill();
        } else {
            let kill = std::process::Command::new("kill").args(["-9", &child.to_string()]).status();
            assert!(kill.unwrap().success());
            assert_eq!(running.wait().code(), Some(130));
            assert_eq!(rig.times(), UP_TO_THE_FAULT);
        }
        no_process_is_left(&rig);
        assert!(Table::open(&rig.sandbox.path("out/results.arrows")).is_ok());
    }
}

#[test]
fn a_second_signal_ends_a_hung_fmu_at_once() {
    let rig = Rig::new(Fmi::V3);
    rig.set("bad", fault::SLEEP, "");
    let (running, _) = sleeping(&rig);
    running.signal("INT");
    std::thread::sleep(Duration::from_millis(100));
    running.signal("TERM");
    assert_eq!(running.wait().code(), Some(130));
    no_process_is_left(&rig);
    assert_eq!(rig.times(), UP_TO_THE_FAULT);
}

/// Some FMUs say nothing, or do nothing, unless they are asked to log.
#[test]
fn an_fmu_is_asked_to_log_where_the_project_says_so() {
    let rig = Rig::new(Fmi::V2);
    rig.set("shy", 0, "");
    rig.run("").exits(2).says("error[E0113]: `shy` could not be instantiated");
    rig.set("shy", 0, "log = true");
    rig.run("").exits(0);
}
