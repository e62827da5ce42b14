//! Exported FMUs in FMPy: its validation has nothing to say, and trajectories are those of costep.

mod common;

use std::path::{Path, PathBuf};

use common::{difference, exchange, fmpy, rows, skipped, step_in_costep, step_subsystem, steps_job};
use costep_core::{Description, Experiment, InputPolynomials, Subsystem};
use costep_engine::{Engine, System};
use costep_fmi::CoSimulationOptions;
use costep_fmu_export::{Options, export};
use costep_fmu_file::FmiVersion;
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use serde_json::{Value, json};

/// What is exported, with the communication step and the inner steps of it.
const MODELS: [(&str, f64, usize); 17] = [
    ("dual-mass", 1e-4, 10),
    ("dual-mass-nonlinear", 1e-4, 10),
    ("pendulum-oscillator", 1e-3, 10),
    ("chain", 1e-4, 10),
    // The solvers of these take other steps than a loop of Euler steps.
    ("helicopter", 1e-2, 0),
    ("hydraulic-linear", 5e-5, 0),
    ("hydraulic", 5e-5, 0),
    ("triple-spring", 1e-2, 0),
    ("coupled-pendula", 1e-2, 0),
    ("pi-plant", 1e-2, 0),
    ("motor-drive", 1e-3, 0),
    ("three-tanks", 1.0, 0),
    ("quarter-truck", 1e-3, 0),
    ("Lag", 1e-2, 1),
    ("S1", 1e-4, 10),
    ("S2", 1e-4, 10),
    ("Wide20", 1e-2, 1),
];
const STEPS: u64 = 100;

const VERSIONS: [(FmiVersion, &str); 2] = [(FmiVersion::V2, "2"), (FmiVersion::V3, "3")];

fn exported(name: &str, version: FmiVersion, folder: &Path) -> Vec<PathBuf> {
    let options = Options { version, ..Options::default() };
    let fmus = export(name, &[], None, &options, folder).unwrap();
    fmus.into_iter().map(|fmu| fmu.path).collect()
}

#[test]
fn every_exported_fmu_is_valid_and_runs_alike_in_fmpy_and_costep() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut jobs, mut cases) = (Vec::new(), Vec::new());
    for (version, name) in VERSIONS {
        for (model, step, inner) in MODELS {
            for path in exported(model, version, &folder.path().join(name).join(model)) {
                jobs.push(json!({ "job": "validate", "fmu": path }));
                jobs.push(steps_job(&path, step, STEPS));
                jobs.push(json!({
                    "job": "me", "fmu": path, "step": step, "steps": STEPS, "inner": inner.max(1),
                }));
                cases.push((path, step, inner));
            }
        }
    }
    assert!(cases.len() >= 2 * 15, "{}", cases.len());
    let results = fmpy(&jobs);
    for ((path, step, inner), results) in cases.iter().zip(results.chunks(3)) {
        let path = path.strip_prefix(folder.path()).unwrap().display();
        assert_eq!(results[0]["problems"], json!([]), "{path}");
        let ours = step_in_costep(
            &folder.path().join(path.to_string()),
            &CoSimulationOptions::default(),
            *step,
            STEPS,
        );
        let moved = difference(&ours, &vec![ours[0].clone(); ours.len()]);
        assert!(moved > 1e-3, "{path} stands still: {moved:e}");
        let kinds = [("co-simulation", &results[1]), ("model exchange", &results[2])];
        for (kind, result) in &kinds[..if *inner > 0 { 2 } else { 1 }] {
            let worst = difference(&ours, &rows(result));
            assert!(worst <= 1e-12, "{path} {kind}: {worst:e}");
        }
        if *inner > 0 {
            let solver = Solver::Euler(step / *inner as f64);
            let mut fmu = exchange(&folder.path().join(path.to_string()), solver);
            let worst = difference(&ours, &step_subsystem(&mut fmu, *step, STEPS, true));
            assert!(worst <= 1e-12, "{path} model exchange in costep: {worst:e}");
        }
    }
}

