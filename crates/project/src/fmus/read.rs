//! Reads and checks the table of one FMU.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use costep_core::{Code, Error, Place};
use costep_fmi::{CoSimulationOptions, InputRouting, ModelExchangeOptions, SignalVariations, is_tunable};
use costep_fmu_file::settings::fit_value;
use costep_fmu_file::{
    Causality, Finding, Initial, ModelDescription, Severity, Values, Variability, unpacked_fmu,
};
use costep_integrate::{Solver, Solvers};
use costep_system::Component;

use crate::components::check_name;
use crate::document::{Entry, Value};
use crate::fmus::component::{CoSimulationComponent, ModelExchangeComponent};
use crate::fmus::{FmuFile, FmuInterface, FmuSpec, Isolation, Opened, has_workers, value, variations};
use crate::keys;
use crate::problems::{Problems, shortened, suggest};
use crate::section::Section;
use crate::signals::split_signal;
use crate::write;

/// Inner step of `euler` and `rk4` without a value, in s.
const DEFAULT_INNER_STEP: f64 = 1e-4;

/// An FMU of the project that was found good.
pub(crate) struct Fmu {
    pub(crate) spec: FmuSpec,
    pub(crate) file: Arc<FmuFile>,
    pub(crate) part: Box<dyn Component>,
}

/// Reads `[fmu.NAME]`. Nothing if something is wrong with it, which is then reported.
pub(crate) fn read(
    entry: &Entry,
    solvers: &Solvers,
    (opened, targets): (&mut Opened, &[&str]),
    problems: &mut Problems<'_>,
) -> Option<Fmu> {
    let label = format!("[fmu.{}]", shortened(&entry.key));
    let section = open_section(entry, &label, opened, problems);
    if matches!(entry.node.value, Value::Text(_)) {
        return None;
    }
    let named = check_name(&entry.key, "part", entry.key_origin, problems);
    let care = read_care(&section, problems);
    let trust = section.get("trust").map(|_| section.truth("trust", problems));
    let log = section.get("log").map(|_| section.truth("log", problems));
    let retry = section.get("retry_discarded").map(|_| section.truth("retry_discarded", problems));
    section.require("file", "name an FMU, `file = \"engine.fmu\"`, relative to this file", problems);
    let written = section.text("file", problems)?;
    let path = problems.folder().join(written);
    let validate = section.get("validate").is_none() || section.truth("validate", problems)?;
    let file = open(&path, &section, opened, problems)?;
    tell_stale_copy(&path, &section, problems);
    let tool = file.description.origin.generation_tool.as_deref();
    if tool.is_some_and(|tool| tool.starts_with("PythonFMU")) && !file.carries_python {
        problems.warn(section.origin_of("file"), || {
            Error::new(Code::FmuRule, "the FMU was made by PythonFMU, but carries no Python code")
                .because("there is no .py file in its folder `resources`, without which such an FMU crashes")
                .hint("build it again: `pythonfmu build -f FILE.py`")
        });
    }
    let valid = check_findings((&file, &path), validate, &section, problems);
    let interface = read_interface(&section, &file.description, &path, problems);
    let given = Section::open_free(section.get("set"), format!("`set` in {label}"), problems);
    let set = read_set(&file.description, given.entries(), problems)?;
    let interface = interface?;
    check_binary(&file, interface, &section, problems)?;
    if let Some(missing) = file.carries_python.then(costep_fmi::missing_python).flatten() {
        problems.report(section.origin_of("file"), || missing);
        return None;
    }
    let (isolation, step_timeout) = care.filter(|_| named && valid)?;
    let log = if log.is_some() { Some(log.flatten()?) } else { None };
    let retry_discarded = retry.unwrap_or(Some(false))?;
    let trust = trust.unwrap_or(Some(false))?;
    if retry_discarded && interface == FmuInterface::ModelExchange {
        problems.report(section.origin_of("retry_discarded"), || {
            let message = "`retry_discarded` has no effect here: costep chooses the steps of this FMU itself";
            Error::new(Code::Conflict, message).hint("remove it")
        });
        return None;
    }
    let solver = read_solver(&section, solvers, interface, problems)?;
    let tuned = tuned(&file.description, &entry.key, targets);
    let routing = InputRouting { tuned: tuned.clone(), ..InputRouting::default() };
    let how = |variations| Use {
        set: &set,
        solver,
        isolation,
        step_timeout,
        retry_discarded,
        log,
        routing: routing.clone(),
        variations,
    };
    let make = |variations| make_part(&file, &entry.key, interface, how(variations));
    let mut part = make(SignalVariations::default())
        .map_err(|error| problems.report(given.origin, || in_words_of_project(error, &path)))
        .ok()?;
    let variations = variations::read(&section, part.description(), problems)?;
    if variations != SignalVariations::default() {
        part = make(variations.clone()).map_err(|error| problems.report(section.origin, || error)).ok()?;
    }
    variations::tell_assumed(&entry.key, part.description(), &section, problems);
    if isolation == Isolation::Auto && file.is_isolated(isolation) {
        problems.warn(section.origin_of("file"), || {
            let message =
                format!("`{}` carries Python code: it runs in its own process", shortened(&entry.key));
            Error::new(Code::PythonIsolated, message)
        });
    }
    if isolation == Isolation::None && file.carries_python && has_workers() {
        problems.warn(section.origin_of("isolation"), || {
            let message = format!(
                "`{}` carries Python code: a process in which Python has ended cannot start it again",
                shortened(&entry.key)
            );
            Error::new(Code::PythonIsolated, message)
                .because("packages with code of their own, NumPy for one, may end the process then")
                .hint("write `isolation = \"process\"`: each instance then has a Python of its own")
        });
    }
    let interface_given = section.get("interface").is_some();
    if interface == FmuInterface::ModelExchange && !interface_given {
        problems.warn(section.origin_of("file"), || by_model_exchange(&entry.key, solver));
    }
    let usage = match interface {
        FmuInterface::CoSimulation => costep_fmu_file::Use::CoSimulation,
        FmuInterface::ModelExchange => costep_fmu_file::Use::ModelExchange,
    };
    for what in file.description.unsupported(usage) {
        problems.warn(section.origin_of("file"), || {
            Error::new(Code::FmuPartUnused, format!("of `{}` {what}", shortened(&entry.key)))
        });
    }
    let (name, file_name) = (entry.key.clone(), written.into());
    let spec = FmuSpec {
        name,
        file: file_name,
        path: whole(&path),
        interface,
        interface_given,
        solver,
        set,
        isolation,
        has_own_process: file.is_isolated(isolation),
        step_timeout,
        retry_discarded,
        log,
        validate,
        trust,
        variations,
        tuned,
    };
    Some(Fmu { spec, file, part })
}

