//! Which method, at which step, for an error: methods and steps are tried within a budget of wall time, the cheapest first.

mod calls;
mod holds;
mod json;
mod lattice;
mod nearby;
mod refined;
mod search;
mod varying;
mod wishes;
mod yardstick;

use std::time::{Duration, Instant};

use costep_analysis::ReferenceKind;
use costep_core::quantity::{exact_time, format_time};
use costep_core::{Code, Error, ExitClass, Result};
use costep_methods::MethodSpec;
use costep_project::Project;

use crate::cancel::Cancel;
use crate::comparison::Comparison;
use crate::report::{RunReport, Verdict};
use crate::run::{MethodChoice, Run};
use crate::system::System;
use crate::verdict::ErrorEstimate;
pub use holds::{HeldInput, Holds};
use search::{Found, Search};
pub use wishes::{Wish, WishKind};

/// Wall time if nothing is said.
const BUDGET: Duration = Duration::from_secs(60);
/// Error if nothing is said.
const ERROR: f64 = 1e-3;
/// What an error may be asked for.
const ERRORS: [f64; 2] = [1e-12, 0.1];
/// An estimate from a second run at half the step may be off by this share of itself: 1.5 stands in for 2 to 1.
const OF_HALF_STEP: f64 = 0.4;

/// What to do where time was short.
const MORE_TIME: &str = "more `--time`, a larger `--error`, or fewer `--methods`";

/// What is asked for.
///
/// ```
/// use costep::{Advising, System};
///
/// let advice = System::open("dual-mass")?.advise(&Advising::new().error(1e-2))?;
/// let choice = advice.choice.unwrap();
/// assert!(choice.error.unwrap().value <= 1e-2);
/// println!("{} {}: {} calls", choice.method, choice.steps.flag(), choice.calls);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone)]
pub struct Advising {
    error: f64,
    time: Duration,
    methods: Vec<MethodChoice>,
    varies_steps: bool,
    cancel: Cancel,
}

impl Default for Advising {
    fn default() -> Self {
        Self { error: ERROR, time: BUDGET, methods: Vec::new(), varies_steps: true, cancel: Cancel::new() }
    }
}

impl Advising {
    /// An error of 1e-3 of the ranges, all methods, a minute.
    pub fn new() -> Self {
        Self::default()
    }

    /// The error that is allowed: `eps_mono`, as a share of the ranges of the outputs.
    pub fn error(mut self, error: f64) -> Self {
        self.error = error;
        self
    }

    /// The wall time that may be spent.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Adds a method: only those that are named are tried.
    pub fn method(mut self, method: impl Into<MethodChoice>) -> Self {
        self.methods.push(method.into());
        self
    }

    /// Steps of one length only.
    pub fn equal_steps(mut self) -> Self {
        self.varies_steps = false;
        self
    }

    /// Ends the search once this is raised; what was found counts.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }
}

/// The macro steps of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MacroSteps {
    /// All of this length in s.
    Equal(f64),
    /// As long as a tolerance allows.
    Varying {
        /// The tolerance.
        tolerance: f64,
        /// The first of them, in s.
        first: f64,
    },
}

impl MacroSteps {
    /// As a flag of the command line: `--step 2ms`.
    pub fn flag(&self) -> String {
        match self {
            Self::Equal(step) => format!("--step {}", exact_time(*step)),
            Self::Varying { tolerance, first } => {
                format!("--tolerance {tolerance:e} --step {}", exact_time(*first))
            }
        }
    }

    /// A run with these steps.
    fn run(&self) -> Run {
        match *self {
            Self::Equal(step) => Run::new().step(step),
            Self::Varying { tolerance, first } => Run::new().tolerance(tolerance).step(first),
        }
    }

    /// For people: `2 ms`.
    pub fn text(&self) -> String {
        match self {
            Self::Equal(step) => format_time(*step),
            Self::Varying { tolerance, .. } => format!("tolerance {tolerance:e}"),
        }
    }
}

