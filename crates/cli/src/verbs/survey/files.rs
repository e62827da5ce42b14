//! The files of a folder that are FMUs or systems.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};
use costep_fmu_file::{Fmu, ModelDescription};
use costep_import::Format;

/// How many folders deep files are looked for.
const DEEPEST: usize = 32;

/// A file to try, with one interface of it.
pub(super) struct Subject {
    pub(super) path: PathBuf,
    /// Its path below the folder.
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// What it is.
pub(super) enum Kind {
    /// An FMU for Co-Simulation or Model Exchange.
    Fmu { interface: Interface, description: Box<ModelDescription> },
    /// An FMU that cannot be opened.
    Unreadable(Error),
    /// A system of this format.
    System(Format),
}

/// An interface of an FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    CoSimulation,
    ModelExchange,
}

impl Interface {
    /// As projects write it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::CoSimulation => "cs",
            Self::ModelExchange => "me",
        }
    }
}

impl Subject {
    /// What it is, for people.
    pub(super) fn kind(&self) -> String {
        match &self.kind {
            Kind::Fmu { interface, description } => {
                format!("{} {}", description.fmi_version, interface.key().to_uppercase())
            }
            Kind::Unreadable(_) => "FMU".into(),
            Kind::System(Format::Ssp) => "SSP".into(),
            Kind::System(Format::Osp) => "OSP".into(),
            Kind::System(Format::MasterSim) => "MasterSim".into(),
            Kind::System(Format::MultiModel) => "multi-model".into(),
        }
    }
}

/// All files below a folder that are worth a try, sorted; a file alone is one of these.
pub(super) fn find(root: &Path) -> Result<Vec<Subject>> {
    let mut paths = Vec::new();
    if root.is_dir() {
        list(root)?;
        collect(root, DEEPEST, &mut paths);
    } else {
        paths.push(root.to_path_buf());
    }
    paths.sort();
    Ok(paths.iter().flat_map(|path| subjects(path, root)).collect())
}

fn list(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    entries
        .map_err(|cause| Error::new(Code::FileNotReadable, "cannot be listed").in_file(folder).because(cause))
}

/// Folders below that may not be looked into are left out.
fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    for entry in list(folder).unwrap_or_default() {
        // Links are not followed: they may lead in circles.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&entry.path(), depth - 1, paths),
            Ok(kind) if kind.is_file() => paths.push(entry.path()),
            _ => {}
        }
    }
}

fn subjects(path: &Path, root: &Path) -> Vec<Subject> {
    let name = path.strip_prefix(root).ok().filter(|name| !name.as_os_str().is_empty());
    let name = name.unwrap_or(path).display().to_string();
    let subject = |kind| Subject { path: path.into(), name: name.clone(), kind };
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fmu")) {
        return match Fmu::open(path) {
            Ok(fmu) => interfaces(fmu.description()).map(subject).collect(),
            Err(error) => vec![subject(Kind::Unreadable(error))],
        };
    }
    system(path).map(|format| subject(Kind::System(format))).into_iter().collect()
}

fn interfaces(description: &ModelDescription) -> impl Iterator<Item = Kind> {
    let has = [
        (Interface::CoSimulation, description.co_simulation.is_some()),
        (Interface::ModelExchange, description.model_exchange.is_some()),
    ];
    let kind = |(interface, _)| Kind::Fmu { interface, description: Box::new(description.clone()) };
    has.into_iter().filter(|(_, has)| *has).map(kind)
}

/// The format of a file that is a system. Text in braces may be anything: multi-models name FMUs.
fn system(path: &Path) -> Option<Format> {
    const ENDINGS: [&str; 5] = ["ssp", "ssd", "msim", "xml", "json"];
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let format = Format::of(path).filter(|_| ENDINGS.contains(&ending.as_str()))?;
    let is_one = format != Format::MultiModel || ending == "json" && names_fmus(path);
    is_one.then_some(format)
}

fn names_fmus(path: &Path) -> bool {
    // Those of systems are small.
    const MOST: u64 = 4 << 20;
    let mut text = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut text));
    read.is_ok() && String::from_utf8_lossy(&text).contains("\"fmus\"")
}
