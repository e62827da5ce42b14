//! The parts of the system: a built-in model as a whole, or parts of built-in models and FMUs under names of our own.

use std::collections::HashSet;
use std::sync::Arc;

use costep_core::{Code, Error, Experiment};
use costep_fmu_file::{DefaultExperiment, ModelDescription};
use costep_integrate::Solver;
use costep_models::{ModelEntry, Parameters};
use costep_system::{Component, SystemDescription};

use crate::connections;
use crate::document::{Entry, Node, Origin, Table, Value};
use crate::fmus::{self, Fmu, FmuFile, FmuSpec, Opened};
use crate::keys;
use crate::linear::{self, LinearSpec};
use crate::problems::{Problems, shortened, suggest};
use crate::registry::Registry;
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

/// A part that was made in code.
pub(crate) struct MadeComponent {
    pub(crate) part: Box<dyn Component>,
    pub(crate) origin: Origin,
}

/// What the parts are, as far as they could be built.
pub(crate) struct Components {
    pub(crate) model_id: Option<String>,
    /// Effective parameters.
    pub(crate) parameters: Vec<(String, f64)>,
    pub(crate) natives: Vec<NativeSpec>,
    /// The FMUs; their parts come after the native ones.
    pub(crate) fmus: Vec<(FmuSpec, Arc<FmuFile>)>,
    /// Linear parts, which come after the FMUs.
    pub(crate) linears: Vec<LinearSpec>,
    /// Names of the parts made in code, which come last.
    pub(crate) made: Vec<String>,
    /// Unconnected if made of native parts and FMUs.
    pub(crate) model: SystemDescription,
    /// Where each part is declared.
    pub(crate) origins: Vec<Origin>,
    pub(crate) signals: Signals,
    /// What the models say when the project does not; nothing where they differ.
    pub(crate) defaults: Defaults,
    /// What each part says, of those that say something.
    pub(crate) proposals: Vec<(String, Defaults)>,
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
    fn of(model: &SystemDescription) -> Self {
        let Experiment { start, stop, step } = model.experiment;
        Self { start: Some(start), stop: Some(stop), step: Some(step), solver: Some(model.solver) }
    }

    fn of_fmu(fmu: &ModelDescription) -> Self {
        let DefaultExperiment { start_time, stop_time, step_size, .. } = fmu.default_experiment;
        let plausible = |time: &f64| time.is_finite();
        Self {
            start: start_time.filter(plausible),
            stop: stop_time.filter(plausible),
            step: step_size.filter(|step| plausible(step) && *step > 0.0),
            solver: None,
        }
    }

    /// What all say that say something.
    fn agreed(all: &[(String, Self)]) -> Self {
        fn same<T: PartialEq>(mut said: impl Iterator<Item = T>) -> Option<T> {
            let first = said.next()?;
            said.all(|other| other == first).then_some(first)
        }
        Self {
            start: same(all.iter().filter_map(|(_, one)| one.start)),
            stop: same(all.iter().filter_map(|(_, one)| one.stop)),
            step: same(all.iter().filter_map(|(_, one)| one.step)),
            solver: same(all.iter().filter_map(|(_, one)| one.solver)),
        }
    }
}

/// Reads `[parameters]`, `[native.*]` and `[fmu.*]`; `model` is the value of `model` in `[system]`.
pub(crate) fn read(
    root: &Table,
    registry: &Registry,
    model: Option<&Node>,
    made: Vec<MadeComponent>,
    problems: &mut Problems<'_>,
) -> Components {
    match model {
        Some(model) => {
            refuse_with_whole_model(root, problems);
            read_whole(root, registry, model, problems)
        }
        None => read_own(root, registry, made, problems),
    }
}

fn refuse_with_whole_model(root: &Table, problems: &mut Problems<'_>) {
    for entry in root
        .entries
        .iter()
        .filter(|entry| matches!(entry.key.as_str(), "native" | "fmu" | "linear" | "connect"))
    {
        problems.report(entry.key_origin, || {
            let message = format!("`{}` cannot be used together with `model` in [system]", entry.key);
            Error::new(Code::Conflict, message)
                .hint("a whole model has its own parts and connections; remove one of the two")
        });
    }
}

