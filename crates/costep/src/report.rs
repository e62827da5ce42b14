//! What is known about a run: verdict, errors, work. It is also the run object of the JSON contract: later
//! additions add fields, they never change or remove one.

use costep_analysis::{BondEnergy, BondWatch, Excitation, Measures, ReferenceKind};
use costep_core::quantity::format_time;
use costep_core::{Code, Error, Place, PowerBond, SolverCounts};
use costep_engine::{Engine, StepCounts};
use costep_methods::MethodSpec;
use costep_project::Project;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::verdict::{Doubt, ErrorEstimate};

/// How a run ended.
///
/// ```
/// let outcome = costep::System::open("dual-mass")?.run(costep::Run::new().method("zoh").step(5e-3))?;
/// assert_eq!(outcome.report.verdict, costep::Verdict::Unstable);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing can be said: nothing is coupled, or there are too few steps.
    #[serde(rename = "not judged")]
    NotJudged,
    /// Nothing grows that does not grow in the reference.
    Stable,
    /// Not unstable, but far from the reference, or from a second run at half the step.
    Inaccurate,
    /// Nothing grows, but inputs were so far from what they are connected to, or so much energy was lost or made at a power bond,
    /// that the result is not to be believed unseen.
    Suspect,
    /// Amplitudes grow.
    Unstable,
    /// It ended early because signals became too large.
    Diverged,
    /// It ended with another error.
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
pub struct Times {
    /// Seconds in the steps of each part: the mean of those that were timed, times their number.
    pub parts: Map<String, Value>,
    /// The rest of the wall time; nothing if parts were stepped at the same time on several threads.
    pub master_s: Option<f64>,
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
    pub fn shares(&self, wall: f64) -> String {
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

/// `part.port` of the inputs that a method holds because their signals switch.
fn switched(engine: &Engine) -> Vec<String> {
    let names =
        engine.descriptions().iter().flat_map(|part| part.inputs.iter().map(move |port| (part, port)));
    let names: Vec<_> = names.collect();
    let name = |j: usize| format!("{}.{}", names[j].0.name, names[j].1.name);
    engine.switched_inputs().into_iter().map(name).collect()
}

/// What the parts leave of the wall time. Parts that step one after another cannot take more than all of it:
/// where the estimate says so, because the steps that were timed were longer than the others (a short run, a
/// busy machine), it is scaled down.
fn rest_of(wall: f64, parts: &mut [f64], in_parallel: bool) -> Option<f64> {
    let rest = wall - parts.iter().sum::<f64>();
    if rest < 0.0 && !in_parallel {
        parts.iter_mut().for_each(|seconds| *seconds *= wall / (wall - rest));
        return Some(0.0);
    }
    (rest >= 0.0).then_some(rest)
}

/// Errors against the reference; nothing where a run has none.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ErrorMeasures {
    /// RMS over the communication points of the mean over all outputs of |y - y_mono| / range(y_mono) [T
    /// (3.9), (3.10)].
    pub eps_mono: Option<f64>,
    /// Per part the mean over its outputs and over time, then the Euclidean norm over the parts: the other
    /// reading of [T (3.9), (3.10)].
    pub eps_mean: Option<f64>,
    /// Standard deviation of the noise on y - y_mono [T (4.11)].
    pub sigma_mono: Option<f64>,
    /// `eps_mono` over the ends of all inner steps.
    pub eps_mono_micro: Option<f64>,
    /// Error of [G18 (66)], for models whose paper uses it.
    pub max_abs_error: Option<f64>,
    /// `rel_rms` of each output by its name.
    pub signals: Map<String, Value>,
    /// Energy at the end against the reference, of its greatest energy.
    pub energy_drift: Option<f64>,
    /// Greatest ratio of the amplitudes in the last and in the first fifth of the run [T 3.3.1].
    pub amplitude_ratio: Option<f64>,
}

/// What has gone through a power bond, in J if its signals are in SI units.
#[derive(Clone, Debug, Serialize)]
pub struct BondReport {
    /// Its name.
    pub name: String,
    /// Energy that has gone to and fro.
    pub exchanged: f64,
    /// Energy that one side gave and the other did not get, with its sign.
    pub residual: f64,
    /// The same without its sign, step by step, as a share of what has gone to and fro; nothing if that is none.
    pub error: Option<f64>,
}

/// A run that loses or makes so much of the energy exchanged at a bond is not called stable without more words: on the
/// systems of `docs/step-control.md` less of it goes with errors of a few hundredths at most, and unstable runs have more
/// than all of it.
const MUCH_OF_THE_ENERGY: f64 = 0.25;

impl BondReport {
    /// Whether so much energy was lost or made that the run is suspect.
    pub fn is_bad(&self) -> bool {
        self.error.is_some_and(|error| error > MUCH_OF_THE_ENERGY)
    }

