//! A checked project, and how it is put together from the tables of the file.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use costep_core::{Code, Error, Experiment, External, ModelsSpec, Place, PortSize, PowerBond};
use costep_engine::{Bounds, ControlSpec, Rate, Scheduling, Threads};
use costep_fmu_file::PrivateFolder;
use costep_import::Format;
use costep_system::SystemDescription;

use crate::advice;
use crate::asked::{Asked, Asker};
use crate::bonds::{self, BondSpec};
use crate::components::{self, Components, MadeComponent, NativeSpec};
use crate::connections::{self, ExternalSpec, Wiring};
use crate::dialect::Dialect;
use crate::document::{Node, Origin, Table, Value};
use crate::externals;
use crate::fmus::{self, FmuSpec};
use crate::groups::{self, GroupSpec};
use crate::keys;
use crate::linear::LinearSpec;
use crate::maps::ValueMap;
use crate::models;
use crate::overrides::{self, Override};
use crate::parse;
use crate::ports;
use crate::problems::Problems;
use crate::rates;
use crate::registry::Registry;
use crate::scaffold;
use crate::section::{Section, refuse_unknown_tables};
use crate::settings::{self, RecordSpec, unitless_time};
use crate::source::{self, Source};
use crate::ssp;
use crate::stop_conditions::{self, StopCondition};

/// A system ready to be run.
#[derive(Clone)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// The built-in model, if the system is one as a whole.
    pub model_id: Option<String>,
    /// Effective parameters: all of a whole model; `part.parameter` of native parts where they were set.
    pub parameters: Vec<(String, f64)>,
    /// Components, connections, external inputs, solver, start, stop and step.
    pub model: SystemDescription,
    /// Coupling methods and their inputs; the first is the default group.
    pub groups: Vec<GroupSpec>,
    /// Where models of the parts come from, if that is said beside the methods.
    pub models: Option<ModelsSpec>,
    /// In which order parts step.
    pub scheduling: Scheduling,
    /// Threads.
    pub threads: Threads,
    /// Limits on outputs: (index into y, bounds).
    pub bounds: Vec<(usize, Bounds)>,
    /// What is recorded.
    pub record: RecordSpec,
    /// How the length of macro steps is controlled; nothing for fixed ones. The step of the experiment is then the longest.
    pub control: Option<ControlSpec>,
    /// How often each part steps.
    pub rates: Vec<Rate>,
    /// Power bonds.
    pub bonds: BondSpec,
    /// What is added on the way, one for each connection of the model; already among its external inputs.
    pub offsets: Vec<f64>,
    /// Values that become others on the way, one for each connection of the model; FMUs see to it.
    pub maps: Vec<ValueMap>,
    /// What was given rather than taken from a model.
    pub given: Given,
    /// How it came to be what it is.
    pub origin: ProjectOrigin,
    /// What is allowed but probably not meant, with codes that start with W.
    pub warnings: Vec<Error>,
    /// What is worth knowing before a run, with codes that start with W.
    pub advice: Vec<Error>,
}

impl Project {
    /// A macro step of equal steps: that of the project or, where its steps vary, the first of them or a thousandth of the run.
    pub fn equal_step(&self) -> f64 {
        let run = &self.model.experiment;
        self.control
            .as_ref()
            .map_or(run.step, |control| control.first.unwrap_or(1e-3 * (run.stop - run.start)))
    }

    /// Its power bonds: pairs of connections of one name, there and back between two parts.
    pub fn power_bonds(&self) -> Vec<PowerBond> {
        bonds::pairs(&self.bonds.names, &self.model).into_iter().filter_map(|(_, bond)| bond).collect()
    }

    /// The inputs that something drives from outside, as places in the stacked vector: external inputs that are given, and
    /// those of native models that nothing is connected to. Start values of FMUs and offsets of connections are none.
    pub fn driven(&self) -> Vec<usize> {
        let (model, layout) = (&self.model, self.model.layout());
        let is_fmu = |input: usize| {
            let owner = &model.parts[layout.input_owner(input)].description().name;
            self.given.fmus.iter().any(|fmu| fmu.name == *owner)
        };
        let is_given = |input: usize| self.given.externals.iter().any(|external| external.input == input);
        let is_connected =
            |input: usize| model.connections.iter().any(|connection| connection.input == input);
        let is_driven = |input: &usize| is_given(*input) || !is_fmu(*input) && !is_connected(*input);
        let mut driven: Vec<usize> =
            model.externals.iter().map(|(input, _)| *input).filter(is_driven).collect();
        driven.sort_unstable();
        driven.dedup();
        driven
    }