fn read_whole(root: &Table, registry: &Registry, model: &Node, problems: &mut Problems<'_>) -> Components {
    let given = Section::open_free(root.get("parameters"), "[parameters]", problems);
    let entry = find_model(registry, model, problems);
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
    Components {
        model_id: entry.map(|entry| entry.id.into()),
        parameters,
        natives: Vec::new(),
        fmus: Vec::new(),
        linears: Vec::new(),
        made: Vec::new(),
        origins: Vec::new(),
        defaults: model.as_ref().map(Defaults::of).unwrap_or_default(),
        proposals: Vec::new(),
        signals: signals(model.iter().flat_map(|model| &model.parts))
            .with_broken(HashSet::new(), model.is_none()),
        model: model.unwrap_or_else(|| unconnected(Vec::new())),
    }
}

/// Components under names of our own.
fn read_own(
    root: &Table,
    registry: &Registry,
    made: Vec<MadeComponent>,
    problems: &mut Problems<'_>,
) -> Components {
    refuse_parameters(root, problems);
    let sections = ["native", "fmu", "linear"]
        .map(|key| Section::open_free(root.get(key), format!("[{key}]"), problems));
    let [native_section, fmu_section, linear_section] = &sections;
    let [native_entries, fmu_entries, linear_entries] = [
        native_section.named(keys::NATIVE, "[native.NAME]", problems),
        fmu_section.named(keys::FMU, "[fmu.NAME]", problems),
        linear_section.named(keys::LINEAR, "[linear.NAME]", problems),
    ];
    let is_nameless =
        |(section, entries): (&Section<'_>, &Vec<&Entry>)| section.entries().len() > entries.len();
    let lacks_names = sections.iter().zip([&native_entries, &fmu_entries, &linear_entries]).any(is_nameless);
    let (mut natives, mut fmus, mut parts, mut origins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut broken, mut proposals) = (HashSet::new(), Vec::new());
    for entry in native_entries.iter().copied() {
        match read_native(entry, registry, problems) {
            Some((spec, part, own)) => {
                natives.push(spec);
                parts.push(part);
                origins.push(entry.key_origin);
                proposals.push((entry.key.clone(), own));
            }
            None => {
                broken.insert(entry.key.clone());
            }
        }
    }
    let mut signals = signals(&parts);
    for native in &natives {
        if let Ok(model) = registry.model(&native.model) {
            signals.add_parameters(&native.name, model.parameters);
        }
    }
    let folder = problems.folder();
    let files = fmu_entries.iter().filter_map(|entry| match &entry.node.value {
        Value::Table(table) => Some(folder.join(table.text("file")?)),
        _ => None,
    });
    let (mut opened, targets) = (Opened::naming(files), connections::targets(root));
    for entry in fmu_entries.iter().copied() {
        let twice = native_entries.iter().copied().find(|native| native.key == entry.key);
        refuse_second(entry, twice, problems);
        match fmus::read(entry, registry.solvers(), (&mut opened, &targets), problems)
            .filter(|_| twice.is_none())
        {
            Some(Fmu { spec, file, part }) => {
                signals.add_fmu(part.description(), &file);
                proposals.push((entry.key.clone(), Defaults::of_fmu(&file.description)));
                fmus.push((spec, file));
                parts.push(part);
                origins.push(entry.key_origin);
            }
            None => {
                broken.insert(entry.key.clone());
            }
        }
    }
    let mut linears = Vec::new();
    for entry in linear_entries.iter().copied() {
        let twice = native_entries.iter().chain(&fmu_entries).copied().find(|other| other.key == entry.key);
        refuse_second(entry, twice, problems);
        match linear::read(entry, problems).filter(|_| twice.is_none()) {
            Some((spec, part)) => {
                signals.add_native(part.description());
                linears.push(spec);
                parts.push(Box::new(part));
                origins.push(entry.key_origin);
            }
            None => {
                broken.insert(entry.key.clone());
            }
        }
    }
    let mut names = Vec::new();
    for MadeComponent { part, origin } in made {
        let name = part.description().name.clone();
        let is_new = parts.iter().all(|other| other.description().name != name);
        if !is_new {
            problems.report(origin, || {
                Error::new(Code::Duplicate, format!("there is another part `{}`", shortened(&name)))
                    .hint("give one of them another name")
            });
        } else if check_name(&name, "part", origin, problems) {
            signals.add_native(part.description());
            parts.push(part);
            origins.push(origin);
            names.push(name);
            continue;
        }
        broken.insert(name);
    }
    let none = sections.iter().all(|section| section.entries().is_empty()) && names.is_empty();
    let not_said = sections.iter().all(|section| section.origin == Origin::Nowhere);
    if none && (not_said || problems.is_empty()) {
        problems.report(native_section.origin, || {
            Error::new(Code::Missing, "the system has no parts").hint(
                "name a model, `[system] model = \"dual-mass\"`, or add parts, `[native.NAME]`, `[fmu.NAME]` or `[linear.NAME]`",
            )
        });
    }
    Components {
        model_id: None,
        parameters: set_parameters(&natives, fmus.iter().map(|(spec, _)| spec)),
        natives,
        fmus,
        linears,
        made: names,
        origins,
        defaults: Defaults::agreed(&proposals),
        proposals,
        signals: signals.with_broken(broken, parts.is_empty() || lacks_names),
        model: unconnected(parts),
    }
}

fn refuse_second(entry: &Entry, first: Option<&Entry>, problems: &mut Problems<'_>) {
    if let Some(first) = first {
        let place = problems.place_name(first.key_origin);
        problems.report(entry.key_origin, || {
            let message = format!("there is another part `{}` in {place}", shortened(&entry.key));
            Error::new(Code::Duplicate, message).hint("give one of them another name")
        });
    }
}

/// `part.parameter` of all numbers that were set.
fn set_parameters<'a>(natives: &[NativeSpec], fmus: impl Iterator<Item = &'a FmuSpec>) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for native in natives {
        all.extend(native.set.iter().map(|(name, value)| (format!("{}.{name}", native.name), *value)));
    }
    for fmu in fmus {
        for (name, values) in &fmu.set {
            if let (1, Some(number)) = (values.len(), values.number(0)) {
                all.push((format!("{}.{name}", fmu.name), number));
            }
        }
    }
    all
}