/// The table of an FMU. Keys that are variables of it belong into `set`.
fn open_section<'a>(
    entry: &'a Entry,
    label: &str,
    opened: &mut Opened,
    problems: &mut Problems<'_>,
) -> Section<'a> {
    let file = match &entry.node.value {
        Value::Table(table) => table.text("file").map(|file| problems.folder().join(file)),
        _ => None,
    };
    let file = file.and_then(|path| opened.open(&path)?.ok());
    let is_variable =
        |name: &str| file.as_ref().is_some_and(|file| file.description.variable(name).is_some());
    let meant = |unknown: &Entry| {
        let (name, value) = (&unknown.key, shown(&unknown.node.value));
        is_variable(name).then(|| {
            let value = value.unwrap_or_else(|| "...".into());
            format!("it is a variable of the FMU: write `set = {{ {} = {value} }}`", write::key(name))
        })
    };
    Section::open_where(Some(&entry.node), label, keys::FMU, &meant, problems)
}

/// A plain value as it was written.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Integer(value) => Some(value.to_string()),
        Value::Real(value) => Some(value.to_string()),
        Value::Truth(value) => Some(value.to_string()),
        Value::Text(text) => Some(write::quoted(&shortened(text))),
        _ => None,
    }
}

/// Says that an FMU is a copy of a file that has changed since. One that is not there cannot be asked.
fn tell_stale_copy(copy: &Path, section: &Section<'_>, problems: &mut Problems<'_>) {
    let Some(written) = section.get("copied_from").and_then(|_| section.text("copied_from", problems)) else {
        return;
    };
    let original = problems.folder().join(written);
    if !differs(&original, copy) {
        return;
    }
    problems.warn(section.origin_of("copied_from"), || {
        let (from, to) = (original.display(), copy.display());
        let message = format!("`{written}` has changed since it was copied into the project");
        Error::new(Code::StaleCopy, message).because("the copy is used as it is").hint(format!(
            "copy `{from}` over `{to}` to take the new one; without `copied_from` they are not compared"
        ))
    });
}

