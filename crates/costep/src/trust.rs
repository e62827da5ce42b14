//! Offers of FMUs that do not hold, found out before a run relies on them: the FMU is tried in a process of
//! its own, and what turns out to be wrong is hidden from the coupling methods. Where no such processes can
//! be started, everybody is believed, as are FMUs with `trust = true`.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use costep_analysis::{Offer, contradictions};
use costep_core::{AfterStep, Code, Error, Experiment, Restricted, Subsystem};
use costep_experiments::{Workers, threads};
use costep_methods::{MethodSpec, auto};
use costep_project::Project;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An FMU as it is used, and an offer of it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Tried {
    path: PathBuf,
    changed: Option<SystemTime>,
    /// Interface and values that are set.
    usage: String,
    step: u64,
    #[serde(with = "offer_words")]
    offer: Offer,
}

/// What was found in earlier trials, so that a comparison does not try the same FMU for each of its runs.
static FOUND: Mutex<Vec<(Tried, Option<String>)>> = Mutex::new(Vec::new());

/// What trials of FMUs have found in this process, for [`remember_trials`] in another one.
pub fn found_trials() -> Value {
    json!(*known())
}

/// Takes over what trials in another process have found, so that they need not be repeated here: a process that does many
/// runs in others tells each of them what those before have found.
pub fn remember_trials(found: &Value) {
    let Ok(others) = Vec::<(Tried, Option<String>)>::deserialize(found) else { return };
    let mut known = known();
    for (tried, found) in others {
        if known.iter().all(|(other, _)| *other != tried) {
            known.push((tried, found));
        }
    }
}

/// Offers as words.
mod offer_words {
    use costep_analysis::Offer;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    const WORDS: [(Offer, &str); 3] = [
        (Offer::LocalModel, "local model"),
        (Offer::InputPolynomials, "input polynomials"),
        (Offer::Rollback, "rollback"),
    ];

    pub(super) fn serialize<S: Serializer>(offer: &Offer, to: S) -> Result<S::Ok, S::Error> {
        let word = WORDS.iter().find(|(known, _)| known == offer).map_or("", |(_, word)| word);
        to.serialize_str(word)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Offer, D::Error> {
        let text = String::deserialize(from)?;
        let known = WORDS.iter().find(|(_, word)| *word == text).map(|(offer, _)| *offer);
        known.ok_or_else(|| D::Error::custom("an unknown offer"))
    }
}

/// Which offers of which parts are not to be used.
#[derive(Default)]
pub(crate) struct Distrust {
    found: Vec<(usize, Offer, String)>,
}

impl Distrust {
    /// Tries what these methods may make use of.
    pub(crate) fn find<'a>(
        project: &Project,
        methods: impl Iterator<Item = &'a MethodSpec>,
        experiment: &Experiment,
    ) -> Self {
        let mut wanted: Vec<Offer> = Vec::new();
        if !project.given.fmus.is_empty() {
            wanted.extend(methods.flat_map(offers_used));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let in_question = in_question(project, &wanted, experiment);
        try_unknown(project, &in_question, experiment);
        let mut found = Vec::new();
        for (part, tried) in in_question {
            let reason =
                known().iter().find(|(other, _)| *other == tried).and_then(|(_, found)| found.clone());
            found.extend(reason.map(|reason| (part, tried.offer, reason)));
        }
        Self { found }
    }

    /// The subsystem of a part without what is wrong.
    pub(crate) fn restrict(&self, part: usize, subsystem: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
        if self.found.iter().all(|(of, _, _)| *of != part) {
            return subsystem;
        }
        let mut restricted = Restricted::new(subsystem);
        for (_, offer, _) in self.found.iter().filter(|(of, _, _)| *of == part) {
            restricted = match offer {
                Offer::LocalModel => restricted.without_linearisation(),
                Offer::InputPolynomials => restricted.describe(|description| description.input_order = 0),
                Offer::Rollback => restricted.without_rollback(),
            };
        }
        restricted.boxed()
    }

    /// What was found, in words.
    pub(crate) fn reasons<'a>(&'a self, project: &'a Project) -> impl Iterator<Item = String> + 'a {
        self.found.iter().map(|found| in_words(found, project))
    }

    /// An error with the reason among its causes, if it is about something that was found.
    pub(crate) fn explain(&self, error: Error, project: &Project) -> Error {
        let name = |part: usize| &project.model.parts[part].description().name;
        match self.found.iter().find(|(part, offer, _)| is_about(&error, *offer, name(*part))) {
            Some(found) => {
                let reason = in_words(found, project);
                let causes = error.details().cause.iter().chain([&reason]).map(String::as_str);
                let causes = causes.collect::<Vec<_>>().join("; ");
                error.because(causes)
            }
            None => error,
        }
    }
}

/// Whether an error says that a part lacks an offer, by the words of the checks that say so.
fn is_about(error: &Error, offer: Offer, part: &str) -> bool {
    let words: &[&str] = match offer {
        Offer::LocalModel => &["local model", "Jacobian", "reading its states", "states that can be read"],
        Offer::InputPolynomials => &["input polynomials"],
        Offer::Rollback => &["rollback"],
    };
    let message = &error.details().message;
    error.code() == Code::NeedsMissing
        && message.contains(&format!("`{part}`"))
        && words.iter().any(|word| message.contains(word))
}

fn in_words((part, _, reason): &(usize, Offer, String), project: &Project) -> String {
    format!("`{}`: {reason}", project.model.parts[*part].description().name)
}

/// What a method may use of what subsystems offer, as far as is known before it sees them.
fn offers_used(method: &MethodSpec) -> Vec<Offer> {
    let request = method.build().request();
    let is_open = method.entry.id == auto::ENTRY.id;
    let takes_trial_steps = request.models.is_any() && method.models.offer().trial_steps;
    let mut used = Vec::new();
    if takes_trial_steps || request.after_step == AfterStep::Judge {
        used.push(Offer::Rollback);
    }
    if is_open || request.models.is_full() && !takes_trial_steps {
        used.push(Offer::LocalModel);
    }
    if is_open || request.models.is_full() || request.inputs.order() > 0 {
        used.push(Offer::InputPolynomials);
    }
    used
}

/// Which offers of which parts have to be tried, or have been.
fn in_question(project: &Project, wanted: &[Offer], experiment: &Experiment) -> Vec<(usize, Tried)> {
    let mut in_question = Vec::new();
    if wanted.is_empty() {
        return in_question;
    }
    for (part, component) in project.model.parts.iter().enumerate() {
        let name = &component.description().name;
        let Some(spec) = project.given.fmus.iter().find(|fmu| fmu.name == *name && !fmu.trust) else {
            continue;
        };
        // What costep integrates itself it also evaluates.
        let matters = |offer: &&Offer| **offer != Offer::InputPolynomials || !component.has_equations();
        let tried = |offer: &Offer| Tried {
            changed: spec.path.metadata().and_then(|file| file.modified()).ok(),
            path: spec.path.clone(),
            usage: format!(
                "{} {:?} {:?} {:?} {:?}",
                spec.interface.word(),
                spec.set,
                spec.variations,
                spec.tuned,
                project.given.ports
            ),
            step: experiment.step.to_bits(),
            offer: *offer,
        };
        in_question.extend(wanted.iter().filter(matters).map(|offer| (part, tried(offer))));
    }
    in_question
}

/// Tries what is not known yet, FMUs beside each other: most of the time their processes are starting.
fn try_unknown(project: &Project, in_question: &[(usize, Tried)], experiment: &Experiment) {
    // Of parts that are the same FMU used in the same way one is enough.
    let mut jobs: Vec<(usize, Vec<&Tried>)> = Vec::new();
    let mut seen: Vec<&Tried> = Vec::new();
    for (part, tried) in in_question {
        if seen.contains(&tried) || known().iter().any(|(other, _)| other == tried) {
            continue;
        }
        seen.push(tried);
        match jobs.last_mut().filter(|(of, _)| of == part) {
            Some((_, offers)) => offers.push(tried),
            None => jobs.push((*part, vec![tried])),
        }
    }
    let work = |job: usize| {
        let (part, tried) = &jobs[job];
        let offers: Vec<Offer> = tried.iter().map(|tried| tried.offer).collect();
        match project.model.parts[*part].for_trials() {
            Some(Ok(make)) => contradictions(&offers, &*make, experiment),
            // There are no processes for trials, or it cannot be unpacked, which the run will say.
            Some(Err(_)) | None => vec![None; offers.len()],
        }
    };
    // Nothing is refused here, so that all are done.
    let _ = Workers { threads: threads() }.each(jobs.len(), work, |job, found| {
        known().extend(jobs[job].1.iter().copied().cloned().zip(found));
        Ok(())
    });
}

fn known() -> MutexGuard<'static, Vec<(Tried, Option<String>)>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_core::{Description, Place, unsupported};

