//! FMU files: each is opened once per project and its library loaded once, when the first subsystem is made.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use costep_core::{Error, Result};
use costep_fmi::{FmuLibrary, model_identifier};
#[cfg(target_os = "linux")]
use costep_fmu_file::Unpacked;
use costep_fmu_file::{Finding, Fmu, ModelDescription, Use};

use crate::fmus::{Isolation, whole};

/// An FMU file that was read, shared by all parts that are instances of it.
pub(crate) struct FmuFile {
    /// Where it is, from the root.
    pub(crate) path: PathBuf,
    /// What it says about itself.
    pub(crate) description: ModelDescription,
    /// What is wrong with it by the rules of FMI.
    pub(crate) findings: Vec<Finding>,
    /// Whether it is Python code inside, which the interpreter of the process would run.
    pub(crate) carries_python: bool,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    fmu: Fmu,
    /// Whether there is a binary that can be loaded, by model identifier: many instances ask for the same one.
    checked: HashMap<String, Result<()>>,
    /// For each use that was asked for.
    libraries: Vec<Arc<FmuLibrary>>,
}

/// Whether there is Python code inside, which the interpreter of the process would run.
pub(crate) fn carries_python(fmu: &Fmu) -> bool {
    let mut entries = fmu.archive().entries();
    entries.any(|entry| entry.name.starts_with("resources/") && entry.name.ends_with(".py"))
}

impl FmuFile {
    fn open(path: &Path) -> Result<Self> {
        let fmu = Fmu::open(path)?;
        let (description, findings) = (fmu.description().clone(), fmu.validate());
        let carries_python = carries_python(&fmu);
        let loaded = Mutex::new(Loaded { fmu, checked: HashMap::new(), libraries: Vec::new() });
        Ok(Self { path: whole(path), description, findings, carries_python, loaded })
    }

    /// An error if it has no binary for this platform, or one that cannot be loaded by what its header says.
    pub(crate) fn check_binary(&self, identifier: &str) -> Result<()> {
        let Loaded { fmu, checked, .. } = &mut *self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        match checked.get(identifier) {
            Some(known) => known.clone(),
            None => checked.entry(identifier.into()).or_insert(fmu.check_library(identifier)).clone(),
        }
    }

    /// Whether all its instances run in processes of their own: because they are to, or, where processes can be had,
    /// because of its Python code.
    pub(crate) fn is_isolated(&self, isolation: Isolation) -> bool {
        match isolation {
            Isolation::Process | Isolation::Sandbox => true,
            Isolation::Auto => self.carries_python && has_workers(),
            Isolation::None => false,
        }
    }

    /// Whether the next instance runs in a process of its own: because it is to, or because the one instance that this
    /// process may have is there.
    #[cfg(target_os = "linux")]
    pub(crate) fn needs_process(
        &self,
        isolation: Isolation,
        usage: Use,
        step_timeout: Option<Duration>,
    ) -> Result<bool> {
        if self.is_isolated(isolation) {
            return Ok(true);
        }
        let is_taken = self.library(usage, step_timeout)?.is_taken();
        Ok(is_taken && has_workers())
    }

    /// Elsewhere there is one process, and nothing else can be asked for.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn needs_process(
        &self,
        isolation: Isolation,
        _usage: Use,
        _step_timeout: Option<Duration>,
    ) -> Result<bool> {
        match isolation {
            Isolation::Auto | Isolation::None => Ok(false),
            Isolation::Process | Isolation::Sandbox => Err(Error::new(
                costep_core::Code::NeedsMissing,
                "FMUs can run in their own process on Linux only",
            )),
        }
    }

    /// Its library for one use. The first call unpacks and loads it, within the time that a call of that instance may take.
    pub(crate) fn library(&self, usage: Use, step_timeout: Option<Duration>) -> Result<Arc<FmuLibrary>> {
        let loaded = &mut *self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = loaded.libraries.iter().find(|library| library.usage() == usage) {
            return Ok(Arc::clone(library));
        }
        let fmu = &mut loaded.fmu;
        let unpacked = fmu.unpack(&model_identifier(fmu, usage)?)?;
        let library = FmuLibrary::load_unpacked(fmu, usage, unpacked, step_timeout)?;
        loaded.libraries.push(Arc::clone(&library));
        Ok(library)
    }

    /// Unpacked once more, for a process that is not this one.
    #[cfg(target_os = "linux")]
    pub(crate) fn unpacked(&self, usage: Use) -> Result<Arc<Unpacked>> {
        let fmu = &mut self.loaded.lock().unwrap_or_else(PoisonError::into_inner).fmu;
        let identifier = model_identifier(fmu, usage)?;
        fmu.unpack(&identifier).map(Arc::new)
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn has_workers() -> bool {
    costep_supervise::worker_program().is_some()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_workers() -> bool {
    false
}

/// The files opened so far, so that two instances of a file share it.
#[derive(Default)]
pub(crate) struct Opened {
    /// By their real paths, which take a while to find out, and by the paths that led to them.
    files: HashMap<PathBuf, Result<Arc<FmuFile>, Error>>,
    by_path: HashMap<PathBuf, Result<Arc<FmuFile>, Error>>,
    /// The paths that the project names.
    named: HashSet<PathBuf>,
}

impl Opened {
    /// Nothing is opened yet; the project names these files.
    pub(crate) fn naming(files: impl Iterator<Item = PathBuf>) -> Self {
        Self { named: files.collect(), ..Self::default() }
    }

    /// Whether a part of the project is of this file.
    pub(crate) fn is_used(&self, path: &Path) -> bool {
        self.named.contains(path)
    }

    /// Opens a file, or finds it among those opened before. Nothing if there is no such file.
    pub(crate) fn open(&mut self, path: &Path) -> Option<Result<Arc<FmuFile>>> {
        if let Some(known) = self.by_path.get(path) {
            return Some(known.clone());
        }
        if !path.is_file() {
            return None;
        }
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let file = self.files.entry(real).or_insert_with(|| FmuFile::open(path).map(Arc::new)).clone();
        self.by_path.insert(path.into(), file.clone());
        Some(file)
    }
}
