//! `[fmu.NAME]`: parts that are FMUs.
//!
//! `read` checks the table of an FMU; `file` is an FMU file, opened once and loaded once whatever the number of its
//! instances; `part` makes subsystems of it; `value` turns values of the project into values of FMI and back.

mod component;
mod file;
#[cfg(target_os = "linux")]
mod python;
mod read;
mod value;
mod variations;

use std::path::PathBuf;

use costep_fmi::SignalVariations;
use costep_fmu_file::Values;
use costep_integrate::Solver;

#[cfg(target_os = "linux")]
pub use python::python_environment;

pub(crate) use file::{FmuFile, Opened, carries_python, has_workers};
pub(crate) use read::{Fmu, file_in, path_in, read, whole, wired_part};
pub(crate) use value::{find_port, start_of_port, written};

/// Which interface of an FMU is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmuInterface {
    /// Co-Simulation: the FMU brings its solver.
    CoSimulation,
    /// Model Exchange: costep integrates its equations.
    ModelExchange,
}

impl FmuInterface {
    /// The word in project files.
    pub fn word(self) -> &'static str {
        match self {
            Self::CoSimulation => "cs",
            Self::ModelExchange => "me",
        }
    }
}

/// In which process an FMU runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// In a process of its own if it carries Python code, of which one process has room for one FMU; else
    /// with the others.
    #[default]
    Auto,
    /// With the engine and the other FMUs.
    None,
    /// In a process of its own.
    Process,
    /// In a process of its own that may do next to nothing beside computing.
    Sandbox,
}

impl Isolation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::None, Self::Process, Self::Sandbox];

    /// The word in project files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Process => "process",
            Self::Sandbox => "sandbox",
        }
    }
}

/// An FMU under a name, as the project gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct FmuSpec {
    /// Our name.
    pub name: String,
    /// The file as it was written.
    pub file: PathBuf,
    /// The same from the root.
    pub path: PathBuf,
    /// The interface that is used.
    pub interface: FmuInterface,
    /// Whether the project names it.
    pub interface_given: bool,
    /// The integrator of an FMU for Model Exchange, if the project names it.
    pub solver: Option<Solver>,
    /// Parameters and start values that were set, as they were written.
    pub set: Vec<(String, Values)>,
    /// Where it runs.
    pub isolation: Isolation,
    /// Whether this means a process of its own.
    pub has_own_process: bool,
    /// How long a call may take, in s.
    pub step_timeout: Option<f64>,
    /// Whether steps that it discards are done again in shorter ones.
    pub retry_discarded: bool,
    /// Whether it is asked for debug messages, if the project says so.
    pub log: Option<bool>,
    /// Whether it is refused if its model description breaks a rule that importers rely on.
    pub validate: bool,
    /// Whether what it offers is believed without a trial.
    pub trust: bool,
    /// Signals that are continuous or discrete against the model description.
    pub variations: SignalVariations,
    /// Tunable parameters that connections or external signals drive.
    pub tuned: Vec<String>,
}

impl FmuSpec {
    /// Libraries that its own asks for and that this machine does not have; none of an FMU that cannot be read.
    pub(crate) fn missing_libraries(&self) -> Vec<String> {
        let Ok(mut fmu) = costep_fmu_file::Fmu::open(&self.path) else { return Vec::new() };
        let description = fmu.description();
        let interface = match self.interface {
            FmuInterface::CoSimulation => description.co_simulation.as_ref().map(|kind| &kind.interface),
            FmuInterface::ModelExchange => description.model_exchange.as_ref().map(|kind| &kind.interface),
        };
        let Some(identifier) = interface.map(|interface| interface.model_identifier.clone()) else {
            return Vec::new();
        };
        let mut missing = fmu.missing_libraries(&identifier).unwrap_or_default();
        // That of Python is found by the environment that is active.
        missing.retain(|name| !name.starts_with("libpython"));
        missing
    }
}
