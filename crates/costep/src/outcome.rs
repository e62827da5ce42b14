//! What a run has come to.

use std::path::PathBuf;

use costep_analysis::ReferenceKind;
use costep_core::Error;

use crate::report::{RunReport, Verdict};
use crate::results::Results;

/// The files of a recorded run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Their folder.
    pub folder: PathBuf,
    /// Rows of the recording.
    pub rows: u64,
    /// Time of the last row.
    pub time: f64,
}

/// A run that has ended, in whatever way.
///
/// ```
/// use costep::{Run, System, Verdict};
///
/// let outcome = System::open("dual-mass")?.run(Run::new().reference("same"))?;
/// assert_eq!(outcome.verdict(), Verdict::Stable);
/// println!("{} steps, error {:?}", outcome.report.work.macro_steps, outcome.report.errors.eps_mono);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Verdict, errors, counts, times.
    pub report: RunReport,
    /// All outputs over time, unless they were not to be kept.
    pub results: Option<Results>,
    /// What it was compared with.
    pub reference: Option<ReferenceKind>,
    /// Where it began, in s: later than the start of the system if it was resumed.
    pub from: f64,
    /// The last communication point, in s.
    pub to: f64,
    /// Its files, if it was recorded and they could be closed.
    pub recorded: Option<Recorded>,
    /// Whether it was stopped and can be resumed from its folder.
    pub can_be_resumed: bool,
    /// Why there are no checkpoints, if a part cannot save its state.
    pub no_checkpoints: Option<Error>,
}

impl Outcome {
    /// How it ended.
    pub fn verdict(&self) -> Verdict {
        self.report.verdict
    }

    /// The error that ended it.
    pub fn error(&self) -> Option<&Error> {
        self.report.error.as_ref()
    }
}