/// A run that was tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Method with options.
    pub method: String,
    /// Its macro steps.
    pub steps: MacroSteps,
    /// How it ended.
    pub verdict: Verdict,
    /// Its error; nothing where it did not come to its end.
    pub error: Option<ErrorEstimate>,
    /// By how much that may be off: the reference's own error; nothing where that is not known.
    pub uncertainty: Option<f64>,
    /// Steps of single parts, those that were repeated included: calls of doStep.
    pub calls: u64,
    /// Macro steps.
    pub macro_steps: u64,
    /// Wall time in s.
    pub wall_s: f64,
    /// Whether it is stable and its error small enough.
    pub reaches: bool,
}

impl Trial {
    fn of(report: &RunReport, steps: MacroSteps, asked: f64, reference: Option<ReferenceKind>) -> Self {
        let error = report.error_estimate.filter(|error| error.value.is_finite() && error.by != "defect");
        let own = reference.and_then(|kind| kind.own_error());
        let half = || error.filter(|error| error.by == "half step").map(|error| OF_HALF_STEP * error.value);
        let is_small = error.is_some_and(|error| error.value <= asked && error.share == 1.0);
        Self {
            method: report.method.clone(),
            steps,
            verdict: report.verdict,
            error,
            uncertainty: own.or_else(half),
            calls: report.work.subsystem_steps,
            macro_steps: report.work.macro_steps,
            wall_s: report.work.wall_s,
            reaches: report.verdict == Verdict::Stable && is_small,
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The error that was asked for.
    pub asked: f64,
    /// The cheapest trial with that error; nothing if none has it.
    pub choice: Option<Trial>,
    /// The same method at a smaller step, which has that error too: the choice is no accident.
    pub confirmed_by: Option<Trial>,
    /// What its error rests on; nothing for second runs at half the step.
    pub reference: Option<ReferenceKind>,
    /// All trials.
    pub trials: Vec<Trial>,
    /// Methods that cannot be used with this system, and why.
    pub not_possible: Vec<(String, Error)>,
    /// Which inputs need more than a hold, with the choice.
    pub holds: Option<Holds>,
    /// What makers of FMUs could offer to make it cheaper.
    pub wishes: Vec<Wish>,
    /// Trials that did not fit into the time.
    pub left_out: Vec<String>,
    /// About references.
    pub warnings: Vec<Error>,
    /// Why the search ended before its end: time, or the user.
    pub ended: Option<Error>,
    /// Whether the search for a choice came to its end: what it is beside that may still be unknown.
    is_searched: bool,
    /// What it took in s to start the parts once, where that was measured: it is part of every trial.
    pub start_up_s: f64,
    /// Whether there are native parts, whose inner solver may be what is left of the error.
    has_solver: bool,
    /// Wall time in s.
    pub wall_s: f64,
}

impl Advice {
    /// Where nothing has the error that was asked for, the stable trial that came nearest to it; one whose error is not known only
    /// where no error is.
    pub fn nearest(&self) -> Option<&Trial> {
        let is_stable = |trial: &&Trial| trial.verdict == Verdict::Stable;
        let trials = self.trials.iter().filter(is_stable).filter(|_| self.choice.is_none());
        let error = |trial: &Trial| trial.error.map_or(f64::INFINITY, |error| error.value);
        trials.min_by(|a, b| error(a).total_cmp(&error(b)))
    }

    /// For each method its cheapest trial with the error asked for or, where none has it, the one with the least error.
    pub fn best_of_each(&self) -> Vec<&Trial> {
        let mut best: Vec<&Trial> = Vec::new();
        let error = |trial: &Trial| trial.error.map_or(f64::INFINITY, |error| error.value);
        let key = |trial: &Trial| match trial.reaches {
            true => (0, trial.calls as f64, error(trial)),
            false => (1, if trial.verdict == Verdict::Stable { 0.0 } else { 1.0 }, error(trial)),
        };
        let order = |a: &Trial, b: &Trial| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        };
        for trial in &self.trials {
            match best.iter_mut().find(|known| known.method == trial.method) {
                Some(known) if order(trial, known).is_lt() => *known = trial,
                Some(_) => {}
                None => best.push(trial),
            }
        }
        best.sort_by(|a, b| order(a, b));
        best
    }

    /// Why there is no choice.
    pub fn failure(&self) -> Option<Error> {
        if self.choice.is_some() {
            return None;
        }
        let is_over = |error: &Error| error.code() == Code::TimeLimit;
        if let Some(error) = self.ended.as_ref().filter(|error| !is_over(error)) {
            return Some(error.clone());
        }
        let nearest = self.nearest().map(|trial| (trial, trial.error));
        let error = match self.left_out.is_empty() && self.ended.is_none() {
            true => {
                let message = "nothing that was tried has an error of at most";
                let error =
                    Error::new(Code::ErrorNotReached, format!("{message} {:e} of the ranges", self.asked));
                if self.has_solver { error } else { error.hint("a larger `--error`, or more `--time`") }
            }
            false => {
                let message = "the time was over before something had an error of at most";
                Error::new(Code::TimeLimit, format!("{message} {:e} of the ranges", self.asked))
                    .hint(MORE_TIME)
            }
        };
        Some(match nearest {
            Some((trial, None)) => error.because(format!(
                "{} at {} is stable, but its error could not be measured",
                trial.method,
                trial.steps.text()
            )),
            Some((trial, Some(least))) => error.because(format!(
                "the least error of what was tried is {:.1e}, of {} at {}",
                least.value,
                trial.method,
                trial.steps.text()
            )),
            None if self.trials.is_empty() => error.because("nothing could be tried"),
            None => error.because("no run is stable and has an error that could be measured"),
        })
    }

    /// Whether there is a choice although time was over before everything that could be better was tried.
    pub fn is_cut_short(&self) -> bool {
        let is_over = |error: &Error| error.code() == Code::TimeLimit;
        let ended_early = !self.is_searched && self.ended.as_ref().is_some_and(is_over);
        self.choice.is_some() && (ended_early || !self.left_out.is_empty())
    }

    /// What went wrong, if something did: a choice is an answer also where time was over.
    pub fn error(&self) -> Option<Error> {
        let ended = || self.ended.clone().filter(|error| error.code() != Code::TimeLimit);
        self.failure().or_else(ended)
    }

    /// The exit code of a program that does nothing but this.
    pub fn exit(&self) -> u8 {
        match (&self.ended, self.failure()) {
            (Some(error), _) if error.code() == Code::Stopped => ExitClass::Stopped.code(),
            (_, Some(error)) => error.code().entry().exit.code(),
            _ => 0,
        }
    }
}

impl System {
    /// The cheapest method and step with an error, found by trials within a wall time, and what would make it cheaper.
    pub fn advise(&self, advising: &Advising) -> Result<Advice> {
        self.advise_with(advising, &mut |_, _| {})
    }

