//! The parts of the system: a built-in model as a whole, or parts of built-in models under names of our own.

use std::collections::HashSet;

use costep_core::{Code, Error, Experiment};
use costep_integrate::{Part, Solver};
use costep_models::{Model, ModelEntry, Parameters, find};

use crate::document::{Entry, Node, Origin, Table};
use crate::overrides::NATIVE_KEYS;
use crate::problems::{Problems, shortened, suggest};
use crate::section::{Section, number, text};
use crate::signals::Signals;

/// A part of a built-in model under a name of our own.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeSpec {
    /// Our name.
    pub name: String,
    /// The built-in model.
    pub model: String,
    /// Name of the part in that model.
    pub part: String,
    /// Parameters that were set.
    pub set: Vec<(String, f64)>,
}

/// What the parts are, as far as they could be built.
pub(crate) struct Parts {
    pub(crate) model_id: Option<String>,
    /// Effective parameters.
    pub(crate) parameters: Vec<(String, f64)>,
    pub(crate) natives: Vec<NativeSpec>,
    /// Unconnected if made of native parts.
    pub(crate) model: Model,
    /// Where each native part is declared.
    pub(crate) origins: Vec<Origin>,
    pub(crate) signals: Signals,
    /// What the models say when the project does not; nothing where they differ.
    pub(crate) defaults: Defaults,
}

/// Settings of the models the parts come from.
#[derive(Clone, Copy, Default)]
pub(crate) struct Defaults {
    pub(crate) start: Option<f64>,
    pub(crate) stop: Option<f64>,
    pub(crate) step: Option<f64>,
    pub(crate) solver: Option<Solver>,
}

impl Defaults {
    fn of(model: &Model) -> Self {
        let Experiment { start, stop, step } = model.experiment;
        Self { start: Some(start), stop: Some(stop), step: Some(step), solver: Some(model.solver) }
    }

    /// What both say.
    fn and(self, other: Self) -> Self {
        fn same<T: PartialEq>(a: Option<T>, b: Option<T>) -> Option<T> {
            if a == b { a } else { None }
        }
        Self {
            start: same(self.start, other.start),
            stop: same(self.stop, other.stop),
            step: same(self.step, other.step),
            solver: same(self.solver, other.solver),
        }
    }
}

/// Reads `[parameters]` and `[native.*]`; `model` is the value of `model` in `[system]`.
pub(crate) fn read(root: &Table, model: Option<&Node>, problems: &mut Problems<'_>) -> Parts {
    match model {
        Some(model) => {
            refuse_with_whole_model(root, problems);
            read_whole(root, model, problems)
        }
        None => read_natives(root, problems),
    }
}

fn refuse_with_whole_model(root: &Table, problems: &mut Problems<'_>) {
    for entry in root.entries.iter().filter(|entry| matches!(entry.key.as_str(), "native" | "connect")) {
        problems.report(entry.key_origin, || {
            let message = format!("`{}` cannot be used together with `model` in [system]", entry.key);
            Error::new(Code::Conflict, message)
                .hint("a whole model has its own parts and connections; remove one of the two")
        });
    }
}

fn read_whole(root: &Table, model: &Node, problems: &mut Problems<'_>) -> Parts {
    let given = Section::open_free(root.get("parameters"), "[parameters]", problems);
    let entry = find_model(model, problems);
    let built = entry.and_then(|entry| {
        let set = read_set(entry, given.entries(), problems);
        entry.model(&set).map_err(|error| problems.report(given.origin, || error)).ok()
    });
    let (parameters, model) = match built {
        Some((parameters, model)) => {
            (parameters.iter().map(|(spec, value)| (spec.name.to_owned(), value)).collect(), Some(model))
        }
        None => (Vec::new(), None),
    };
    Parts {
        model_id: entry.map(|entry| entry.id.into()),
        parameters,
        natives: Vec::new(),
        origins: Vec::new(),
        defaults: model.as_ref().map(Defaults::of).unwrap_or_default(),
        signals: signals(model.iter().flat_map(|model| &model.parts))
            .with_broken(HashSet::new(), model.is_none()),
        model: model.unwrap_or_else(|| unconnected(Vec::new())),
    }
}

