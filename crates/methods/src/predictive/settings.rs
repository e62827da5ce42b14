//! The options of predictive coupling.

use costep_core::{Code, Condition, Error, OptionKind, OptionSpec, Options, Result, join};
use costep_ident::sources::{ALL, EVERY, LOCAL_MODELS, PROBE, REFRESH, SOURCE};

use crate::learnt::options::PHASES;

/// As declared in the registry.
pub(super) const OPTIONS: &[OptionSpec] =
    &join::<{ OWN.len() + ALL.len() + PHASES.len() }>(&[&OWN, &ALL, &PHASES]);

const OBSERVED: Condition = Condition { option: "states", among: &["kalman", "disturbance"] };

const OWN: [OptionSpec; 10] = [
    OptionSpec {
        name: "order",
        kind: OptionKind::Integer { default: 2, min: 0, max: 3 },
        help: "degree p of the input polynomials; less where a subsystem takes less",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "fit",
        kind: OptionKind::Choice(&["galerkin", "sharp", "l2", "end"]),
        help: "inputs that equal the projection of the outputs they cause; predicted with degree p + 2 and end states \
               matched; projection of the coupled models' solution, without and with end states matched",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "states",
        kind: OptionKind::Choice(&["readable", "kalman", "disturbance", "outputs"]),
        help: "take the states from the subsystem, from a Kalman filter, from one that also estimates a disturbance of \
               the inputs, or z = y - D u with Interface Jacobians",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "offsets",
        kind: OptionKind::Choice(&["auto", "held", "persistent", "off"]),
        help: "carry what the linear model does not know as constant offsets: held where models are exact and fresh, \
               else as far as they proved to last; always the one or the other; not at all",
        only_with: &[LOCAL_MODELS, Condition { option: "states", among: &["readable", "outputs"] }],
    },
    OptionSpec {
        name: "inner_steps",
        kind: OptionKind::Bool { default: true },
        help: "respond as the explicit Euler steps of a subsystem do, where it tells their length",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "euler_step",
        kind: OptionKind::Real { default: 0.0, min: 0.0, max: 1e3 },
        help: "length in s of the explicit Euler steps of subsystems that do not tell; 0: not of that kind",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "substeps",
        kind: OptionKind::Integer { default: 1, min: 1, max: 1000 },
        help: "divide the step of subsystems that take no input derivatives; each part gets the mean of its inputs",
        only_with: &[LOCAL_MODELS],
    },
    OptionSpec {
        name: "input_error",
        kind: OptionKind::Real { default: 0.1, min: 1e-6, max: 10.0 },
        help: "of the Kalman filter: typical error of inputs, relative to their size",
        only_with: &[LOCAL_MODELS, OBSERVED],
    },
    OptionSpec {
        name: "output_error",
        kind: OptionKind::Real { default: 1e-4, min: 1e-9, max: 10.0 },
        help: "of the Kalman filter: typical error of outputs, relative to their size",
        only_with: &[LOCAL_MODELS, OBSERVED],
    },
    OptionSpec {
        name: "state_error",
        kind: OptionKind::Real { default: 1e-4, min: 1e-9, max: 10.0 },
        help: "of the Kalman filter: typical error of states per step, relative to their size",
        only_with: &[LOCAL_MODELS, OBSERVED],
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Galerkin,
    Sharp,
    L2,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum States {
    Readable,
    /// With or without a disturbance of the inputs.
    Observed {
        disturbance: bool,
    },
    Outputs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offsets {
    Held,
    Persistent,
    Off,
}

/// Relative errors that the Kalman filter reckons with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    pub(super) input: f64,
    pub(super) output: f64,
    pub(super) state: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) order: usize,
    pub(super) fit: Fit,
    pub(super) states: States,
    pub(super) offsets: Offsets,
    pub(super) noise: Noise,
    pub(super) substeps: usize,
    inner_steps: bool,
    euler_step: f64,
    probes: bool,
}

impl Settings {
    pub(super) fn new(options: &Options) -> Self {
        let states = match options.text("states") {
            "kalman" => States::Observed { disturbance: false },
            "disturbance" => States::Observed { disturbance: true },
            "outputs" => States::Outputs,
            _ => States::Readable,
        };
        let fresh = match options.text(SOURCE.name) {
            "exact" => options.text(REFRESH.name) == "always" && options.integer(EVERY.name) == 1,
            // Its offsets are measured at every point, whatever the age of the matrices.
            source => source == PROBE,
        };
        let offsets = match options.text("offsets") {
            // An observer has its own way with what the model does not know.
            _ if matches!(states, States::Observed { .. }) => Offsets::Off,
            "off" => Offsets::Off,
            "persistent" => Offsets::Persistent,
            "auto" if !fresh => Offsets::Persistent,
            _ => Offsets::Held,
        };
        Self {
            order: options.integer("order") as usize,
            fit: match options.text("fit") {
                "sharp" => Fit::Sharp,
                "l2" => Fit::L2,
                "end" => Fit::End,
                _ => Fit::Galerkin,
            },
            states,
            offsets,
            noise: Noise {
                input: options.real("input_error"),
                output: options.real("output_error"),
                state: options.real("state_error"),
            },
            substeps: options.integer("substeps") as usize,
            inner_steps: options.bool("inner_steps"),
            euler_step: options.real("euler_step"),
            probes: options.text(SOURCE.name) == PROBE,
        }
    }

    /// What does not go together.
    pub(super) fn check(&self) -> Result<()> {
        if self.probes && matches!(self.states, States::Observed { .. }) {
            let message = "`states=kalman` and `disturbance` do not go with `source=probe`";
            return Err(Error::new(Code::BadOption, message)
                .because("a probe finds states by trial steps, in coordinates that change with the model")
                .hint("leave out `states`"));
        }
        Ok(())
    }

    /// Length of the Euler steps of a subsystem that tells `told`; 0 if its response is continuous. The closed loop of
    /// `l2` and `end` is continuous in any case.
    pub(super) fn euler_step(&self, told: f64) -> f64 {
        match (self.inner_steps && matches!(self.fit, Fit::Galerkin | Fit::Sharp), told > 0.0) {
            (false, _) => 0.0,
            (true, true) => told,
            // A model from responses has the inner steps in it.
            (true, false) => {
                if self.probes {
                    0.0
                } else {
                    self.euler_step
                }
            }
        }
    }

    /// Whether predictions are compared with what comes.
    pub(super) fn remembers(&self) -> bool {
        matches!(self.states, States::Observed { .. }) || self.offsets == Offsets::Persistent
    }
}
