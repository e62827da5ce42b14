//! FMUs: models that other tools export by the FMI standard, versions 2.0 and 3.0.

mod archive;
mod description;
mod finding;
mod limits;
mod units;
mod xml;

pub use archive::{Archive, Entry};
pub use description::interface::{CoSimulation, Interface, ModelExchange, ScheduledExecution};
pub use description::structure::{Dependency, ModelStructure, State, Unknown};
pub use description::value::{Number, Values};
pub use description::variable::{Alias, Attributes, Clock, Dimension, Item, TypeDefinition, Variable};
pub use description::words::{
    Causality, DependencyKind, Initial, IntervalVariability, NamingConvention, Variability, VariableType,
};
pub use description::{DefaultExperiment, FmiVersion, LogCategory, ModelDescription, Origin};
pub use finding::{Finding, Severity};
pub use limits::Limits;
pub use units::{BaseUnit, Conversion, DisplayUnit, SI_NAMES, Unit, conversion};
