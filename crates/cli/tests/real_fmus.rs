//! FMUs as other tools write them, used as a user does. Tests skip where the folder of such files is missing.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;
#[path = "../../fmu-export/tests/common/registry.rs"]
mod registry;

use std::path::{Path, PathBuf};

use common::{Sandbox, table};

/// The folder of files of other tools, if it is beside the checkout or the folder around that.
fn real_files(part: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = ["..", "../.."]
        .iter()
        .map(|up| root.join(up).join("shared/real").join(part))
        .find(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: there is no folder shared/real/{part} beside the checkout");
    }
    found.and_then(|path| path.canonicalize().ok())
}

#[test]
fn a_truck_whose_signals_are_declared_discrete_is_coupled_by_methods() {
    let Some(folder) = real_files("libcosim/tests/data/fmi2/quarter_truck") else { return };
    let sandbox = Sandbox::new();
    let system = folder.join("OspSystemStructure.xml");
    let system = system.display();
    let checked = sandbox.run(&format!("check {system} --t-end 4s")).exits(0);
    checked.says(
        "warning[W0112]: inputs of `chassis` that are declared discrete are formed once per step: force",
    );
    let compared = sandbox
        .run(&format!(
            "compare {system} --t-end 4s --methods zoh,foh,auto --steps 1ms,5ms,10ms,20ms --reference step:100us --json"
        ))
        .exits(0)
        .json();
    let runs = compared["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 12);
    for runs in runs.chunks(3) {
        for signal in ["wheel.out_spring_damper_f", "chassis.velocity"] {
            let error = |run: usize| runs[run]["signals"][signal]["rel_rms"].as_f64().unwrap();
            println!("{} {signal}: {:.1e} {:.1e} {:.1e}", runs[0]["step"], error(0), error(1), error(2));
            assert!(error(2) <= 0.25 * error(0) && error(1) < 0.5 * error(0), "{} {signal}", runs[0]["step"]);
        }
    }
    let said =
        sandbox.run(&format!("run {system} --t-end 0.1s --step 5ms --method soh --no-record")).exits(0);
    said.says("warning[W0303]: method: inputs that take no polynomial of order 2, such as `chassis.force`");
    // Said to be discrete, they are held whatever the method.
    let held = |method: &str| {
        let flags = "--set fmu.chassis.discrete=[\"force\"] --set fmu.wheel.discrete=[\"in_vel\"]";
        let line = format!("run {system} --t-end 0.1s --step 5ms --method {method} --out {method} {flags}");
        assert!(!sandbox.run(&line).exits(0).stderr.contains("W0112"));
        sandbox.run(&format!("export {method} --signals chassis.*,wheel.* --to {method}.csv")).exits(0);
        std::fs::read_to_string(sandbox.path(format!("{method}.csv"))).unwrap()
    };
    assert_eq!(held("zoh"), held("foh"));
}

/// Largest error of two integrators in a ring, of amplitude 1.
fn ring_error(sandbox: &Sandbox, run: &str) -> f64 {
    sandbox.run(&format!("export {run} --to {run}.csv")).exits(0);
    let text = std::fs::read_to_string(sandbox.path(format!("{run}.csv"))).unwrap();
    let (names, rows) = table(&text);
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let (a, b) = (column("a.real_output"), column("b.real_output"));
    let error = |row: &Vec<f64>| (row[a] - row[0].cos()).abs().max((row[b] - row[0].sin()).abs());
    rows.iter().map(error).fold(0.0, f64::max)
}

#[test]
fn two_openmodelica_integrators_in_a_ring_keep_their_amplitude() {
    if python::skipped() {
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmu-export/tests/python");
    let interpreter = python::environment("python", &here.join("requirements.txt"));
    let fmu = registry::fetched(&interpreter).join("cosimtlk-fmus-ModSim.Examples.InputTest.fmu");
    let sandbox = Sandbox::new();
    for (interface, method, bar) in [("me", "auto", 0.02), ("me", "monolithic", 1e-5), ("cs", "auto", 0.02)] {
        let parts: String = [("a", 1.0), ("b", 0.0)]
            .iter()
            .map(|(name, start)| {
                let file = fmu.display();
                let set = format!("set = {{ \"integrator.y_start\" = {start} }}");
                format!("[fmu.{name}]\nfile = \"{file}\"\ninterface = \"{interface}\"\n{set}\n")
            })
            .collect();
        let run = format!("{interface}-{method}");
        sandbox.write(
            &format!("{run}.toml"),
            format!(
                "[system]\nstop = \"20 s\"\n[step]\nsize = \"0.1 s\"\n{parts}\
                 [[connect]]\nfrom = \"b.real_output\"\nto = \"a.real_setpoint\"\ngain = -1.0\n\
                 [[connect]]\nfrom = \"a.real_output\"\nto = \"b.real_setpoint\"\n"
            ),
        );
        let done = sandbox.run(&format!("run {run}.toml --method {method} --reference none --out {run}"));
        let error = ring_error(&sandbox, &run);
        println!("{interface} {method}: {error:e}");
        assert!(error <= bar, "{interface} {method}: {error:e}\n{}", done.story());
        if interface == "cs" {
            done.says("`a`: its inputs are held: what it is told about their derivatives has no effect");
        }
    }
}
