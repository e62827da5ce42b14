//! System structures of SSP and other formats as projects, and projects as system structures.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use costep_core::quantity::{format_time, parse_time};
use costep_core::{Code, Error, Place};
use costep_fmu_file::{Fmu, PrivateFolder, Values};
use costep_import::{ColumnSignal, Format, Interpolation};
use costep_ssp::{Component, Flat, Implementation, Link, Note, Reach, SetValue, Severity, Value};

use crate::dialect::Dialect;
use crate::draft::{ConnectEntry, Draft, DraftValue, FmuEntry};
use crate::fmus::{FmuInterface, whole};
use crate::link_units::remark_on_links;
use crate::overrides::Override;
use crate::project::{Project, Refusal};
use crate::proposed_times::{latest_stop, shortest_step, usual_step};
use crate::registry::Registry;
use crate::signals::split_signal;

/// Folder for the FMUs of a package, inside of that of a run.
pub const FMU_FOLDER: &str = "fmus";

/// Reads and checks a system structure. FMUs of archives are unpacked into a temporary folder.
pub(crate) fn load(
    registry: &Registry,
    (path, format): (&Path, Format),
    overrides: &[Override],
) -> Result<Project, Refusal> {
    let unpacked = temporary_folder().map_err(|error| vec![error])?;
    let outside = overrides.iter().any(Override::allows_outside);
    let mut flat = costep_import::open(path, format, unpacked.path(), reach(path, outside))
        .map_err(|error| vec![error])?;
    let errors: Vec<Error> = flat.errors().map(Note::to_error).collect();
    let mut warnings = warnings(&flat.notes, path);
    if !errors.is_empty() {
        return Err(Refusal { errors, warnings });
    }
    warnings.extend(complete_times(&mut flat, overrides).map(|warning| warning.in_file(path)));
    let mut project = draft(&flat, (path, format)).load(registry, overrides)?;
    project.warnings.splice(0..0, warnings);
    project.origin.unpacked = Some(Arc::new(unpacked));
    Ok(project)
}

/// Gives a system a stop and a step that its author left to the caller. A warning where nobody gives one here either.
fn complete_times(flat: &mut Flat, overrides: &[Override]) -> Option<Error> {
    let given = |key: &str| overrides.iter().rev().find(|given| given.path == key);
    let time_of = |key: &str| {
        let text = &given(key)?.value;
        parse_time(text).ok().or_else(|| text.parse().ok())
    };
    let has_step = flat.settings.iter().any(|(key, _)| key == "step") || given("step.size").is_some();
    let has_stop = flat.stop.is_some() || given("system.stop").is_some();
    if has_step && has_stop {
        return None;
    }
    let fmus: Vec<(&str, Fmu)> = flat
        .components
        .iter()
        .filter_map(|component| Some((component.name.as_str(), Fmu::open(&component.file).ok()?)))
        .collect();
    let described = || fmus.iter().map(|(name, fmu)| (*name, fmu.description()));
    let (start, mut said) = (time_of("system.start").or(flat.start).unwrap_or(0.0), Vec::new());
    let by = |name: &str| format!("as `{name}` proposes");
    let nobody = || "no FMU proposes one".to_owned();
    let mut stop = time_of("system.stop").or(flat.stop).unwrap_or(start + 1.0);
    if !has_stop {
        let proposed = latest_stop(described()).filter(|(_, stop)| *stop > start);
        let why = proposed.map_or_else(nobody, |(name, _)| by(name));
        stop = proposed.map_or(start + 1.0, |(_, stop)| stop);
        said.push(format!("the run stops at {} ({why})", format_time(stop)));
    }
    // Times that make no sense are for others to refuse.
    let step = (!has_step && stop > start).then(|| {
        let proposed = shortest_step(described());
        let why = proposed.map_or_else(nobody, |(name, _)| by(name));
        let step = proposed.map_or_else(|| usual_step(stop - start), |(_, step)| step).min(stop - start);
        said.push(format!("the step is {} ({why})", format_time(step)));
        step
    });
    drop(fmus);
    flat.stop.get_or_insert(stop);
    flat.settings.extend(step.map(|step| ("step".into(), format!("{{ size = {step:?} }}"))));
    (!said.is_empty()).then(|| {
        let message = format!("{}: the file says nothing about it", said.join(", "));
        Error::new(Code::TimesProposed, message).hint("`--t-end` and `--step` give others")
    })
}

