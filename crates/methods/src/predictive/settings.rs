//! The options of predictive coupling.

use costep_core::{Code, Condition, Error, ModelKind, ModelsOffer, Options, Result, choice, options};

use crate::shared::models::CONTINUOUS_MODELS;

choice! {
    /// What the inputs are made to equal.
    pub(crate) enum Fit {
        /// `galerkin`, or `end` where only that is stable.
        Auto = "auto",
        /// The projection of the outputs that they cause.
        Galerkin = "galerkin",
        /// The same, predicted with degree p + 2 and end states matched.
        Sharp = "sharp",
        /// The projection of the coupled models' solution.
        L2 = "l2",
        /// The same with end states matched.
        End = "end",
    }
}

choice! {
    /// Where states come from, as a word.
    pub(crate) enum StatesWord {
        Readable = "readable",
        Kalman = "kalman",
        Disturbance = "disturbance",
        Outputs = "outputs",
    }
}

choice! {
    /// What is done about what the models do not know, as a word.
    pub(crate) enum OffsetsWord { Auto = "auto", Held = "held", Persistent = "persistent", Off = "off" }
}

const OBSERVED: Condition =
    Condition::on("states", &[StatesWord::Kalman.word(), StatesWord::Disturbance.word()]);
const NOT_OBSERVED: Condition =
    Condition::on("states", &[StatesWord::Readable.word(), StatesWord::Outputs.word()]);

options! {
    /// What users choose from.
    pub(crate) struct PredictiveOptions {
        /// degree p of the input polynomials; less where a subsystem takes less
        order: usize = 2 in 0..=3, only [CONTINUOUS_MODELS];
        /// galerkin, or end where the local models say that only this is stable; inputs that equal the projection of
        /// the outputs they cause; predicted with degree p + 2 and end states matched; projection of the coupled
        /// models' solution, without and with end states matched
        fit: Fit, only [CONTINUOUS_MODELS];
        /// take the states from the subsystem, from a Kalman filter, from one that also estimates a
        /// disturbance of the inputs, or z = y - D u with Interface Jacobians
        states: StatesWord, only [CONTINUOUS_MODELS];
        /// carry what the linear model does not know as constant offsets: held where models are exact and
        /// fresh, else as far as they proved to last; always the one or the other; not at all
        offsets: OffsetsWord, only [CONTINUOUS_MODELS, NOT_OBSERVED];
        /// respond as the explicit Euler steps of a subsystem do, where it tells their length
        inner_steps: bool = true, only [CONTINUOUS_MODELS];
        /// length in s of the explicit Euler steps of subsystems that do not tell; 0: not of that kind
        euler_step: f64 = 0.0 in 0.0..=1e3, only [CONTINUOUS_MODELS];
        /// divide the step of subsystems that take no input derivatives; each part gets the mean of its
        /// inputs
        substeps: usize = 1 in 1..=1000, only [CONTINUOUS_MODELS];
        /// of the Kalman filter: typical error of inputs, relative to their size
        input_error: f64 = 0.1 in 1e-6..=10.0, only [CONTINUOUS_MODELS, OBSERVED];
        /// of the Kalman filter: typical error of outputs, relative to their size
        output_error: f64 = 1e-4 in 1e-9..=10.0, only [CONTINUOUS_MODELS, OBSERVED];
        /// of the Kalman filter: typical error of states per step, relative to their size
        state_error: f64 = 1e-4 in 1e-9..=10.0, only [CONTINUOUS_MODELS, OBSERVED];
    }
}

impl Fit {
    /// Whether the coupled models are solved as a whole, not by the interface.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::L2 | Self::End)
    }

    /// Whether end states are matched.
    pub(super) fn matches_ends(self) -> bool {
        matches!(self, Self::Sharp | Self::End)
    }
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
    pub(super) fn new(options: &Options, models: &ModelsOffer) -> Self {
        let options = PredictiveOptions::read(options);
        let states = match options.states {
            StatesWord::Readable => States::Readable,
            StatesWord::Kalman => States::Observed { disturbance: false },
            StatesWord::Disturbance => States::Observed { disturbance: true },
            StatesWord::Outputs => States::Outputs,
        };
        let offsets = match options.offsets {
            // An observer has its own way with what the model does not know.
            _ if matches!(states, States::Observed { .. }) => Offsets::Off,
            OffsetsWord::Off => Offsets::Off,
            OffsetsWord::Persistent => Offsets::Persistent,
            OffsetsWord::Auto if !models.current => Offsets::Persistent,
            OffsetsWord::Auto | OffsetsWord::Held => Offsets::Held,
        };
        Self {
            order: options.order,
            fit: options.fit,
            states,
            offsets,
            noise: Noise {
                input: options.input_error,
                output: options.output_error,
                state: options.state_error,
            },
            substeps: options.substeps,
            inner_steps: options.inner_steps,
            euler_step: options.euler_step,
            probes: models.kind == ModelKind::Realised,
        }
    }

    /// What does not go together.
    pub(super) fn check(&self) -> Result<()> {
        if self.probes && matches!(self.states, States::Observed { .. }) {
            let message = "`states=kalman` and `disturbance` cannot be combined with `source=probe`";
            return Err(Error::new(Code::BadOption, message)
                .because("a probe finds states by trial steps, in coordinates that change with the model")
                .hint("leave out `states`"));
        }
        Ok(())
    }

    /// Length of the Euler steps of a subsystem that tells `told`; 0 if its response is continuous. The closed loop of
    /// `l2` and `end` is continuous in any case.
    pub(super) fn euler_step(&self, told: f64) -> f64 {
        match (self.inner_steps && !matches!(self.fit, Fit::L2 | Fit::End), told > 0.0) {
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

    /// Whether a stationary filter estimates the states: its gain is that of equal steps.
    pub(super) fn has_stationary_filter(&self) -> bool {
        matches!(self.states, States::Observed { .. })
    }

    /// Whether predictions are compared with what comes.
    pub(super) fn remembers(&self) -> bool {
        self.has_stationary_filter() || self.offsets == Offsets::Persistent
    }
}
