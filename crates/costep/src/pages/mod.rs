//! Pages about runs, comparisons, maps, plans and stability: everything that is known of them in one HTML file ([`Page`]).

mod bohl;
mod compare;
mod doe;
mod map;
mod plan;
mod reproduce;
mod run;
mod shared;
mod signals;
mod stability;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};
use costep_project::Registry;
use costep_report::{Page, Section};
use costep_results::write_file;
use serde_json::Value;

pub use bohl::BohlPage;
pub use compare::{ComparedRun, ComparisonPage};
pub use doe::DoePage;
pub use map::MapPage;
pub use run::RunPage;
pub use signals::{CouplingError, Signal, Signals};
pub use stability::StabilityPage;

use crate::errors::Errors;
use crate::folder::{OUTCOME, RECORDING};
use crate::reference::twin_solver;
use crate::solution::Solution;
use crate::system::System;

/// A recorded run as it lies in its folder.
pub struct RecordedRun {
    /// What it was compared with and what came out: the run object of the JSON contract; null if it did not come to its end.
    pub outcome: Value,
    /// What was recorded.
    pub signals: Signals,
    /// The system, if it can still be opened.
    pub system: Result<System, Errors>,
}

impl RecordedRun {
    /// Reads the folder of a run, or a recording alone.
    ///
    /// ```
    /// let place = std::env::temp_dir().join(format!("costep-page-{}", std::process::id()));
    /// let folder = costep::RunFolder::lock(&place)?;
    /// costep::System::open("dual-mass")?.run(costep::Run::new().record(&folder))?;
    /// let run = costep::RecordedRun::read(&place)?;
    /// assert!(run.page(None).to_html().contains("dual-mass"));
    /// # std::fs::remove_dir_all(place).unwrap();
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn read(path: &Path) -> Result<Self> {
        let (recording, folder) = match path.is_dir() {
            true => (path.join(RECORDING), path.to_path_buf()),
            false => (path.to_path_buf(), path.parent().unwrap_or(Path::new("")).to_path_buf()),
        };
        if path.is_dir() && !recording.exists() {
            let error = Error::new(Code::FileNotReadable, "there is no recording here").in_file(path);
            return Err(error.looked_for(&recording).hint(match path.join("system.toml").is_file() {
                true => format!("`costep run {}` makes one", crate::shell_word(path)),
                false => "`costep run SYSTEM --out DIR` makes one".into(),
            }));
        }
        // What is told of a recording under another name is of another run.
        let own = recording.file_name().is_some_and(|name| name == RECORDING);
        let outcome = own.then(|| read_outcome(&folder)).flatten().unwrap_or_default();
        let header = costep_results::Summary::read(&recording)?;
        let text = header.metadata().get("project").cloned().unwrap_or_default();
        let system = System::from_toml(&text, folder.join("run.toml"), Registry::standard());
        let signals = Signals::read(&recording, system.as_ref().ok())?;
        Ok(Self { outcome, signals, system })
    }

    /// The monolithic solution to set beside it, where that is cheap; with `wanted` whatever it costs, for FMUs the same
    /// system at a much smaller step.
    pub fn solution(&self, wanted: bool) -> Result<Option<Solution>> {
        let Ok(system) = &self.system else { return Ok(None) };
        let Some(signal) = self.signals.outputs.first() else { return Ok(None) };
        if !wanted && twin_solver(system.project()).is_none() {
            return Ok(None);
        }
        let times: Vec<f64> = signal.points.iter().map(|(t, _)| *t).collect();
        let solution = system.solution(&times, f64::INFINITY);
        // One that was not asked for is only missing.
        if wanted { solution.map(Some) } else { Ok(solution.ok()) }
    }

    /// Its page.
    pub fn page(&self, reference: Option<&Solution>) -> Page {
        let outcome = &self.outcome;
        RunPage { system: self.system.as_ref().ok(), outcome, signals: &self.signals, reference, live: None }
            .page()
    }
}

/// What a run has left of itself in its folder.
pub fn read_outcome(folder: &Path) -> Option<Value> {
    // Nothing that costep writes is longer; a page shows what it understands of it.
    const LONGEST: u64 = 20_000_000;
    let file = folder.join(OUTCOME);
    let is_short = file.metadata().is_ok_and(|file| file.is_file() && file.len() <= LONGEST);
    let text = is_short.then(|| std::fs::read_to_string(file).ok()).flatten()?;
    serde_json::from_str(&text).ok().filter(Value::is_object)
}

/// Leaves what is known of a run in its folder, for [`RecordedRun::read`].
pub fn write_outcome(folder: &Path, outcome: &Value) -> Result<()> {
    // An FMU may have put something else there.
    crate::folder::refuse_odd_files(folder)?;
    write_file(&folder.join(OUTCOME), format!("{outcome:#}\n").as_bytes())
}

/// The section of a page that says how to come to it again: the words of a command, versions, files, project.
pub fn how_to_reproduce(system: Option<&System>, command: &Value) -> Section {
    reproduce::section(system, &BTreeMap::new(), command)
}

/// Writes a page; an error for other endings than `.html`.
pub fn write_page(file: &Path, page: &Page) -> Result<()> {
    check_page_file(file)?;
    write_file(file, page.to_html().as_bytes())
}

/// Whether a page can be written under this name: before hours of work, not after them.
pub fn check_page_file(file: &Path) -> Result<()> {
    if file.extension().is_some_and(|ending| ending == "html" || ending == "htm") {
        return Ok(());
    }
    let message = format!("`{}` does not end in .html", file.display());
    Err(Error::new(Code::CommandLine, message).hint(format!("name it `{}`", html_name(file).display())))
}

fn html_name(file: &Path) -> PathBuf {
    file.with_extension("html")
}