    /// `spring: 0.3 % of the energy exchanged was lost or made`. Whether it is in J, signals without units do not say.
    pub fn line(&self) -> String {
        match self.error {
            Some(error) => {
                format!("{}: {:.2} % of the energy exchanged was lost or made", self.name, 100.0 * error)
            }
            None => format!("{}: no energy was exchanged", self.name),
        }
    }
}

/// What a control of steps has done.
#[derive(Clone, Debug, Serialize)]
pub struct ControlWork {
    /// Shortest step in s.
    pub shortest_step: f64,
    /// Longest step in s.
    pub longest_step: f64,
    /// Steps that were done again, shorter.
    pub rejected_steps: u64,
    /// Steps of the shortest length allowed whose error was still far beyond the tolerance.
    pub missed_steps: u64,
}

/// What a run has done and how long it took.
#[derive(Clone, Debug, Serialize)]
pub struct Work {
    /// Macro steps.
    pub macro_steps: u64,
    /// Steps of single subsystems, repetitions included.
    pub subsystem_steps: u64,
    /// Macro steps that were done in parts.
    pub divided_steps: u64,
    /// Number of parts of such a step.
    pub parts_per_divided_step: usize,
    /// What the control of the steps has done; nothing for fixed ones.
    pub control: Option<ControlWork>,
    /// Wall time in s.
    pub wall_s: f64,
    /// Simulated time per wall time.
    pub real_time_factor: Option<f64>,
    /// Seconds in the steps of each part, estimated from some of them, and in everything else.
    pub times: Option<Times>,
    /// What the integrators that choose their steps themselves have done, by part.
    pub solvers: Map<String, Value>,
}

impl Work {
    /// `from 12 us to 3 ms, 4 done again`, where steps are controlled.
    pub fn control_line(&self) -> Option<String> {
        let control = self.control.as_ref()?;
        let rounded = |time: f64| format_time(format!("{time:.1e}").parse().unwrap_or(time));
        let (shortest, longest) = (rounded(control.shortest_step), rounded(control.longest_step));
        let mut text = format!("from {shortest} to {longest}");
        if control.rejected_steps > 0 {
            text += &format!(", {} done again", control.rejected_steps);
        }
        if control.missed_steps > 0 {
            text += &format!(", {} as short as allowed and beyond the tolerance", control.missed_steps);
        }
        Some(text)
    }

    /// `143 of 1000 macro steps in 8 parts each`, if there were such.
    pub fn division_line(&self) -> Option<String> {
        let (divided, all, parts) = (self.divided_steps, self.macro_steps, self.parts_per_divided_step);
        (divided > 0).then(|| format!("{divided} of {all} macro steps in {parts} parts each"))
    }