/// How far references lead: around the file that the user named, or anywhere.
pub fn reach(path: &Path, outside: bool) -> Reach {
    if outside { Reach::anywhere() } else { Reach::named(path) }
}

fn temporary_folder() -> Result<PrivateFolder, Error> {
    PrivateFolder::new().map_err(|cause| {
        Error::new(Code::FileNotReadable, "cannot create a temporary folder for the FMUs").because(cause)
    })
}

/// Warnings one by one; of remarks only the number, because they do not matter to a run.
fn warnings(notes: &[Note], path: &Path) -> Vec<Error> {
    let of = |severity| notes.iter().filter(move |note| note.severity == severity);
    let mut warnings: Vec<Error> = of(Severity::Warning).map(Note::to_error).collect();
    let remarks = of(Severity::Remark).count();
    if remarks > 0 {
        let things = if remarks == 1 {
            "thing in the system structure has"
        } else {
            "things in the system structure have"
        };
        let message = format!("{remarks} {things} no effect here");
        let hint = format!("`costep inspect {}` lists them", path.display());
        warnings.push(Error::new(Code::SspRemarks, message).hint(hint));
    }
    warnings
}

/// The project that a system structure describes, with the places of its parts.
fn draft(flat: &Flat, (path, format): (&Path, Format)) -> Draft {
    let mut draft = Draft::new(flat.name.clone(), path).in_dialect(Dialect::Foreign(format, path.into()));
    let of_file = draft.provenance(Place::File { path: path.into(), line: None, text: None });
    draft.set(&["system", "name"], DraftValue::Text(flat.name.clone()), of_file);
    for (key, time) in [("start", flat.start), ("stop", flat.stop)] {
        if let Some(time) = time {
            draft.set(&["system", key], DraftValue::Number(time), of_file);
        }
    }
    for (key, text) in &flat.settings {
        draft.set_toml(&key.split('.').collect::<Vec<_>>(), text, of_file);
    }
    for (key, place) in &flat.places {
        let provenance = draft.provenance(place.clone());
        draft.place(&key.split('.').collect::<Vec<_>>(), provenance);
    }
    for component in &flat.components {
        add_component(component, &mut draft);
    }
    for link in &flat.links {
        let provenance = draft.provenance(link.place.clone());
        let name =
            |(component, port): &(usize, String)| format!("{}.{port}", flat.components[*component].name);
        draft.connect(ConnectEntry {
            from: name(&link.from),
            to: name(&link.to),
            // With a gain, units are not compared again: the structure had the last word.
            gain: Some(link.factor),
            offset: link.offset,
            map: link.map.clone(),
            convert: false,
            sum: false,
            provenance,
        });
        link.settings.iter().for_each(|(key, text)| draft.set_in_connection(key, text, provenance));
    }
    for signal in &flat.signals {
        let provenance = draft.provenance(signal.place.clone());
        let to = format!("{}.{}", flat.components[signal.to.0].name, signal.to.1);
        let interpolation = if signal.hold { Interpolation::Hold } else { Interpolation::Linear };
        let (gain, offset) = (signal.factor, signal.offset);
        let column = ColumnSignal { interpolation, gain, offset, ..ColumnSignal::new(signal.column.clone()) };
        draft.drive_by_file(&to, &whole(&signal.file), &column, provenance);
    }
    draft
}

