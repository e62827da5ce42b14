//! A system structure without nesting.

use std::path::PathBuf;

use costep_core::Place;

use crate::model::{Implementation, Value};
use crate::note::{Note, Severity};

/// Components, the links between them, and what else a run needs.
#[derive(Debug)]
pub struct Flat {
    /// Name of the system structure.
    pub name: String,
    /// The format it was read from: `SSP`.
    pub format: &'static str,
    /// Version of the format as written.
    pub version: String,
    /// Start time, if given.
    pub start: Option<f64>,
    /// Stop time, if given.
    pub stop: Option<f64>,
    /// The FMUs.
    pub components: Vec<Component>,
    /// The signals between them.
    pub links: Vec<Link>,
    /// Inputs that follow columns of files.
    pub signals: Vec<FileSignal>,
    /// Settings of costep: key and value in TOML.
    pub settings: Vec<(String, String)>,
    /// Where times and settings are said, by their keys in a project file: `system.stop`, `step.size`.
    pub places: Vec<(&'static str, Place)>,
    /// What is wrong or not kept, the important things first.
    pub notes: Vec<Note>,
}

impl Flat {
    /// The notes that forbid a run.
    pub fn errors(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.severity == Severity::Error)
    }
}

/// An FMU of the system.
#[derive(Debug)]
pub struct Component {
    /// Its path below the root system, `drive/engine`, made of letters, digits, `_`, `-` and `/`.
    pub name: String,
    /// Where the FMU lies on disk.
    pub file: PathBuf,
    /// Which interface is wanted.
    pub implementation: Implementation,
    /// Values of variables.
    pub set: Vec<SetValue>,
    /// Settings of costep: key and value in TOML.
    pub settings: Vec<(String, String)>,
    /// Where it is declared.
    pub place: Place,
}

/// A value for a variable of an FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct SetValue {
    /// Name of the variable in the FMU.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it is given.
    pub place: Place,
}

/// A signal from an output to an input: input = `factor` * output + `offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Component and port it comes from.
    pub from: (usize, String),
    /// Component and port it goes to.
    pub to: (usize, String),
    /// See above.
    pub factor: f64,
    /// See above.
    pub offset: f64,
    /// What lies between its ends, to be said beside a `gain` that is written for it; nothing if the ends agree, so that no
    /// gain is written and units are compared whenever the project is read.
    pub remark: Option<String>,
    /// Integers, also those of items of enumerations, that become others; those that are not named stay.
    pub map: Vec<(i64, i64)>,
    /// Settings of costep: key and value in TOML.
    pub settings: Vec<(String, String)>,
    /// Where its last connection is declared.
    pub place: Place,
}

/// A column of a file at an input: input = `factor` * column + `offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSignal {
    /// Component and port.
    pub to: (usize, String),
    /// Where the file lies on disk.
    pub file: PathBuf,
    /// Name of the column.
    pub column: String,
    /// Whether values stay until the next one; else they are interpolated.
    pub hold: bool,
    /// See above.
    pub factor: f64,
    /// See above.
    pub offset: f64,
    /// Where this is declared.
    pub place: Place,
}
