//! Draws what each coupling method makes of an input over a few macro steps: `cargo run --example method_pictures
//! docs/img/methods` writes one picture per method of the book.
//!
//! The system is the quarter truck at a step of 4 ms. Its wheel falls off a kerb after half a second in which methods
//! that learn have seen it go up; the force of the suspension has direct feedthrough.

use std::path::{Path, PathBuf};

use costep::{MethodEntry, Solver};
use costep_core::{Error, External, Result};
use costep_engine::{Engine, System};
use costep_ident::Exact;
use costep_methods::{METHODS, MethodSpec};
use costep_models::find;
use costep_report::{Axis, Colour, Figure, Look, Panel, Series};
use costep_system::SystemDescription;

const STEP: f64 = 4e-3;
/// The wheel falls here, at a communication point.
const FALL: f64 = 150.0 * STEP;
/// Steps before and after it that are drawn.
const SHOWN: [u64; 2] = [2, 14];
/// The input that is drawn: the force on the wheel.
const INPUT: usize = 1;
const POINTS: u32 = 20;

pub(crate) fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "method-pictures".into()));
    write(&folder)
}

/// Writes the pictures of all methods that form inputs.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Error::new(costep::Code::RecordingFailed, error.to_string());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let truth = monolithic()?;
    for entry in METHODS.iter().filter(|entry| entry.id != "auto") {
        std::fs::write(folder.join(format!("{}.svg", entry.id)), picture(entry, &truth)?).map_err(failed)?;
    }
    Ok(())
}

fn truck() -> Result<SystemDescription> {
    let mut model = find("quarter-truck")?.model(&[])?.1;
    let kerb = External::Stairs(vec![(0.0, 0.0), (20.0 * STEP, 0.1), (FALL, 0.0)]);
    model.externals.iter_mut().for_each(|(_, external)| *external = kerb.clone());
    Ok(model)
}

fn engine(model: SystemDescription, method: &str, step: f64) -> Result<Engine> {
    let parts: Result<Vec<_>> = model.parts.iter().map(|part| part.subsystem(&Solver::Exact)).collect();
    let method = (MethodSpec::parse(method)?.build(), Box::new(Exact::new(1)) as _);
    let experiment = costep_core::Experiment { start: 0.0, stop: 2.0 * FALL, step };
    let system = System::new(parts?, model.connections.clone(), method, experiment);
    Engine::new(System { externals: model.externals, ..system })
}

/// Runs a method and gives its input over the steps that are drawn, with a gap where one ends.
fn input(method: &str) -> Result<Vec<(f64, f64)>> {
    let mut engine = engine(truck()?, method, STEP)?;
    let first = (FALL / STEP).round() as u64 - SHOWN[0];
    let mut points = Vec::new();
    while engine.k() < first + SHOWN[0] + SHOWN[1] {
        engine.step()?;
        if engine.k() > first {
            let start = engine.last_step().start;
            let at = |i: u32| f64::from(i) / f64::from(POINTS) * STEP;
            let value = |i| (1e3 * (start - FALL + at(i)), engine.inputs().value(INPUT, at(i)));
            points.extend((0..=POINTS).map(value));
            points.push((f64::NAN, f64::NAN));
        }
    }
    Ok(points)
}

/// The same force with steps so short that no method matters.
fn monolithic() -> Result<Vec<(f64, f64)>> {
    let fine = STEP / f64::from(POINTS);
    let mut engine = engine(truck()?, "predictive", fine)?;
    let (from, to) = (FALL - SHOWN[0] as f64 * STEP, FALL + SHOWN[1] as f64 * STEP);
    let mut points = Vec::new();
    while engine.time() < to + 0.5 * fine {
        if engine.time() > from - 0.5 * fine {
            points.push((1e3 * (engine.time() - FALL), engine.outputs()[0]));
        }
        engine.step()?;
    }
    Ok(points)
}

fn picture(entry: &MethodEntry, truth: &[(f64, f64)]) -> Result<String> {
    let axes = (Axis::new("time after the fall").unit("ms"), Axis::new("force on the wheel").unit("N"));
    let panel = Panel::new(axes.0, axes.1)
        .with(Series::new("monolithic", truth.to_vec()).look(Look::Reference).colour(Colour::Ink))
        .with(Series::new(format!("input by `{}`", entry.id), input(entry.id)?).colour(Colour::Nth(0)));
    Ok(Figure::new(format!("{}: {}", entry.id, entry.title)).panel(panel).to_svg())
}
