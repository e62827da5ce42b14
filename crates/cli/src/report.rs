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
    /// Nothing can be said: nothing is coupled, or there are too few steps.
    #[serde(rename = "not judged")]
    NotJudged,
    Stable,
    /// Not unstable, but far from the reference.
    Inaccurate,
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
        let master_s = rest_of(wall, &mut seconds, engine.steps_in_parallel());
        let names = engine.descriptions().iter().map(|description| description.name.clone());
        let parts = names.zip(&seconds).map(|(name, seconds)| (name, json!(seconds))).collect();
        Self { parts, master_s }
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

/// What the parts leave of the wall time. Parts that step one after another cannot take more than all of it: where the
/// estimate says so, because the steps that were timed were longer than the others (a short run, a busy machine), it
/// is scaled down.
fn rest_of(wall: f64, parts: &mut [f64], in_parallel: bool) -> Option<f64> {
    let rest = wall - parts.iter().sum::<f64>();
    if rest < 0.0 && !in_parallel {
        parts.iter_mut().for_each(|seconds| *seconds *= wall / (wall - rest));
        return Some(0.0);
    }
    (rest >= 0.0).then_some(rest)
}

/// One run.
#[derive(Serialize)]
pub(crate) struct RunReport {
    /// Method with the options that were given.
    pub(crate) method: String,
    /// What a method that chooses has chosen, and why; null for others.
    pub(crate) chosen: Option<String>,
    /// Where the methods do less than they could, and what to do about it.
    pub(crate) warnings: Vec<String>,
    /// Where local models come from; null for methods that use none.
    pub(crate) model_source: Option<String>,
    /// Macro step in s.
    pub(crate) step: f64,
    pub(crate) verdict: Verdict,
    /// What the verdict rests on: `reference`, `twin` (the monolithic solution, of which only amplitudes are looked at) or `growth`, a guess from
    /// the signals alone; null if there is none.
    pub(crate) judged_by: Option<&'static str>,
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
    /// Macro steps that were done in parts, and the number of parts.
    pub(crate) divided_steps: u64,
    pub(crate) parts_per_divided_step: usize,
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
    /// An FMU asked for the end of the simulation before its stop time.
    pub(crate) ended: Option<Value>,
    /// Its words.
    #[serde(skip)]
    pub(crate) request: Option<String>,
    #[serde(skip)]
    pub(crate) exit: u8,
}

impl RunReport {
    /// A run about which nothing is known yet.
    pub(crate) fn new(method: &MethodSpec, step: f64) -> Self {
        Self {
            method: method.label(),
            chosen: None,
            warnings: Vec::new(),
            model_source: None,
            step,
            verdict: Verdict::NotJudged,
            judged_by: None,
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
            divided_steps: 0,
            parts_per_divided_step: 1,
            wall_s: 0.0,
            real_time_factor: None,
            times: None,
            solvers: Map::new(),
            message: None,
            error: None,
            ended: None,
            request: None,
            exit: 0,
        }
    }

    /// Takes over what the engine says about itself.
    pub(crate) fn count(&mut self, engine: &Engine) {
        let remarks: Vec<_> = engine.remarks().collect();
        self.chosen = (!remarks.is_empty()).then(|| remarks.join("; "));
        self.warnings = engine.warnings().map(Into::into).collect();
        self.model_source = engine.model_source().map(Into::into);
        self.macro_steps = engine.k();
        self.subsystem_steps = engine.subsystem_steps();
        (self.divided_steps, self.parts_per_divided_step) = engine.divided_steps();
        self.solvers = solvers(engine);
        if self.wall_s > 0.0 && engine.steps_here() > 0 {
            let simulated = engine.steps_here() as f64 * engine.experiment().step;
            self.real_time_factor = Some(simulated / self.wall_s);
            self.times = Some(Times::of(engine, self.wall_s));
        }
    }

