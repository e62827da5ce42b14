//! Third-party FMUs, from package registries or built on the spot: each runs in costep as it does in FMPy.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{
    difference, exchange, fmpy, here, python, registry, rows, run, skipped, step_in_costep, step_subsystem,
    steps_job,
};
use costep_core::Subsystem as _;
use costep_fmi::{CoSimulationOptions, preload};
use costep_fmu_file::{FmiVersion, Fmu, Severity};
use costep_integrate::Solver;
use serde_json::json;

const STEPS: u64 = 100;

/// The folder with the FMUs of registries.
fn fetched() -> PathBuf {
    registry::fetched(&python())
}

/// Steps an FMU for Co-Simulation in both programs; gives the largest difference.
fn compare(path: &Path, step: f64) -> f64 {
    let result = fmpy(&[steps_job(path, step, STEPS)]).remove(0);
    let ours = step_in_costep(path, &CoSimulationOptions::default(), step, STEPS);
    let moved = difference(&ours, &vec![ours[0].clone(); ours.len()]);
    assert!(moved > 1e-6, "{} stands still", path.display());
    let worst = difference(&ours, &rows(&result));
    println!("{}: {worst:e}", path.display());
    worst
}

#[test]
fn a_bouncing_ball_and_an_openmodelica_fmu_run_as_in_fmpy() {
    if skipped() {
        return;
    }
    let folder = fetched();
    for (file, step) in [
        ("pyfmi-CS2.0-bouncingBall.fmu", 0.01),
        ("cosimtlk-fmus-ModSim.Examples.InputTest.fmu", 0.01),
        ("sim-explorer-BouncingBall0-BouncingBall.fmu", 0.01),
    ] {
        let worst = compare(&folder.join(file), step);
        assert!(worst <= 1e-12, "{file}: {worst:e}");
    }
}

#[test]
fn fmus_for_model_exchange_run_as_with_cvode_in_fmpy() {
    if skipped() {
        return;
    }
    const STEP: f64 = 0.01;
    let folder = fetched();
    // The bouncing balls have state events; both programs find them within their tolerances.
    for (file, allowed) in [
        ("pyfmi-ME2.0-bouncingBall.fmu", 1e-6),
        ("cosimtlk-fmus-ModSim.Examples.InputTest.fmu", 1e-8),
        ("sim-explorer-BouncingBall0-BouncingBall.fmu", 1e-6),
    ] {
        let path = folder.join(file);
        let mut fmu = exchange(&path, Solver::Dopri5(1e-10));
        let real = fmu.description().outputs.iter().filter(|port| port.kind == costep_core::PortKind::Real);
        let outputs: Vec<_> = real.map(|port| port.name.clone()).collect();
        let ours = step_subsystem(&mut fmu, STEP, STEPS, false);
        let job = json!({
            "job": "simulate", "kind": "me", "fmu": path, "step": STEP, "steps": STEPS, "outputs": outputs,
        });
        let theirs: Vec<_> = rows(&fmpy(&[job])[0]).into_iter().map(|row| row[1..].to_vec()).collect();
        let worst = difference(&ours, &theirs);
        println!("{file}: {worst:e}");
        assert!(worst <= allowed, "{file}: {worst:e}");
    }
}

#[test]
fn fmus_of_packages_are_read_with_the_interface_they_have() {
    if skipped() {
        return;
    }
    let folder = fetched();
    for (file, version, exchange) in [
        ("pyfmi-CS1.0-bouncingBall.fmu", FmiVersion::V1, false),
        ("pyfmi-ME1.0-bouncingBall.fmu", FmiVersion::V1, true),
        ("sim-explorer-data-identity.fmu", FmiVersion::V1, false),
        ("pyfmi-ME2.0-bouncingBall.fmu", FmiVersion::V2, true),
        ("cosimtlk-fmus-ModSim.Examples.InputTest.fmu", FmiVersion::V2, true),
    ] {
        let fmu = Fmu::open(folder.join(file)).unwrap();
        let description = fmu.description();
        assert_eq!(description.fmi_version, version, "{file}");
        assert_eq!(description.model_exchange.is_some(), exchange, "{file}");
    }
}

/// Loads the library of the Python that builds the FMUs. False if it has none: then nothing but Python can run them.
fn python_library() -> bool {
    let script = "import sysconfig as s; v = s.get_config_var; \
                  print(v('LIBDIR') + '/' + (v('INSTSONAME') or '') if v('Py_ENABLE_SHARED') else '')";
    let path = run(Command::new(python()).args(["-c", script]));
    let found = preload(Path::new(path.trim())).is_ok();
    if !found {
        eprintln!("this Python has no shared library at `{}`; another one is looked for", path.trim());
    }
    found
}

#[test]
fn fmus_of_python_code_run_as_in_fmpy() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    python_library();
    for (builder, script, file) in
        [("pythonfmu", "spring2.py", "Spring2.fmu"), ("pythonfmu3", "spring3.py", "Spring3.fmu")]
    {
        let mut build = Command::new(python());
        build.args(["-m", builder, "build", "-f"]).arg(here().join(script)).arg("-d").arg(folder.path());
        run(&mut build);
        let path = folder.path().join(file);
        let findings = Fmu::open(&path).unwrap().validate();
        assert!(findings.iter().all(|finding| finding.severity != Severity::Error), "{findings:?}");
        let worst = compare(&path, 0.01);
        assert!(worst <= 1e-12, "{file}: {worst:e}");
    }
}
