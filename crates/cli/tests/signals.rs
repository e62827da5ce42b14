//! What projects with FMUs show and keep: signals of all types, messages, checkpoints, cards.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::fs;
use std::time::{Duration, Instant};

use common::{Sandbox, table};
use fmus::{BOTH, Fmi, TestFmu, Variant, build, build_as, build_edited, build_types};

/// Two lags that feed each other, in a folder.
fn lags(fmi: Fmi, stop: f64, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    project(&sandbox, &build(fmi, "Lag"), stop, more);
    sandbox
}

fn project(sandbox: &Sandbox, fmu: &TestFmu, stop: f64, more: &str) {
    sandbox.write(
        "rig/system.toml",
        format!(
            "[system]\nstop = {stop}\n[step]\nsize = 0.001\n[method]\nid = \"zoh\"\n[fmu.a]\nfile = \"Part.fmu\"\n{more}\n\
             [fmu.b]\nfile = \"Part.fmu\"\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n\
             [[connect]]\nfrom = \"b.y\"\nto = \"a.u\"\ngain = -1.0\n"
        ),
    );
    fs::copy(&fmu.path, sandbox.path("rig/Part.fmu")).unwrap();
}

fn csv(sandbox: &Sandbox, folder: &str) -> String {
    sandbox.run(&format!("export {folder} --to {folder}.csv")).exits(0);
    fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap()
}

#[test]
fn signals_of_every_type_are_coupled_by_holding_them() {
    for fmi in BOTH {
        let sandbox = Sandbox::new();
        let names: &[&str] = match fmi {
            Fmi::V1 | Fmi::V2 => &["real", "i32", "truth", "choice"],
            Fmi::V3 => {
                &["real", "single", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "truth", "choice"]
            }
        };
        let mut text = String::from(
            "[system]\nstop = 1\n[step]\nsize = 0.1\n[method]\nid = \"nepce\"\n[schedule]\nkind = \"parallel\"\n\
             [fmu.a]\nfile = \"Types.fmu\"\n[fmu.b]\nfile = \"Types.fmu\"\n",
        );
        for name in names {
            text += &format!("[[connect]]\nfrom = \"a.y_{name}\"\nto = \"b.u_{name}\"\n");
            text += &format!("[[external]]\nto = \"a.u_{name}\"\nstep = {{ value = 1, start = 0.45 }}\n");
        }
        sandbox.write("types/system.toml", text);
        fs::copy(build_types(fmi).path, sandbox.path("types/Types.fmu")).unwrap();
        sandbox.run("run types --no-verify --out out").exits(0);
        let text = csv(&sandbox, "out");
        let (columns, rows) = table(&text);
        let column = |name: &str| -> Vec<f64> {
            let at = columns.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}"));
            rows.iter().map(|row| row[at]).collect()
        };
        // Methods form floating-point numbers, also those that are declared discrete.
        for name in names.iter().filter(|name| !matches!(**name, "real" | "single")) {
            // The step at 0.45 s is seen at 0.5 s; `a` has it at the end of that step, `b` one later. Nothing between.
            let jump = |from: usize| (0..=10).map(|k| if k < from { 0.0 } else { 1.0 }).collect::<Vec<_>>();
            assert_eq!(column(&format!("a.y_{name}")), jump(6), "{fmi:?} {name}");
            assert_eq!(column(&format!("b.y_{name}")), jump(7), "{fmi:?} {name}");
        }
    }
}

/// The water tank of INTO-CPS has a Boolean valve at one end and a number at the other.
#[test]
fn truth_counts_what_the_gain_says() {
    let sandbox = Sandbox::new();
    let text = |gain: &str| {
        format!(
            "[system]\nstop = 1\n[step]\nsize = 0.1\n[method]\nid = \"zoh\"\n[schedule]\nkind = \"parallel\"\n\
             [fmu.a]\nfile = \"Types.fmu\"\n[fmu.b]\nfile = \"Types.fmu\"\n\
             [[connect]]\nfrom = \"a.y_truth\"\nto = \"b.u_i32\"\n{gain}\n\
             [[external]]\nto = \"a.u_truth\"\nstep = {{ value = 1, start = 0.45 }}\n"
        )
    };
    sandbox.write("types/system.toml", text(""));
    fs::copy(build_types(Fmi::V2).path, sandbox.path("types/Types.fmu")).unwrap();
    sandbox.run("run types --out out").exits(1).says("E0217").says("`gain = 1.0`");
    sandbox.write("types/system.toml", text("gain = 3"));
    sandbox.run("run types --no-verify --out out").exits(0);
    let csv = csv(&sandbox, "out");
    let (columns, rows) = table(&csv);
    let at = columns.iter().position(|column| *column == "b.y_i32").unwrap();
    let expected: Vec<f64> = (0..=10).map(|k| if k < 7 { 0.0 } else { 3.0 }).collect();
    assert_eq!(rows.iter().map(|row| row[at]).collect::<Vec<_>>(), expected);
}