    /// `143 of 1000 macro steps in 8 parts each`, if there were such.
    pub(crate) fn division_line(&self) -> Option<String> {
        let (divided, all, parts) = (self.divided_steps, self.macro_steps, self.parts_per_divided_step);
        (divided > 0).then(|| format!("{divided} of {all} macro steps in {parts} parts each"))
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
        self.judged_by = Some("reference");
        self.eps_mono = Some(measures.eps_mono);
        self.eps_mean = Some(measures.eps_mean);
        self.sigma_mono = Some(measures.sigma_mono);
        self.eps_mono_micro = measures.eps_mono_micro;
        self.energy_drift = measures.energy_drift;
        self.amplitude_ratio = Some(measures.amplitude_ratio);
        self.verdict = match measures {
            Measures { unstable: true, .. } => Verdict::Unstable,
            Measures { inaccurate: true, .. } => Verdict::Inaccurate,
            Measures { judged: true, .. } => Verdict::Stable,
            _ => Verdict::NotJudged,
        };
        for signal in &measures.signals {
            self.signals.insert(signal.name.clone(), json!({ "rel_rms": signal.rel_rms }));
        }
    }

    /// Takes over a judgement by growth alone.
    pub(crate) fn judge(&mut self, judged: bool, (unstable, by): (bool, &'static str)) {
        self.judged_by = Some(by);
        self.verdict = match (judged, unstable) {
            // A few steps are enough to see that a run has blown up.
            (_, true) => Verdict::Unstable,
            (false, false) => Verdict::NotJudged,
            (true, false) => Verdict::Stable,
        };
    }

    /// Says what the verdict means where the word is not enough. Where nothing is coupled, nothing can be unstable.
    pub(crate) fn explain(&mut self, connections: usize) {
        if connections == 0 && self.verdict == Verdict::Stable {
            self.verdict = Verdict::NotJudged;
        }
        self.message = match self.verdict {
            Verdict::NotJudged if connections == 0 => {
                Some("nothing is connected, so that no coupling can be judged".into())
            }
            Verdict::NotJudged => Some("too few macro steps for a verdict on stability".into()),
            _ => None,
        };
    }

    /// Takes over that an FMU asked for the end. Growth is told from fifths of the whole run: without the last of them nothing
    /// can be called stable.
    pub(crate) fn end_at_request(&mut self, request: &Error) {
        if self.verdict == Verdict::Stable {
            self.verdict = Verdict::NotJudged;
            self.message = Some("the run ended too early for a verdict on stability".into());
        }
        self.amplitude_ratio = None;
        self.ended = Some(crate::failure::to_json(request));
        self.request = Some(request.details().message.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_more_than_the_whole() {
        for (wall, parts, in_parallel) in [
            (1.0, vec![0.3, 0.4], false),
            (1.0, vec![3.0, 1.0], false),
            (1.0, vec![0.9, 0.8], true),
            (1e-9, vec![5.0, 0.0, 1e-300], false),
            (2.0, vec![], false),
            (0.7, vec![0.1; 12], false),
        ] {
            let mut seconds = parts.clone();
            let master_s = rest_of(wall, &mut seconds, in_parallel);
            let sum: f64 = seconds.iter().sum::<f64>() + master_s.unwrap_or(0.0);
            assert!(in_parallel || (sum / wall - 1.0).abs() < 1e-12, "{wall} {parts:?}: {sum}");
            let parts = seconds.iter().enumerate().map(|(i, s)| (format!("p{i}"), json!(s))).collect();
            let text = Times { parts, master_s }.shares(wall);
            let words: Vec<_> = text.split_whitespace().collect();
            let numbers =
                words.windows(2).filter(|pair| pair[1] == "%").filter_map(|pair| pair[0].parse().ok());
            let shares: Vec<f64> = numbers.collect();
            assert_eq!(shares.len(), text.matches('%').count(), "{text}");
            assert!(shares.iter().all(|share| *share <= 100.0), "{text}");
            // Each share is rounded by half a percent at most.
            assert!(shares.iter().sum::<f64>() <= 100.0 + 0.5 * shares.len() as f64, "{text}");
        }
        let times =
            Times { parts: [("a".to_owned(), json!(3.0))].into_iter().collect(), master_s: Some(1.0) };
        assert_eq!(times.shares(4.0), "a 75 %  master 25 %");
    }
}