    /// `s1 812 steps, 1203 evaluations, 14 Jacobians, 3 repeated`, for a few parts.
    pub fn solver_line(&self) -> Option<String> {
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
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Method with the options that were given.
    pub method: String,
    /// What a method that chooses has chosen, and why; nothing for others.
    pub chosen: Option<String>,
    /// Where the methods do less than they could, and what to do about it.
    pub warnings: Vec<String>,
    /// Where local models come from; nothing for methods that use none.
    pub model_source: Option<String>,
    /// Macro step in s; where steps vary, their mean.
    pub step: f64,
    /// How it ended.
    pub verdict: Verdict,
    /// What the verdict rests on: `reference`, `twin` (the monolithic solution at some points), `half step` (a second run), `defect`
    /// or `growth` (what was seen in the run alone); nothing if there is none.
    pub judged_by: Option<&'static str>,
    /// About how large the error is, and what that rests on.
    pub error_estimate: Option<ErrorEstimate>,
    /// The signals that a bad verdict is about.
    pub doubt: Option<Doubt>,
    /// Inputs that were held because their signals switch between a few values.
    pub held: Vec<String>,
    /// What has gone through power bonds, by their names.
    pub bonds: Vec<BondReport>,
    /// Errors against the reference.
    #[serde(flatten)]
    pub errors: ErrorMeasures,
    /// Counts and times.
    #[serde(flatten)]
    pub work: Work,
    /// What the verdict means where the word is not enough.
    pub message: Option<String>,
    /// The error that ended the run.
    #[serde(serialize_with = "as_object")]
    pub error: Option<Error>,
    /// An FMU asked for the end of the simulation before its stop time.
    #[serde(serialize_with = "as_object")]
    pub ended: Option<Error>,
    /// Exit code of a program that does nothing but this run.
    #[serde(skip)]
    pub exit: u8,
    /// The warning that it passed its stop time.
    #[serde(skip)]
    pub(crate) passed_stop: Option<Error>,
}

impl RunReport {
    /// A run about which nothing is known yet.
    pub(crate) fn new(method: &MethodSpec, step: f64) -> Self {
        let work = Work {
            macro_steps: 0,
            subsystem_steps: 0,
            divided_steps: 0,
            parts_per_divided_step: 1,
            control: None,
            wall_s: 0.0,
            real_time_factor: None,
            times: None,
            solvers: Map::new(),
        };
        Self {
            method: method.label(),
            chosen: None,
            warnings: Vec::new(),
            model_source: None,
            step,
            verdict: Verdict::NotJudged,
            judged_by: None,
            error_estimate: None,
            doubt: None,
            held: Vec::new(),
            bonds: Vec::new(),
            errors: ErrorMeasures::default(),
            work,
            message: None,
            error: None,
            ended: None,
            exit: 0,
            passed_stop: None,
        }
    }

    /// Takes over what the engine says about itself, and the wall time of the steps that were done here.
    pub(crate) fn count(&mut self, engine: &Engine, wall_s: f64) {
        let remarks: Vec<_> = engine.remarks().collect();
        self.chosen = (!remarks.is_empty()).then(|| remarks.join("; "));
        self.warnings = engine.warnings().chain(engine.failed_trials()).map(Into::into).collect();
        self.held = switched(engine);
        self.model_source = engine.model_source().map(Into::into);
        let (divided_steps, parts_per_divided_step) = engine.divided_steps();
        if engine.step_counts().is_some() && engine.k() > 0 {
            self.step = (engine.time() - engine.experiment().start) / engine.k() as f64;
        }
        let simulated = engine.simulated_here();
        let has_clock = wall_s > 0.0 && engine.steps_here() > 0;
        self.work = Work {
            macro_steps: engine.k(),
            subsystem_steps: engine.subsystem_steps(),
            divided_steps,
            parts_per_divided_step,
            control: engine.step_counts().map(control_work),
            wall_s,
            real_time_factor: has_clock.then(|| simulated / wall_s),
            times: has_clock.then(|| Times::of(engine, wall_s)),
            solvers: solvers(engine),
        };
    }

    /// Takes over whether the inputs of the parts said enough to identify them.
    pub(crate) fn take_excitation(&mut self, found: &[Excitation]) {
        let doubts = found.iter().flat_map(|of| [of.poor_inputs(), of.dependent_outputs()]);
        self.warnings.extend(doubts.flatten());
    }

    /// Takes over what has gone through power bonds.
    pub(crate) fn take_bonds(&mut self, bonds: &BondWatch) {
        let report = |(bond, energy): (&PowerBond, BondEnergy)| BondReport {
            name: bond.name.clone(),
            exchanged: energy.exchanged,
            residual: energy.residual,
            error: energy.error(),
        };
        self.bonds = bonds.energies().map(report).collect();
    }

    /// Takes over what was measured.
    pub(crate) fn add(&mut self, measures: &Measures, reference: &ReferenceKind) {
        self.judged_by = Some("reference");
        self.doubt = None;
        self.error_estimate = Some(ErrorEstimate { value: measures.eps_mono, by: "reference", share: 1.0 });
        self.errors.eps_mono = Some(measures.eps_mono);
        self.errors.eps_mean = Some(measures.eps_mean);
        self.errors.sigma_mono = Some(measures.sigma_mono);
        self.errors.eps_mono_micro = measures.eps_mono_micro;
        self.errors.energy_drift = measures.energy_drift;
        self.errors.amplitude_ratio = Some(measures.amplitude_ratio);
        self.verdict = match measures {
            Measures { unstable: true, .. } => Verdict::Unstable,
            Measures { inaccurate: true, .. } => Verdict::Inaccurate,
            Measures { judged: true, .. } => Verdict::Stable,
            _ => Verdict::NotJudged,
        };
        if reference.own_error().is_some_and(|own| measures.is_doubtful(own)) {
            self.verdict = Verdict::Suspect;
            self.message = Some("the reference itself is too uncertain to judge by".into());
        }
        for signal in &measures.signals {
            self.errors.signals.insert(signal.name.clone(), json!({ "rel_rms": signal.rel_rms }));
        }
    }

