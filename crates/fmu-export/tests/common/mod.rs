//! Python with FMPy for the tests, in a virtual environment of its own that is kept between runs.
//!
//! Without Python or without a way to get the packages these tests fail. `COSTEP_SKIP_PYTHON=1` leaves them out, for
//! machines without a network.
#![allow(dead_code, reason = "each test program uses another part")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use costep_core::{Experiment, InputPolynomials, Subsystem};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, Fmu, FmuLibrary, ModelExchangeOptions,
    ModelExchangeSubsystem, Use,
};
use costep_integrate::Solver;
use serde_json::{Value, json};

pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python")
}

/// A folder that stays between runs.
pub(crate) fn cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// Whether tests with Python are left out; says so.
pub(crate) fn skipped() -> bool {
    let skipped = std::env::var_os("COSTEP_SKIP_PYTHON").is_some_and(|value| value == "1");
    if skipped {
        eprintln!("SKIPPED: COSTEP_SKIP_PYTHON=1");
    }
    skipped
}

/// The interpreter of the virtual environment, made if it is missing or older than its requirements.
pub(crate) fn python() -> PathBuf {
    let (folder, wanted) = (cache().join("python"), here().join("requirements.txt"));
    let wanted_text = fs::read_to_string(&wanted).unwrap();
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = folder.join("installed.txt");
    // Test programs run side by side; one of them makes it.
    let lock = File::create(cache().join("python.lock")).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted_text) {
        return python;
    }
    let _ = fs::remove_dir_all(&folder);
    let base = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    run(Command::new(base).args(["-m", "venv"]).arg(&folder));
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    run(Command::new(&python).args(install).arg(&wanted));
    fs::write(&stamp, wanted_text).unwrap();
    python
}

/// Runs a command that has to succeed; gives its output.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| {
        panic!("{shown}: {error}\nThese tests need Python 3 with venv and pip; COSTEP_SKIP_PYTHON=1 leaves them out.")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{shown} failed:\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Lets FMPy do jobs.
#[track_caller]
pub(crate) fn fmpy(jobs: &[Value]) -> Vec<Value> {
    let mut command = Command::new(python());
    command
        .arg(here().join("fmpy_jobs.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(Value::from(jobs.to_vec()).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "FMPy ended with {}:\n{errors}", output.status);
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results.len(), jobs.len());
    for (job, result) in jobs.iter().zip(&results) {
        assert!(result.get("error").is_none(), "{job}: {}\n{errors}", result["error"]);
    }
    results
}

/// A job of Co-Simulation with inputs that follow a cosine.
pub(crate) fn steps_job(fmu: &Path, step: f64, steps: u64) -> Value {
    json!({ "job": "cs", "fmu": fmu, "step": step, "steps": steps })
}

/// The rows of a result.
pub(crate) fn rows(result: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(result["rows"].clone()).unwrap()
}

/// The same job in costep.
pub(crate) fn step_in_costep(
    fmu: &Path,
    options: &CoSimulationOptions,
    step: f64,
    steps: u64,
) -> Vec<Vec<f64>> {
    let library = FmuLibrary::load(&mut Fmu::open(fmu).unwrap()).unwrap();
    let mut subsystem = CoSimulationSubsystem::new(&library, "fmu", options).unwrap();
    step_subsystem(&mut subsystem, step, steps, true)
}

/// An FMU for Model Exchange, integrated by costep.
pub(crate) fn exchange(fmu: &Path, solver: Solver) -> ModelExchangeSubsystem {
    let library = FmuLibrary::load_for(&mut Fmu::open(fmu).unwrap(), Use::ModelExchange).unwrap();
    let options = ModelExchangeOptions { solver, ..ModelExchangeOptions::default() };
    ModelExchangeSubsystem::new(&library, "fmu", &options).unwrap()
}

/// Steps a subsystem under held inputs that follow a cosine, or under zeros.
pub(crate) fn step_subsystem(
    subsystem: &mut dyn Subsystem,
    step: f64,
    steps: u64,
    driven: bool,
) -> Vec<Vec<f64>> {
    let run = Experiment { start: 0.0, stop: step * steps as f64, step };
    let description = subsystem.description().clone();
    let (m, r) = (description.inputs.len(), description.outputs.len());
    let inputs = |t: f64| -> Vec<f64> {
        let value = |j: usize| description.inputs[j].nominal.unwrap_or(1.0) * (t + 0.7 * j as f64).cos();
        (0..m).map(|j| if driven { value(j) } else { 0.0 }).collect()
    };
    let (mut u, mut y) = (InputPolynomials::new(m, 0), vec![0.0; r]);
    subsystem.initialise(&run).unwrap();
    subsystem.initial_outputs(&inputs(0.0), &mut y).unwrap();
    let mut rows = vec![y.clone()];
    for k in 0..steps {
        u.coefficients_mut(0).copy_from_slice(&inputs(run.time(k)));
        subsystem.step(run.interval(k), u.segment(0..m, 0), &mut y).unwrap();
        rows.push(y.clone());
    }
    subsystem.terminate();
    rows
}

/// Largest difference relative to the largest value of each signal.
#[track_caller]
pub(crate) fn difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()));
    let mut worst: f64 = 0.0;
    for signal in 0..a[0].len() {
        let size = a.iter().fold(0.0, |size: f64, row| size.max(row[signal].abs()));
        for (a, b) in a.iter().zip(b) {
            assert!(a[signal].is_finite() && b[signal].is_finite());
            worst = worst.max((a[signal] - b[signal]).abs() / size.max(f64::MIN_POSITIVE));
        }
    }
    worst
}
