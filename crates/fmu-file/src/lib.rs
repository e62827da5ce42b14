//! FMU files: models that other tools export by the FMI standard, versions 1.0, 2.0 and 3.0, as they lie on
//! the disk.
//!
//! An FMU is somebody else's file, so nothing in it is believed: the archive is checked before anything is
//! unpacked, the XML reader refuses what can do harm, sizes are bounded ([`Limits`]), and mistakes of a model
//! description become [`Finding`]s instead of crashes. Nothing of an FMU is executed here; the crate `costep-fmi`
//! calls them.
//!
//! | module | role |
//! |---|---|
//! | `archive` | the zip archive: `records` its headers, `name` which names are refused, `entry_reader` its data |
//! | `xml` | elements and attributes of a document of any encoding; `bounds` refuses what can do harm before it is parsed |
//! | `description` | the model description: its types, `xml1`, `xml2` and `xml3` read them, `builder` joins and resolves |
//! | `units` | definitions of units and conversion between those of two models |
//! | `validate` | what is wrong with an FMU, one file per group of rules |
//! | `settings` | values that a user gives to variables by name |
//! | `binary`, `elf` | platforms and shared libraries, by their headers |
//! | `folder` | temporary folders for what is unpacked |
//! | `fmu` | all of it for one file |
//!
//! ```no_run
//! use costep_fmu_file::{Causality, Fmu};
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
#![forbid(unsafe_code)]

mod archive;
mod binary;
mod description;
mod elf;
mod finding;
mod fmu;
mod folder;
mod limits;
mod needs;
pub mod settings;
mod terminals;
mod text;
mod units;
mod validate;
pub mod xml;

pub use archive::{Archive, Entry, name_hint, not_there};
pub use binary::{Platform, platform_folder, platforms, this_platform};
pub use description::enumerations::{
    AliasKind, Causality, DependencyKind, Initial, IntervalVariability, NamingConvention, Variability,
    VariableType,
};
pub use description::interface::{CoSimulation, Interface, ModelExchange, ScheduledExecution, Use};
pub use description::solver::{Annotations, StatedSolver};
pub use description::structure::{Dependency, ModelStructure, State, Unknown};
pub use description::value::{Number, Values};
pub use description::variable::{
    Alias, Attributes, Clock, Dimension, Item, TypeDefinition, Variable, VariableFlags,
};
pub use description::{DefaultExperiment, FmiVersion, LogCategory, ModelDescription, Origin};
pub use finding::{Finding, Severity};
pub use fmu::{Fmu, Unpacked, unpacked_fmu};
pub use folder::{HeldFile, PrivateFolder, TEMPORARY_PREFIX, remove_abandoned_folders};
pub use limits::Limits;
pub use terminals::Terminal;
pub use text::short;
pub use units::{BaseUnit, Conversion, DisplayUnit, SI_NAMES, Unit, conversion};
pub use validate::{validate, validate_fmu};
