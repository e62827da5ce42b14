//! The run object of the JSON contract. Later additions add fields, they never change or remove one.

use costep_analysis::Measures;
use costep_core::{Code, Error, SolverCounts};
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

/// Where the wall time of a run went.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Times {
    /// Seconds in the steps of each part: the mean of those that were timed, times their number.
    pub(crate) parts: Map<String, Value>,
    /// The rest of the wall time; nothing if parts were stepped at the same time on several threads.
    pub(crate) master_s: Option<f64>,
}

impl Times {
    fn of(engine: &Engine, wall: f64) -> Self {
        let mut seconds = engine.step_seconds();
        let mut rest = wall - seconds.iter().sum::<f64>();
        if !engine.steps_in_parallel() && rest < 0.0 {
            // The steps that were timed were longer than the others, as they are in a short run.
            seconds.iter_mut().for_each(|seconds| *seconds *= wall / (wall - rest));
            rest = 0.0;
        }
        let names = engine.descriptions().iter().map(|description| description.name.clone());
        let parts = names.zip(&seconds).map(|(name, seconds)| (name, json!(seconds))).collect();
        Self { parts, master_s: (rest >= 0.0).then_some(rest) }
    }

    /// `s1 61 %  s2 33 %  master 6 %`, the parts that take most first.
    pub(crate) fn shares(&self, wall: f64) -> String {
        const SHOWN: usize = 5;
        let mut parts: Vec<(&str, f64)> =
            self.parts.iter().map(|(name, s)| (name.as_str(), s.as_f64().unwrap_or(0.0))).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let others: f64 = parts.iter().skip(SHOWN).map(|(_, seconds)| seconds).sum();
        let rest = parts.len().saturating_sub(SHOWN);
        let mut words: Vec<(String, f64)> =
            parts.iter().take(SHOWN).map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect();
        if rest > 0 {
            words.push((format!("{rest} others"), others));
        }
        words.extend(self.master_s.map(|seconds| ("master".to_owned(), seconds)));
        // On several threads the times of all parts together may be more than the wall time.
        let whole = words.iter().map(|(_, seconds)| seconds).sum::<f64>().max(wall);
        let word = |(name, seconds): &(String, f64)| format!("{name} {:.0} %", 100.0 * seconds / whole);
        words.iter().map(word).collect::<Vec<_>>().join("  ")
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
    /// Simulated time per wall time.
    pub(crate) real_time_factor: Option<f64>,
    /// Seconds in the steps of each part, estimated from some of them, and in everything else.
    pub(crate) times: Option<Times>,
    /// What the integrators that choose their steps themselves have done, by part.
    pub(crate) solvers: Map<String, Value>,
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
            real_time_factor: None,
            times: None,
            solvers: Map::new(),
            message: None,
            error: None,
            exit: 0,
        }
    }

    /// Takes over what the engine says about itself.
    pub(crate) fn count(&mut self, engine: &Engine) {
        self.model_source = engine.model_source().map(Into::into);
        self.macro_steps = engine.k();
        self.subsystem_steps = engine.subsystem_steps();
        self.solvers = solvers(engine);
        if self.wall_s > 0.0 && engine.steps_here() > 0 {
            let simulated = engine.steps_here() as f64 * engine.experiment().step;
            self.real_time_factor = Some(simulated / self.wall_s);
            self.times = Some(Times::of(engine, self.wall_s));
        }
    }

    /// `s1 812 steps, 1203 evaluations, 14 Jacobians, 3 repeated`, for a few parts.
    pub(crate) fn solver_line(&self) -> Option<String> {
        const SHOWN: usize = 3;
        let word = |(name, counts): (&String, &Value)| {
            let count = |key: &str| counts[key].as_u64().unwrap_or(0);
            let mut text = format!("{name} {} steps, {} evaluations", count("steps"), count("evaluations"));
            if count("jacobians") > 0 {
                text += &format!(", {} Jacobians", count("jacobians"));
            }
            match count("error_failures") + count("convergence_failures") {
                0 => text,
                repeated => text + &format!(", {repeated} repeated"),
            }
        };
        let mut words: Vec<String> = self.solvers.iter().take(SHOWN).map(word).collect();
        let others = self.solvers.len().saturating_sub(SHOWN);
        words.extend((others > 0).then(|| format!("{others} others")));
        (!words.is_empty()).then(|| words.join("; "))
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

/// Counts of the integrators, by part.
fn solvers(engine: &Engine) -> Map<String, Value> {
    let counts = engine.descriptions().iter().zip(engine.solver_counts());
    let object = |counts: SolverCounts| {
        json!({
            "steps": counts.steps,
            "evaluations": counts.evaluations,
            "jacobians": counts.jacobians,
            "error_failures": counts.error_failures,
            "convergence_failures": counts.convergence_failures,
        })
    };
    counts.filter_map(|(part, counts)| Some((part.name.clone(), object(counts?)))).collect()
}
