//! FMUs in processes of their own: the same results, failures that end nothing but the run, and no process left.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{Done, Sandbox, finished, left_over};
use costep_results::Table;
use fmus::{BOTH, EVERY, Fmi, Variant, build, build_as, build_edited, build_exchange};

/// The two-mass oscillator as two FMUs, with keys for both.
fn pair(fmi: Fmi, exchange: bool, keys: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for model in ["S1", "S2"] {
        let fmu = if exchange { build_exchange(fmi, model, false, "") } else { build(fmi, model) };
        let path = sandbox.path(format!("pair/{model}.fmu"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(fmu.path, path).unwrap();
    }
    sandbox.write("pair/system.toml", pair_with(keys));
    sandbox
}

fn pair_with(keys: &str) -> String {
    format!(
        "[system]\nstop = \"20 ms\"\n[step]\nsize = \"0.1 ms\"\n[fmu.s1]\nfile = \"S1.fmu\"\n{keys}\n\
         [fmu.s2]\nfile = \"S2.fmu\"\n{keys}\n[[connect]]\nfrom = \"s2.F\"\nto = \"s1.F\"\n\
         [[connect]]\nfrom = \"s1.x\"\nto = \"s2.u1\"\n[[connect]]\nfrom = \"s1.v\"\nto = \"s2.u2\"\n"
    )
}

/// All recorded numbers, bit by bit.
fn bits(path: &Path) -> Vec<Vec<u64>> {
    let table = Table::open(path).unwrap();
    let values = |name: &str| table.values(name).unwrap().iter().map(|v| v.to_bits()).collect();
    table.columns().iter().map(|column| values(&column.name)).collect()
}

#[test]
fn results_are_the_same_bit_by_bit() {
    for fmi in EVERY {
        for exchange in [false, true] {
            let keys = if exchange { "interface = \"me\"\nsolver = \"dopri5:1e-7\"" } else { "" };
            let sandbox = pair(fmi, exchange, keys);
            for flags in ["--method zoh", "--method predictive", "--method nepce", "--method zoh --threads 2"]
            {
                // Co-Simulation of FMI 1 has no derivatives, and nothing to compute them with.
                if fmi == Fmi::V1 && !exchange && !flags.contains("zoh") {
                    continue;
                }
                let mut results = Vec::new();
                for isolation in ["none", "process"] {
                    sandbox.write(
                        "pair/system.toml",
                        pair_with(&format!("{keys}\nisolation = \"{isolation}\"")),
                    );
                    let _ = std::fs::remove_dir_all(sandbox.path("out"));
                    sandbox.run(&format!("run pair --out out {flags}")).exits(0);
                    results.push(bits(&sandbox.path("out/results.arrows")));
                }
                assert!(results[0].len() > 4, "{fmi:?} {flags}");
                assert_eq!(results[0][0].len(), 201);
                assert!(results[0] == results[1], "{fmi:?} {exchange} {flags}");
            }
        }
    }
}

/// Names and bits of all columns, and the counts of the integrators, of a run of the pair.
fn outcome(sandbox: &Sandbox, keys: &str, method: &str) -> (Vec<(String, Vec<u64>)>, serde_json::Value) {
    sandbox.write("pair/system.toml", pair_with(keys));
    let _ = std::fs::remove_dir_all(sandbox.path("out"));
    let json = sandbox.run(&format!("run pair --out out --method {method} --json")).exits(0).json();
    let path = sandbox.path("out/results.arrows");
    let names =
        Table::open(&path).unwrap().columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    (names.into_iter().zip(bits(&path)).collect(), json["solvers"].clone())
}

#[test]
fn what_integrators_tell_of_their_steps_comes_from_the_other_process() {
    for fmi in BOTH {
        let sandbox = pair(fmi, true, "");
        for solver in ["bdf:1e-6", "adams:1e-7"] {
            let keys = format!("interface = \"me\"\nsolver = \"{solver}\"");
            for method in
                ["zoh", "nepce", "predictive:source=finite-difference", "mbcorr:source=finite-difference"]
            {
                let here = outcome(&sandbox, &format!("{keys}\nisolation = \"none\""), method);
                let there = outcome(&sandbox, &format!("{keys}\nisolation = \"process\""), method);
                for name in ["s1.solver.order", "s1.solver.step", "s2.solver.steps"] {
                    assert!(there.0.iter().any(|column| column.0 == name), "{solver} {method}: no {name}");
                }
                for part in ["s1", "s2"] {
                    assert!(there.1[part]["steps"].as_u64() > Some(0), "{solver} {method}: {}", there.1);
                }
                assert_eq!(here.1, there.1, "{fmi:?} {solver} {method}");
                assert!(here.0 == there.0, "{fmi:?} {solver} {method}");
            }
        }
    }
}

/// Its states are of use to finite differences only: an FMU that can go back, but has no derivatives.
#[test]
fn states_without_derivatives_are_read_in_the_other_process() {
    for fmi in BOTH {
        let sandbox = pair(fmi, false, "");
        for model in ["S1", "S2"] {
            let attribute = match fmi {
                Fmi::V2 => "providesDirectionalDerivative=\"true\"",
                _ => "providesDirectionalDerivatives=\"true\"",
            };
            let plain = |text: String| {
                assert!(text.contains(attribute));
                text.replace(attribute, "")
            };
            std::fs::copy(build_edited(fmi, model, plain).path, sandbox.path(format!("pair/{model}.fmu")))
                .unwrap();
        }
        for method in ["zoh", "predictive:source=finite-difference", "mbcorr:source=finite-difference"] {
            let [here, there] = ["none", "process"]
                .map(|isolation| outcome(&sandbox, &format!("isolation = \"{isolation}\""), method));
            assert!(here == there, "{fmi:?} {method}");
        }
    }
}

#[test]
fn one_of_two_can_be_isolated_and_a_run_goes_on_from_its_checkpoint() {
    for fmi in BOTH {
        let sandbox = pair(fmi, false, "");
        sandbox.run("run pair --out whole --method predictive").exits(0);
        let text =
            pair_with("").replacen("file = \"S1.fmu\"", "file = \"S1.fmu\"\nisolation = \"process\"", 1);
        sandbox.write("pair/system.toml", text);
        sandbox.run("run pair --out part --method predictive --time-limit 1ms").exits(4);
        sandbox.run("resume part").exits(0).says("resuming at t = ");
        assert!(
            bits(&sandbox.path("whole/results.arrows")) == bits(&sandbox.path("part/results.arrows")),
            "{fmi:?}"
        );
        assert!(
            std::fs::read_to_string(sandbox.path("part/run.toml"))
                .unwrap()
                .contains("isolation = \"process\"")
        );
        let json = sandbox.run("check pair --probe --json").exits(0).json();
        let card = &json["probes"][0];
        assert_eq!((&card["repeatable"], &card["taken_back"]), (&true.into(), &true.into()), "{card}");
    }
}

/// The project `rig`: an isolated FMU with a fault at t = 0.3 s, and a good one beside it.
struct Rig {
    sandbox: Sandbox,
    version: char,
}

impl Rig {
    fn new(fmi: Fmi) -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("rig")).unwrap();
        std::fs::create_dir(sandbox.path("tmp")).unwrap();
        std::fs::copy(build(fmi, "Fault").path, sandbox.path("rig/Fault.fmu")).unwrap();
        Self { sandbox, version: if fmi == Fmi::V2 { '2' } else { '3' } }
    }

    fn set(&self, fault: i32) {
        // Only those that hang are waited for in vain; others may take their time on a busy machine.
        let limit = if (31..=35).contains(&fault) { "0.4 s" } else { "20 s" };
        let text = format!(
            "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n[fmu.bad]\nfile = \"Fault.fmu\"\n\
             isolation = \"process\"\nstep_timeout = \"{limit}\"\nset = {{ fault = {fault}, at = 0.3, x0 = 1.0 }}\n\
             [fmu.good]\nfile = \"Fault.fmu\"\n[[connect]]\nfrom = \"bad.y\"\nto = \"good.u\"\n\
             [[connect]]\nfrom = \"good.y\"\nto = \"bad.u\"\n"
        );
        self.sandbox.write("rig/system.toml", text);
    }

    /// Runs it with a fault. Neither a process nor a file is left behind.
    fn fault(&self, fault: i32, flags: &str) -> Done {
        self.set(fault);
        let _ = std::fs::remove_dir_all(self.sandbox.path("out"));
        let line = format!("run rig --out out {flags}");
        let mut command = self.sandbox.command(line.split_whitespace());
        command.env("COSTEP_TEST_MARK", self.sandbox.path("mark")).env("TMPDIR", self.sandbox.path("tmp"));
        let done = finished(command, line);
        assert_eq!(left_over(&self.sandbox.path("mark")), 0, "{}", done.story());
        // The whole run is killed when memory runs out.
        if fault != 36 {
            assert_eq!(std::fs::read_dir(self.sandbox.path("tmp")).unwrap().count(), 0, "{}", done.story());
        }
        done
    }

    fn rows(&self) -> usize {
        Table::open(&self.sandbox.path("out/results.arrows")).map_or(0, |table| table.rows())
    }
}

