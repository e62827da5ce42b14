//! Systems of others, FMUs and all, from a folder with files of libcosim, the Open Simulation Platform and MasterSim. Where the
//! folder has none of them there are none.

use std::path::{Path, PathBuf};

use costep::{Errors, Opening, System};

use super::cases::Case;
use super::parts::Guise;
use crate::identified_cases::drawn::{self, Draw};

/// Name, place, stop time in s, least and greatest macro step in s.
type FileKind = (&'static str, &'static str, f64, (f64, f64));

const KINDS: [FileKind; 4] = [
    ("quarter-truck", "libcosim/tests/data/fmi2/quarter_truck", 2.0, (5e-4, 0.04)),
    ("mass-spring-damper", "osp-demo-cases/tutorial-fmus", 5.0, (2e-3, 0.1)),
    (
        "predator-prey",
        "mastersim/data/tests/linux64/Lotka_Volterra_System/LV_Richardson_noiter.msim",
        40.0,
        (0.05, 1.0),
    ),
    (
        "control-loop",
        "mastersim/data/tests/linux64/Math_003_control_loop/Math003_GaussJacobi_1iters_fixedStep.msim",
        10.0,
        (5e-3, 0.2),
    ),
];
/// Draws of each.
const DRAWS: usize = 8;

/// All of them that the folder has, with drawn steps; numbers begin at `first`.
pub fn file_cases(folder: &Path, first: usize, seed: u64) -> Result<Vec<Case>, Errors> {
    let found = KINDS.iter().filter(|kind| folder.join(kind.1).exists());
    let drawn = found.flat_map(|kind| std::iter::repeat_n(kind, DRAWS)).zip(first..);
    drawn.map(|(kind, id)| case(folder, kind, id, seed)).collect()
}

fn case(folder: &Path, (kind, place, stop, steps): &FileKind, id: usize, seed: u64) -> Result<Case, Errors> {
    let mut draw = Draw::new(seed.wrapping_mul(1_000_033).wrapping_add(id as u64));
    let step = drawn::step(&mut draw, steps.0, steps.1);
    let count = (stop / step).round();
    let file = folder.join(place);
    let system = opening(&file, step, count * step).open()?;
    Ok(Case {
        id,
        family: "files",
        kind,
        what: format!("{place} h={step}"),
        guise: Guise::Black,
        nominal: true,
        step,
        steps: count as u64,
        conserved: Vec::new(),
        model: system.project().model.clone(),
        file: Some(file),
    })
}

/// A system from a file, with a step and a stop time of its own.
pub(super) fn opening(file: &PathBuf, step: f64, stop: f64) -> Opening {
    // Steps of one length, also where another tool's file asks for its control of errors.
    let steps = [
        ("step.size", format!("{step:e}")),
        ("step.control", "fixed".into()),
        ("system.stop", format!("{stop:e}")),
    ];
    steps.into_iter().fold(System::opening(file), |opening, (key, value)| opening.set(key, value))
}