fn refuse_parameters(root: &Table, problems: &mut Problems<'_>) {
    if let Some(entry) = root.entries.iter().find(|entry| entry.key == "parameters") {
        problems.report(entry.key_origin, || {
            Error::new(Code::Conflict, "[parameters] are those of a whole model, and [system] names none")
                .hint(
                    "name it by `model` in [system], or write `set = { ... }` in [native.NAME] or [fmu.NAME]",
                )
        });
    }
}

fn read_native(
    entry: &Entry,
    registry: &Registry,
    problems: &mut Problems<'_>,
) -> Option<(NativeSpec, Box<dyn Component>, Defaults)> {
    let label = format!("[native.{}]", shortened(&entry.key));
    let section = Section::open(Some(&entry.node), &label, keys::NATIVE, problems);
    let named = check_name(&entry.key, "part", entry.key_origin, problems);
    section.require("model", "name a built-in model: `costep models` lists them", problems);
    let model = find_model(registry, section.get("model")?, problems)?;
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

fn find_model(registry: &Registry, node: &Node, problems: &mut Problems<'_>) -> Option<&'static ModelEntry> {
    let id = text(node, &"`model`", problems)?;
    registry.model(id).map_err(|error| problems.report(node.origin, || error)).ok()
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
    let normalised = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    // Components of a nested system are named by their path: `drive/engine`.
    let good = name.chars().count() <= MAX_NAME
        && name.split('/').all(|word| !word.is_empty() && word.chars().all(normalised));
    if !good {
        problems.report(origin, || {
            Error::new(Code::BadValue, format!("`{}` cannot be the name of a {of}", shortened(name)))
                .hint(format!("allowed: up to {MAX_NAME} letters, digits, `_`, `-`, and `/` between them"))
        });
    }
    good
}

fn signals<'a>(parts: impl IntoIterator<Item = &'a Box<dyn Component>>) -> Signals {
    Signals::new(parts.into_iter().map(|part| part.description()))
}

/// Components with settings that are replaced once the project's own are known.
fn unconnected(parts: Vec<Box<dyn Component>>) -> SystemDescription {
    SystemDescription::new(parts, Solver::Exact, 0.0, 1.0)
}
