//! FMUs that misbehave: each fault ends in a coded error, and nothing crashes. A call into an FMU that has returned
//! Fatal would abort this program.
#![cfg(unix)]

mod fmus;

use std::sync::Arc;

use costep_core::{
    Code, Connection, Error, Experiment, InputPolynomials, NoModels, Result, Rollback, StepOutcome, Subsystem,
};
use costep_engine::{Engine, System, Threads};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, Status};
use costep_fmu_file::Fmu;
use costep_methods::MethodSpec;
use fmus::{BOTH, EVERY, Fmi, Variant, build, build_as, instance, options};

const RUN: Experiment = Experiment { start: 2.0, stop: 3.0, step: 0.5 };

/// An instance of the FMU `Fault` with this fault.
fn faulty(library: &Arc<FmuLibrary>, fault: i32) -> CoSimulationSubsystem {
    CoSimulationSubsystem::new(library, "faulty", &options(&[("fault", fault.into())])).unwrap()
}

/// Initialises it and does one step.
fn run(subsystem: &mut CoSimulationSubsystem) -> Result<(StepOutcome, f64)> {
    subsystem.initialise(&RUN)?;
    let mut y = [0.0];
    subsystem.initial_outputs(&[1.0], &mut y)?;
    step(subsystem)
}

fn step(subsystem: &mut CoSimulationSubsystem) -> Result<(StepOutcome, f64)> {
    let inputs = InputPolynomials::new(1, 0);
    let mut y = [0.0];
    let outcome = subsystem.step(RUN.interval(0), inputs.segment(0..1, 0), &mut y)?;
    Ok((outcome, y[0]))
}