/// Number of the fault in the C source of the FMU, call, how it ends, exit code, rows.
const FAULTS: [(i32, &str, &str, i32, usize); 11] = [
    (19, "DoStep", "died with SIGSEGV", 2, 4),
    (26, "DoStep", "died with SIGABRT", 2, 4),
    (27, "DoStep", "ended the program with exit code 0", 2, 4),
    (50, "DoStep", "died with SIGSEGV", 2, 4),
    (20, "EnterInitializationMode", "died with SIGSEGV", 2, 0),
    (23, "Terminate", "died with SIGSEGV", 2, 6),
    (24, "FreeInstance", "died with SIGSEGV", 2, 6),
    (31, "DoStep", "", 4, 4),
    (33, "EnterInitializationMode", "", 4, 0),
    (34, "Terminate", "", 4, 6),
    (35, "FreeInstance", "", 4, 6),
];

#[test]
fn failures_name_fmu_call_and_time_and_keep_every_row() {
    for fmi in BOTH {
        let rig = Rig::new(fmi);
        for (fault, call, how, exit, rows) in FAULTS {
            let start = Instant::now();
            let done = rig.fault(fault, "").exits(exit);
            let call = format!("fmi{}{call}", rig.version);
            let words = match exit {
                2 => format!("error[E0405]: `bad` {how} in {call}"),
                _ => format!("error[E0406]: `bad` in {call} has not returned for 400ms"),
            };
            let done = done.says(&words);
            let done = if rows == 4 { done.says("at t = 0.3 s (step 3) in `bad`") } else { done };
            let done = if fault == 50 { done.says("lookup table out of range") } else { done };
            assert_eq!(rig.rows(), rows, "{}", done.story());
            assert!(start.elapsed() < Duration::from_secs(20));
        }
        let object = rig.fault(24, "--json").exits(2).json();
        assert_eq!(object["errors"][0]["code"], "E0405");
        rig.fault(0, "").exits(0);
        rig.fault(37, "").exits(0).says("printed by bad: % hello from the FMU");
        // A child that the FMU left.
        rig.fault(45, "").exits(0);
        // What an FMU reports by itself comes over in its own words.
        rig.fault(8, "").exits(2).says("%n%n%y%s 100 %");
        rig.fault(6, "").exits(2).says("error[E0115]: `bad`: the FMU did not complete the step");
        let done = rig.fault(36, "--memory-limit 256MiB").exits(2);
        done.says("error[E0407]: more than 256 MiB of memory were used: `bad` in its own process");
    }
}

