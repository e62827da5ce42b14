//! A system structure as its file says it.

use std::sync::Arc;

use costep_core::{Place, PortKind};
use costep_fmu_file::Unit;

use crate::package::Location;

/// Units and enumerations of a file; they count in that file only.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    pub(crate) units: Vec<Unit>,
    pub(crate) enumerations: Vec<Enumeration>,
}

impl Definitions {
    pub(crate) fn unit(&self, name: &str) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.name == name)
    }
}

/// An enumeration: names and values.
#[derive(Debug)]
pub(crate) struct Enumeration {
    pub(crate) name: String,
    pub(crate) items: Vec<(String, i64)>,
}

/// An .ssd file.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) location: Location,
    pub(crate) file: Arc<str>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) definitions: Definitions,
    pub(crate) start: Option<f64>,
    pub(crate) stop: Option<f64>,
    /// Where they are said, by their keys in a project file.
    pub(crate) places: Vec<(&'static str, Place)>,
    pub(crate) system: System,
    /// Settings of costep from the annotations.
    pub(crate) settings: Settings,
}

/// Keys and values in TOML that an annotation of costep holds.
pub(crate) type Settings = Vec<(String, String)>;

/// What systems, components and references to dictionaries have in common.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) line: u32,
    pub(crate) connectors: Vec<Connector>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) settings: Settings,
}

#[derive(Debug)]
pub(crate) struct System {
    pub(crate) common: Common,
    pub(crate) elements: Vec<Element>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) dictionaries: Vec<Dictionary>,
}

#[derive(Debug)]
pub(crate) enum Element {
    System(System),
    Component(Component),
    Reference(Common, String),
}

impl Element {
    pub(crate) fn common(&self) -> &Common {
        match self {
            Self::System(system) => &system.common,
            Self::Component(component) => &component.common,
            Self::Reference(common, _) => common,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) common: Common,
    /// MIME type.
    pub(crate) kind: String,
    pub(crate) source: Option<String>,
    pub(crate) implementation: Implementation,
}

/// Which interface of an FMU is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Implementation {
    /// The importer chooses.
    #[default]
    Any,
    /// Co-Simulation.
    CoSimulation,
    /// Model Exchange.
    ModelExchange,
}

/// The kinds of connectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Input,
    Output,
    Inout,
    Parameter,
    CalculatedParameter,
    StructuralParameter,
    Constant,
    Local,
    Unspecified,
}

impl Kind {
    pub(crate) const WORDS: [(&'static str, Self); 9] = [
        ("input", Self::Input),
        ("output", Self::Output),
        ("inout", Self::Inout),
        ("parameter", Self::Parameter),
        ("calculatedParameter", Self::CalculatedParameter),
        ("structuralParameter", Self::StructuralParameter),
        ("constant", Self::Constant),
        ("local", Self::Local),
        ("unspecified", Self::Unspecified),
    ];

    pub(crate) fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// Whether values come out of an element here, seen from the system around it; none if it can be both.
    pub(crate) fn gives(self) -> Option<bool> {
        match self {
            Self::Output | Self::CalculatedParameter | Self::Constant | Self::Local => Some(true),
            Self::Input | Self::Parameter | Self::StructuralParameter => Some(false),
            Self::Inout | Self::Unspecified => None,
        }
    }

    /// A value that does not change in a run.
    pub(crate) fn is_parameter(self) -> bool {
        matches!(self, Self::Parameter | Self::StructuralParameter)
    }
}

#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// `Real`, `Float64`, `Boolean` and so on.
    pub(crate) signal: Option<&'static str>,
    pub(crate) unit: Option<String>,
    pub(crate) line: u32,
}

/// Names of types, as elements of connectors and of parameters.
pub(crate) const TYPES: [&str; 17] = [
    "Real",
    "Float64",
    "Float32",
    "Integer",
    "Int8",
    "UInt8",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Boolean",
    "String",
    "Enumeration",
    "Binary",
    "Clock",
];

/// Whether a connector of one type passes on values of another. Clocks are not signals.
pub(crate) fn carries(from: &str, to: &str) -> bool {
    kind(from).zip(kind(to)).is_some_and(|(from, to)| from.feeds(to))
}

/// Whether a map can make values of one type out of those of the other.
pub(crate) fn exchanges(from: &str, to: &str) -> bool {
    [from, to].map(kind).iter().all(|kind| matches!(kind, Some(PortKind::Integer | PortKind::Enumeration)))
}

fn kind(signal: &str) -> Option<PortKind> {
    match signal {
        "Real" | "Float64" | "Float32" => Some(PortKind::Real),
        "Boolean" => Some(PortKind::Boolean),
        "Enumeration" => Some(PortKind::Enumeration),
        "String" => Some(PortKind::Text),
        "Binary" => Some(PortKind::Bytes),
        "Clock" => None,
        _ => Some(PortKind::Integer),
    }
}

/// One end of a connection: element (none = the system itself) and connector.
pub(crate) type End = (Option<String>, String);

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) start: End,
    pub(crate) end: End,
    pub(crate) passage: Arc<Passage>,
    pub(crate) settings: Settings,
}

/// What happens to a value on its way.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    pub(crate) suppress_conversion: bool,
    pub(crate) transformation: Option<Transformation>,
    pub(crate) line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transformation {
    Linear { factor: f64, offset: f64 },
    Boolean(Vec<(bool, bool)>),
    Integer(Vec<(i64, i64)>),
    Enumeration(Vec<(String, String)>),
}

/// Something that is either inside of the document or in a file.
#[derive(Debug)]
pub(crate) enum Given<T> {
    Inline(Arc<T>),
    File {
        source: String,
        /// Resolved against the component instead of the document.
        in_component: bool,
    },
    /// Not there or not readable; noted before.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) prefix: String,
    pub(crate) values: Given<ParameterSet>,
    pub(crate) mapping: Option<Given<Mapping>>,
    pub(crate) line: u32,
}

/// An SSV.
#[derive(Debug, Default)]
pub(crate) struct ParameterSet {
    pub(crate) definitions: Definitions,
    pub(crate) parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) unit: Option<String>,
    /// Name of the enumeration.
    pub(crate) enumeration: Option<String>,
    pub(crate) line: u32,
}

/// The value of a parameter; several for an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Real numbers.
    Real(Vec<f64>),
    /// Integers.
    Integer(Vec<i64>),
    /// Booleans.
    Boolean(Vec<bool>),
    /// Texts, and names of items of enumerations.
    Text(Vec<String>),
}

/// An SSM.
#[derive(Debug, Default)]
pub(crate) struct Mapping {
    pub(crate) entries: Vec<MappingEntry>,
}

#[derive(Debug)]
pub(crate) struct MappingEntry {
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) passage: Arc<Passage>,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) struct Dictionary {
    pub(crate) name: String,
    pub(crate) content: Given<DictionaryContent>,
    pub(crate) line: u32,
}

/// An SSB.
#[derive(Debug, Default)]
pub(crate) struct DictionaryContent {
    pub(crate) definitions: Definitions,
    pub(crate) entries: Vec<Connector>,
}