    /// `part.port` of the inputs of FMUs that nothing drives: they keep their start values.
    pub fn open_inputs(&self) -> Vec<String> {
        let connected = self.model.connections.iter().map(|connection| connection.input);
        let given = self.given.externals.iter().map(|external| external.input);
        let fed: HashSet<usize> = connected.chain(given).collect();
        let fmus: HashSet<&str> = self.given.fmus.iter().map(|fmu| fmu.name.as_str()).collect();
        let parts = self.model.parts.iter().map(|part| part.description());
        let ports = parts.flat_map(|part| part.inputs.iter().map(move |port| (part, port)));
        let open = ports
            .enumerate()
            .filter(|(input, (part, _))| fmus.contains(part.name.as_str()) && !fed.contains(input));
        open.map(|(_, (part, port))| format!("{}.{}", part.name, port.name)).collect()
    }

    /// The warning that the command line gives the step as a number without a unit which could be meant in milliseconds. Of a step
    /// that is long for the run it stands among the warnings; this one is for runs that went wrong.
    pub fn unitless_step(&self) -> Option<Error> {
        let overrides = self.origin.overridden.as_deref()?;
        let given = overrides.iter().rev().find(|given| given.path == "step.size")?;
        let is_known = self.warnings.iter().any(|warning| warning.code() == Code::UnitlessTime);
        unitless_time(&given.flag, &given.value).filter(|_| !is_known).map(|time| time.warning())
    }

    /// FMUs whose library asks for others that this machine does not have: they would not be loaded. Found without loading them,
    /// as far as that can be seen; `--probe` loads.
    pub fn libraries_not_found(&self) -> Vec<Error> {
        (0..self.given.fmus.len()).filter_map(|place| self.library_not_found(place)).collect()
    }

    fn library_not_found(&self, place: usize) -> Option<Error> {
        let fmu = &self.given.fmus[place];
        let missing = fmu.missing_libraries();
        let message =
            format!("the library of `{}` needs `{}`, not found here", fmu.name, missing.join("`, `"));
        let error = Error::new(Code::FmuNotLoaded, message);
        let hint = "install it, or name its folder in LD_LIBRARY_PATH";
        (!missing.is_empty()).then(|| self.at_fmu(place, error).hint(hint))
    }

    /// The error that the library of an FMU cannot be loaded, in the words of [`Project::libraries_not_found`] where another one is
    /// missing, and with the line of the project that it is about; others as they are.
    pub fn say_which_fmu(&self, error: Error) -> Error {
        let Place::File { path, line: None, .. } = &error.details().place else { return error };
        let whole = |path: &Path| std::fs::canonicalize(path).ok();
        let place = self.given.fmus.iter().position(|fmu| whole(&fmu.path) == whole(path));
        match place.filter(|_| error.code() == Code::FmuNotLoaded) {
            Some(place) => self.library_not_found(place).unwrap_or_else(|| self.at_fmu(place, error)),
            None => error,
        }
    }

    /// An error of an FMU at the table of the project that names it, or at its file where there is none.
    fn at_fmu(&self, place: usize, error: Error) -> Error {
        let file = &self.given.fmus[place].path;
        let here = std::env::current_dir().unwrap_or_default();
        let file = file.strip_prefix(here).unwrap_or(file);
        let Some(at @ Place::File { line: Some(_), .. }) = self.origin.fmus_at.get(place) else {
            return error.in_file(file);
        };
        let cause = match &error.details().cause {
            Some(cause) => format!("{cause} ({})", file.display()),
            None => format!("the FMU is {}", file.display()),
        };
        error.because(cause).at(at.clone())
    }
}

/// How a project came to be what it is.
#[derive(Clone, Debug, Default)]
pub struct ProjectOrigin {
    /// The changes it was loaded with from its source; nothing if it was not read from there.
    pub overridden: Option<Vec<Override>>,
    /// The FMUs of a package, unpacked for as long as the project lives.
    pub(crate) unpacked: Option<Arc<PrivateFolder>>,
    /// Who asked for what parts may not be able to do.
    pub(crate) asked: Asked,
    /// Where its FMUs are given.
    pub(crate) fmus_at: Vec<Place>,
}

