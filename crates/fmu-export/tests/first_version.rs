//! FMUs of FMI 1.0 by other tools: each runs in costep as it does in FMPy.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../import/tests/common/real.rs"]
mod real;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use common::{
    difference, exchange, fmpy, python, registry, rows, skipped, step_in_costep, step_subsystem, steps_job,
};
use costep_fmi::CoSimulationOptions;
use costep_fmu_file::{FmiVersion, Fmu};
use costep_integrate::Solver;
use real::real_files;
use serde_json::json;

/// FMUs of others that lie beside the checkout, if they do.
fn found() -> Vec<PathBuf> {
    let Some(folder) = real_files("") else { return Vec::new() };
    let (mut folders, mut fmus) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "fmu") {
                fmus.push(entry);
            }
        }
    }
    let is_first =
        |path: &PathBuf| Fmu::open(path).is_ok_and(|fmu| fmu.description().fmi_version == FmiVersion::V1);
    fmus.retain(is_first);
    fmus.sort();
    assert!(fmus.len() >= 18, "{}", fmus.len());
    fmus
}

#[test]
fn fmus_beside_the_checkout_run_as_in_fmpy() {
    const STEPS: u64 = 200;
    for path in if skipped() { Vec::new() } else { found() } {
        // Each in a process of its own: some have but one instance.
        // Whose multiples are exact: FMUs of 20-sim refuse a step that ends a rounding behind the stop time.
        for step in [0.015625, 0.125] {
            let theirs = rows(&fmpy(&[steps_job(&path, step, STEPS)])[0]);
            let ours = step_in_costep(&path, &CoSimulationOptions::default(), step, STEPS);
            let worst = difference(&ours, &theirs);
            println!("{} {step}: {worst:e}", path.display());
            assert!(worst <= 1e-12, "{}: {worst:e}", path.display());
        }
    }
}

/// A copy of an FMU whose inner variables of these names are outputs.
fn show(source: &Path, target: &Path, names: &[&str]) {
    let mut archive = zip::ZipArchive::new(File::open(source).unwrap()).unwrap();
    let mut copy = zip::ZipWriter::new(File::create(target).unwrap());
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let (name, mut bytes) = (entry.name().unwrap().into_owned(), Vec::new());
        entry.read_to_end(&mut bytes).unwrap();
        if name == "modelDescription.xml" {
            let mut text = String::from_utf8(bytes).unwrap();
            for name in names {
                let start = format!("<ScalarVariable name=\"{name}\"");
                assert!(text.contains(&start));
                text = text.replace(&start, &format!("{start} causality=\"output\""));
            }
            bytes = text.into_bytes();
        }
        if !entry.is_dir() {
            copy.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            copy.write_all(&bytes).unwrap();
        }
    }
    copy.finish().unwrap();
}

#[test]
fn bouncing_balls_run_as_in_fmpy() {
    if skipped() {
        return;
    }
    const STEP: f64 = 0.01;
    let (source, folder) = (registry::fetched(&python()), tempfile::tempdir().unwrap());
    for (kind, allowed, steps) in [("cs", 1e-12, 300), ("me", 1e-6, 100)] {
        let path = folder.path().join(format!("{kind}.fmu"));
        show(&source.join(format!("pyfmi-{}1.0-bouncingBall.fmu", kind.to_uppercase())), &path, &["h", "v"]);
        let ours = match kind {
            "cs" => step_in_costep(&path, &CoSimulationOptions::default(), STEP, steps),
            _ => step_subsystem(&mut exchange(&path, Solver::Dopri5(1e-10)), STEP, steps, false),
        };
        let job = json!({
            "job": "simulate", "kind": kind, "fmu": path, "step": STEP, "steps": steps, "outputs": ["h", "v"],
        });
        let theirs: Vec<_> = rows(&fmpy(&[job])[0]).into_iter().map(|row| row[1..].to_vec()).collect();
        let worst = difference(&ours, &theirs);
        println!("{kind}: {worst:e}");
        assert!(worst <= allowed, "{kind}: {worst:e}");
        // It has bounced.
        assert!(ours.windows(2).any(|pair| pair[0][1] < -1.0 && pair[1][1] > 1.0), "{kind}");
    }
}