fn add_component(component: &Component, draft: &mut Draft) {
    let provenance = draft.provenance(component.place.clone());
    let interface = match component.implementation {
        Implementation::Any => None,
        Implementation::CoSimulation => Some(FmuInterface::CoSimulation),
        Implementation::ModelExchange => Some(FmuInterface::ModelExchange),
    };
    let set = component.set.iter().map(|set| {
        let values = match &set.value {
            Value::Real(values) => Values::Float64(values.clone()),
            Value::Integer(values) => Values::Int64(values.clone()),
            Value::Boolean(values) => Values::Boolean(values.clone()),
            Value::Text(values) => Values::String(values.clone()),
        };
        (set.name.clone(), values, draft.provenance(set.place.clone()))
    });
    let set = set.collect();
    // Relative to the folder of the structure there, to ours here.
    let file = whole(&component.file);
    draft.add_fmu(FmuEntry { name: component.name.clone(), file, interface, set, provenance });
    for (key, text) in &component.settings {
        draft.set_toml(&["fmu", &component.name, key], text, provenance);
    }
}

/// What an import made.
pub struct Imported {
    /// The project file.
    pub file: PathBuf,
    /// The system as it was read.
    pub flat: Flat,
}

/// Writes a system structure as a project folder: `system.toml`, the FMUs and other files. Everything that
/// was not kept is among the notes. With `outside`, its files may lie anywhere.
pub fn import(path: &Path, folder: &Path, outside: bool) -> Result<Imported, Error> {
    let unpacked = temporary_folder()?;
    let Some(format) = Format::of(path) else {
        // A file that is not there is said to be so by whoever opens it.
        std::fs::metadata(path).map_err(|cause| unreadable(path, &cause))?;
        let message = format!("`{}` is not a system of a format that is known", path.display());
        let error = Error::new(Code::FileNotReadable, message);
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fmu")) {
            let file = path.display();
            return Err(error.because("it is an FMU, a part of a system").hint(format!(
                "`costep new rig {file}` makes a project of FMUs, `costep run {file}` runs it alone"
            )));
        }
        return Err(
            error.hint("known: .ssp, .ssd, OspSystemStructure.xml, .msim of MasterSim, multi-models in JSON")
        );
    };
    let mut flat = costep_import::open(path, format, unpacked.path(), reach(path, outside))?;
    let proposed = complete_times(&mut flat, &[]);
    remark_on_links(&mut flat);
    let file = folder.join("system.toml");
    if file.exists() {
        let message = format!("`{}` exists already", file.display());
        return Err(Error::new(Code::FileNotReadable, message)
            .in_file(&file)
            .hint("choose another folder with `--out`"));
    }
    refuse_folder_of_run(folder)?;
    fs::create_dir_all(folder).map_err(|cause| unwritable(folder, &cause))?;
    let signals = flat.signals.iter().map(|signal| signal.file.as_path());
    let files = flat.components.iter().map(|component| component.file.as_path()).chain(signals);
    let copies = copy_files(files, folder, "")?;
    let mut text = String::new();
    for note in &flat.notes {
        text += &format!("# {}\n", note.to_string().replace(['\n', '\r'], " "));
    }
    text.extend(
        proposed.map(|warning| format!("# {}\n", warning.details().message.replace(['\n', '\r'], " "))),
    );
    text += &flat.to_toml(|path| copies.get(path).cloned().unwrap_or_default());
    fs::write(&file, text).map_err(|cause| unwritable(&file, &cause))?;
    Ok(Imported { file, flat })
}

/// A project beside the recording of another one would make that look like its own.
fn refuse_folder_of_run(folder: &Path) -> Result<(), Error> {
    const FILES_OF_A_RUN: [&str; 2] = ["run.toml", "results.arrows"];
    match FILES_OF_A_RUN.iter().map(|name| folder.join(name)).find(|file| file.exists()) {
        None => Ok(()),
        Some(file) => Err(Error::new(Code::Exists, format!("`{}` is the folder of a run", folder.display()))
            .in_file(&file)
            .hint("choose another folder with `--out`")),
    }
}

