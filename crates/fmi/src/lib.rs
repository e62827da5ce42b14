//! FMUs: models that other tools export by the FMI standard, versions 2.0 and 3.0.
//!
//! An FMU is somebody else's file, so nothing in it is believed: the archive is checked before anything is
//! unpacked, the XML reader refuses what can do harm, sizes are bounded ([`Limits`]), and mistakes of a model
//! description become [`Finding`]s instead of crashes.
//!
//! | module | role |
//! |---|---|
//! | `archive` | the zip archive: `records` its headers, `name` which names are refused, `entry_reader` its data |
//! | `xml` | elements and attributes of a document of any encoding, with limits; `tree` a whole document, for other readers |
//! | `description` | the model description: its types, `xml2` and `xml3` read them, `builder` joins and resolves |
//! | `units` | definitions of units and conversion between those of two models |
//! | `validate` | what is wrong with an FMU, one file per group of rules |
//! | `binary` | platforms and shared libraries |
//! | `fmu` | all of it for one file |
//! | `call` | the shared library, all `unsafe` code: `ffi2`, `ffi3` its functions; `instance`, `exchange`, `states`, `values` calls of one instance; `intermediate`, `log` its callbacks |
//! | `cs` | an FMU for Co-Simulation as a subsystem |
//! | `me` | an FMU for Model Exchange as a subsystem that costep integrates |
//! | `isolated` | an FMU of either kind in a process of its own |
//!
//! ```no_run
//! use costep_fmi::{Causality, Fmu};
//!
//! # fn main() -> costep_core::Result<()> {
//! let mut fmu = Fmu::open("engine.fmu")?;
//! for finding in fmu.validate() {
//!     println!("{finding}");
//! }
//! let description = fmu.description();
//! for input in description.with_causality(Causality::Input) {
//!     println!("{}", description.variables()[input].name);
//! }
//! if let Some(kind) = &description.co_simulation {
//!     let identifier = kind.interface.model_identifier.clone();
//!     println!("{}", fmu.unpack(&identifier)?.library().display());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! As a subsystem of a coupled run; instances share the library:
//!
//! ```no_run
//! use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, Fmu, FmuLibrary, Values};
//!
//! # fn main() -> costep_core::Result<()> {
//! let library = FmuLibrary::load(&mut Fmu::open("engine.fmu")?)?;
//! let parameters = vec![("inertia".to_owned(), Values::Float64(vec![0.2]))];
//! let options = CoSimulationOptions { parameters, ..CoSimulationOptions::default() };
//! let left = CoSimulationSubsystem::new(&library, "left", &options)?;
//! let right = CoSimulationSubsystem::new(&library, "right", &options)?;
//! # Ok(())
//! # }
//! ```

mod archive;
mod binary;
mod call;
mod cs;
mod description;
mod elf;
mod finding;
mod fmu;
mod folder;
#[cfg(target_os = "linux")]
mod isolated;
mod limits;
mod me;
mod notice;
mod text;
mod units;
mod validate;
pub mod xml;

pub use archive::{Archive, Entry};
pub use binary::{Platform, platform_folder, platforms, this_platform};
pub use call::library::{DEFAULT_TIMEOUT, FmuLibrary, required_functions};
pub use call::log::{Message, Status};
pub use call::preload::preload;
pub use cs::{CoSimulationOptions, CoSimulationSubsystem, InputWays, fit_value};
pub use description::interface::{CoSimulation, Interface, ModelExchange, ScheduledExecution, Use};
pub use description::solver::StatedSolver;
pub use description::structure::{Dependency, ModelStructure, State, Unknown};
pub use description::value::{Number, Values};
pub use description::variable::{Alias, Attributes, Clock, Dimension, Item, TypeDefinition, Variable};
pub use description::words::{
    Causality, DependencyKind, Initial, IntervalVariability, NamingConvention, Variability, VariableType,
};
pub use description::{DefaultExperiment, FmiVersion, LogCategory, ModelDescription, Origin};
pub use finding::{Finding, Severity};
pub use fmu::{Fmu, Unpacked};
pub use folder::{PrivateFolder, TEMPORARY_PREFIX, remove_abandoned_folders};
#[cfg(target_os = "linux")]
pub use isolated::{IsolatedUse, host_fmu, isolate_fmu};
pub use limits::Limits;
pub use me::{ModelExchangeOptions, ModelExchangeSubsystem};
pub use notice::{Notice, listen};
pub use text::short;
pub use units::{BaseUnit, Conversion, DisplayUnit, SI_NAMES, Unit, conversion};
pub use validate::{validate, validate_fmu};
