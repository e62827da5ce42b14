//! The controls of the length of macro steps, one file each, and the table from which project files,
//! command line, documentation and conformance tests derive.
//!
//! | what | where |
//! |---|---|
//! | how long the next step is: limits, PI control, corners of external signals, times of output | `pacing/` |
//! | lengths at which the coupling itself is unstable | `edge.rs` |
//! | lengths that are a base times powers of two | `ladder.rs` |
//! | what the controls below have in common, `richardson` apart | `paced.rs` |
//! | what a signal is measured by: its range so far | `ranges.rs` |
//! | how far inputs were from what they are connected to | `inputs.rs` by `defect.rs` or `predictor_corrector.rs` |
//! | one step against two halves | `richardson.rs` |
//! | power that is lost at bonds | `ecco.rs` |
//! | whether a method that repeats steps converges | `convergence.rs` |

mod convergence;
mod defect;
mod ecco;
mod edge;
mod inputs;
mod ladder;
mod paced;
mod pacing;
mod predictor_corrector;
mod ranges;
mod richardson;

use costep_core::{Code, Error, Experiment, PowerBond, Result};

use crate::step_control::StepControl;

/// A row of the table of controls.
#[derive(Debug)]
pub struct ControlEntry {
    /// Short name, `defect`.
    pub id: &'static str,
    /// What it does, in a sentence or two.
    pub summary: &'static str,
    /// What it needs of the system.
    pub needs: &'static str,
    /// Steps of subsystems per macro step that is kept.
    pub cost: &'static str,
    /// Whether it aims at an error; else it needs a method that repeats steps.
    pub takes_tolerance: bool,
    build: fn(&ControlSpec, &Experiment, &[PowerBond]) -> Box<dyn StepControl>,
}

/// All controls; the first is what a tolerance alone means.
pub const CONTROLS: &[ControlEntry] =
    &[defect::ENTRY, predictor_corrector::ENTRY, richardson::ENTRY, ecco::ENTRY, convergence::ENTRY];

/// How the steps of a run are controlled.
#[derive(Clone, Debug)]
pub struct ControlSpec {
    /// By which control.
    pub entry: &'static ControlEntry,
    /// The error that is aimed at, as a share of the ranges of the signals; 0 where the control aims at none.
    pub tolerance: f64,
    /// Shortest step in s.
    pub min: f64,
    /// Longest step in s.
    pub max: f64,
    /// Length of the first step in s, if it is said.
    pub first: Option<f64>,
    /// Time between points that have to be met, counted from the start, in s.
    pub meets: Option<f64>,
    /// Rising times that have to be met as well.
    pub also: Vec<f64>,
    /// Fixed inner step of subsystems that take steps of any length, if they have one, in s.
    pub inner: Option<f64>,
}

impl PartialEq for ControlSpec {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |spec: &Self| (spec.tolerance, spec.min, spec.max, spec.first, spec.meets);
        self.entry.id == other.entry.id && numbers(self) == numbers(other) && self.also == other.also
    }
}

/// Steps of a run whose longest is not said, at least, and shares of the run that the shortest and the
/// first step then are.
const FEWEST_STEPS: f64 = 10.0;
const SHORTEST: f64 = 1e-6;

impl ControlSpec {
    /// A control with default limits for a run of this length in s.
    pub fn new(entry: &'static ControlEntry, tolerance: f64, run: f64) -> Self {
        Self {
            entry,
            tolerance,
            min: SHORTEST * run,
            max: run / FEWEST_STEPS,
            first: None,
            meets: None,
            also: Vec::new(),
            inner: None,
        }
    }

    /// The same for a second run that judges a first one: a smaller tolerance or, without one, shorter steps.
    pub fn tighter(&self, factor: f64) -> Self {
        let shorter = if self.entry.takes_tolerance { 1.0 } else { factor };
        Self {
            tolerance: factor * self.tolerance,
            max: (shorter * self.max).max(self.min),
            first: self.first.map(|first| (shorter * first).max(self.min)),
            ..self.clone()
        }
    }

    /// `defect with tolerance 1e-4`.
    pub fn label(&self) -> String {
        match self.entry.takes_tolerance {
            true => format!("{} with tolerance {:e}", self.entry.id, self.tolerance),
            false => self.entry.id.into(),
        }
    }

    /// The control with this name.
    pub fn find(id: &str) -> Result<&'static ControlEntry> {
        CONTROLS.iter().find(|entry| entry.id == id).ok_or_else(|| {
            let known = CONTROLS.iter().map(|entry| entry.id).chain(["fixed"]);
            Error::new(Code::UnknownControl, format!("unknown step control `{id}`")).suggest(id, known)
        })
    }

    /// The control of a run over this span, with these power bonds.
    pub fn build(&self, experiment: &Experiment, bonds: &[PowerBond]) -> Box<dyn StepControl> {
        (self.entry.build)(self, experiment, bonds)
    }
}