/// What a project gives rather than takes from a model: needed to write it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Its parts, unless it is a whole model.
    pub natives: Vec<NativeSpec>,
    /// Its FMUs, whose parts come after the native ones.
    pub fmus: Vec<FmuSpec>,
    /// Its linear parts, which come after the FMUs.
    pub linears: Vec<LinearSpec>,
    /// Names of parts that were made in code, which come last.
    pub made: Vec<String>,
    /// Its external inputs.
    pub externals: Vec<ExternalSpec>,
    /// Whether it names the solver.
    pub solver: bool,
    /// Conditions that end a run before its stop time.
    pub stop_when: Vec<StopCondition>,
    /// Sizes of ports in the place of what their makers declare; ports are named `part.port`.
    pub ports: Vec<PortSize>,
    /// Whether it starts at rest; its parts then do.
    pub is_steady: bool,
}

/// A project that was refused.
#[derive(Debug)]
pub struct Refusal {
    /// All mistakes; one at least.
    pub errors: Vec<Error>,
    /// What else is probably not meant.
    pub warnings: Vec<Error>,
}

impl From<Vec<Error>> for Refusal {
    fn from(errors: Vec<Error>) -> Self {
        Self { errors, warnings: Vec::new() }
    }
}

/// [`Registry::load`] with the methods and models that come with costep.
pub fn load(source: &Source, overrides: &[Override]) -> Result<Project, Vec<Error>> {
    Registry::standard().load(source, overrides)
}

/// [`Registry::load_text`] with the methods and models that come with costep.
pub fn load_text(text: &str, path: &Path, overrides: &[Override]) -> Result<Project, Vec<Error>> {
    Registry::standard().load_text(text, path, overrides)
}

pub(crate) fn examine(
    registry: &Registry,
    source: &Source,
    overrides: &[Override],
) -> Result<Project, Refusal> {
    let mut project = examine_source(registry, source, overrides)?;
    project.origin.overridden = Some(overrides.to_vec());
    Ok(project)
}

fn examine_source(registry: &Registry, source: &Source, overrides: &[Override]) -> Result<Project, Refusal> {
    match source {
        Source::File(path) => {
            if let Some(format) = Format::of(path) {
                return ssp::load(registry, (path, format), overrides);
            }
            let path = source::project_file(path);
            if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu")) {
                return examine_fmu(registry, &path, overrides);
            }
            let text = source::read(&path).map_err(|error| vec![error])?;
            examine_text(registry, &text, &path, overrides)
        }
        Source::Builtin(id) => {
            let problems = Problems::new(None, "", overrides);
            check(Input::new(whole_model(id), source.clone(), id), registry, problems, overrides)
        }
    }
}

/// An FMU alone, as the project that a user would write for it. Messages do not name lines of a text that nobody has.
fn examine_fmu(registry: &Registry, path: &Path, overrides: &[Override]) -> Result<Project, Refusal> {
    let text = scaffold::project_of_one(path).map_err(|error| vec![error])?;
    let mut problems = Problems::new(None, "", overrides).in_dialect(Dialect::Fmu(path.into()));
    let root = parse::document(&text, &mut problems).unwrap_or_default();
    let input = Input::new(root, Source::File(path.into()), &scaffold::component_name(path));
    check(input, registry, problems, overrides)
}

pub(crate) fn examine_text(
    registry: &Registry,
    text: &str,
    path: &Path,
    overrides: &[Override],
) -> Result<Project, Refusal> {
    let mut problems = Problems::new(Some(path), text, overrides);
    match parse::document(text, &mut problems) {
        Some(root) => {
            let name = source::default_name(path).unwrap_or_else(|| "system".into());
            let input = Input::new(root, Source::File(path.into()), &name);
            check(input, registry, problems, overrides)
        }
        None => Err(problems.into_errors().into()),
    }
}

/// A document that is to become a project.
pub(crate) struct Input {
    pub(crate) root: Table,
    pub(crate) source: Source,
    /// The name of a project that does not say its own.
    pub(crate) default_name: String,
    /// Components that were made in code, in addition to those of the document.
    pub(crate) made: Vec<MadeComponent>,
}

