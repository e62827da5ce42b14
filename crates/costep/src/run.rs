//! How a system is to be run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use costep_core::Result;
use costep_methods::MethodSpec;
use costep_project::Registry;

use crate::cancel::Cancel;
use crate::folder::RunFolder;
use crate::verdict::Verify;

/// Wall time between checkpoints if nothing is said.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// A coupling method: a text such as `predictive:order=3`, read when it is used, or one that was read
/// before.
#[derive(Clone)]
pub enum MethodChoice {
    /// Name and options, to be looked up in the registry of the system.
    Text(String),
    /// Checked already.
    Spec(MethodSpec),
}

impl MethodChoice {
    pub(crate) fn spec(&self, registry: &Registry) -> Result<MethodSpec> {
        match self {
            Self::Text(text) => registry.method(text),
            Self::Spec(spec) => Ok(spec.clone()),
        }
    }
}

impl From<&str> for MethodChoice {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for MethodChoice {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<MethodSpec> for MethodChoice {
    fn from(spec: MethodSpec) -> Self {
        Self::Spec(spec)
    }
}

impl From<&MethodSpec> for MethodChoice {
    fn from(spec: &MethodSpec) -> Self {
        Self::Spec(spec.clone())
    }
}

/// Where a run is recorded.
#[derive(Clone)]
pub enum RecordTo {
    /// A folder, which is made and locked when the run starts.
    Path(PathBuf),
    /// A folder that is locked already.
    Folder(RunFolder),
}

impl RecordTo {
    pub(crate) fn lock(self) -> Result<RunFolder> {
        match self {
            Self::Path(path) => RunFolder::lock(&path),
            Self::Folder(folder) => Ok(folder),
        }
    }
}

impl From<&str> for RecordTo {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}

impl From<&Path> for RecordTo {
    fn from(path: &Path) -> Self {
        Self::Path(path.into())
    }
}

impl From<PathBuf> for RecordTo {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<&RunFolder> for RecordTo {
    fn from(folder: &RunFolder) -> Self {
        Self::Folder(folder.clone())
    }
}

/// Settings of a run. What is not said is what the system says; results are kept in memory, nothing is
/// written.
///
/// ```
/// use costep::{Run, System};
///
/// let run = Run::new().method("predictive").step(5e-3).stop(0.2).reference("same");
/// let outcome = System::open("dual-mass")?.run(run)?;
/// assert!(outcome.report.errors.eps_mono.unwrap() < 0.05);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone)]
pub struct Run {
    pub(crate) method: Option<MethodChoice>,
    pub(crate) step: Option<f64>,
    pub(crate) tolerance: Option<f64>,
    pub(crate) stop: Option<f64>,
    pub(crate) reference: String,
    pub(crate) verify: Verify,
    pub(crate) record: Option<RecordTo>,
    pub(crate) keep_results: bool,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) checkpoint: Duration,
    pub(crate) cancel: Cancel,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            method: None,
            step: None,
            tolerance: None,
            stop: None,
            reference: "auto".into(),
            verify: Verify::default(),
            record: None,
            keep_results: true,
            time_limit: None,
            checkpoint: CHECKPOINT_INTERVAL,
            cancel: Cancel::new(),
        }
    }
}

impl Run {
    /// As the system says.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another coupling method for the inputs that are in no group: `zoh`, `predictive:order=3`, or a
    /// [`MethodSpec`](crate::MethodSpec).
    pub fn method(mut self, method: impl Into<MethodChoice>) -> Self {
        self.method = Some(method.into());
        self
    }

    /// Another macro step in s.
    pub fn step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// Steps that vary, for an error of about this share of the ranges of the signals.
    ///
    /// ```
    /// use costep::{Run, System};
    ///
    /// let outcome = System::open("dual-mass")?.run(Run::new().method("foh").tolerance(1e-3).reference("same"))?;
    /// assert!(outcome.report.errors.eps_mono.unwrap() < 5e-3);
    /// println!("{:?}", outcome.report.work.control_line());
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Another end in s.
    pub fn stop(mut self, stop: f64) -> Self {
        self.stop = Some(stop);
        self
    }

    /// What to measure against, as on the command line: `auto` (the monolithic system where that is
    /// affordable, for the verdict only), `none`, `same` (the monolithic system by the inner solver), a
    /// solver such as `dopri5:1e-10`, or `step`, `step:10us` (the coupled system at a much smaller step).
    pub fn reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = reference.into();
        self
    }

    /// Whether a run without a reference is done a second time at half its step, for its verdict.
    pub fn verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Writes a recording, a copy of the project and checkpoints into a folder, from which
    /// [`Simulation::resume`](crate::Simulation::resume) goes on.
    pub fn record(mut self, folder: impl Into<RecordTo>) -> Self {
        self.record = Some(folder.into());
        self
    }

    /// Keeps no results in memory, for long runs.
    pub fn without_results(mut self) -> Self {
        self.keep_results = false;
        self
    }

    /// Ends the run with an error after this wall time.
    pub fn time_limit(mut self, limit: Option<Duration>) -> Self {
        self.time_limit = limit;
        self
    }

    /// Wall time between two checkpoints of a recorded run; 5 s if nothing is said.
    pub fn checkpoint_every(mut self, interval: Duration) -> Self {
        self.checkpoint = interval;
        self
    }

    /// Ends the run with an error once this is raised.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }
}
