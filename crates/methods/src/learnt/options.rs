//! The options of coupling with models that are identified while the run goes: the general parameters of tables 3.6, 3.12 and
//! 3.13 of the thesis.

use costep_core::{OptionKind, OptionSpec, Options};
use costep_ident::sources::{FROM_FILE, IDENTIFIED_MODELS, SOURCE};

/// To be declared by methods that can work with identified models, beside those of the source.
pub(crate) const PHASES: [OptionSpec; 6] = [
    OptionSpec {
        name: "learning",
        kind: OptionKind::Integer { default: 0, min: 0, max: 1_000_000 },
        help: "identified models: macro steps of the learning phase, in which inputs are formed from signals alone (timeLearning); \
               0: 220, for moesp 290, for from-file none",
        only_with: &[IDENTIFIED_MODELS],
    },
    OptionSpec {
        name: "switching",
        kind: OptionKind::Integer { default: 0, min: 0, max: 1_000_000 },
        help: "identified models: macro steps over which the models take over (timeSwitchphase); 0: 5, for moesp 4, for from-file none",
        only_with: &[IDENTIFIED_MODELS],
    },
    OptionSpec {
        name: "signal_threshold",
        kind: OptionKind::Real { default: 0.0, min: 0.0, max: 1e6 },
        help: "identified models: eps_SI from which on the inputs are formed from signals (th_SBC); 0: 3.54, for moesp 4.22",
        only_with: &[IDENTIFIED_MODELS],
    },
    OptionSpec {
        name: "modified_threshold",
        kind: OptionKind::Real { default: 0.0, min: 0.0, max: 1e6 },
        help: "identified models: eps_SI from which on `prestep` leaves out the input optimisation (th_mod); 0: 0.21, for moesp 1.72",
        only_with: &[IDENTIFIED_MODELS],
    },
    OptionSpec {
        name: "fallback",
        kind: OptionKind::Choice(&["zoh", "foh"]),
        help: "identified models: how inputs are formed from signals: last value, or line through the last two",
        only_with: &[IDENTIFIED_MODELS],
    },
    OptionSpec {
        name: "parameters",
        kind: OptionKind::Bool { default: false },
        help: "identified models: also record S_y and S_p of all of them",
        only_with: &[IDENTIFIED_MODELS],
    },
];

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
    pub(crate) fn new(options: &Options) -> Self {
        let table = match options.text(SOURCE.name) {
            "moesp" => &MOESP,
            FROM_FILE => &LOADED,
            _ => &RLS,
        };
        let paper = options.iter().any(|(name, _)| name == "paper") && options.bool("paper");
        let or = |value: f64, table: f64| if value > 0.0 { value } else { table };
        let length = |name: &str, table: f64| match (options.integer(name), paper) {
            (0, true) => Length::Seconds(table),
            (0, false) => Length::Steps((table / STEP).round()),
            (steps, _) => Length::Steps(steps as f64),
        };
        Self {
            learning: length("learning", table.learning),
            switching: length("switching", table.switching),
            signal: or(options.real("signal_threshold"), table.signal),
            modified: or(options.real("modified_threshold"), table.modified),
            line: options.text("fallback") == "foh",
            parameters: options.bool("parameters"),
            paper,
            samples: options.integer("samples") > 1,
        }
    }
}