/// Outputs over a run under constant inputs.
fn under_constants(subsystem: &mut dyn Subsystem, u: &[f64], run: &Experiment) -> Vec<Vec<f64>> {
    let mut inputs = InputPolynomials::new(u.len(), 0);
    inputs.coefficients_mut(0).copy_from_slice(u);
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    subsystem.initialise(run).unwrap();
    subsystem.initial_outputs(u, &mut y).unwrap();
    let mut rows = vec![y.clone()];
    for k in 0..run.steps() {
        subsystem.step(run.interval(k), inputs.segment(0..u.len(), 0), &mut y).unwrap();
        rows.push(y.clone());
    }
    rows
}

#[test]
fn cvode_in_fmpy_agrees_with_costep_on_every_single_fmu() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut jobs, mut cases) = (Vec::new(), Vec::new());
    for (version, name) in VERSIONS {
        for entry in costep_models::MODELS {
            let step = entry.model(&[]).unwrap().1.experiment.step;
            for path in exported(entry.id, version, &folder.path().join(name).join(entry.id)) {
                let subsystem = exchange(&path, Solver::Dopri5(1e-11));
                let Description { inputs, outputs, .. } = subsystem.description().clone();
                // Not what they start with, so that something happens.
                let u: Vec<f64> = inputs.iter().map(|port| 0.5 * port.nominal.unwrap_or(1.0)).collect();
                let given: serde_json::Map<String, Value> =
                    inputs.iter().zip(&u).map(|(port, u)| (port.name.clone(), json!(u))).collect();
                let names: Vec<_> = outputs.iter().map(|port| port.name.clone()).collect();
                jobs.push(json!({
                    "job": "simulate", "kind": "me", "fmu": path, "step": step, "steps": 40,
                    "outputs": names, "parameters": given,
                }));
                cases.push((format!("{} {name} {}", entry.id, path.display()), subsystem, u, step));
            }
        }
    }
    assert!(cases.len() >= 2 * 18, "{}", cases.len());
    for ((case, subsystem, u, step), result) in cases.iter_mut().zip(fmpy(&jobs)) {
        let run = Experiment { start: 0.0, stop: 40.0 * *step, step: *step };
        let ours = under_constants(subsystem, u, &run);
        let moved = difference(&ours, &vec![ours[0].clone(); ours.len()]);
        // Its rows begin with the time.
        let theirs: Vec<_> = rows(&result).iter().map(|row| row[1..].to_vec()).collect();
        let worst = difference(&ours, &theirs);
        println!("{case}: {worst:e} of {moved:e}");
        assert!(moved > 1e-6, "{case} stands still: {moved:e}");
        // CVODE was asked for 1e-10 in each step.
        assert!(worst <= 1e-6, "{case}: {worst:e}");
    }
}

/// x, v and F of the built-in dual mass oscillator with zero-order hold, as `costep compare` runs it.
fn native(step: f64) -> Vec<Vec<f64>> {
    let model = costep_models::find("dual-mass").unwrap().model(&[]).unwrap().1;
    let mut engine = Engine::new(System::new(
        model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap()).collect(),
        model.connections.clone(),
        (MethodSpec::parse("zoh").unwrap().build(), Box::new(costep_ident::Exact::new(1))),
        Experiment { start: 0.0, stop: step * STEPS as f64, step },
    ))
    .unwrap();
    let mut rows = vec![engine.outputs().to_vec()];
    for _ in 0..STEPS {
        engine.step().unwrap();
        rows.push(engine.outputs().to_vec());
    }
    rows
}

#[test]
fn two_coupled_fmus_in_fmpy_equal_the_built_in_model() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let job = |(version, name): (FmiVersion, &str), step: f64| -> Value {
        let fmu = |part: &str| exported(part, version, &folder.path().join(name)).remove(0);
        json!({ "job": "pair", "fmus": [fmu("S1"), fmu("S2")], "step": step, "steps": STEPS })
    };
    for step in [1e-3, 1e-4] {
        let native = native(step);
        for (result, (_, name)) in fmpy(&VERSIONS.map(|version| job(version, step))).iter().zip(VERSIONS) {
            let worst = difference(&native, &rows(result));
            println!("FMI {name}, step {step}: {worst:e}");
            assert!(worst <= 1e-12, "FMI {name}, step {step}: {worst:e}");
        }
    }
}