impl Input {
    pub(crate) fn new(root: Table, source: Source, default_name: &str) -> Self {
        Self { root, source, default_name: default_name.into(), made: Vec::new() }
    }
}

/// The document of a built-in model as it is.
fn whole_model(id: &str) -> Table {
    let origin = Origin::Nowhere;
    let mut system = Table::default();
    system.set("model", Node { value: Value::Text(id.into()), origin });
    let mut root = Table::default();
    root.set("system", Node { value: Value::Table(system), origin });
    root
}

/// Reads and checks a document.
pub(crate) fn check(
    mut input: Input,
    registry: &Registry,
    mut problems: Problems<'_>,
    overrides: &[Override],
) -> Result<Project, Refusal> {
    overrides::apply(&mut input.root, registry, overrides, &mut problems);
    match read_project(input, registry, &mut problems) {
        Some(project) if problems.is_empty() => {
            Ok(Project { warnings: problems.warnings, advice: problems.advice, ..project })
        }
        _ => {
            let (errors, warnings) = problems.into_errors_and_warnings();
            Err(Refusal { errors, warnings })
        }
    }
}

/// Reads every table, whatever is wrong with the others, so that all mistakes are found.
fn read_project(input: Input, registry: &Registry, problems: &mut Problems<'_>) -> Option<Project> {
    let Input { root, source, default_name, made } = input;
    let root = &root;
    refuse_unknown_tables(root, problems);
    let system = Section::open(root.get("system"), "[system]", keys::SYSTEM, problems);
    let name = read_name(&system, &default_name, problems);
    let mut parts = components::read(root, registry, system.get("model"), made, problems);
    let ports = ports::read(root, &parts, problems);
    parts.model.parts.iter_mut().for_each(|part| ports::apply(&ports, part));
    let (experiment, control) = settings::read_experiment(root, &system, &parts, problems).unzip();
    let control = control.flatten();
    let solver = settings::read_solver(&system, registry.solvers(), &parts, problems);
    let is_steady = settings::read_initial(&system, problems);
    let stop_when = stop_conditions::read(&system, &parts.signals, problems);
    // Steps that vary follow the signals.
    let step = |run: &Experiment| if control.is_some() { 0.0 } else { run.step };
    let seen = experiment.as_ref().map(|run| Experiment { step: step(run), ..*run });
    let wiring = connections::read(root, &parts, seen.as_ref(), problems);
    let models = models::read(root, registry.methods().sources(), problems);
    let chosen = models.as_ref().ok().and_then(Option::as_ref);
    let (groups, methods) =
        groups::read(root, registry, &wiring.wishes, chosen, &parts.signals, problems).unzip();
    let scheduling = settings::read_schedule(root, &parts.signals, problems);
    let run = (experiment.as_ref(), control.is_none());
    let record = settings::read_record(root, &parts.signals, run, problems);
    let control_asked = control.as_ref().and_then(|_| asker_of_control(root, problems));
    let control = control.map(|control| ControlSpec { meets: record.every, ..control });
    let rates = rates::read(root, &parts.signals, control.as_ref(), problems);
    let corrects_bonds = bonds::read_corrected(root, problems);
    let bounds = settings::read_guard(root, &parts.signals, problems);
    let threads = settings::read_threads(root, problems);

    if let Some(experiment) = experiment.as_ref().filter(|_| control.is_none()) {
        advice::warn_of_inner_steps(&parts, experiment.step, problems);
        advice::warn_of_solver(&system, solver.as_ref(), experiment.step, problems);
        advice::warn_of_stop(&parts, experiment, problems);
    }
    if let Some(experiment) = &experiment {
        let externals = wiring.externals.iter().zip(&wiring.external_origins);
        externals::warn_of_times(externals, experiment, problems);
    }
    if problems.is_empty() && parts.model_id.is_none() {
        advice::advise(&parts, &wiring.connections, problems);
    }

    if problems.is_empty() {
        wire_fmus(&mut parts, &wiring, &ports, problems);
    }

    let (solver, solver_given) = solver?;
    let at = |origin: &Origin| problems.placed(*origin, Error::new(Code::Hung, "")).details().place.clone();
    let fmus_at = parts.origins.iter().skip(parts.natives.len()).take(parts.fmus.len()).map(at).collect();
    let (natives, fmus) = (parts.natives, parts.fmus.into_iter().map(|(spec, _)| spec).collect());
    let (linears, made, externals) = (parts.linears, parts.made, wiring.externals.clone());
    let given =
        Given { natives, fmus, linears, made, externals, solver: solver_given, stop_when, ports, is_steady };
    let mut maps = wiring.maps.clone();
    let (model, bonds, offsets) = wired(parts.model, wiring);
    maps.resize(model.connections.len(), Vec::new());
    crate::bonds::warn((&bonds, corrects_bonds), &model, root, problems);
    let mut model = SystemDescription { experiment: experiment?, solver, ..model };
    // Other systems are brought to rest by a run before the start.
    if is_steady && problems.is_empty() && model.can_be_one() {
        match model.at_rest() {
            Ok(rested) => model = rested,
            Err(error) => problems.report(system.origin_of("initial"), || error),
        }
    }
    let asked = Asked { methods: methods.unwrap_or_default(), control: control_asked };
    let bonds = BondSpec { names: bonds, corrected: corrects_bonds };
    Some(Project {
        name,
        source,
        model_id: parts.model_id,
        parameters: parts.parameters,
        model,
        groups: groups?,
        models: models.ok()?.map(|models| models.spec),
        scheduling: scheduling?,
        threads,
        bounds,
        record,
        control,
        rates,
        bonds,
        offsets,
        maps,
        given,
        origin: ProjectOrigin { asked, fmus_at, ..ProjectOrigin::default() },
        warnings: Vec::new(),
        advice: Vec::new(),
    })
}