fn expect(error: &Error, code: Code, words: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

#[test]
fn faults_of_calls_become_coded_errors() {
    for fmi in EVERY {
        let library = build(fmi, "Fault").load();
        let step = &*fmi.name("DoStep");
        // FMI 1 has one call for both, and cannot ask for the end.
        let (enter, exit, end) = match fmi {
            Fmi::V1 => ("InitializeSlave", "InitializeSlave", Code::FmuDiscard),
            _ => ("EnterInitializationMode", "ExitInitializationMode", Code::FmuEnds),
        };
        let asked: &[&str] = match fmi {
            Fmi::V1 => &["reached t = 2.25 s"],
            _ => &["asked to end the simulation at t = 2.25 s", "--t-end"],
        };
        // Formats with arguments, in which variables are named, up to what cannot be understood.
        let formatted: &[&str] = match fmi {
            Fmi::V3 => &["#r1#: %d %g %s%n%n%y%s 100 %"],
            _ => &["y: 1 2 three%n%n%y%s 100 %"],
        };
        for (fault, code, words) in [
            (1, Code::FmuError, &[enter, "returned Error", "no initial state"][..]),
            (2, Code::FmuError, &[exit, "did not converge"]),
            (3, Code::FmuError, &["`faulty`", step, "the solver failed"]),
            (4, Code::FmuError, &["Get", "get failed"]),
            (6, Code::FmuDiscard, &["did not complete", "reached t = 2.25 s"]),
            (8, Code::FmuError, formatted),
            (10, Code::FmuPending, &[step, "Pending"]),
            (11, Code::FmuError, &["Set", "set failed"]),
            (13, end, asked),
            (15, Code::FmuError, &["unknown status 42"]),
            (17, Code::FmuDiscard, &["reached t = 2.25 s"]),
            (59, Code::FmuDiscard, &["Get", "returned Discard", "not now"]),
        ] {
            let mut subsystem = faulty(&library, fault);
            let error = run(&mut subsystem).unwrap_err();
            expect(&error, code, words);
            // It cannot go on, unless a step was only discarded.
            if ![Code::FmuDiscard, Code::FmuPending, Code::FmuEnds].contains(&code) {
                let mut y = [0.0];
                assert_eq!(subsystem.initial_outputs(&[0.0], &mut y).unwrap_err().code(), Code::FmuError);
            }
            // Then reset is allowed, and leads to the same error.
            assert_eq!(run(&mut subsystem).unwrap_err().code(), code, "{fault} again");
            subsystem.terminate();
        }
        assert_eq!(library.instances(), 0);
    }
}

#[test]
fn a_discarded_step_may_leave_the_time_unknown() {
    for fmi in [Fmi::V1, Fmi::V2] {
        let error = run(&mut faulty(&build(fmi, "Fault").load(), 12)).unwrap_err();
        expect(&error, Code::FmuDiscard, &["the time it reached is not known"]);
    }
}

#[test]
fn discarded_steps_are_done_in_shorter_ones_where_the_state_is_stored() {
    for fmi in BOTH {
        let library = build(fmi, "Fault").load();
        // Discards steps longer than 0.06 s, and spoils its state.
        let fussy = |retry_discarded: bool| {
            let options = CoSimulationOptions {
                retry_discarded,
                ..options(&[("fault", 51.0), ("at", 2.0), ("x0", 1.0)])
            };
            CoSimulationSubsystem::new(&library, "fussy", &options).unwrap()
        };
        let mut good = CoSimulationSubsystem::new(&library, "good", &options(&[("x0", 1.0)])).unwrap();
        good.initialise(&RUN).unwrap();
        let (mut y, inputs) = ([0.0], InputPolynomials::new(1, 0));
        good.initial_outputs(&[1.0], &mut y).unwrap();
        for k in 0..16 {
            let short = Experiment { step: 0.5 / 16.0, ..RUN };
            good.step(short.interval(k), inputs.segment(0..1, 0), &mut y).unwrap();
        }
        let (outcome, value) = run(&mut fussy(true)).unwrap();
        assert_eq!((outcome.reached, value), (2.5, y[0]), "{fmi:?}");

        expect(&run(&mut fussy(false)).unwrap_err(), Code::FmuDiscard, &["retry_discarded = true"]);
        // A state that the coupling method has stored serves as well.
        let mut stored = fussy(false);
        stored.initialise(&RUN).unwrap();
        stored.initial_outputs(&[1.0], &mut [0.0]).unwrap();
        stored.snapshot().unwrap();
        assert_eq!(step(&mut stored).unwrap().1, y[0]);
        // Who asks for the end, or discards every step, is not asked for ever.
        for (fault, code) in [(6.0, Code::FmuDiscard), (13.0, Code::FmuEnds)] {
            let options = CoSimulationOptions { retry_discarded: true, ..options(&[("fault", fault)]) };
            let mut subsystem = CoSimulationSubsystem::new(&library, "stubborn", &options).unwrap();
            assert_eq!(run(&mut subsystem).unwrap_err().code(), code);
        }
    }
}

#[test]
fn a_step_at_whose_end_the_fmu_asks_for_the_end_counts() {
    for fmi in BOTH {
        let library = build(fmi, "Fault").load();
        let expected = run(&mut faulty(&library, 0)).unwrap();
        let mut subsystem = faulty(&library, 60);
        subsystem.initialise(&RUN).unwrap();
        subsystem.initial_outputs(&[1.0], &mut [0.0]).unwrap();
        subsystem.snapshot().unwrap();
        let done = step(&mut subsystem).unwrap();
        assert_eq!((done.0.reached, done.1), (expected.0.reached, expected.1), "{fmi:?}");
        let again = subsystem.step(RUN.interval(1), InputPolynomials::new(1, 0).segment(0..1, 0), &mut [0.0]);
        expect(&again.unwrap_err(), Code::FmuEnds, &["`faulty`", "asked to end the simulation at t = 2.5 s"]);
        // Nor from a state in which it has asked.
        let mut other = faulty(&library, 60);
        other.initialise(&RUN).unwrap();
        other.initial_outputs(&[1.0], &mut [0.0]).unwrap();
        step(&mut other).unwrap();
        other.snapshot().unwrap();
        other.restore().unwrap();
        let again = other.step(RUN.interval(1), InputPolynomials::new(1, 0).segment(0..1, 0), &mut [0.0]);
        assert_eq!(again.unwrap_err().code(), Code::FmuEnds);
        // From a state before it, it has not asked yet.
        subsystem.restore().unwrap();
        assert_eq!(step(&mut subsystem).unwrap().1, expected.1);
    }
}

#[test]
fn the_end_of_a_step_may_be_missed_by_little() {
    for fmi in EVERY {
        let library = build(fmi, "Fault").load();
        let good = run(&mut faulty(&library, 0)).unwrap();
        let little = run(&mut faulty(&library, 61)).unwrap();
        assert_eq!((little.0.reached, little.1), (2.5, good.1));
        // FMI 2 has no way to say so.
        let much = run(&mut faulty(&library, 62)).unwrap().0.reached;
        assert!((much - if fmi == Fmi::V3 { 2.6 } else { 2.5 }).abs() < 1e-12, "{much}");
    }
}

#[test]
fn numbers_and_times_are_left_to_the_engine() {
    for fmi in EVERY {
        let library = build(fmi, "Fault").load();
        assert!(run(&mut faulty(&library, 5)).unwrap().1.is_nan());
        let reached = run(&mut faulty(&library, 14)).unwrap().0.reached;
        // FMI 2 has no way to say so.
        assert_eq!(reached, if fmi == Fmi::V3 { 2.0 } else { 2.5 });
    }
}

#[test]
fn the_engine_names_fmu_time_and_port() {
    for fmi in EVERY {
        let library = build(fmi, "Fault").load();
        for (fault, code, words) in [
            (5, Code::NotFinite, "faulty.y"),
            (3, Code::FmuError, "in `faulty`"),
            (9, Code::FmuFatal, "t = 2 s"),
        ] {
            let engine = Engine::new(System {
                threads: Threads::Fixed(2),
                ..System::new(
                    vec![Box::new(faulty(&library, fault))],
                    vec![Connection { output: 0, input: 0, gain: 1.0 }],
                    (MethodSpec::parse("zoh").unwrap().build(), Box::new(NoModels)),
                    RUN,
                )
            });
            // An output that is wrong from the beginning is seen before the first step.
            let outcome = engine.and_then(|mut engine| engine.step());
            expect(&outcome.unwrap_err(), code, &[words]);
        }
    }
}

#[test]
fn warnings_are_counted() {
    for fmi in EVERY {
        let library = build(fmi, "Fault").load();
        let mut subsystem = faulty(&library, 7);
        run(&mut subsystem).unwrap();
        for _ in 0..9 {
            step(&mut subsystem).unwrap();
        }
        assert_eq!(subsystem.warnings(), 10);
    }
}

#[test]
fn a_flood_of_messages_is_bounded() {
    for fmi in EVERY {
        let mut subsystem = faulty(&build(fmi, "Fault").load(), 16);
        run(&mut subsystem).unwrap();
        assert_eq!(subsystem.message_count(), 100_000);
        let messages = subsystem.messages();
        assert!(messages.len() <= 100);
        assert_eq!((messages[0].status, messages[0].text.as_str()), (Status::Ok, "still here"));
        assert_eq!(messages[0].category, "logStatusError");
    }
}

#[test]
fn nothing_is_called_after_fatal() {
    for fmi in BOTH {
        let library = build(fmi, "Fault").load();
        let mut other = faulty(&library, 0);
        run(&mut other).unwrap();
        other.snapshot().unwrap();
        let mut subsystem = faulty(&library, 9);
        expect(&run(&mut subsystem).unwrap_err(), Code::FmuFatal, &["Fatal", "memory is corrupt"]);
        assert!(library.is_fatal());
        // The FMU aborts the program if anything is called now, by whatever instance.
        assert_eq!(run(&mut subsystem).unwrap_err().code(), Code::FmuFatal);
        expect(&step(&mut other).unwrap_err(), Code::FmuFatal, &["cause: `faulty`", "memory is corrupt"]);
        assert_eq!(other.snapshot().unwrap_err().code(), Code::FmuFatal);
        assert_eq!(other.restore().unwrap_err().code(), Code::FmuFatal);
        let new = CoSimulationSubsystem::new(&library, "new", &CoSimulationOptions::default());
        assert_eq!(new.err().unwrap().code(), Code::FmuFatal);
        other.terminate();
        drop((subsystem, other, library));
    }
}

#[test]
fn instances_that_are_refused_say_why() {
    for fmi in EVERY {
        let new = |library: &Arc<FmuLibrary>, name: &str| {
            CoSimulationSubsystem::new(library, name, &CoSimulationOptions::default()).err().unwrap()
        };
        let library = build(fmi, "Fault").load();
        expect(&new(&library, "null"), Code::FmuNotInstantiated, &["`null`", "gave no reason"]);
        expect(&new(&library, "a\0b"), Code::FmuValue, &["zero byte"]);
        if fmi == Fmi::V2 {
            // Made at the second try, which is for the reason only.
            expect(&new(&library, "shy"), Code::FmuNotInstantiated, &["`shy`", "gave no reason", "logging"]);
            assert_eq!(library.instances(), 0);
        }
        let wrong = Variant { wrong_token: true, ..Variant::default() };
        let library = build_as(fmi, "Fault", "Fault", wrong).load();
        expect(&new(&library, "a"), Code::FmuNotInstantiated, &["is wrong", "Fault.fmu"]);
        assert_eq!(library.instances(), 0);
    }
}

#[test]
fn only_once_per_process_means_one_at_a_time() {
    for fmi in EVERY {
        let once =
            Variant { attributes: "canBeInstantiatedOnlyOncePerProcess=\"true\"", ..Variant::default() };
        let library = build_as(fmi, "Lag", "Lag", once).load();
        let first = instance(&library, "first");
        let second = CoSimulationSubsystem::new(&library, "second", &CoSimulationOptions::default());
        expect(&second.err().unwrap(), Code::FmuInterface, &["only once per process"]);
        drop(first);
        instance(&library, "third");
    }
}

#[test]
fn libraries_that_do_not_fit_are_refused() {
    let load = |fmu: &fmus::TestFmu| FmuLibrary::load(&mut Fmu::open(&fmu.path).unwrap()).unwrap_err();
    for fmi in EVERY {
        let without = Variant { flag: "-DNO_STEP", ..Variant::default() };
        let name = if fmi == Fmi::V1 { "Lag_fmiDoStep" } else { &fmi.name("DoStep") };
        expect(&load(&build_as(fmi, "Lag", "Lag", without)), Code::FmuSymbol, &[name, "Lag.fmu"]);
        let broken = Variant { no_library: true, ..Variant::default() };
        expect(&load(&build_as(fmi, "Lag", "Lag", broken)), Code::FmuNotLoaded, &["cause: ", "Lag.fmu"]);
    }
}

#[test]
fn states_that_an_fmu_does_not_give_are_missed() {
    for fmi in BOTH {
        let library = build(fmi, "Fault").load();
        let mut subsystem = faulty(&library, 18);
        run(&mut subsystem).unwrap();
        assert_eq!(subsystem.restore().unwrap_err().code(), Code::NeedsMissing);
        expect(&subsystem.snapshot().unwrap_err(), Code::FmuError, &["gave no state"]);
    }
}

#[test]
fn calls_out_of_order_are_errors() {
    let mut subsystem = faulty(&build(Fmi::V2, "Fault").load(), 0);
    assert_eq!(step(&mut subsystem).unwrap_err().code(), Code::Bug);
    subsystem.terminate();
    assert_eq!(step(&mut subsystem).unwrap_err().code(), Code::Bug);
    run(&mut subsystem).unwrap();
    subsystem.terminate();
    subsystem.terminate();
}

#[test]
#[ignore = "measures the whole process, alone: cargo xtask soak"]
fn fmus_are_loaded_and_freed_again_and_again() {
    let loads: u32 = std::env::var("COSTEP_LOADS").map_or(1000, |count| count.parse().unwrap());
    let fmus = EVERY.map(|fmi| build(fmi, "Lag"));
    // Kilobytes of memory, and open files.
    let measure = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let memory: f64 = memory.trim().trim_end_matches(" kB").parse().unwrap();
        (memory, std::fs::read_dir("/proc/self/fd").unwrap().count())
    };
    let mut early = None;
    for k in 0..loads {
        if k == loads / 10 {
            early = Some(measure());
        }
        let library = fmus[k as usize % fmus.len()].load();
        let mut subsystem = CoSimulationSubsystem::new(&library, "lag", &options(&[("x0", 1.0)])).unwrap();
        run(&mut subsystem).unwrap();
    }
    let ((before, files), (after, open)) = (early.unwrap(), measure());
    println!(
        "{loads} FMUs loaded, run and freed: {:.1} MB after a tenth of them, {:.1} MB at the end",
        before / 1e3,
        after / 1e3
    );
    assert_eq!(open, files, "open files");
    assert!(after < before + 1000.0, "memory grows");
}
