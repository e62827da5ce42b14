//! One route from what the user named (a built-in model, a TOML project file or a folder with one) and the
//! overrides of the command line to a checked [`Project`]. All mistakes are reported at once, each with its
//! line or flag and what to do about it.
//!
//! `draft.rs` is the way in for readers of other formats, `ssp.rs` the one that reads system structures. `document.rs` is the parsed file with the place of every value; `overrides.rs` changes it; the files named
//! after tables of the project file check them; `write.rs` writes the effective project, `scaffold.rs` a new
//! one for given FMUs.

mod advice;
mod asked;
mod bonds;
mod changes;
mod components;
mod connections;
mod dialect;
mod document;
mod draft;
mod externals;
mod fingerprints;
mod fmus;
mod foreign;
mod groups;
mod hangs;
mod keys;
mod kinds;
mod linear;
mod link_units;
mod maps;
mod models;
mod names;
mod overrides;
mod parse;
mod plan;
mod ports;
mod problems;
mod project;
mod propose;
mod proposed_times;
mod rates;
mod registry;
mod scaffold;
mod schema;
mod section;
mod settings;
mod shell;
mod signals;
mod source;
pub mod ssp;
mod step_control;
mod stop_conditions;
mod units;
mod write;

pub use advice::stop_passed;
pub use bonds::BondSpec;
pub use changes::Changes;
pub use components::NativeSpec;
pub use connections::ExternalSpec;
pub use draft::{ConnectEntry, Draft, DraftValue, FmuEntry, Provenance};
pub use externals::ExternalFile;
pub use fingerprints::file_mark;
#[cfg(target_os = "linux")]
pub use fmus::python_environment;
pub use fmus::{FmuInterface, FmuSpec, Isolation};
pub use groups::GroupSpec;
pub use linear::{LinearPort, LinearSpec};
pub use maps::ValueMap;
pub use models::is_of_idle_models;
pub use overrides::Override;
pub use plan::{AnalysisSpec, Axis, ERRORS, Plan, Varied, changes_of, level_text};
pub use project::{Given, Project, ProjectOrigin, Refusal, load, load_text};
pub use rates::rates_value;
pub use registry::Registry;
pub use scaffold::{NewFmu, Proposed, component_name, new_project, proposed_times};
pub use settings::{RecordSpec, UnitlessTime, check_step, unitless_time};
pub use shell::shell_word;
pub use signals::split_signal;
pub use source::Source;
pub use stop_conditions::StopCondition;
