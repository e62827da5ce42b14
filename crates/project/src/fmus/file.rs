//! FMU files: each is opened once per project and its library loaded once, when the first subsystem is made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use costep_core::{Error, Result};
use costep_fmi::{Fmu, FmuLibrary, ModelDescription, Use};

/// An FMU file that was read, shared by all parts that are instances of it.
pub(crate) struct FmuFile {
    /// What it says about itself.
    pub(crate) description: ModelDescription,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    fmu: Fmu,
    /// For each use that was asked for.
    libraries: Vec<Arc<FmuLibrary>>,
}

impl FmuFile {
    fn open(path: &Path) -> Result<Self> {
        let fmu = Fmu::open(path)?;
        let description = fmu.description().clone();
        Ok(Self { description, loaded: Mutex::new(Loaded { fmu, libraries: Vec::new() }) })
    }

    /// An error if it has no binary for this platform.
    pub(crate) fn check_binary(&self, identifier: &str) -> Result<()> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).fmu.library(identifier).map(|_| ())
    }

    /// Its library for one use. The first call unpacks and loads it.
    pub(crate) fn library(&self, usage: Use) -> Result<Arc<FmuLibrary>> {
        let loaded = &mut *self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = loaded.libraries.iter().find(|library| library.usage() == usage) {
            return Ok(Arc::clone(library));
        }
        let library = FmuLibrary::load_for(&mut loaded.fmu, usage)?;
        loaded.libraries.push(Arc::clone(&library));
        Ok(library)
    }
}

/// The files opened so far, by their real path, so that two instances of a file share it.
#[derive(Default)]
pub(crate) struct Opened {
    files: HashMap<PathBuf, Result<Arc<FmuFile>, Error>>,
}

impl Opened {
    /// Opens a file, or finds it among those opened before.
    pub(crate) fn open(&mut self, path: &Path) -> Result<Arc<FmuFile>> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        self.files.entry(real).or_insert_with(|| FmuFile::open(path).map(Arc::new)).clone()
    }
}