#[test]
fn messages_of_fmus_are_shown_with_their_status_and_counted() {
    for fmi in BOTH {
        let sandbox = Sandbox::new();
        // From 10 ms on every step of `a` warns: 40 times the same message, which is shown once.
        project(
            &sandbox,
            &build_as(fmi, "Fault", "Part", Variant::default()),
            0.05,
            "set = { fault = 7, at = 0.01 }",
        );
        let done = sandbox.run("run rig --out out").exits(0);
        let shown = done.stderr.lines().filter(|line| line.starts_with("a: warning")).count();
        assert_eq!(shown, 1, "{}", done.story());
        assert!(done.stderr.contains("the table has been left:  its last value is used"), "{}", done.story());
        assert!(
            done.stdout.contains("a: 40 of status warning, 40 calls returned Warning, 39 not shown"),
            "{}",
            done.story()
        );
        let json = sandbox.run("run rig --out out --json").exits(0).json();
        let said = &json["fmus"]["a"];
        assert_eq!(
            (said["messages"]["warning"].as_u64(), said["warning_returns"].as_u64()),
            (Some(40), Some(40))
        );
        assert!(json["fmus"]["b"].is_null(), "{json}");
    }
}

#[test]
fn a_probe_is_not_spoilt_by_what_an_fmu_prints() {
    const PRINT: i32 = 37;
    for fmi in BOTH {
        let sandbox = Sandbox::new();
        let fmu = build_as(fmi, "Fault", "Part", Variant::default());
        project(&sandbox, &fmu, 0.05, &format!("set = {{ fault = {PRINT} }}"));
        let done = sandbox.run("check rig --probe --json").exits(0);
        assert_eq!(done.json()["probes"].as_array().map(Vec::len), Some(2), "{}", done.story());
    }
}

#[test]
fn a_killed_run_of_fmus_is_resumed_to_the_same_bytes() {
    let sandbox = lags(Fmi::V2, 2000.0, "set = { x0 = 1.0 }");
    sandbox.run("run rig --out whole").exits(0);
    let running = sandbox.start("run rig --out cut --checkpoint 20ms");
    let begun = Instant::now();
    while !sandbox.path("cut/checkpoint").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.kill();
    // The process with the FMUs ends with the one that watches it.
    std::thread::sleep(Duration::from_millis(300));
    let cut = sandbox.run("inspect cut --json").exits(0).json();
    assert_eq!(
        (cut["recording"]["finished"].as_bool(), cut["checkpoint"].as_bool()),
        (Some(false), Some(true))
    );
    sandbox.run("inspect cut").exits(0);
    // An FMU that is another one is refused, and named.
    let fmu = fs::read(sandbox.path("rig/Part.fmu")).unwrap();
    let other = build_edited(Fmi::V2, "Lag", |text| text.replace("modelName=\"Lag\"", "modelName=\"Other\""));
    fs::copy(&other.path, sandbox.path("rig/Part.fmu")).unwrap();
    sandbox.run("resume cut").exits(1).says("E0505").says("fmu a: ").says("check sum");
    fs::write(sandbox.path("rig/Part.fmu"), &fmu).unwrap();
    sandbox.run("resume cut").exits(0).says("resuming at t = ");
    assert!(csv(&sandbox, "cut") == csv(&sandbox, "whole"), "the exported files differ");
}

