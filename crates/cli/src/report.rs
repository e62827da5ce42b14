//! The run object of the JSON contract. Later additions add fields, they never change or remove one.

use costep_analysis::Measures;
use costep_core::{Code, Error};
use costep_engine::Engine;
use costep_methods::MethodSpec;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Stable,
    Unstable,
    Diverged,
    Failed,
}

impl Verdict {
    /// The verdict on a run that ended with an error.
    pub(crate) fn of_error(error: &Error) -> Self {
        match error.code() {
            Code::Diverged | Code::OutOfBounds => Self::Diverged,
            _ => Self::Failed,
        }
    }
}

/// One run.
#[derive(Serialize)]
pub(crate) struct RunReport {
    /// Method with the options that were given.
    pub(crate) method: String,
    /// Where local models come from; null for methods that use none.
    pub(crate) model_source: Option<String>,
    /// Macro step in s.
    pub(crate) step: f64,
    pub(crate) verdict: Verdict,
    pub(crate) eps_mono: Option<f64>,
    pub(crate) eps_mean: Option<f64>,
    pub(crate) sigma_mono: Option<f64>,
    pub(crate) eps_mono_micro: Option<f64>,
    /// Error of [G18 (66)], for models whose paper uses it.
    pub(crate) max_abs_error: Option<f64>,
    pub(crate) signals: Map<String, Value>,
    pub(crate) energy_drift: Option<f64>,
    pub(crate) amplitude_ratio: Option<f64>,
    pub(crate) macro_steps: u64,
    pub(crate) subsystem_steps: u64,
    pub(crate) wall_s: f64,
    pub(crate) message: Option<String>,
    /// The error behind the message, if the run ended with one.
    pub(crate) error: Option<Value>,
    #[serde(skip)]
    pub(crate) exit: u8,
}

impl RunReport {
    /// A run about which nothing is known yet.
    pub(crate) fn new(method: &MethodSpec, step: f64) -> Self {
        Self {
            method: method.label(),
            model_source: None,
            step,
            verdict: Verdict::Stable,
            eps_mono: None,
            eps_mean: None,
            sigma_mono: None,
            eps_mono_micro: None,
            max_abs_error: None,
            signals: Map::new(),
            energy_drift: None,
            amplitude_ratio: None,
            macro_steps: 0,
            subsystem_steps: 0,
            wall_s: 0.0,
            message: None,
            error: None,
            exit: 0,
        }
    }

    /// Takes over what the engine says about itself.
    pub(crate) fn count(&mut self, engine: &Engine) {
        self.model_source = engine.uses_models().then(|| "exact".into());
        self.macro_steps = engine.k();
        self.subsystem_steps = engine.subsystem_steps();
    }

    /// Takes over what was measured.
    pub(crate) fn add(&mut self, measures: &Measures) {
        self.eps_mono = Some(measures.eps_mono);
        self.eps_mean = Some(measures.eps_mean);
        self.sigma_mono = Some(measures.sigma_mono);
        self.eps_mono_micro = measures.eps_mono_micro;
        self.energy_drift = measures.energy_drift;
        self.amplitude_ratio = Some(measures.amplitude_ratio);
        self.verdict = if measures.unstable { Verdict::Unstable } else { Verdict::Stable };
        for signal in &measures.signals {
            self.signals.insert(signal.name.clone(), json!({ "rel_rms": signal.rel_rms }));
        }
    }

    /// Takes over an error that ended the run.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.verdict = Verdict::of_error(error);
        self.message = Some(error.details().message.clone());
        self.error = Some(crate::failure::to_json(error));
        self.exit = error.code().entry().exit.code();
    }
}
