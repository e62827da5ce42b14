//! The options of coupling with models that are identified while the run goes: the general parameters of
//! tables 3.6, 3.12 and 3.13 of the thesis.

use costep_core::{Learning, ModelsSpec, Options, choice, options};

use crate::papers::thesis::ThesisOptions;
use crate::shared::models::DISCRETE_MODELS;

choice! {
    /// How inputs are formed from signals.
    pub enum Fallback {
        /// The last value.
        Hold = "zoh",
        /// The line through the last two.
        Line = "foh",
    }
}

options! {
    /// Options of methods with discrete models, beside those of the source.
    pub struct PhaseOptions {
        /// macro steps of the learning phase, in which inputs are formed from signals alone
        /// (timeLearning); 0: 220, for moesp 290, for from-file none
        learning: usize = 0 in 0..=1_000_000, only [DISCRETE_MODELS];
        /// macro steps over which the models take over (timeSwitchphase); 0: 5, for moesp 4, for from-file
        /// none
        switching: usize = 0 in 0..=1_000_000, only [DISCRETE_MODELS];
        /// eps_SI from which on the inputs are formed from signals (th_SBC); 0: 3.54, for moesp 4.22
        signal_threshold: f64 = 0.0 in 0.0..=1e6, only [DISCRETE_MODELS];
        /// eps_SI from which on `prestep` leaves out the input optimisation (th_mod); 0: 0.21, for moesp
        /// 1.72
        modified_threshold: f64 = 0.0 in 0.0..=1e6, only [DISCRETE_MODELS];
        /// how inputs are formed from signals: last value, or line through the last two
        fallback: Fallback, only [DISCRETE_MODELS];
        /// also record S_y and S_p of all models
        parameters: bool = false, only [DISCRETE_MODELS];
    }
}

impl PhaseOptions {
    /// Whether inputs from signals are on the line through the last two values, not held.
    pub fn on_line(&self) -> bool {
        match self.fallback {
            Fallback::Hold => false,
            Fallback::Line => true,
        }
    }
}

/// A table of optimal values of the thesis, times in s.
struct Table {
    learning: f64,
    switching: f64,
    signal: f64,
    modified: f64,
}

/// [T table 3.12], for recursive least squares.
const RLS: Table = Table { learning: 0.22, switching: 0.005, signal: 3.54, modified: 0.21 };
/// [T table 3.13], for MOESP.
const MOESP: Table = Table { learning: 0.29, switching: 0.004, signal: 4.22, modified: 1.72 };

/// Models of an earlier run need neither phase.
const LOADED: Table = Table { learning: 0.0, switching: 0.0, ..RLS };

/// The step that the times of the tables belong to, in s: elsewhere as many steps are taken.
const STEP: f64 = 1e-3;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Lengths of the learning and of the switch phase.
    pub(crate) learning: Length,
    pub(crate) switching: Length,
    /// th_SBC and th_mod.
    pub(crate) signal: f64,
    pub(crate) modified: f64,
    pub(crate) line: bool,
    pub(crate) parameters: bool,
    /// As in the thesis: no guard beside the phase check.
    pub(crate) paper: bool,
    pub(crate) samples: bool,
    /// eps has the mean of its intermediate values.
    pub(crate) intermediate: bool,
}

/// A length of time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    Steps(f64),
    Seconds(f64),
}

impl Length {
    /// In s for steps h.
    pub(crate) fn seconds(self, h: f64) -> f64 {
        match self {
            Self::Steps(steps) => steps * h,
            Self::Seconds(seconds) => seconds,
        }
    }
}

impl Settings {
    pub(crate) fn new(options: &Options, models: &ModelsSpec) -> Self {
        let offer = models.offer();
        let table = match offer.learning {
            Learning::Window => &MOESP,
            Learning::Earlier => &LOADED,
            Learning::Recursive | Learning::Nothing => &RLS,
        };
        let ThesisOptions { paper, ede_intermediate, .. } = ThesisOptions::read(options);
        let phases = PhaseOptions::read(options);
        let or = |value: f64, table: f64| if value > 0.0 { value } else { table };
        let length = |steps: usize, table: f64| match (steps, paper) {
            (0, true) => Length::Seconds(table),
            (0, false) => Length::Steps((table / STEP).round()),
            (steps, _) => Length::Steps(steps as f64),
        };
        Self {
            learning: length(phases.learning, table.learning),
            switching: length(phases.switching, table.switching),
            signal: or(phases.signal_threshold, table.signal),
            modified: or(phases.modified_threshold, table.modified),
            line: phases.on_line(),
            parameters: phases.parameters,
            paper,
            samples: offer.micro_samples || ede_intermediate,
            intermediate: ede_intermediate,
        }
    }
}