    #[test]
    fn findings_of_another_process_are_remembered_once() {
        let tried = |step: u64| Tried {
            path: "nowhere/engine.fmu".into(),
            changed: Some(SystemTime::UNIX_EPOCH),
            usage: "cs".into(),
            step,
            offer: Offer::Rollback,
        };
        let found = json!([(tried(1), Some("wrong")), (tried(2), None::<String>)]);
        remember_trials(&found);
        remember_trials(&found);
        remember_trials(&json!("nonsense"));
        let ours = found_trials();
        let of =
            |step: u64| ours.as_array().unwrap().iter().filter(|row| row[0] == json!(tried(step))).count();
        assert_eq!([of(1), of(2), of(3)], [1, 1, 0]);
    }

    #[test]
    fn errors_are_explained_by_what_they_are_about() {
        let text = "[system]\nmodel = \"dual-mass\"\n";
        let project = costep_project::load_text(text, "rig.toml".as_ref(), &[]).unwrap();
        let found = vec![
            (1, Offer::InputPolynomials, "held".to_owned()),
            (0, Offer::LocalModel, "wrong".to_owned()),
            (1, Offer::LocalModel, "wrong too".to_owned()),
        ];
        let distrust = Distrust { found };
        let name = |part: usize| project.model.parts[part].description().name.clone();
        let lacks = |part, what| {
            let description = Description { name: name(part), ..Description::default() };
            unsupported(&description, what)
        };
        let place = Place::Run { subsystem: None, signal: None, time: 1.0, step: 2 };
        let error = lacks(1, "a local model").at(place.clone()).because("so it says").hint("none");
        let explained = distrust.explain(error, &project);
        let details = explained.details();
        assert_eq!(details.cause, Some(format!("so it says; `{}`: wrong too", name(1))));
        assert_eq!((&details.place, details.hint.as_deref()), (&place, Some("none")));
        for other in [
            lacks(0, "rollback"),
            lacks(1, "checkpoints"),
            Error::new(Code::NeedsMissing, "the steps of this run vary"),
            Error::new(Code::Bug, lacks(1, "a local model").details().message.clone()),
        ] {
            assert_eq!(distrust.explain(other.clone(), &project), other);
        }
    }
}