/// A run whose isolated FMU sleeps in a step for longer than the test lasts, and what it prints to standard error.
fn sleeping(rig: &Rig) -> (common::Running, std::fs::File) {
    rig.set(32);
    let text = std::fs::read_to_string(rig.sandbox.path("rig/system.toml")).unwrap();
    rig.sandbox.write("rig/system.toml", text.replace("\"0.4 s\"", "\"500 s\""));
    let mut command = rig.sandbox.command("run rig --out out".split_whitespace());
    let mut stderr = tempfile::tempfile().unwrap();
    command.env("COSTEP_TEST_MARK", rig.sandbox.path("mark")).stdout(std::process::Stdio::null());
    command.stderr(stderr.try_clone().unwrap());
    let mut running = common::Running::started(command.spawn().unwrap());
    // Before there is a recording, processes come and go in which the FMU is tried.
    while !rig.sandbox.path("out/results.arrows").exists() {
        assert!(!running.has_ended(), "{}", common::text(&mut stderr));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The watcher, the run, the FMU.
    until_left(rig, 3);
    (running, stderr)
}

fn until_left(rig: &Rig, processes: usize) {
    let (start, mark) = (Instant::now(), rig.sandbox.path("mark"));
    while left_over(&mark) != processes {
        assert!(start.elapsed() < Duration::from_secs(30), "{} processes", left_over(&mark));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_killed_run_leaves_no_process() {
    let rig = Rig::new(Fmi::V3);
    let (running, _) = sleeping(&rig);
    running.kill();
    until_left(&rig, 0);
}

#[test]
fn an_isolated_fmu_whose_process_is_killed_is_not_blamed() {
    let rig = Rig::new(Fmi::V3);
    let (running, mut stderr) = sleeping(&rig);
    let children = |id: &str| -> String {
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten();
        tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap()).collect()
    };
    let run = children(&running.id().to_string());
    let fmu = children(run.trim());
    let kill = std::process::Command::new("kill").args(["-9", fmu.trim()]).status();
    assert!(kill.unwrap().success(), "{fmu}");
    assert_eq!(running.wait().code(), Some(130));
    let said = common::text(&mut stderr);
    assert!(said.contains("error[E0606]: the process of `bad` was killed by SIGKILL"), "{said}");
    assert!(rig.sandbox.path("out/results.arrows").exists());
    until_left(&rig, 0);
}

/// A ring of two lags, as FMUs of one file.
const RING: &str = "[system]\nstop = \"0.5 s\"\n[step]\nsize = \"0.1 s\"\n\
    [fmu.a]\nfile = \"Lag.fmu\"\nset = { x0 = 1.0 }\n[fmu.b]\nfile = \"Lag.fmu\"\nset = { x0 = 2.0, T = 0.3 }\n\
    [fmu.c]\nfile = \"Lag.fmu\"\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n[[connect]]\nfrom = \"b.y\"\nto = \"c.u\"\n\
    [[connect]]\nfrom = \"c.y\"\nto = \"a.u\"\n";

#[test]
fn fmus_with_global_state_get_a_process_per_further_instance() {
    for fmi in BOTH {
        let once = "canBeInstantiatedOnlyOncePerProcess=\"true\"";
        let results =
            [("", ""), ("-DGLOBAL_STATE", once), ("-DGLOBAL_STATE", "")].map(|(flag, attributes)| {
                let sandbox = Sandbox::new();
                sandbox.write("ring/system.toml", RING);
                let variant = Variant { flag, attributes, ..Variant::default() };
                std::fs::copy(build_as(fmi, "Lag", "Lag", variant).path, sandbox.path("ring/Lag.fmu"))
                    .unwrap();
                sandbox.run("run ring --out out --method zoh").exits(0);
                bits(&sandbox.path("out/results.arrows"))
            });
        assert!(results[0] == results[1], "{fmi:?}");
        assert!(results[0] != results[2], "an FMU that does not say so is not helped: {fmi:?}");
    }
}

#[test]
fn what_an_isolated_fmu_says_is_heard() {
    // Warnings in two steps; a hundred thousand messages in each of two steps.
    for (fmi, fault) in BOTH.into_iter().flat_map(|fmi| [(fmi, 7), (fmi, 16)]) {
        let rig = Rig::new(fmi);
        let said = ["process", "none"].map(|isolation| {
            rig.set(fault);
            let text = std::fs::read_to_string(rig.sandbox.path("rig/system.toml")).unwrap();
            let text = text.replace("isolation = \"process\"", &format!("isolation = \"{isolation}\""));
            rig.sandbox.write("rig/system.toml", text);
            let _ = std::fs::remove_dir_all(rig.sandbox.path("out"));
            let done = rig.sandbox.run("run rig --out out --threads 1 --json").exits(0);
            done.json()["fmus"]["bad"].clone()
        });
        assert_eq!(said[0], said[1], "{fmi:?} {fault}");
        assert!(said[0]["messages"].is_object(), "{}", said[0]);
    }
}
