//! Variables and type definitions.

use std::sync::Arc;

use crate::description::enumerations::{
    AliasKind, Causality, Initial, IntervalVariability, Variability, VariableType,
};
use crate::description::value::{Number, Values};

/// What a type definition gives to its variables and a variable may state itself. In a variable both are
/// already joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// Physical quantity, `Torque`.
    pub quantity: Option<Arc<str>>,
    /// Unit of the values, `N.m`.
    pub unit: Option<Arc<str>>,
    /// Unit to show them in.
    pub display_unit: Option<Arc<str>>,
    /// Offsets of units do not apply: a difference of temperatures.
    pub relative_quantity: bool,
    /// Gets much larger than its nominal value.
    pub unbounded: bool,
    /// Smallest value.
    pub min: Option<Number>,
    /// Largest value.
    pub max: Option<Number>,
    /// Typical size.
    pub nominal: Option<f64>,
    /// Of a binary variable: what the bytes are, if stated.
    pub mime_type: Option<Arc<str>>,
    /// Of a binary variable: most bytes.
    pub max_size: Option<u64>,
}

/// The attributes of a clock (FMI 3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    /// When it ticks; missing only in a faulty description.
    pub interval_variability: Option<IntervalVariability>,
    /// It can be deactivated.
    pub can_be_deactivated: bool,
    /// Smaller numbers come first (Scheduled Execution).
    pub priority: Option<u32>,
    /// Period in s.
    pub interval_decimal: Option<f64>,
    /// Delay of the first tick in s; none = 0.
    pub shift_decimal: Option<f64>,
    /// Times are available as fractions too.
    pub supports_fraction: bool,
    /// Fractions count in 1/resolution s.
    pub resolution: Option<u64>,
    /// Period as a fraction.
    pub interval_counter: Option<u64>,
    /// Delay of the first tick as a fraction; none = 0.
    pub shift_counter: Option<u64>,
}

/// An item of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// Its meaning.
    pub description: Option<String>,
}

/// A type that variables can declare.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// Its name.
    pub name: String,
    /// Which type of variables it is for.
    pub kind: VariableType,
    /// Its meaning.
    pub description: Option<String>,
    /// What its variables inherit.
    pub attributes: Attributes,
    /// Of an enumeration: its items.
    pub items: Vec<Item>,
    /// Of a clock: what its variables inherit.
    pub clock: Option<Box<Clock>>,
    /// Line of modelDescription.xml.
    pub line: u32,
}

impl TypeDefinition {
    /// Whether a value is one of the items of the enumeration; of one that lists none, anything is.
    pub fn has_item(&self, value: i64) -> bool {
        self.items.is_empty() || self.items.iter().any(|item| item.value == value)
    }

    /// The value of an item of the enumeration by its name.
    pub fn item(&self, name: &str) -> Option<i64> {
        self.items.iter().find(|item| item.name == name).map(|item| item.value)
    }
}

/// The size of one dimension of an array (FMI 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Never changes.
    Fixed(u64),
    /// The value of another variable, a structural parameter or a constant; its index in
    /// [`variables`](crate::ModelDescription::variables).
    Variable(usize),
}

/// Another name of a variable (FMI 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// Its meaning, if it has one of its own.
    pub description: Option<String>,
    /// Unit to show the values in under this name.
    pub display_unit: Option<Arc<str>>,
}

/// When a variable may be read, set, or jump, and whether it is an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableFlags {
    /// It can be read and set during a step (FMI 3).
    pub intermediate_update: bool,
    /// An input that may be set several times at one instant, which is so unless stated otherwise.
    pub can_handle_multiple_set_per_time_instant: bool,
    /// A state that may jump at events (Model Exchange).
    pub reinit: bool,
    /// Whether it is another name of a value, perhaps with the other sign (FMI 1).
    pub alias: AliasKind,
}

/// A variable. Where it refers to others, it does so by their index in
/// [`variables`](crate::ModelDescription::variables).
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The number that stands for it in calls.
    pub value_reference: u32,
    /// Its type.
    pub kind: VariableType,
    /// Who determines it.
    pub causality: Causality,
    /// When it changes.
    pub variability: Variability,
    /// How it gets its first value, stated or by default. None for the independent variable, for clocks, and
    /// for combinations of causality and variability that are not allowed.
    pub initial: Option<Initial>,
    /// Its meaning.
    pub description: Option<String>,
    /// Unit, range and so on, with those of the declared type.
    pub attributes: Attributes,
    /// The declared type, an index in [`types`](crate::ModelDescription::types).
    pub declared_type: Option<usize>,
    /// Start values as written: for an array one for all or one for each element, see [`Values::expanded`].
    pub start: Option<Values>,
    /// It is the time derivative of this variable.
    pub derivative_of: Option<usize>,
    /// It is a clocked state; this variable has its previous value (FMI 3).
    pub previous: Option<usize>,
    /// The clocks it belongs to (FMI 3).
    pub clocks: Vec<usize>,
    /// Sizes of an array (FMI 3); empty for a scalar.
    pub dimensions: Vec<Dimension>,
    /// Number of elements with the start values of all structural parameters; 1 for a scalar. 0 if it cannot
    /// be told, which is an error in the findings.
    pub elements: usize,
    /// When it may be read, set, or jump; whether it is an alias (FMI 1).
    pub flags: VariableFlags,
    /// Of a clock: its attributes (FMI 3).
    pub clock: Option<Box<Clock>>,
    /// Other names (FMI 3).
    pub aliases: Vec<Alias>,
    /// Line of modelDescription.xml.
    pub line: u32,
}

impl Variable {
    /// A variable of which nothing else is stated, not even its start value.
    pub(crate) fn new(name: String, value_reference: u32, kind: VariableType, line: u32) -> Self {
        Self {
            name,
            value_reference,
            kind,
            causality: Causality::Local,
            variability: Variability::Continuous,
            initial: None,
            description: None,
            attributes: Attributes::default(),
            declared_type: None,
            start: None,
            derivative_of: None,
            previous: None,
            clocks: Vec::new(),
            dimensions: Vec::new(),
            elements: 1,
            flags: VariableFlags {
                intermediate_update: false,
                can_handle_multiple_set_per_time_instant: true,
                reinit: false,
                alias: AliasKind::NoAlias,
            },
            clock: None,
            aliases: Vec::new(),
            line,
        }
    }

    /// Whether it has dimensions.
    pub fn is_array(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// Whether its value is that of the FMU with the other sign (FMI 1).
    pub fn is_negated(&self) -> bool {
        self.flags.alias == AliasKind::NegatedAlias
    }

    /// Unit of the values.
    pub fn unit(&self) -> Option<&str> {
        self.attributes.unit.as_deref()
    }
}