#[test]
fn an_fmu_without_serialisable_state_says_why_it_cannot_be_resumed() {
    let sandbox = Sandbox::new();
    let fmu = build_edited(Fmi::V2, "Lag", |text| {
        text.replace("canSerializeFMUstate=\"true\"", "canSerializeFMUstate=\"false\"")
    });
    project(&sandbox, &fmu, 0.5, "");
    sandbox
        .run("run rig --out out --checkpoint 0s")
        .exits(0)
        .says("no checkpoints: `a`, `b` do not support checkpoints");
    sandbox.run("resume out").exits(1).says("error[E0507]: the run is complete");
    sandbox.run("run rig --out cut --time-limit 0s").exits(4);
    sandbox
        .run("resume cut")
        .exits(1)
        .says("there is no checkpoint")
        .says("`a`, `b` do not support checkpoints")
        .says("`costep run cut/run.toml --out cut-2` starts it again and keeps what is recorded here");
}

#[test]
fn projects_recordings_and_runs_are_inspected() {
    let sandbox = lags(Fmi::V3, 0.01, "");
    let card = sandbox.run("inspect rig").exits(0);
    for words in [
        "0 s to 10 ms, step 1 ms",
        "part     a   Part.fmu (cs)   1 input, 1 output",
        "method   zoh",
        "a.y -> b.u",
        "b.y -> a.u (times -1)",
    ] {
        assert!(card.stdout.contains(words), "{words}: {}", card.story());
    }
    sandbox.run("run rig --out out").exits(0);
    let card = sandbox.run("inspect out/results.arrows").exits(0);
    for words in ["columns, 11 rows, t = 0 s to 0.01 s", "column   a.y"] {
        assert!(card.stdout.contains(words), "{words}: {}", card.story());
    }
    let json = sandbox.run("inspect out --json").exits(0).json();
    assert_eq!((&json["recording"]["rows"], &json["project"]["step"]), (&11.into(), &0.001.into()));
    assert_eq!(json["project"]["connections"][0], "a.y -> b.u");
    sandbox.write("empty/nothing.txt", "");
    sandbox.run("inspect empty").exits(1).says("neither a project nor a recording");
    sandbox.write("broken.arrows", "no recording");
    sandbox.run("inspect broken.arrows").exits(1).says("E0501");
}

#[test]
fn a_package_is_checked() {
    let sandbox = lags(Fmi::V2, 0.01, "");
    sandbox.run("export --ssp rig --out rig.ssp").exits(0);
    let done = sandbox.run("check rig.ssp").exits(0);
    assert!(done.stdout.contains("ok   2 parts, 2 connections, 0 errors"), "{}", done.story());
    assert_eq!(sandbox.run("check rig.ssp --json").exits(0).json()["ok"], true);
    assert_eq!(
        sandbox.run("check rig.ssp --probe --json").exits(0).json()["probes"].as_array().map(Vec::len),
        Some(2)
    );
    let bytes = fs::read(sandbox.path("rig.ssp")).unwrap();
    sandbox.write("cut.ssp", &bytes[..bytes.len() / 2]);
    let json = sandbox.run("check cut.ssp --json").exits(1).json();
    assert_eq!(json["ok"], false);
}

#[test]
fn a_loop_that_passes_straight_through_is_warned_of() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "rig/system.toml",
        "[system]\nstop = 0.01\n[step]\nsize = 0.001\n[fmu.a]\nfile = \"S2.fmu\"\n[fmu.b]\nfile = \"S2.fmu\"\n\
         [[connect]]\nfrom = \"a.F\"\nto = \"b.u1\"\n[[connect]]\nfrom = \"b.F\"\nto = \"a.u1\"\n",
    );
    fs::copy(build(Fmi::V3, "S2").path, sandbox.path("rig/S2.fmu")).unwrap();
    sandbox.run("check rig").exits(0).says("W0301").says("a -> b -> a");
    // Without the way back there is no loop.
    let text = fs::read_to_string(sandbox.path("rig/system.toml")).unwrap();
    sandbox.write("rig/system.toml", text.replace("from = \"b.F\"", "from = \"b.x\""));
    let done = sandbox.run("check rig").exits(0);
    assert!(!done.stderr.contains("W0301"), "{}", done.story());
}

#[test]
fn shares_of_time_are_never_above_100_percent() {
    let sandbox = lags(Fmi::V2, 0.001, "");
    for _ in 0..10 {
        let done = sandbox.run("run rig --threads 1 --out out").exits(0);
        let line = done
            .stdout
            .lines()
            .find(|line| line.starts_with("time "))
            .unwrap_or_else(|| panic!("{}", done.story()));
        let shares: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(shares.len(), 3, "{line}");
        assert!(shares.iter().sum::<f64>() <= 102.0 && shares.iter().all(|share| *share <= 100.0), "{line}");
    }
}