/// Copies files into `folder/inner` under their own names, made unique. Gives for each the path relative to `folder`.
fn copy_files<'a>(
    files: impl Iterator<Item = &'a Path>,
    folder: &Path,
    inner: &str,
) -> Result<HashMap<PathBuf, String>, Error> {
    let target = folder.join(inner);
    fs::create_dir_all(&target).map_err(|cause| unwritable(&target, &cause))?;
    let mut copies: HashMap<PathBuf, String> = HashMap::new();
    for file in files {
        if copies.contains_key(file) {
            continue;
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ending = file.extension().map_or("fmu".into(), |ending| ending.to_string_lossy());
        let mut name = format!("{stem}.{ending}");
        let mut number = 2;
        while copies.values().any(|taken| taken.rsplit('/').next() == Some(&name)) {
            name = format!("{stem}_{number}.{ending}");
            number += 1;
        }
        let to = target.join(&name);
        // By way of a new file: the old one may be in use by another run.
        let part = target.join(format!(".{name}.{}.part", std::process::id()));
        fs::copy(file, &part)
            .and_then(|_| fs::rename(&part, &to))
            .map_err(|cause| unwritable(&to, &cause))?;
        copies.insert(file.to_owned(), if inner.is_empty() { name } else { format!("{inner}/{name}") });
    }
    Ok(copies)
}

fn unreadable(path: &Path, cause: &io::Error) -> Error {
    if cause.kind() == io::ErrorKind::NotFound {
        return costep_fmu_file::not_there(path);
    }
    Error::new(Code::FileNotReadable, format!("`{}` cannot be read", path.display())).because(cause)
}

fn unwritable(path: &Path, cause: &io::Error) -> Error {
    Error::new(Code::FileNotReadable, format!("cannot write `{}`", path.display()))
        .in_file(path)
        .because(cause)
}

impl Project {
    /// Whether it was read from a system structure.
    pub fn is_ssp(&self) -> bool {
        self.origin.unpacked.is_some()
    }

    /// Copies FMUs that are unpacked for the life of this project into the folder of a run, so that the run can be
    /// resumed later.
    pub fn keep_fmus_in(&mut self, folder: &Path) -> Result<(), Error> {
        let Some(unpacked) = self.origin.unpacked.clone() else { return Ok(()) };
        let root = whole(unpacked.path());
        let ours =
            self.given.fmus.iter().map(|fmu| fmu.path.as_path()).filter(|path| path.starts_with(&root));
        let ours: Vec<PathBuf> = ours.map(Path::to_path_buf).collect();
        if ours.is_empty() {
            return Ok(());
        }
        let copies = copy_files(ours.iter().map(PathBuf::as_path), folder, FMU_FOLDER)?;
        for fmu in &mut self.given.fmus {
            if let Some(copy) = copies.get(&fmu.path) {
                fmu.path = folder.join(copy);
                fmu.file = copy.into();
            }
        }
        Ok(())
    }

    /// Writes the project as an .ssp. Everything that SSP cannot express is reported at once.
    pub fn write_ssp(&self, path: &Path) -> Result<(), Vec<Error>> {
        costep_ssp::write(&self.to_flat()?, path)
    }

    /// The project as a flat system; made from its written form, so that no setting is forgotten.
    fn to_flat(&self) -> Result<Flat, Vec<Error>> {
        self.refuse_other_parts()?;
        let bug = |what: &str| vec![Error::new(Code::Bug, format!("the project is written without {what}"))];
        // A package has no place for other files: their values are written out.
        let mut whole = self.clone();
        whole.given.externals.iter_mut().for_each(|external| external.file = None);
        let mut table: toml::Table = whole.to_toml().parse().map_err(|_| bug("being TOML"))?;
        let mut fmus = take_table(&mut table, "fmu").ok_or_else(|| bug("its FMUs"))?;
        let mut components = Vec::new();
        for spec in &self.given.fmus {
            let mut own = take_table(&mut fmus, &spec.name).ok_or_else(|| bug(&spec.name))?;
            own.remove("file");
            own.remove("set");
            own.remove("interface");
            components.push(Component {
                name: spec.name.clone(),
                file: spec.path.clone(),
                implementation: match (spec.interface_given, spec.interface) {
                    (false, _) => Implementation::Any,
                    (true, FmuInterface::CoSimulation) => Implementation::CoSimulation,
                    (true, FmuInterface::ModelExchange) => Implementation::ModelExchange,
                },
                set: spec.set.iter().map(set_value).collect(),
                settings: inline(own),
                place: Place::Nowhere,
            });
        }
        let connections = match table.remove("connect") {
            Some(toml::Value::Array(connections)) => connections,
            _ => Vec::new(),
        };
        let index: HashMap<&str, usize> = components
            .iter()
            .enumerate()
            .map(|(index, component)| (component.name.as_str(), index))
            .collect();
        let links = connections.into_iter().map(|connection| link(connection, &index));
        let links = links.collect::<Option<_>>().ok_or_else(|| bug("a connection"))?;
        let mut settings = Vec::new();
        if let Some(solver) = take_table(&mut table, "system").and_then(|mut system| system.remove("solver"))
        {
            settings.push(("system.solver".into(), solver.to_string()));
        }
        settings.extend(inline(table));
        let experiment = &self.model.experiment;
        Ok(Flat {
            name: self.name.clone(),
            format: "SSP",
            version: String::new(),
            start: Some(experiment.start),
            stop: Some(experiment.stop),
            components,
            links,
            signals: Vec::new(),
            settings,
            places: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Components of an SSP are files; equations of costep are not.
    fn refuse_other_parts(&self) -> Result<(), Vec<Error>> {
        let count = self.model.parts.len() - self.given.fmus.len();
        let names = self.model.parts.iter().take(count).map(|part| part.description().name.clone());
        let refuse = |name: String| {
            Error::new(
                Code::SspUnsupported,
                format!("the part `{name}` is no FMU, and an SSP consists of FMUs"),
            )
            .hint("export the model as FMUs and use them in its place")
        };
        let errors: Vec<Error> = names.map(refuse).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

fn take_table(table: &mut toml::Table, key: &str) -> Option<toml::Table> {
    match table.remove(key) {
        Some(toml::Value::Table(inner)) => Some(inner),
        _ => None,
    }
}

/// Keys and values on one line each; empty tables say nothing.
fn inline(table: toml::Table) -> Vec<(String, String)> {
    let says = |value: &toml::Value| !value.as_table().is_some_and(toml::Table::is_empty);
    table.into_iter().filter(|(_, value)| says(value)).map(|(key, value)| (key, value.to_string())).collect()
}

fn set_value((name, values): &(String, Values)) -> SetValue {
    let value = match values {
        Values::Boolean(values) => Value::Boolean(values.clone()),
        Values::String(values) => Value::Text(values.clone()),
        Values::Binary(values) => {
            let digits = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Value::Text(values.iter().map(digits).collect())
        }
        Values::Int64(values) => Value::Integer(values.clone()),
        numbers => Value::Real((0..numbers.len()).filter_map(|index| numbers.number(index)).collect()),
    };
    SetValue { name: name.clone(), value, place: Place::Nowhere }
}

fn link(connection: toml::Value, components: &HashMap<&str, usize>) -> Option<Link> {
    let toml::Value::Table(mut table) = connection else { return None };
    let mut end = |key: &str| {
        let text = table.remove(key)?.as_str()?.to_owned();
        let (part, port) = split_signal(&text)?;
        Some((*components.get(part)?, port.to_owned()))
    };
    let (from, to) = (end("from")?, end("to")?);
    let mut number = |key: &str, default: f64| match table.remove(key) {
        Some(value) => value.as_float().or(value.as_integer().map(|value| value as f64)),
        None => Some(default),
    };
    let (factor, offset) = (number("gain", 1.0)?, number("offset", 0.0)?);
    let map = take_table(&mut table, "map").unwrap_or_default();
    let entry = |(source, target): (String, toml::Value)| Some((source.parse().ok()?, target.as_integer()?));
    let map = map.into_iter().map(entry).collect::<Option<_>>()?;
    Some(Link { from, to, factor, offset, remark: None, map, settings: inline(table), place: Place::Nowhere })
}
