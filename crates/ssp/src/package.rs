//! Where files come from: an archive, an archive inside of an archive, or the folder of an .ssd file.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use costep_core::suggest::nearest;
use costep_core::{Code, Error, Result};
use costep_fmu_file::{Archive, Fmu, Limits};

use crate::uri::Reach;

/// Largest document and largest archive inside of an archive, in bytes.
const MAX_DOCUMENT: u64 = 256 << 20;
const MAX_NESTED: u64 = 1 << 30;

/// A file of a package: (number of the package, path inside).
pub(crate) type Location = (usize, String);

enum Files {
    Archive(Box<Archive>),
    Folder(PathBuf),
}

struct Package {
    files: Files,
    /// For messages.
    path: PathBuf,
}

/// All packages of one system, the outermost first.
pub(crate) struct Packages {
    packages: Vec<Package>,
    /// Archives that were opened as files of others.
    nested: HashMap<Location, usize>,
    limits: Limits,
    /// Folder for FMUs that come out of archives.
    unpacked: PathBuf,
    fmus: HashMap<Location, PathBuf>,
    reach: Reach,
}

impl Packages {
    /// Opens an .ssp, or the folder of an .ssd. Returns the path of the root document inside.
    pub(crate) fn open(path: &Path, unpacked: &Path, reach: Reach) -> Result<(Self, String)> {
        let limits = Limits { document: MAX_DOCUMENT, list: 4_000_000, ..Limits::default() };
        let (files, root) = if is_description(path) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (Files::Folder(path.parent().unwrap_or(Path::new("")).to_owned()), name)
        } else {
            let archive = Archive::open_with(path, limits.clone())?;
            (Files::Archive(Box::new(archive)), DEFAULT_DOCUMENT.to_owned())
        };
        let shown = match &files {
            Files::Archive(_) => path.to_owned(),
            Files::Folder(folder) => folder.clone(),
        };
        let packages = vec![Package { files, path: shown }];
        let unpacked = unpacked.to_owned();
        Ok((Self { packages, nested: HashMap::new(), limits, unpacked, fmus: HashMap::new(), reach }, root))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The path of a file for messages.
    pub(crate) fn shown(&self, (package, path): &Location) -> Arc<str> {
        self.packages[*package].path.join(path).to_string_lossy().into()
    }

    /// Whether references from a package may leave it by `..`.
    pub(crate) fn may_leave(&self, package: usize) -> bool {
        matches!(self.packages[package].files, Files::Folder(_))
    }

    /// An error if a file of a folder lies where no reference may lead.
    fn check_reach(&self, location: &Location) -> Result<()> {
        match &self.packages[location.0].files {
            Files::Folder(folder) if location.1.starts_with("../") => {
                self.reach.check(&folder.join(&location.1))
            }
            _ => Ok(()),
        }
    }

    /// Other documents at the root of a package.
    pub(crate) fn variants(&self, package: usize) -> Vec<String> {
        let Files::Archive(archive) = &self.packages[package].files else { return Vec::new() };
        let is_other = |name: &&str| {
            !name.contains('/') && name.to_ascii_lowercase().ends_with(".ssd") && *name != DEFAULT_DOCUMENT
        };
        archive.entries().map(|entry| entry.name).filter(is_other).map(str::to_owned).collect()
    }

    /// What is unusual about an archive and does no harm, if something is.
    pub(crate) fn remark(&self, package: usize) -> Option<String> {
        let Files::Archive(archive) = &self.packages[package].files else { return None };
        archive.remark()
    }

    /// A place where a document lies that should be at the root.
    pub(crate) fn misplaced(&self, package: usize) -> Option<String> {
        let Files::Archive(archive) = &self.packages[package].files else { return None };
        let suffix = format!("/{DEFAULT_DOCUMENT}");
        archive.entries().find(|entry| entry.name.ends_with(&suffix)).map(|entry| entry.name.to_owned())
    }

    /// The file of a package that this path, of another machine, ends in.
    pub(crate) fn at_end_of(&self, (package, path): &Location) -> Option<String> {
        let is_there = |end: &&str| match &self.packages[*package].files {
            Files::Archive(archive) => archive.entries().any(|entry| entry.name == *end),
            Files::Folder(folder) => folder.join(end).is_file(),
        };
        let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        ends.into_iter().find(is_there).map(str::to_owned)
    }

    /// A file of a package with the name that this path ends in.
    pub(crate) fn elsewhere(&self, (package, path): &Location) -> Option<String> {
        let name = path.rsplit('/').next()?;
        let is_it = |other: &str| other.rsplit('/').next() == Some(name) && other != path;
        match &self.packages[*package].files {
            Files::Archive(archive) => {
                archive.entries().find(|entry| is_it(entry.name)).map(|entry| entry.name.to_owned())
            }
            Files::Folder(folder) => {
                let places = [name.to_owned(), format!("resources/{name}")];
                places.into_iter().find(|place| is_it(place) && folder.join(place).is_file())
            }
        }
    }

