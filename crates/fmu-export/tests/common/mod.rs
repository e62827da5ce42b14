//! Python with FMPy for the tests, in a virtual environment of its own that is kept between runs.
#![allow(dead_code, unused_imports, reason = "each test program uses another part")]

mod python;
pub(crate) mod registry;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use costep_core::{Experiment, InputPolynomials, Port, PortKind, Subsystem};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, ModelExchangeOptions, ModelExchangeSubsystem,
};
use costep_fmu_file::{Fmu, Use};
use costep_integrate::Solver;
use serde_json::{Value, json};

pub(crate) use python::{cache, run, skipped};

pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python")
}

/// The interpreter of the virtual environment.
pub(crate) fn python() -> PathBuf {
    python::environment("python", &here().join("requirements.txt"))
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
        // Integers and Booleans are held at zero and not counted.
        let mut reals = 0.0;
        let mut value = |port: &Port| {
            let value = port.nominal.unwrap_or(1.0) * (t + 0.7 * reals).cos();
            reals += f64::from(port.kind == PortKind::Real);
            if driven && port.kind == PortKind::Real { value } else { 0.0 }
        };
        description.inputs.iter().map(&mut value).collect()
    };
    let real_outputs = |y: &[f64]| -> Vec<f64> {
        let ports = y.iter().zip(&description.outputs);
        ports.filter(|(_, port)| port.kind == PortKind::Real).map(|(y, _)| *y).collect()
    };
    let (mut u, mut y) = (InputPolynomials::new(m, 0), vec![0.0; r]);
    subsystem.initialise(&run).unwrap();
    subsystem.initial_outputs(&inputs(0.0), &mut y).unwrap();
    let mut rows = vec![real_outputs(&y)];
    for k in 0..steps {
        u.coefficients_mut(0).copy_from_slice(&inputs(run.time(k)));
        subsystem.step(run.interval(k), u.segment(0..m, 0), &mut y).unwrap();
        rows.push(real_outputs(&y));
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
