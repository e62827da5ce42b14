//! A case with all methods: what they say, what is true, and what others do for the same number of steps.

use costep::Verify;
use costep_core::Result;

use super::cases::Case;
use super::measure::{Said, run};
use super::parts::Counts;
use super::truth::{Distance, Truth};

/// Methods that cost one step per part and macro step: those that others are compared with.
pub const SIMPLE: [&str; 3] = ["zoh", "foh", "nepce"];
/// Errors below this are all the same.
pub const TINY: f64 = 1e-6;
/// Errors above this are those of runs that are lost.
const LOST: f64 = 99.0;
/// A reference that is less sure than this labels nothing.
const UNSURE: f64 = 0.02;
/// Most steps of a simple method per macro step.
const FINEST: f64 = 64.0;

/// A run with what is true about it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Name of the method.
    pub method: String,
    /// What it says.
    pub said: Said,
    /// What is true.
    pub truth: Distance,
    /// Change of what should be conserved.
    pub drift: Option<f64>,
    /// Whether the reference is too unsure for an error as small as this.
    pub is_unsure: bool,
    /// Errors of the simple methods at the same number of steps of parts.
    pub rivals: Vec<f64>,
}

/// A case with all methods.
pub struct Studied {
    /// The case.
    pub case: Case,
    /// How the truth was computed and what it may be wrong by; or why there is none.
    pub truth: std::result::Result<(String, f64), String>,
    /// The runs; none without truth.
    pub runs: Vec<Judged>,
}

impl Judged {
    /// Whether nobody should believe it.
    pub fn is_bad(&self) -> bool {
        self.truth.bad.is_some()
    }

    /// Whether it calls itself stable and is not.
    pub fn is_false_stable(&self) -> bool {
        self.is_bad() && self.said.verdict == "Stable"
    }

    /// Whether it is called bad and is not. Doubts about a run with a large error are none.
    pub fn is_false_alarm(&self) -> bool {
        let doubts = matches!(self.said.verdict.as_str(), "Suspect" | "Inaccurate");
        let is_accused = matches!(self.said.verdict.as_str(), "Unstable" | "Diverged" | "Failed" | "Refused");
        !self.is_bad() && (is_accused || doubts && self.truth.eps <= 0.05)
    }

    /// Whether the quoted error should be near the truth: not where the run is said to be lost.
    pub fn owes_an_error(&self) -> bool {
        !self.is_unsure && matches!(self.said.verdict.as_str(), "Stable" | "Suspect" | "Inaccurate")
    }

    /// Whether the quoted error is within a factor of three.
    pub fn quotes_well(&self) -> bool {
        let Some((quoted, _)) = self.said.quoted else { return false };
        let (quoted, eps) = (quoted.max(TINY), self.truth.eps.max(TINY));
        (eps / 3.0..=3.0 * eps).contains(&quoted)
    }

    /// The error, capped, for ratios.
    pub fn error(&self) -> f64 {
        capped(self.truth.eps)
    }
}

fn capped(error: f64) -> f64 {
    if error.is_nan() { LOST } else { error.clamp(TINY, LOST) }
}

/// Runs a case with these methods, verified or not by a second run.
pub fn study(case: &Case, methods: &[String], verify: Verify) -> Result<Studied> {
    let lost = |why: String| Studied { case: case.clone(), truth: Err(why), runs: Vec::new() };
    let truth = match Truth::of(case) {
        Ok(truth) if truth.own_error <= UNSURE => truth,
        Ok(truth) => return Ok(lost(format!("{}: unsure by {:.1e}", truth.by, truth.own_error))),
        Err(why) => return Ok(lost(why)),
    };
    let counts = Counts::default();
    let system = case.system(&counts).map_err(|errors| errors.first().clone())?;
    let outputs = case.nominal_outputs().len();
    let one = |method: &String| {
        let ran = run(case, &system, &counts, (method, verify), 1);
        let distance = ran.rows.as_ref().map_or_else(Distance::ended_early, |rows| truth.distance(rows));
        Judged {
            method: method.clone(),
            drift: ran.rows.and_then(|rows| Truth::drift(&case.conserved, outputs, &rows)),
            said: ran.said,
            is_unsure: distance.eps > TINY && truth.own_error > distance.eps / 3.0,
            truth: distance,
            rivals: Vec::new(),
        }
    };
    let mut runs: Vec<Judged> = methods.iter().map(one).collect();
    let whole = case.steps * case.model.parts.len() as u64;
    let mut known: Vec<(usize, u64, f64)> = Vec::new();
    for judged in runs.iter_mut().filter(|judged| !SIMPLE.contains(&judged.method.as_str())) {
        let ratio = (judged.said.calls as f64 / whole as f64).clamp(1.0, FINEST);
        judged.rivals = (0..SIMPLE.len())
            .map(|k| {
                let mut at = |refinement: u64| {
                    if let Some(found) = known.iter().find(|found| (found.0, found.1) == (k, refinement)) {
                        return found.2;
                    }
                    let rows = run(case, &system, &counts, (SIMPLE[k], Verify::Never), refinement).rows;
                    let error = capped(rows.map_or(f64::INFINITY, |rows| truth.distance(&rows).eps));
                    known.push((k, refinement, error));
                    error
                };
                between(ratio, &mut at)
            })
            .collect();
    }
    Ok(Studied { case: case.clone(), truth: Ok((truth.by, truth.own_error)), runs })
}

/// The error at a number of steps per macro step that need not be whole, by a power law between its
/// neighbours.
fn between(ratio: f64, at: &mut dyn FnMut(u64) -> f64) -> f64 {
    let (below, above) = (ratio.floor(), ratio.ceil());
    let first = at(below as u64);
    if above == below {
        return first;
    }
    let share = (ratio / below).ln() / (above / below).ln();
    (first.ln() + share * (at(above as u64).ln() - first.ln())).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(verdict: &str, eps: f64, bad: bool, quoted: Option<f64>) -> Judged {
        Judged {
            method: "auto".into(),
            said: Said {
                verdict: verdict.into(),
                quoted: quoted.map(|value| (value, "defect".into())),
                ..Said::default()
            },
            truth: Distance { eps, worst: (eps, 0), peak: 1.0, bad: bad.then_some("bad") },
            drift: None,
            is_unsure: false,
            rivals: Vec::new(),
        }
    }

    #[test]
    fn runs_are_counted_by_what_they_say_and_what_is_true() {
        assert!(judged("Stable", 2.0, true, None).is_false_stable());
        assert!(!judged("Suspect", 2.0, true, None).is_false_stable());
        assert!(judged("Unstable", 0.2, false, None).is_false_alarm());
        assert!(judged("Suspect", 0.01, false, None).is_false_alarm());
        assert!(!judged("Suspect", 0.1, false, None).is_false_alarm());
        assert!(!judged("Diverged", 0.2, true, None).is_false_alarm());
        assert!(judged("Stable", 1e-3, false, Some(2.9e-3)).quotes_well());
        assert!(!judged("Stable", 1e-3, false, Some(3.1e-4)).quotes_well());
        assert!(judged("Stable", 1e-9, false, Some(1e-7)).quotes_well());
        assert!(!judged("Stable", 1e-3, false, None).quotes_well());
        assert!(!judged("Unstable", 1e-3, false, None).owes_an_error());
    }

    #[test]
    fn errors_between_whole_numbers_follow_a_power_law() {
        let mut second_order = |n: u64| 0.1 / (n * n) as f64;
        assert_eq!(between(2.0, &mut second_order), 0.025);
        assert!((between(2.5, &mut second_order) - 0.1 / 6.25).abs() < 1e-12);
    }
}