/// Who asked for steps that vary: a tolerance, or a control that needs none.
fn asker_of_control(root: &Table, problems: &Problems<'_>) -> Option<Asker> {
    let Value::Table(step) = &root.get("step")?.value else { return None };
    let node = step.get("control").or_else(|| step.get("tolerance"))?;
    Asker::of(node.origin, problems)
}

/// Tells the FMUs what feeds their inputs.
fn wire_fmus(parts: &mut Components, wiring: &Wiring, ports: &[PortSize], problems: &mut Problems<'_>) {
    for (fmu, routing) in connections::routing(wiring, parts).into_iter().enumerate() {
        if routing.is_default() {
            continue;
        }
        let part = parts.natives.len() + fmu;
        let (spec, file) = &parts.fmus[fmu];
        match fmus::wired_part(spec, file, routing) {
            Ok(mut wired) => {
                ports::apply(ports, &mut wired);
                parts.model.parts[part] = wired;
            }
            Err(error) => problems.report(parts.origins[part], || error),
        }
    }
}

fn read_name(system: &Section<'_>, default: &str, problems: &mut Problems<'_>) -> String {
    let Some(name) = system.text("name", problems) else { return default.into() };
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        problems.report(system.origin_of("name"), || {
            Error::new(Code::BadValue, "the name of the system is empty or not printable")
                .hint("write a word or two, or leave it out")
        });
    }
    name.into()
}

/// The model with the project's own connections and external inputs.
fn wired(mut model: SystemDescription, wiring: Wiring) -> (SystemDescription, Vec<Option<String>>, Vec<f64>) {
    let shifts: Vec<_> = wiring
        .connections
        .iter()
        .zip(&wiring.offsets)
        .filter(|(_, offset)| **offset != 0.0)
        .map(|(connection, offset)| (connection.input, *offset))
        .collect();
    model.connections.extend(wiring.connections);
    let replaced: HashSet<usize> =
        wiring.externals.iter().filter(|own| !own.sum).map(|own| own.input).collect();
    model.externals.retain(|(input, _)| !replaced.contains(input));
    model.externals.extend(wiring.externals.into_iter().map(|own| (own.input, own.signal)));
    let constants = shifts.into_iter().chain(wiring.held);
    model.externals.extend(constants.map(|(input, value)| (input, External::Constant(value))));
    let (mut bonds, mut offsets) = (wiring.bonds, wiring.offsets);
    bonds.resize(model.connections.len(), None);
    offsets.resize(model.connections.len(), 0.0);
    (model, bonds, offsets)
}
