//! What is known about a run: verdict, errors, work. It is also the run object of the JSON contract: later
//! additions add fields, they never change or remove one.

mod work;

use costep_analysis::{BondEnergy, BondWatch, Excitation, Measures, ReferenceKind};
use costep_core::{Code, Error, Place, PowerBond};
use costep_engine::{ControlSpec, Engine};
use costep_methods::MethodSpec;
use costep_project::Project;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

pub use work::{ControlWork, Times, Work};
use work::{control_work, solvers};

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

/// `part.port` of the inputs that a method holds because their signals switch.
fn switched(engine: &Engine) -> Vec<String> {
    let names =
        engine.descriptions().iter().flat_map(|part| part.inputs.iter().map(move |port| (part, port)));
    let names: Vec<_> = names.collect();
    let name = |j: usize| format!("{}.{}", names[j].0.name, names[j].1.name);
    engine.switched_inputs().into_iter().map(name).collect()
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

/// A run that loses or makes so much of the energy exchanged at a bond is not called stable without more words: on the six
/// systems of `docs/step-control.md` all such runs have errors of two hundredths of the range or more. Less of it says
/// nothing: lightly damped systems are unstable with a few hundredths.
const MUCH_OF_THE_ENERGY: f64 = 0.25;

/// An error so many times the tolerance is worth a warning: within a factor of five it counts as met.
const MISSED: f64 = 5.0;

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
    /// Why the run was not one of its method, but of another in its place.
    #[serde(skip)]
    pub(crate) replaced: Option<Error>,
    /// Those of its warnings that are known at its end only, with their codes.
    #[serde(skip)]
    pub conclusions: Vec<Error>,
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
            replaced: None,
            conclusions: Vec::new(),
        }
    }

    /// Takes over what the engine says about itself, and the wall time of the steps that were done here.
    pub(crate) fn count(&mut self, engine: &Engine, wall_s: f64) {
        let remarks: Vec<_> = engine.remarks().collect();
        self.chosen = (!remarks.is_empty()).then(|| remarks.join("; "));
        self.warnings = engine.warnings().chain(engine.failed_trials()).map(Into::into).collect();
        self.replaced = engine.replaced_methods().next().map(|why| Error::new(Code::NeedsMissing, why));
        self.conclude(engine.conclusions().map(|text| {
            Error::new(Code::MethodLimited, text)
                .hint("a longer run with livelier signals, or another method: `costep compare` shows which")
        }));
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
        let doubts = found.iter().flat_map(|of| {
            let poor = of.poor_inputs().map(|text| Error::new(Code::PoorExcitation, text));
            let dependent = of.dependent_outputs().map(|text| Error::new(Code::DependentOutputs, text));
            [poor, dependent]
        });
        self.conclude(doubts.flatten());
    }

    /// Says so where the error is far beyond the tolerance. A defect alone says too little.
    pub(crate) fn compare_with_tolerance(&mut self, control: Option<&ControlSpec>) {
        let Some(tolerance) = control.filter(|control| control.entry.takes_tolerance).map(|of| of.tolerance)
        else {
            return;
        };
        let is_far = |error: &ErrorEstimate| error.by != "defect" && error.value > MISSED * tolerance;
        let Some(ErrorEstimate { value, by, .. }) = self.error_estimate.filter(is_far) else { return };
        let times = (value / tolerance).round();
        let message = format!(
            "the error is about {value:.0e} of range ({by}), {times} times the tolerance of {tolerance:e}"
        );
        self.conclude(std::iter::once(Error::new(Code::ToleranceMissed, message)));
    }

    /// Takes over warnings that only a run that has ended can give.
    fn conclude(&mut self, warnings: impl Iterator<Item = Error>) {
        for warning in warnings {
            self.warnings.push(warning.details().message.clone());
            self.conclusions.push(warning);
        }
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
        self.doubt = Doubt::of_wrong(measures.wrong.clone(), measures.worst, measures.between)
            .filter(|_| !measures.unstable);
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
            Verdict::NotJudged => {
                let usual = "too few macro steps for a verdict on stability";
                self.message.take().or_else(|| Some(usual.into()))
            }
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
        if let Some(request) = request.filter(|request| request.code() == Code::FmuEnds)
            && self.work.macro_steps == 1
        {
            let warning =
                Error::new(Code::EndedAtOnce, format!("{}, after one step", request.details().message));
            self.conclude(std::iter::once(warning));
        }
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
    let solves = project.model_id.is_some()
        || !(given.natives.is_empty() && given.linears.is_empty() && given.made.is_empty());
    head.insert("solver".into(), json!(solves.then(|| project.model.solver.label())));
    head.insert("t_end".into(), json!(project.model.experiment.stop));
    head.insert("reference".into(), reference_to_json(reference));
    head
}