fn read_natives(root: &Table, problems: &mut Problems<'_>) -> Parts {
    refuse_parameters(root, problems);
    let section = Section::open_free(root.get("native"), "[native]", problems);
    let (mut natives, mut parts, mut origins) = (Vec::new(), Vec::new(), Vec::new());
    let mut broken = HashSet::new();
    let mut defaults: Option<Defaults> = None;
    for entry in section.entries() {
        match read_native(entry, problems) {
            Some((spec, part, own)) => {
                natives.push(spec);
                parts.push(part);
                origins.push(entry.key_origin);
                defaults = Some(defaults.map_or(own, |all| all.and(own)));
            }
            None => {
                broken.insert(entry.key.clone());
            }
        }
    }
    if root.get("native").is_none() || (section.entries().is_empty() && problems.is_empty()) {
        problems.report(section.origin, || {
            Error::new(Code::Missing, "the system has no parts")
                .hint("name a model, `[system] model = \"dual-mass\"`, or add parts, `[native.NAME]`")
        });
    }
    let set = |spec: &NativeSpec| -> Vec<_> {
        spec.set.iter().map(|(name, value)| (format!("{}.{name}", spec.name), *value)).collect()
    };
    Parts {
        model_id: None,
        parameters: natives.iter().flat_map(set).collect(),
        natives,
        origins,
        defaults: defaults.unwrap_or_default(),
        signals: signals(&parts).with_broken(broken, parts.is_empty()),
        model: unconnected(parts),
    }
}

fn refuse_parameters(root: &Table, problems: &mut Problems<'_>) {
    if let Some(entry) = root.entries.iter().find(|entry| entry.key == "parameters") {
        problems.report(entry.key_origin, || {
            Error::new(Code::Conflict, "[parameters] are those of a whole model, and [system] names none")
                .hint("name it by `model` in [system], or write `set = { ... }` in [native.NAME]")
        });
    }
}

fn read_native(entry: &Entry, problems: &mut Problems<'_>) -> Option<(NativeSpec, Box<dyn Part>, Defaults)> {
    let label = format!("[native.{}]", shortened(&entry.key));
    let section = Section::open(Some(&entry.node), &label, NATIVE_KEYS, problems);
    let named = check_name(&entry.key, "part", entry.key_origin, problems);
    section.require("model", "name a built-in model: `costep models` lists them", problems);
    let model = find_model(section.get("model")?, problems)?;
    let given = Section::open_free(section.get("set"), format!("`set` in {label}"), problems);
    let set = read_set(model, given.entries(), problems);
    let (_, built) = model.model(&set).map_err(|error| problems.report(given.origin, || error)).ok()?;
    let parts: Vec<&str> = built.parts.iter().map(|part| part.description().name.as_str()).collect();
    section.require("part", &format!("parts of `{}`: {}", model.id, shortened(&parts.join(", "))), problems);
    let part = section.text("part", problems)?;
    let Some(index) = parts.iter().position(|name| *name == part) else {
        problems.report(section.origin_of("part"), || {
            let message = format!("the model `{}` has no part `{}`", model.id, shortened(part));
            suggest(Error::new(Code::UnknownName, message), part, parts.iter().copied())
        });
        return None;
    };
    named.then(|| {
        let spec = NativeSpec { name: entry.key.clone(), model: model.id.into(), part: part.into(), set };
        (spec, built.parts[index].renamed(&entry.key), Defaults::of(&built))
    })
}

fn find_model(node: &Node, problems: &mut Problems<'_>) -> Option<&'static ModelEntry> {
    let id = text(node, &"`model`", problems)?;
    find(id).map_err(|error| problems.report(node.origin, || error)).ok()
}

/// Parameters with allowed values; the others are reported.
fn read_set(model: &ModelEntry, given: &[Entry], problems: &mut Problems<'_>) -> Vec<(String, f64)> {
    let mut set = Vec::new();
    for entry in given {
        let Some(value) = number(&entry.node, &format_args!("parameter `{}`", entry.key), problems) else {
            continue;
        };
        let pair = (entry.key.clone(), value);
        match Parameters::check(model.id, model.parameters, std::slice::from_ref(&pair)) {
            Ok(_) => set.push(pair),
            Err(error) => problems.report(entry.key_origin, || error),
        }
    }
    set
}

/// Names become parts of signal names, column names and patterns, so they are plain words.
pub(crate) fn check_name(name: &str, of: &str, origin: Origin, problems: &mut Problems<'_>) -> bool {
    const MAX_NAME: usize = 64;
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let good = !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain);
    if !good {
        problems.report(origin, || {
            Error::new(Code::BadValue, format!("`{}` cannot be the name of a {of}", shortened(name)))
                .hint(format!("allowed: up to {MAX_NAME} letters, digits, `_` and `-`"))
        });
    }
    good
}

fn signals<'a>(parts: impl IntoIterator<Item = &'a Box<dyn Part>>) -> Signals {
    Signals::new(parts.into_iter().map(|part| part.description()))
}

/// Parts with settings that are replaced once the project's own are known.
fn unconnected(parts: Vec<Box<dyn Part>>) -> Model {
    Model::new(parts, Solver::Exact, 0.0, 1.0)
}