/// Whether two files have other bytes. Where one is not there or cannot be read, nobody knows.
fn differs(original: &Path, copy: &Path) -> bool {
    let (Ok(old), Ok(new)) = (fs::metadata(original), fs::metadata(copy)) else { return false };
    if !old.is_file() || !new.is_file() {
        return false;
    }
    if old.len() != new.len() {
        return true;
    }
    // A copy is made after its original: what has not been written since is not read.
    let is_older = old.modified().ok().zip(new.modified().ok()).is_some_and(|(old, new)| old <= new);
    !is_older && have_other_bytes(original, copy).unwrap_or(false)
}

fn have_other_bytes(one: &Path, other: &Path) -> std::io::Result<bool> {
    let open = |path: &Path| fs::File::open(path).map(|file| BufReader::new(file).bytes());
    for (one, other) in open(one)?.zip(open(other)?) {
        if one? != other? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The tunable parameters of an FMU among what something drives, `part.port`.
fn tuned(fmu: &ModelDescription, part: &str, targets: &[&str]) -> Vec<String> {
    let mut tuned: Vec<String> = Vec::new();
    let ports = targets.iter().filter_map(|target| split_signal(target)).filter(|(owner, _)| *owner == part);
    for (variable, _) in ports.filter_map(|(_, port)| value::find_port(fmu, port)) {
        let variable = &fmu.variables()[variable];
        if is_tunable(variable) && !tuned.contains(&variable.name) {
            tuned.push(variable.name.clone());
        }
    }
    tuned
}

/// How an FMU is to be used, as the project says.
struct Use<'a> {
    set: &'a [(String, Values)],
    solver: Option<Solver>,
    isolation: Isolation,
    step_timeout: Option<f64>,
    retry_discarded: bool,
    log: Option<bool>,
    routing: InputRouting,
    variations: SignalVariations,
}

/// The part once more, now that it is known what feeds its inputs.
pub(crate) fn wired_part(
    spec: &FmuSpec,
    file: &Arc<FmuFile>,
    routing: InputRouting,
) -> Result<Box<dyn Component>, Error> {
    let how = Use {
        set: &spec.set,
        solver: spec.solver,
        isolation: spec.isolation,
        step_timeout: spec.step_timeout,
        retry_discarded: spec.retry_discarded,
        log: spec.log,
        routing: InputRouting { tuned: spec.tuned.clone(), ..routing },
        variations: spec.variations.clone(),
    };
    make_part(file, &spec.name, spec.interface, how)
}

fn make_part(
    file: &Arc<FmuFile>,
    name: &str,
    interface: FmuInterface,
    how: Use<'_>,
) -> Result<Box<dyn Component>, Error> {
    let Use { set, solver, isolation, step_timeout, retry_discarded, log, routing, variations } = how;
    // Python code that fails says why to nobody else.
    let logging = log.or(file.carries_python.then_some(true));
    let (file, parameters) = (Arc::clone(file), set.to_vec());
    let step_timeout = step_timeout.map(Duration::from_secs_f64);
    Ok(match interface {
        FmuInterface::CoSimulation => {
            let options = CoSimulationOptions {
                parameters,
                step_timeout,
                retry_discarded,
                logging,
                routing,
                variations,
                ..CoSimulationOptions::default()
            };
            Box::new(CoSimulationComponent::new(file, name, options, isolation)?)
        }
        FmuInterface::ModelExchange => {
            let default = ModelExchangeOptions::default();
            let solver = solver.unwrap_or(default.solver);
            let options = ModelExchangeOptions {
                parameters,
                solver,
                step_timeout,
                logging,
                routing,
                variations,
                ..default
            };
            Box::new(ModelExchangeComponent::new(file, name, options, isolation)?)
        }
    })
}

/// The remark for an FMU that decides by what it offers.
fn by_model_exchange(name: &str, solver: Option<Solver>) -> Error {
    let solver = solver.unwrap_or(ModelExchangeOptions::default().solver).label();
    let message = format!("`{name}` is for Model Exchange only: costep integrates it with `{solver}`");
    Error::new(Code::IntegratedHere, message)
        .hint("write `interface = \"me\"` to confirm this, and choose a `solver`")
}

/// The integrator of an FMU for Model Exchange; inner nothing = not given.
fn read_solver(
    section: &Section<'_>,
    solvers: &Solvers,
    interface: FmuInterface,
    problems: &mut Problems<'_>,
) -> Option<Option<Solver>> {
    if section.get("solver").is_none() {
        return Some(None);
    }
    let origin = section.origin_of("solver");
    if interface == FmuInterface::CoSimulation {
        problems.report(origin, || {
            let message = "`solver` has no effect here: an FMU for Co-Simulation has its own";
            Error::new(Code::Conflict, message).hint("remove it")
        });
        return None;
    }
    let text = section.text("solver", problems)?;
    let read = |text: &str| match solvers.parse(text, DEFAULT_INNER_STEP)? {
        Solver::Exact => Err(Error::new(Code::BadValue, "the solver `exact` is for linear native parts")
            .hint("use `dopri5:1e-8`, `bdf:1e-6` or another")),
        solver => Ok(solver),
    };
    read(text).map(Some).map_err(|error| problems.report(origin, || error)).ok()
}

fn open(
    path: &Path,
    section: &Section<'_>,
    opened: &mut Opened,
    problems: &mut Problems<'_>,
) -> Option<Arc<FmuFile>> {
    if let Some(file) = opened.open(path) {
        return file
            .map_err(|error| problems.report(section.origin_of("file"), || in_words_of_project(error, path)))
            .ok();
    }
    problems.report(section.origin_of("file"), || {
        let what = match path.metadata() {
            Ok(found) if found.is_dir() => "is a folder, not an FMU file",
            Ok(_) => "is not an FMU file",
            Err(_) => "does not exist",
        };
        let error = Error::new(Code::FileNotReadable, format!("`{}` {what}", path.display()));
        let near = similar_file(path, opened).map(|near| with_name(section, &near));
        let written = section.get("file").and_then(|node| match &node.value {
            Value::Text(file) => costep_fmu_file::name_hint(Path::new(file)),
            _ => None,
        });
        if let Some(hint) = written {
            return error.hint(hint);
        }
        if path.is_dir() {
            let other =
                near.map_or_else(String::new, |near| format!("; did you mean `{}`?", shortened(&near)));
            return error.hint(
                unpacked_fmu(path).unwrap_or_else(|| format!("an FMU is one file that ends in .fmu{other}")),
            );
        }
        error.looked_for(path).hint(match (near, original(section)) {
            (Some(near), _) => format!("did you mean `{}`?", shortened(&near)),
            (None, Some(file)) => format!("it was a copy of `{}`: copy that again", shortened(&file)),
            (None, None) => "names are relative to the folder of the project file".into(),
        })
    });
    None
}

/// Reports what is wrong with an FMU by the rules of FMI, as `costep inspect` does. False if it is to be refused.
fn check_findings(
    (file, path): (&FmuFile, &Path),
    validate: bool,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> bool {
    let origin = section.origin_of("file");
    let mut valid = true;
    // That there is nothing to load is said in a better place: by the check of its binaries.
    let is_about_files =
        |finding: &&Finding| finding.code == Code::FmuFiles && finding.severity == Severity::Error;
    let concerns_runs = |finding: &&Finding| !is_about_files(finding) && !finding.concerns_others();
    for finding in file.findings.iter().filter(concerns_runs) {
        // Without names that tell ports apart there is nothing to connect.
        let is_vital = finding.code == Code::FmuDuplicate;
        let refused = finding.severity == Severity::Error && (validate || is_vital);
        let error = || in_words_of_project(finding.clone().into_error(path), path);
        if refused {
            let hint = match is_vital {
                true => "export it again, by a tool that follows the standard",
                false => "export it again, or write `validate = false` to accept it as it is",
            };
            problems.report(origin, || error().hint(hint));
        } else if finding.names_other_library() {
            // What is run may be something else than what is meant.
            problems.warn(origin, || as_warning(&error()));
        } else {
            problems.advise(origin, || as_warning(&error()));
        }
        valid &= !refused;
    }
    valid
}

/// The same for what does not prevent a run.
fn as_warning(error: &Error) -> Error {
    let details = error.details();
    let warning = Error::new(Code::FmuRule, format!("{} ({})", details.message, details.code.entry().id));
    details.cause.iter().fold(warning, |warning, cause| warning.because(cause))
}

/// The file that the one of a section is a copy of, as it is written.
fn original(section: &Section<'_>) -> Option<String> {
    match &section.get("copied_from")?.value {
        Value::Text(file) => Some(file.clone()),
        _ => None,
    }
}

/// The file of a section under another name.
fn with_name(section: &Section<'_>, name: &str) -> String {
    let written = match section.get("file").map(|node| &node.value) {
        Some(Value::Text(written)) => Path::new(written).with_file_name(name),
        _ => name.into(),
    };
    written.to_string_lossy().into_owned()
}

/// The FMU in the same folder whose name is nearest, of those that no other part uses.
fn similar_file(path: &Path, opened: &Opened) -> Option<String> {
    const LOOKED_AT: usize = 1000;
    let wrong = path.file_name()?.to_string_lossy().into_owned();
    let folder = match path.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let files = std::fs::read_dir(folder).ok()?;
    let names: Vec<String> = files
        .take(LOOKED_AT)
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|file| file.is_file() && !opened.is_used(file))
        .filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned()))
        .filter(|name| name.ends_with(".fmu"))
        .collect();
    if let Some(whole) = names.iter().find(|name| name.strip_suffix(".fmu") == Some(&wrong)) {
        return Some(whole.clone());
    }
    let error = suggest(Error::new(Code::Missing, ""), &wrong, names.iter().map(String::as_str));
    crate::problems::suggested(&error).map(str::to_owned)
}

