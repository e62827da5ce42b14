//! The FMUs of sim-explorer, which are Python inside: they run as in FMPy. Each needs a process of its own, with the
//! modules that it imports.
//! Unix only: elsewhere Python would have to be found in another way.
#![cfg(unix)]

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;
#[path = "../../fmu-export/tests/common/registry.rs"]
mod registry;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Sandbox, finished, table};
use serde_json::{Value, json};

const STEP: f64 = 0.01;
const STEPS: u64 = 100;

/// An interpreter with everything these FMUs import.
fn interpreter() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmu-export/tests/python");
    python::environment("sim-explorer", &here.join("sim_explorer.txt"))
}

/// The outputs of an FMU in FMPy, whose inputs are left alone.
fn in_fmpy(python: &Path, fmu: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmu-export/tests/python/fmpy_jobs.py");
    let mut command = Command::new(python);
    let mut child = command
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let job = json!([{ "job": "cs", "fmu": fmu, "step": STEP, "steps": STEPS, "driven": false }]);
    child.stdin.take().unwrap().write_all(job.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let results: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
    assert!(results[0].get("error").is_none(), "{}\n{errors}", results[0]);
    let read = |key: &str| results[0][key].clone();
    (serde_json::from_value(read("names")).unwrap(), serde_json::from_value(read("rows")).unwrap())
}

/// Runs an FMU alone in costep; gives the recording as CSV.
fn in_costep(sandbox: &Sandbox, python: &Path, fmu: &Path) -> String {
    let stop = STEPS as f64 * STEP;
    sandbox.write(
        "rig/system.toml",
        format!(
            "[system]\nstop = {stop}\n[step]\nsize = {STEP}\n[method]\nid = \"zoh\"\n[fmu.x]\nfile = \"{}\"\n",
            fmu.display()
        ),
    );
    // The library of this very Python, and its modules.
    let script = "import sysconfig as s, sys; v = s.get_config_var; n = 'libpython%d.%d.so.1.0' % sys.version_info[:2]; \
                  print(v('LIBDIR') + '/' + v('INSTSONAME') if v('Py_ENABLE_SHARED') else n, s.get_path('purelib'))";
    let told = python::run(Command::new(python).args(["-c", script]));
    let (library, modules) = told.trim().rsplit_once(' ').unwrap();
    let line = "run rig --out out";
    let mut command = sandbox.command(line.split(' '));
    command.env("COSTEP_PYTHON_LIBRARY", library).env("PYTHONPATH", modules);
    finished(command, line).exits(0);
    sandbox.run("export out --to out.csv").exits(0);
    std::fs::read_to_string(sandbox.path("out.csv")).unwrap()
}

/// `moves`: whether it does so without inputs.
fn assert_same(name: &str, moves: bool) {
    if python::skipped() {
        return;
    }
    let python = interpreter();
    let fmu = registry::fetched(&python).join(format!("sim-explorer-{name}.fmu"));
    let (names, theirs) = in_fmpy(&python, &fmu);
    let sandbox = Sandbox::new();
    let text = in_costep(&sandbox, &python, &fmu);
    let (columns, ours) = table(&text);
    assert_eq!(ours.len(), theirs.len());
    let (mut moved, mut says) = (false, false);
    for (at, name) in names.iter().enumerate() {
        let full = format!("x.{name}");
        let column = columns
            .iter()
            .position(|column| *column == full)
            .unwrap_or_else(|| panic!("{full}: {columns:?}"));
        let size = theirs.iter().fold(1e-300, |size: f64, row| size.max(row[at].abs()));
        for (k, (our, their)) in ours.iter().zip(&theirs).enumerate() {
            let error = (our[column] - their[at]).abs() / size;
            assert!(error <= 1e-12, "{full} in row {k}: {} here, {} in FMPy", our[column], their[at]);
            moved |= their[at] != theirs[0][at];
            says |= their[at] != 0.0;
        }
    }
    assert!(moved == moves && says, "{name}: moved {moved}, other than zero {says}");
}

#[test]
fn a_ball_in_three_dimensions() {
    assert_same("BouncingBall3D-BouncingBall3D", true);
}

/// It takes its inputs one by one only. Unconnected ones are not set.
#[test]
fn a_mobile_crane() {
    assert_same("MobileCrane-MobileCrane", false);
}

#[test]
fn a_driving_force() {
    assert_same("Oscillator-DrivingForce", true);
}

#[test]
fn a_harmonic_oscillator() {
    assert_same("Oscillator-HarmonicOscillator", true);
}

#[test]
fn a_time_table() {
    assert_same("TimeTable-TimeTableFMU", true);
}