    /// Says what the verdict means where the word is not enough. Where nothing is coupled, nothing can be
    /// unstable.
    pub(crate) fn explain(&mut self, connections: usize) {
        if connections == 0 && self.verdict == Verdict::Stable {
            self.verdict = Verdict::NotJudged;
            self.error_estimate = None;
        }
        if let Some(bond) =
            self.bonds.iter().find(|bond| bond.is_bad()).filter(|_| self.verdict == Verdict::Stable)
        {
            self.verdict = Verdict::Suspect;
            self.message = Some(format!("bond {}", bond.line()));
        }
        self.message = match self.verdict {
            Verdict::NotJudged if connections == 0 => {
                Some("nothing is connected, so there is no coupling to judge".into())
            }
            Verdict::NotJudged => Some("too few macro steps for a verdict on stability".into()),
            _ => self.message.take(),
        };
    }

    /// Takes over that the run ended before its stop time, perhaps because an FMU asked for it. Growth is
    /// told from fifths of the whole run: without the last of them nothing can be called stable.
    pub(crate) fn end_early(&mut self, request: Option<&Error>) {
        if matches!(self.verdict, Verdict::Stable | Verdict::Suspect) {
            self.verdict = Verdict::NotJudged;
            self.doubt = None;
            self.message = Some("the run ended too early for a verdict on stability".into());
        }
        self.errors.amplitude_ratio = None;
        self.ended = request.cloned();
    }

    /// Takes over an error that ended the run.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.verdict = Verdict::of_error(error);
        self.message = Some(error.details().message.clone());
        self.error = Some(error.clone());
        self.exit = error.code().entry().exit.code();
    }
}

/// An error as JSON.
pub fn error_to_json(error: &Error) -> Value {
    let details = error.details();
    let place = match &details.place {
        Place::Nowhere => Value::Null,
        Place::File { path, line, text } => {
            json!({ "file": path.display().to_string(), "line": line, "text": text })
        }
        Place::Run { subsystem, signal, time, step } => {
            json!({ "subsystem": subsystem, "signal": signal, "time": time, "step": step })
        }
    };
    json!({
        "code": details.code.entry().id,
        "message": details.message,
        "place": place,
        "cause": details.cause,
        "help": error.help(),
    })
}

fn as_object<S: Serializer>(error: &Option<Error>, to: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(error_to_json).serialize(to)
}

/// What a reference is, as JSON.
pub fn reference_to_json(kind: Option<&ReferenceKind>) -> Value {
    match kind {
        None => Value::Null,
        Some(ReferenceKind::Monolithic { solver, own_error }) => {
            json!({ "kind": "monolithic", "solver": solver.label(), "own_error": own_error })
        }
        Some(ReferenceKind::FineStep { step, method, own_error }) => {
            json!({ "kind": "fine-step", "step": step, "method": method, "own_error": own_error })
        }
    }
}

/// The head of the JSON objects of runs: what was run, and what it was compared with.
pub fn head(project: &Project, reference: Option<&ReferenceKind>) -> Map<String, Value> {
    let parameters: Map<String, Value> =
        project.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut head = Map::new();
    head.insert("system".into(), json!(project.name));
    head.insert("parameters".into(), Value::Object(parameters));
    // FMUs solve themselves.
    let given = &project.given;
    let solves = project.model_id.is_some() || !given.natives.is_empty() || !given.made.is_empty();
    head.insert("solver".into(), json!(solves.then(|| project.model.solver.label())));
    head.insert("t_end".into(), json!(project.model.experiment.stop));
    head.insert("reference".into(), reference_to_json(reference));
    head
}

fn control_work(counts: StepCounts) -> ControlWork {
    let StepCounts { shortest, longest, rejected, missed, .. } = counts;
    ControlWork {
        shortest_step: if shortest.is_finite() { shortest } else { 0.0 },
        longest_step: longest,
        rejected_steps: rejected,
        missed_steps: missed,
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
