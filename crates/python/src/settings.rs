//! How a run is to be done, beyond what belongs to its system.

use std::path::PathBuf;
use std::time::Duration;

use costep::{Cancel, Comparison, Error, Run, RunFolder, System, Verify};
use serde::{Deserialize, Serialize};

/// Settings of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RunSettings {
    /// What it is measured against.
    pub(crate) reference: String,
    /// Whether a run without a reference may be done a second time; nothing lets costep decide.
    pub(crate) verify: Option<bool>,
    /// Folder of its recording.
    pub(crate) record: Option<PathBuf>,
    /// Wall time in s.
    pub(crate) time_limit: Option<f64>,
    /// Wall time between checkpoints of a recording in s; nothing lets costep decide.
    pub(crate) checkpoint: Option<f64>,
    /// Bytes that a process with FMUs may use.
    pub(crate) memory_limit: Option<u64>,
    /// Whether FMUs run in a second process.
    pub(crate) supervise: bool,
}

impl RunSettings {
    /// As the library has them.
    pub(crate) fn run(&self, cancel: &Cancel) -> Run {
        let verify = match self.verify {
            Some(true) => Verify::Always,
            Some(false) => Verify::Never,
            None => Verify::default(),
        };
        let run =
            Run::new().reference(&self.reference).verify(verify).time_limit(self.time_limit()).cancel(cancel);
        let run = match self.checkpoint.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            Some(interval) => run.checkpoint_every(interval),
            None => run,
        };
        match &self.record {
            Some(folder) => run.record(folder.as_path()),
            None => run,
        }
    }

    /// Wall time that it may take.
    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

/// Which runs are compared.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct CompareSettings {
    /// Methods with options; none stands for all.
    pub(crate) methods: Vec<String>,
    /// Steps in s; none stands for that of the system.
    pub(crate) steps: Vec<f64>,
    /// What they are measured against.
    pub(crate) reference: String,
    /// Whether models were asked for: then some method has to work with them.
    pub(crate) has_models: bool,
    /// Folder for a recording of every run.
    pub(crate) record: Option<PathBuf>,
    /// Whether FMUs run in a second process.
    pub(crate) supervise: bool,
}

impl CompareSettings {
    /// As the library has them.
    pub(crate) fn comparison(&self, system: &System, cancel: &Cancel) -> Result<Comparison, Error> {
        let registry = system.registry();
        let given = self.methods.iter().map(|text| registry.method(text)).collect::<Result<Vec<_>, _>>()?;
        let is_all = given.is_empty();
        let methods = if is_all { Comparison::all_methods(registry)? } else { given };
        let methods = system.with_models(methods, self.has_models)?;
        let comparison = Comparison::new().steps(&self.steps).reference(&self.reference).cancel(cancel);
        let comparison = methods.iter().fold(comparison, Comparison::method);
        let comparison = if is_all { comparison.only_possible() } else { comparison };
        Ok(match &self.record {
            Some(folder) => comparison.record(&RunFolder::lock(folder)?),
            None => comparison,
        })
    }
}