/// An error about an FMU, to be placed where the project names it: the file it was about goes into the cause.
fn in_words_of_project(error: Error, path: &Path) -> Error {
    let details = error.details().clone();
    let place = match &details.place {
        Place::File { path, line: Some(line), .. } => format!("{}, line {line}", path.display()),
        Place::File { path, .. } => path.display().to_string(),
        _ => path.display().to_string(),
    };
    let cause = match details.cause {
        Some(cause) => format!("{cause} ({place})"),
        None => format!("in {place}"),
    };
    error.because(cause)
}

/// `isolation` and `step_timeout`. Nothing if one of them is wrong, which is then reported.
fn read_care(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<(Isolation, Option<f64>)> {
    let isolation = match section.get("isolation").map(|_| section.text("isolation", problems)) {
        None => Some(Isolation::default()),
        Some(word) => word.and_then(|word| {
            let known = Isolation::ALL.into_iter().find(|kind| kind.word() == word);
            if known.is_none() {
                problems.report(section.origin_of("isolation"), || {
                    let message = format!("unknown isolation `{}`", shortened(word));
                    suggest(Error::new(Code::BadValue, message), word, Isolation::ALL.map(Isolation::word))
                });
            }
            known
        }),
    };
    let timeout = match section.get("step_timeout").map(|_| section.time("step_timeout", problems)) {
        None => Some(None),
        Some(limit) => limit.and_then(|limit| {
            if limit > 0.0 && Duration::try_from_secs_f64(limit).is_ok() {
                return Some(Some(limit));
            }
            problems.report(section.origin_of("step_timeout"), || {
                Error::new(Code::BadValue, format!("a time limit of {limit} s is not possible"))
                    .hint("more than zero")
            });
            None
        }),
    };
    Some((isolation?, timeout?))
}

fn read_interface(
    section: &Section<'_>,
    fmu: &ModelDescription,
    path: &Path,
    problems: &mut Problems<'_>,
) -> Option<FmuInterface> {
    let origin = section.origin_of("interface");
    let interface = match section.get("interface").map(|_| section.text("interface", problems)) {
        None if fmu.co_simulation.is_none() && fmu.model_exchange.is_some() => FmuInterface::ModelExchange,
        None | Some(Some("cs")) => FmuInterface::CoSimulation,
        Some(Some("me")) => FmuInterface::ModelExchange,
        Some(Some(other)) => {
            problems.report(origin, || {
                let message = format!("unknown interface `{}`", shortened(other));
                suggest(Error::new(Code::BadValue, message), other, ["cs", "me"])
                    .hint("cs is Co-Simulation, me is Model Exchange")
            });
            return None;
        }
        Some(None) => return None,
    };
    let (offered, name) = match interface {
        FmuInterface::CoSimulation => (fmu.co_simulation.is_some(), "Co-Simulation"),
        FmuInterface::ModelExchange => (fmu.model_exchange.is_some(), "Model Exchange"),
    };
    if !offered {
        let kinds = [
            fmu.co_simulation.as_ref().map(|_| "Co-Simulation (cs)"),
            fmu.model_exchange.as_ref().map(|_| "Model Exchange (me)"),
            fmu.scheduled_execution.as_ref().map(|_| "Scheduled Execution, which costep does not use"),
        ];
        let kinds: Vec<&str> = kinds.into_iter().flatten().collect();
        let offers = if kinds.is_empty() { "nothing".into() } else { kinds.join(", ") };
        let origin = if section.get("interface").is_some() { origin } else { section.origin_of("file") };
        problems.report(origin, || {
            Error::new(Code::FmuInterface, format!("`{}` is not for {name}", path.display()))
                .because(format!("it offers {offers}"))
                .hint(match fmu.co_simulation.is_some() || fmu.model_exchange.is_some() {
                    true => "remove `interface`: what the FMU offers is used",
                    false => "export it for Co-Simulation or Model Exchange from the tool it comes from",
                })
        });
        return None;
    }
    Some(interface)
}

fn check_binary(
    file: &FmuFile,
    interface: FmuInterface,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<()> {
    let fmu = &file.description;
    let kind = match interface {
        FmuInterface::CoSimulation => fmu.co_simulation.as_ref().map(|kind| &kind.interface),
        FmuInterface::ModelExchange => fmu.model_exchange.as_ref().map(|kind| &kind.interface),
    };
    let report = |error: Error| problems.report(section.origin_of("file"), || error);
    file.check_binary(&kind?.model_identifier).map_err(report).ok()
}

/// Values for variables of the FMU; each wrong one is reported. Nothing if one was wrong.
fn read_set(
    fmu: &ModelDescription,
    given: &[Entry],
    problems: &mut Problems<'_>,
) -> Option<Vec<(String, Values)>> {
    let mut set: Vec<(String, Values)> = Vec::new();
    let mut good = true;
    for entry in given {
        match read_value(fmu, entry) {
            Ok(values) => set.push((entry.key.clone(), values)),
            Err(error) => {
                good = false;
                problems.report(entry.key_origin, || error);
            }
        }
    }
    good.then_some(set)
}

fn read_value(fmu: &ModelDescription, entry: &Entry) -> Result<Values, Error> {
    let name = &entry.key;
    let Some(variable) = fmu.variable(name) else {
        let message = format!("the FMU `{}` has no variable `{}`", fmu.model_name, shortened(name));
        let error = Error::new(Code::UnknownParameter, message);
        if keys::has(keys::FMU, name) {
            let hint = "as a key of the FMU in the project it is written with `fmu.` before the part";
            return Err(error.hint(format!("{hint}: `--set fmu.PART.{name}=...`")));
        }
        if let Some(array) = array_of(fmu, name) {
            let hint = match array.variability {
                Variability::Fixed | Variability::Tunable if array.causality == Causality::Parameter => "",
                _ => "; elements of inputs can be connected and driven one by one",
            };
            return Err(error
                .because(format!("`{}` is an array, which is set as a whole", array.name))
                .hint(format!("write `\"{}\" = [...]` with all its values, row by row{hint}", array.name)));
        }
        if let Some((_, own)) = split_signal(name).filter(|(_, own)| fmu.variable(own).is_some()) {
            return Err(error
                .because("names in `set` are those of the FMU, without the part")
                .hint(format!("did you mean `{}`?", shortened(own))));
        }
        let settable = fmu.variables().iter().filter(|variable| is_settable(variable));
        return Err(suggest(error, name, settable.map(|variable| variable.name.as_str())));
    };
    let values = value::read(&entry.node, variable.kind).map_err(|cause| {
        Error::new(Code::BadValue, format!("the variable `{name}` cannot be set like this")).because(cause)
    })?;
    fit_value(fmu, name, &values).map(|_| values)
}

/// The array that `name[1]` or `name[1,2]` would be an element of.
fn array_of<'a>(fmu: &'a ModelDescription, name: &str) -> Option<&'a costep_fmu_file::Variable> {
    let (whole, _) = name.strip_suffix(']')?.rsplit_once('[')?;
    fmu.variable(whole).filter(|variable| variable.is_array())
}

/// Whether a variable can be set by the project.
fn is_settable(variable: &costep_fmu_file::Variable) -> bool {
    variable.variability != Variability::Constant
        && (matches!(
            variable.causality,
            Causality::Parameter | Causality::StructuralParameter | Causality::Input
        ) || matches!(variable.initial, Some(Initial::Exact | Initial::Approx)))
}

/// The file of an FMU as it is to be written into a project in `folder`: relative where it lies below that.
pub(crate) fn file_in(spec: &FmuSpec, folder: Option<&Path>) -> PathBuf {
    folder.map_or_else(|| spec.file.clone(), |folder| path_in(&spec.path, Some(folder)))
}

/// A path from the root: FMUs may lead the process to another folder.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

/// A path as it is to be written into a project in `folder`: relative where it lies below that, else whole.
pub(crate) fn path_in(path: &Path, folder: Option<&Path>) -> PathBuf {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let file = real(path);
    let below = folder.and_then(|folder| file.strip_prefix(real(folder)).ok()).map(Path::to_path_buf);
    below.unwrap_or(file)
}
