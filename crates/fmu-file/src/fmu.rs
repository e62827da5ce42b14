//! An FMU file: its archive and its model description.

use std::io::Read;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};

use crate::archive::{Archive, placed, reading_failed};
use crate::binary::{self, Platform};
use crate::description::interface::Use;
use crate::description::{FmiVersion, ModelDescription};
use crate::elf;
use crate::finding::{Finding, Severity};
use crate::folder::PrivateFolder;
use crate::limits::Limits;
use crate::needs;
use crate::terminals::{self, Terminal};
use crate::text::short;
use crate::validate::validate_fmu;

/// Name of the file every FMU has.
const DESCRIPTION: &str = "modelDescription.xml";

/// An FMU that was opened and understood, but not unpacked.
#[derive(Debug)]
pub struct Fmu {
    archive: Archive,
    description: ModelDescription,
}

/// What to do with a folder that looks like an FMU that was unpacked, if it does.
pub fn unpacked_fmu(folder: &Path) -> Option<String> {
    folder.join("modelDescription.xml").is_file().then(|| {
        "it looks like an FMU that was unpacked: name the .fmu, or zip the contents of the folder into one".into()
    })
}

impl Fmu {
    /// Opens an FMU with the default [`Limits`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Archive::open(path)?)
    }

    /// Opens an FMU.
    pub fn open_with(path: impl AsRef<Path>, limits: Limits) -> Result<Self> {
        Self::new(Archive::open_with(path, limits)?)
    }

    /// Reads the model description of an open archive.
    pub fn new(mut archive: Archive) -> Result<Self> {
        let limits = archive.limits().clone();
        let path = archive.path().to_owned();
        let Some(reader) = archive.reader(DESCRIPTION)? else {
            let nested = archive.entries().find(|entry| entry.name.ends_with("/modelDescription.xml"));
            let inner = archive.entries().find(|entry| entry.name.to_lowercase().ends_with(".fmu"));
            let error =
                Error::new(Code::NoModelDescription, "the FMU has no modelDescription.xml").in_file(&path);
            if let Some(inner) = inner {
                let name = short(inner.name);
                return Err(error
                    .because(format!("it is an archive with an FMU inside, `{name}`"))
                    .hint(format!("unpack it once, `unzip {}`, and give `{name}`", path.display())));
            }
            return Err(match nested {
                Some(entry) => error
                    .because(format!("there is one at `{}`", entry.name))
                    .hint("zip the contents of the folder, not the folder"),
                None => error,
            });
        };
        let description = ModelDescription::read(reader, &path.join(DESCRIPTION), &limits)
            .map_err(|error| placed(error, &path))?;
        Ok(Self { archive, description })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.archive.path()
    }

    /// What it says about itself.
    pub fn description(&self) -> &ModelDescription {
        &self.description
    }

    /// What it says about itself, without the file.
    pub fn into_description(self) -> ModelDescription {
        self.description
    }

    /// Its files.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Variables that are connected as one; none if it has no file of them. An error if that file cannot be read.
    pub fn terminals(&mut self) -> Result<Vec<Terminal>> {
        terminals::read(&mut self.archive)
    }

    /// Everything that is wrong with description and files.
    pub fn validate(&self) -> Vec<Finding> {
        validate_fmu(&self.description, &self.archive)
    }

    /// The platforms it has binaries for.
    pub fn platforms(&self) -> Vec<Platform> {
        binary::platforms(&self.archive)
    }

    /// The entry of the shared library with this model identifier for this platform.
    pub fn library(&self, identifier: &str) -> Result<String> {
        binary::library(&self.archive, self.description.fmi_version, identifier)
    }

    /// An error if it has no library with this model identifier that this platform could load, by the header of the
    /// file: nothing of it is executed.
    pub fn check_library(&mut self, identifier: &str) -> Result<()> {
        let entry = self.library(identifier)?;
        let size = self.archive.entries().find(|other| other.name == entry).map_or(0, |entry| entry.size);
        let mut start = Vec::new();
        if let Some(reader) = self.archive.reader(&entry)? {
            let read = reader.take(elf::LOOKED_AT).read_to_end(&mut start);
            read.map_err(|cause| reading_failed(self.archive.path(), &cause))?;
        }
        let Some(fault) = elf::fault(&start, size) else { return Ok(()) };
        Err(Error::new(Code::FmuNotLoaded, format!("`{entry}` cannot be loaded on this platform"))
            .in_file(self.archive.path())
            .because(fault)
            .hint("export the FMU again, for this platform"))
    }

    /// Libraries that the one with this model identifier needs, and that the loader of this machine would not find. Nothing is
    /// loaded.
    pub fn missing_libraries(&mut self, identifier: &str) -> Result<Vec<String>> {
        let entry = self.library(identifier)?;
        let mut bytes = Vec::new();
        if let Some(reader) = self.archive.reader(&entry)? {
            let read = reader.take(MOST_LIBRARY).read_to_end(&mut bytes);
            read.map_err(|cause| reading_failed(self.archive.path(), &cause))?;
        }
        let folder = entry.rfind('/').map_or("", |end| &entry[..=end]);
        Ok(needs::not_found(&bytes, folder, |name| self.archive.contains(name)))
    }

    /// What is wrong with its libraries for this platform, by their headers and tables of symbols: nothing is executed.
    /// Says nothing about interfaces without a library for this platform. `required` names the functions that
    /// whoever calls an FMU of this version needs for this use, without the name of the model in FMI 1.
    pub fn validate_libraries(
        &mut self,
        required: impl Fn(FmiVersion, Use) -> Vec<&'static str>,
    ) -> Result<Vec<Finding>> {
        let version = self.description.fmi_version;
        let uses = [
            (self.description.co_simulation.as_ref().map(|kind| &kind.interface), Use::CoSimulation),
            (self.description.model_exchange.as_ref().map(|kind| &kind.interface), Use::ModelExchange),
        ];
        let wanted: Vec<(String, Use, String)> = uses
            .into_iter()
            .filter_map(|(interface, usage)| {
                let identifier = &interface?.model_identifier;
                // In FMI 1 names of functions begin with that of the model.
                let prefix = if version == FmiVersion::V1 { format!("{identifier}_") } else { String::new() };
                Some((self.library(identifier).ok()?, usage, prefix))
            })
            .collect();
        let mut findings: Vec<Finding> = Vec::new();
        for (entry, usage, prefix) in wanted {
            let mut bytes = Vec::new();
            if let Some(reader) = self.archive.reader(&entry)? {
                let read = reader.take(MOST_LIBRARY).read_to_end(&mut bytes);
                read.map_err(|cause| reading_failed(self.archive.path(), &cause))?;
            }
            let names: Vec<String> =
                required(version, usage).iter().map(|name| format!("{prefix}{name}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let finding = library_finding(&entry, &bytes, &names);
            findings.extend(finding.filter(|finding| !findings.contains(finding)));
        }
        Ok(findings)
    }

    /// Unpacks what is needed to run it - model description, resources and the binaries of this platform -
    /// into a temporary folder. `identifier` is that of the interface to be used; an error if there is no
    /// library for it.
    pub fn unpack(&mut self, identifier: &str) -> Result<Unpacked> {
        self.unpack_in(identifier, None)
    }

    /// The same with the temporary folder inside of another one, if there is one.
    pub fn unpack_in(&mut self, identifier: &str, parent: Option<&Path>) -> Result<Unpacked> {
        let library = self.library(identifier)?;
        let folder = parent.map_or_else(PrivateFolder::new, PrivateFolder::new_in).map_err(|cause| {
            let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
            let message = format!("cannot create a temporary folder for an FMU in `{}`", parent.display());
            Error::new(Code::FileNotReadable, message).in_file(self.archive.path()).because(cause)
        })?;
        let binaries = library.rsplit_once('/').map_or("", |(binaries, _)| binaries);
        let wanted = |name: &str| {
            name == DESCRIPTION
                || name.strip_prefix("resources").is_some_and(|rest| rest.starts_with('/'))
                || name.strip_prefix(binaries).is_some_and(|rest| rest.starts_with('/'))
        };
        self.archive.extract(folder.path(), wanted)?;
        let library = folder.path().join(library);
        Ok(Unpacked { folder: Folder::Own(folder), library })
    }

    /// The same that somebody else has unpacked, and will remove.
    pub fn unpacked_by_others(&self, identifier: &str, folder: &Path) -> Result<Unpacked> {
        let library = folder.join(self.library(identifier)?);
        Ok(Unpacked { folder: Folder::OfOthers(folder.into()), library })
    }
}

/// Larger libraries are not looked at.
const MOST_LIBRARY: u64 = 1 << 28;

fn library_finding(entry: &str, bytes: &[u8], required: &[&str]) -> Option<Finding> {
    let finding = |severity, code, message| Some(Finding { severity, code, message, line: None });
    if bytes.len() as u64 == MOST_LIBRARY {
        return None;
    }
    if let Some(fault) = elf::fault(bytes, bytes.len() as u64) {
        let message = format!("`{entry}` cannot be loaded on this platform: {fault}");
        return finding(Severity::Error, Code::FmuNotLoaded, message);
    }
    let missing = elf::missing(bytes, required)?;
    if missing.is_empty() {
        return None;
    }
    // A library beside it may have them.
    let message = format!("`{entry}` does not offer {}", short(&missing.join(", ")));
    finding(Severity::Warning, Code::FmuSymbol, message)
}

/// An FMU in a temporary folder, which is removed with this value if it was made for it.
#[derive(Debug)]
pub struct Unpacked {
    folder: Folder,
    library: PathBuf,
}

#[derive(Debug)]
enum Folder {
    Own(PrivateFolder),
    OfOthers(PathBuf),
}

impl Unpacked {
    /// The folder it was unpacked to.
    pub fn folder(&self) -> &Path {
        match &self.folder {
            Folder::Own(folder) => folder.path(),
            Folder::OfOthers(folder) => folder,
        }
    }

    /// The shared library.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The folder of its resources, if it has one.
    pub fn resources(&self) -> Option<PathBuf> {
        let folder = self.folder().join("resources");
        folder.is_dir().then_some(folder)
    }
}
