//! How a run is to be done, beyond what belongs to its system.

use std::path::PathBuf;
use std::time::Duration;

use costep::{Cancel, Comparison, Run, Verify};
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
    /// Whether FMUs run in a second process.
    pub(crate) supervise: bool,
}

impl CompareSettings {
    /// As the library has them.
    pub(crate) fn comparison(&self, cancel: &Cancel) -> Comparison {
        let methods = self.methods.iter().map(String::as_str);
        methods
            .fold(Comparison::new(), Comparison::method)
            .steps(&self.steps)
            .reference(&self.reference)
            .cancel(cancel)
    }
}
