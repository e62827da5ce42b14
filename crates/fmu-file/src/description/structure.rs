//! What depends on what.

use crate::description::enumerations::DependencyKind;

/// A known variable that an unknown one depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Index of the known variable.
    pub variable: usize,
    /// How it enters.
    pub kind: DependencyKind,
}

/// A variable that is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its index in [`variables`](crate::ModelDescription::variables).
    pub variable: usize,
    /// What it depends on without delay. None = possibly on everything known.
    pub dependencies: Option<Vec<Dependency>>,
    /// Line of modelDescription.xml.
    pub line: u32,
}

/// The lists of computed variables, each in the order of the document, which is that of the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelStructure {
    /// All outputs.
    pub outputs: Vec<Unknown>,
    /// Derivatives of the continuous states.
    pub derivatives: Vec<Unknown>,
    /// Number of continuous states beside these, of which nothing else is known (FMI 1).
    pub unlisted_states: usize,
    /// Clocked states (FMI 3).
    pub clocked_states: Vec<Unknown>,
    /// What is computed by the initialisation.
    pub initial_unknowns: Vec<Unknown>,
    /// Event indicators (FMI 3).
    pub event_indicators: Vec<Unknown>,
}

/// A continuous state and its derivative, as indices of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// x.
    pub state: usize,
    /// x'.
    pub derivative: usize,
    /// Number of elements.
    pub elements: usize,
}