    /// The same; `progress` hears what is tried next, and how much of the time is left.
    pub fn advise_with(
        &self,
        advising: &Advising,
        progress: &mut dyn FnMut(&str, Option<Duration>),
    ) -> Result<Advice> {
        check(self, advising)?;
        let start = Instant::now();
        let system = with_equal_steps(self);
        let methods = methods(&system, advising)?;
        let mut search = Search::new(system, advising, methods, progress)?;
        let mut advice = Advice {
            asked: advising.error,
            choice: None,
            confirmed_by: None,
            reference: None,
            trials: Vec::new(),
            not_possible: Vec::new(),
            holds: None,
            wishes: Vec::new(),
            left_out: Vec::new(),
            warnings: Vec::new(),
            ended: None,
            is_searched: false,
            start_up_s: 0.0,
            has_solver: self.project.model.parts.len() > self.project.given.fmus.len(),
            wall_s: 0.0,
        };
        if let Err(error) = advice.find(self, &mut search, advising) {
            match error.code() {
                Code::TimeLimit => advice.ended = Some(error.hint(MORE_TIME)),
                Code::Stopped | Code::Hung => advice.ended = Some(error),
                _ => return Err(error),
            }
        }
        advice.warnings.append(&mut search.yardstick.warnings);
        advice.warnings.extend(search.hung.iter().map(|(trial, error)| hung(trial, error)));
        (advice.trials, advice.left_out) = (search.trials, search.left_out);
        advice.not_possible = search.not_possible;
        advice.wall_s = start.elapsed().as_secs_f64();
        Ok(advice)
    }
}

impl Advice {
    /// Searches, then looks at what was found. What was found before an error is kept.
    fn find(&mut self, system: &System, search: &mut Search<'_>, advising: &Advising) -> Result<()> {
        let outcome = search.search();
        self.start_up_s = search.start_up;
        if let Some(Found { trial, smaller }) = search.best {
            self.choice = Some(search.trials[trial].clone());
            self.confirmed_by = smaller.map(|smaller| search.trials[smaller].clone());
        }
        if self.choice.is_none() {
            let step = system.project.equal_step();
            // Without a reference it is said what the errors are by.
            self.reference =
                search.yardstick.checked(&search.system.project, step, &search.waiting).unwrap_or(None);
        }
        outcome?;
        if self.choice.is_none() && search.is_unmeasured {
            return Err(Error::new(Code::TimeLimit, "the time was over before an error was measured"));
        }
        if advising.varies_steps
            && let Some((trial, smaller)) = varying::try_tolerances(search, system, self.choice.as_ref())?
        {
            (self.choice, self.confirmed_by) = (Some(trial), smaller);
        }
        self.is_searched = true;
        let Some(choice) = &mut self.choice else { return Ok(()) };
        if let MacroSteps::Equal(step) = choice.steps {
            self.reference = search.yardstick.checked(&search.system.project, step, &search.waiting)?;
            let own = self.reference.as_ref().and_then(ReferenceKind::own_error);
            choice.uncertainty = own.or(choice.uncertainty);
        }
        if let Some(own) = choice.uncertainty.filter(|own| *own > yardstick::OWN_SHARE * advising.error) {
            let (error, asked) = (choice.error.map_or(f64::NAN, |error| error.value), advising.error);
            let message = match &self.reference {
                Some(ReferenceKind::Monolithic { solver, .. }) => format!(
                    "the coupling adds {error:.1e}, but the solver of the parts, {}, is itself off by {own:.1e}, beside \
                     the {asked:e} asked for",
                    solver.label()
                ),
                _ => format!(
                    "the error of {error:.1e} is known up to {own:.1e} only, beside the {asked:e} asked for"
                ),
            };
            self.warnings.push(Error::new(Code::UncertainReference, message));
        }
        let choice = choice.clone();
        self.holds = Holds::find(search, system, &choice)?;
        self.wishes = wishes::find(search, &choice)?;
        Ok(())
    }
}

/// What is said of a trial in which an FMU did not return.
fn hung(trial: &str, error: &Error) -> Error {
    let message = format!("{trial}: {}", error.details().message);
    Error::new(Code::TrialHung, message).because("longer steps were not tried after that")
}

fn check(system: &System, advising: &Advising) -> Result<()> {
    let [least, most] = ERRORS;
    if !(least..=most).contains(&advising.error) {
        let message = format!("an error of {} cannot be asked for", advising.error);
        return Err(Error::new(Code::BadValue, message)
            .hint(format!("from {least:e} to {most}: a share of the ranges of the outputs, 1e-3 for one")));
    }
    if system.project.model.connections.is_empty() {
        return Err(Error::new(
            Code::NeedsMissing,
            "nothing is connected, so there is no coupling to advise on",
        )
        .hint("connect the parts first; `costep run` runs them as they are"));
    }
    let run = &system.project.model.experiment;
    if run.stop <= run.start {
        return Err(Error::new(Code::BadValue, "the run has no length").hint("a later stop time: `--t-end`"));
    }
    Ok(())
}

/// The system with steps of one length.
fn with_equal_steps(system: &System) -> System {
    let mut project = Project::clone(&system.project);
    project.model.experiment.step = project.equal_step();
    project.control = None;
    System::new(project, system.registry.clone())
}

/// What takes part: the methods asked for, or all with their defaults, that of the project, and prediction by probed models.
fn methods(system: &System, advising: &Advising) -> Result<Vec<MethodSpec>> {
    let named = advising.methods.iter().map(|method| method.spec(&system.registry));
    let mut methods = named.collect::<Result<Vec<_>>>()?;
    if methods.is_empty() {
        methods = Comparison::all_methods(&system.registry)?;
        methods.push(system.project.groups[0].method.clone());
        if !system.project.model.has_equations() {
            methods.push(system.registry.method(PROBED)?);
        }
    }
    if let Some(models) = &system.project.models {
        let with = |method: MethodSpec| match method.names_models() || !method.uses_models() {
            true => method,
            false => method.clone().with_models(models).unwrap_or(method),
        };
        methods = methods.into_iter().map(with).collect();
    }
    let mut seen: Vec<String> = vec!["auto".into(), "monolithic".into()];
    if !advising.methods.is_empty() {
        seen.clear();
    }
    methods.retain(|method| {
        let label = method.label();
        let is_new = !seen.contains(&label);
        seen.push(label);
        is_new
    });
    Ok(methods)
}

/// Prediction without derivatives, for parts that can go back.
const PROBED: &str = "predictive:source=probe";

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(choice: Option<Trial>, ended: Code) -> Advice {
        Advice {
            asked: 1e-3,
            trials: choice.iter().cloned().collect(),
            choice,
            confirmed_by: None,
            reference: None,
            not_possible: Vec::new(),
            holds: None,
            wishes: Vec::new(),
            left_out: Vec::new(),
            warnings: Vec::new(),
            ended: Some(Error::new(ended, "over")),
            is_searched: false,
            start_up_s: 0.0,
            has_solver: true,
            wall_s: 1.0,
        }
    }