    /// The FMU of a package whose name is nearest to this.
    pub(crate) fn nearest(&self, (package, path): &Location) -> Option<String> {
        const LOOKED_AT: usize = 1000;
        let is_fmu = |name: &String| name.ends_with(".fmu");
        let names: Vec<String> = match &self.packages[*package].files {
            Files::Archive(archive) => {
                archive.entries().map(|entry| entry.name.to_owned()).filter(is_fmu).take(LOOKED_AT).collect()
            }
            Files::Folder(folder) => {
                let inner = path.rsplit_once('/').map_or("", |(inner, _)| inner);
                let files = fs::read_dir(folder.join(inner)).into_iter().flatten().flatten().take(LOOKED_AT);
                let names = files.filter_map(|file| file.file_name().into_string().ok()).filter(is_fmu);
                names.map(|name| if inner.is_empty() { name } else { format!("{inner}/{name}") }).collect()
            }
        };
        nearest(path, &names.iter().map(String::as_str).collect::<Vec<_>>()).map(str::to_owned)
    }

    /// A system structure under another name than that of the standard, if there is one.
    pub(crate) fn renamed(&self, package: usize) -> Option<String> {
        let Files::Archive(archive) = &self.packages[package].files else { return None };
        archive.entries().find(|entry| entry.name.ends_with(".ssd")).map(|entry| entry.name.to_owned())
    }

    /// The bytes of a document, if it exists.
    pub(crate) fn read(&mut self, location: &Location) -> Result<Option<Vec<u8>>> {
        self.check_reach(location)?;
        let (package, path) = location;
        match &mut self.packages[*package].files {
            Files::Archive(archive) => archive.read(path, MAX_DOCUMENT),
            Files::Folder(folder) => read_file(&folder.join(path)),
        }
    }

    /// A document inside of an FMU, if it exists.
    pub(crate) fn read_in_fmu(&mut self, fmu: &Location, path: &str) -> Result<Option<Vec<u8>>> {
        match self.fmu(fmu)? {
            Some(file) => Archive::open_with(file, self.limits.clone())?.read(path, MAX_DOCUMENT),
            None => Ok(None),
        }
    }

    /// The package that is a file of another one, if it exists.
    pub(crate) fn enter(&mut self, location: &Location) -> Result<Option<usize>> {
        if let Some(known) = self.nested.get(location) {
            return Ok(Some(*known));
        }
        self.check_reach(location)?;
        let path = PathBuf::from(&*self.shown(location));
        let archive = match &mut self.packages[location.0].files {
            Files::Folder(_) if !path.is_file() => return Ok(None),
            Files::Folder(_) => Archive::open_with(&path, self.limits.clone())?,
            Files::Archive(outer) => match outer.read(&location.1, MAX_NESTED)? {
                Some(bytes) => Archive::from_bytes(&path, bytes, self.limits.clone())?,
                None => return Ok(None),
            },
        };
        let index = self.packages.len();
        self.packages.push(Package { files: Files::Archive(Box::new(archive)), path });
        self.nested.insert(location.clone(), index);
        Ok(Some(index))
    }

    /// An FMU as a file on disk, if it exists; unpacked once if it is inside of an archive.
    pub(crate) fn fmu(&mut self, location: &Location) -> Result<Option<PathBuf>> {
        if let Some(path) = self.fmus.get(location) {
            return Ok(Some(path.clone()));
        }
        self.check_reach(location)?;
        let (package, path) = location;
        let found = match &mut self.packages[*package].files {
            Files::Folder(folder) => Some(folder.join(path)).filter(|file| file.is_file()),
            Files::Archive(archive) if !archive.contains(path) => None,
            Files::Archive(archive) => {
                let folder = self.unpacked.join(format!("package{package}"));
                archive.extract(&folder, |name| name == path)?;
                Some(folder.join(path))
            }
        };
        if let Some(file) = &found {
            self.fmus.insert(location.clone(), file.clone());
        }
        Ok(found)
    }

    /// Opens an FMU. Errors name it as a part of its package.
    pub(crate) fn open_fmu(&mut self, location: &Location) -> Result<Option<(PathBuf, Fmu)>> {
        let Some(path) = self.fmu(location)? else { return Ok(None) };
        let fmu = Fmu::open(&path)?;
        Ok(Some((path, fmu)))
    }
}

/// Name of the document that every package has.
pub(crate) const DEFAULT_DOCUMENT: &str = "SystemStructure.ssd";

/// Whether a file is a description by itself rather than a package.
fn is_description(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ssd"))
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    let unreadable = |cause: std::io::Error| {
        Error::new(Code::FileNotReadable, format!("cannot read `{}`", path.display()))
            .in_file(path)
            .because(cause)
    };
    // Asked before it is opened: opening a pipe would wait for somebody to write into it.
    match fs::metadata(path) {
        Ok(about) if about.is_file() => {}
        _ => return Ok(None),
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_DOCUMENT + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_DOCUMENT {
        let message = format!("`{}` has more than {} MB", path.display(), MAX_DOCUMENT >> 20);
        return Err(Error::new(Code::ArchiveLimit, message).in_file(path));
    }
    Ok(Some(bytes))
}