    #[test]
    fn a_choice_that_time_has_cut_short_is_no_error() {
        let trial = Trial {
            method: "zoh".into(),
            steps: MacroSteps::Equal(1e-3),
            verdict: Verdict::Stable,
            error: None,
            uncertainty: None,
            calls: 200,
            macro_steps: 100,
            wall_s: 0.1,
            reaches: true,
        };
        let cut = advice(Some(trial.clone()), Code::TimeLimit);
        assert!(cut.is_cut_short() && cut.error().is_none() && cut.exit() == 0);
        // The search was complete, and only what the choice is beside that was cut short.
        let complete = Advice { is_searched: true, ..cut.clone() };
        assert!(!complete.is_cut_short() && complete.error().is_none() && complete.exit() == 0);
        let left_out = Advice { left_out: vec!["foh at 1 ms".into()], ended: None, ..complete };
        assert!(left_out.is_cut_short() && left_out.error().is_none());
        // Ctrl-C and FMUs that hang are told all the same.
        for ended in [Code::Stopped, Code::Hung] {
            let advice = advice(Some(trial.clone()), ended);
            assert!(!advice.is_cut_short() && advice.error().is_some());
        }
        let mut unmeasured = advice(None, Code::TimeLimit);
        unmeasured.trials = cut.trials.clone();
        assert_eq!(unmeasured.nearest().map(|trial| trial.error.is_none()), Some(true));
        let cause = unmeasured.failure().and_then(|error| error.details().cause.clone());
        assert_eq!(cause.as_deref(), Some("zoh at 1 ms is stable, but its error could not be measured"));
        // Without native parts no solver is named.
        let all_tried = Advice { ended: None, ..unmeasured };
        let help =
            |advice: &Advice| advice.failure().map(|error| error.help().to_owned()).unwrap_or_default();
        assert!(help(&all_tried).contains("--solver"));
        assert!(!help(&Advice { has_solver: false, ..all_tried }).contains("--solver"));
        let nothing = advice(None, Code::TimeLimit);
        assert!(!nothing.is_cut_short() && nothing.exit() == ExitClass::TimeLimit.code());
    }
}
