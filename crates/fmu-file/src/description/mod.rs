//! The model description of an FMU, the same for FMI 1.0, 2.0 and 3.0.

pub(crate) mod builder;
pub(crate) mod enumerations;
pub(crate) mod interface;
pub(crate) mod lists;
pub(crate) mod references;
pub(crate) mod solver;
pub(crate) mod structure;
mod unsupported;
pub(crate) mod value;
pub(crate) mod variable;
mod xml1;
mod xml2;
mod xml3;

use std::fmt;
use std::io::Read;
use std::path::Path;

use costep_core::{Code, Error, InputList, Place, Result};

use crate::archive::placed;
use crate::finding::Report;
use crate::limits::Limits;
use crate::text::short;
use crate::units::Unit;
use crate::xml::{Document, Element, Flaw, with_document};
use builder::Builder;
use enumerations::{Causality, NamingConvention, VariableType};
use interface::{CoSimulation, Interface, ModelExchange, ScheduledExecution};
use solver::Annotations;
use structure::{ModelStructure, State};
use variable::{Dimension, TypeDefinition, Variable};

/// The version of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FmiVersion {
    /// FMI 1.0, for Model Exchange or Co-Simulation.
    V1,
    /// FMI 2.0 with all its patch releases.
    V2,
    /// FMI 3.0 and later minor releases, which are compatible.
    V3,
}

impl fmt::Display for FmiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "FMI 1.0",
            Self::V2 => "FMI 2.0",
            Self::V3 => "FMI 3.0",
        })
    }
}

/// A category of messages that can be switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCategory {
    /// Its name.
    pub name: String,
    /// Its meaning.
    pub description: Option<String>,
}

/// What the authors of the FMU propose for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DefaultExperiment {
    /// Start time.
    pub start_time: Option<f64>,
    /// End time.
    pub stop_time: Option<f64>,
    /// Relative tolerance.
    pub tolerance: Option<f64>,
    /// Communication step.
    pub step_size: Option<f64>,
}

/// What identifies a model besides its interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// What it is.
    pub description: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Who owns it.
    pub copyright: Option<String>,
    /// How it may be used.
    pub license: Option<String>,
    /// The tool that exported it.
    pub generation_tool: Option<String>,
    /// When it was exported.
    pub generation_date_and_time: Option<String>,
}

/// Everything `modelDescription.xml` says.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelDescription {
    /// Which version of FMI.
    pub fmi_version: FmiVersion,
    /// The same as written, `3.0.1`.
    pub fmi_version_text: String,
    /// Name of the model in the tool it comes from.
    pub model_name: String,
    /// `guid` of FMI 1 and 2, `instantiationToken` of FMI 3: handed back to the FMU as a proof of identity.
    pub token: String,
    /// Who made it, with which tool, and so on.
    pub origin: Origin,
    /// Which names variables have.
    pub naming: NamingConvention,
    /// It can be used for Co-Simulation.
    pub co_simulation: Option<CoSimulation>,
    /// It can be used for Model Exchange.
    pub model_exchange: Option<ModelExchange>,
    /// It can be used for Scheduled Execution, which costep does not.
    pub scheduled_execution: Option<ScheduledExecution>,
    /// Definitions of units.
    pub units: Vec<Unit>,
    /// Definitions of types.
    pub types: Vec<TypeDefinition>,
    /// Categories of messages.
    pub log_categories: Vec<LogCategory>,
    /// Proposal for a run.
    pub default_experiment: DefaultExperiment,
    /// What annotations for costep say.
    pub annotations: Annotations,
    /// Outputs, derivatives, unknowns, and what they depend on.
    pub structure: ModelStructure,
    /// Number of event indicators, elements of arrays counted (Model Exchange).
    pub number_of_event_indicators: usize,
    variables: Vec<Variable>,
    pub(crate) index: Index,
    /// What was wrong while reading.
    pub(crate) report: Report,
}

/// Where to find what is asked for by name or number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Index {
    /// Names of variables and aliases in alphabetic order.
    pub(crate) names: Vec<NameEntry>,
    /// Value references in rising order, with the index of the variable.
    pub(crate) references: Vec<(u32, u32)>,
    /// Names of units in alphabetic order, as indices.
    unit_names: Vec<u32>,
}

/// A name in the index: a variable, and which of its aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameEntry {
    pub(crate) variable: u32,
    pub(crate) alias: Option<u32>,
}

impl NameEntry {
    pub(crate) fn text(self, variables: &[Variable]) -> &str {
        let variable = &variables[self.variable as usize];
        match self.alias {
            None => &variable.name,
            Some(alias) => &variable.aliases[alias as usize].name,
        }
    }
}

impl ModelDescription {
    /// Reads a `modelDescription.xml` from anywhere; the path is for messages. Mistakes that leave the rest
    /// readable are not errors: [`validate`](crate::validate()) lists them.
    pub fn read(source: impl Read, path: &Path, limits: &Limits) -> Result<Self> {
        with_document(source, limits, |document| read(document, limits)).map_err(|flaw| match flaw.line {
            // What the archive has to say stays its own; lines are of interest in what was read.
            Some(line)
                if flaw.error.details().place == Place::Nowhere && concerns_text(flaw.error.code()) =>
            {
                flaw.error.at(Place::File { path: path.to_owned(), line: Some(line as usize), text: None })
            }
            _ => placed(flaw.error, path),
        })
    }

    /// The same from text.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text.as_bytes(), Path::new("modelDescription.xml"), &Limits::default())
    }

    /// All variables in the order of the document.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The index of the variable with this name or alias.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.index
            .names
            .binary_search_by(|entry| entry.text(&self.variables).cmp(name))
            .ok()
            .map(|at| self.index.names[at].variable as usize)
    }

    /// The variable with this name or alias.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.find(name).map(|index| &self.variables[index])
    }

    /// Whether several variables have this name, which inner ones of some FMUs do.
    fn is_ambiguous(&self, name: &str) -> bool {
        let names = &self.index.names;
        let start = names.partition_point(|entry| entry.text(&self.variables) < name);
        names.get(start + 1).is_some_and(|entry| entry.text(&self.variables) == name)
    }

    /// The index of the variable with this name or alias, or an error that proposes similar names.
    pub fn require(&self, name: &str) -> Result<usize> {
        const CONSIDERED: usize = 10_000;
        if self.is_ambiguous(name) {
            let message = format!("the FMU `{}` has several variables `{name}`", self.model_name);
            return Err(Error::new(Code::FmuDuplicate, message));
        }
        self.find(name).ok_or_else(|| {
            let names = self.index.names.iter().take(CONSIDERED).map(|entry| entry.text(&self.variables));
            Error::new(Code::UnknownName, format!("the FMU `{}` has no variable `{name}`", self.model_name))
                .suggest(name, names)
        })
    }

    /// The first variable with this value reference and type. Before FMI 3 each type counts on its own,
    /// except that enumerations count as integers, and several variables may share one.
    pub fn by_value_reference(&self, kind: VariableType, value_reference: u32) -> Option<usize> {
        let class = |kind: VariableType| match kind {
            VariableType::Enumeration if self.fmi_version < FmiVersion::V3 => VariableType::Int32,
            other => other,
        };
        let start = self.index.references.partition_point(|(reference, _)| *reference < value_reference);
        self.index.references[start..]
            .iter()
            .take_while(|(reference, _)| *reference == value_reference)
            .map(|(_, index)| *index as usize)
            .find(|index| class(self.variables[*index].kind) == class(kind))
    }

    /// The definition of a unit.
    pub fn unit(&self, name: &str) -> Option<&Unit> {
        let names = &self.index.unit_names;
        let at = names.binary_search_by(|index| self.units[*index as usize].name.as_str().cmp(name)).ok()?;
        self.units.get(names[at] as usize)
    }

    /// Indices of all variables of a causality, in the order of the document.
    pub fn with_causality(&self, causality: Causality) -> impl Iterator<Item = usize> {
        let all = self.variables.iter().enumerate();
        all.filter(move |(_, variable)| variable.causality == causality).map(|(index, _)| index)
    }

    /// The continuous states in the order of the calls. Entries that are not derivatives are left out, which
    /// is an error in the findings.
    pub fn states(&self) -> impl Iterator<Item = State> {
        self.structure.derivatives.iter().filter_map(|unknown| {
            let derivative = &self.variables[unknown.variable];
            let state = derivative.derivative_of?;
            Some(State { state, derivative: unknown.variable, elements: derivative.elements })
        })
    }

    /// Number of continuous states, elements of arrays counted. Those of FMI 1 are not listed, but counted.
    pub fn number_of_states(&self) -> usize {
        self.states().fold(self.structure.unlisted_states, |sum, state| sum.saturating_add(state.elements))
    }

    /// For each of `outputs`, which of `inputs` (as positions in that slice) it depends on without delay.
    /// Outputs without information depend on all of them.
    pub fn feedthrough(&self, inputs: &[usize], outputs: &[usize]) -> Vec<InputList> {
        let all: InputList = (0..inputs.len()).collect();
        let mut position = vec![usize::MAX; self.variables.len()];
        for (at, input) in inputs.iter().enumerate() {
            position[*input] = at;
        }
        let mut entry = vec![None; self.variables.len()];
        for unknown in &self.structure.outputs {
            entry[unknown.variable] = unknown.dependencies.as_ref();
        }
        let row = |output: &usize| match entry[*output] {
            None => all.clone(),
            Some(dependencies) => {
                let mut row: Vec<usize> = dependencies
                    .iter()
                    .map(|dependency| position[dependency.variable])
                    .filter(|at| *at != usize::MAX)
                    .collect();
                row.sort_unstable();
                row.dedup();
                row.into()
            }
        };
        outputs.iter().map(row).collect()
    }

    /// Whether all outputs say which variables they depend on.
    pub fn tells_dependencies(&self) -> bool {
        self.structure.outputs.iter().all(|unknown| unknown.dependencies.is_some())
    }

    /// Number of elements of a variable when structural parameters have other values than at the start:
    /// `size_of` gives the value of the variable with an index. None if it is beyond what memory holds.
    pub fn elements(&self, index: usize, size_of: impl Fn(usize) -> u64) -> Option<usize> {
        let size = |dimension: &Dimension| match dimension {
            Dimension::Fixed(size) => *size,
            Dimension::Variable(index) => size_of(*index),
        };
        let dimensions = &self.variables.get(index)?.dimensions;
        let product = dimensions.iter().try_fold(1_u64, |product, d| product.checked_mul(size(d)))?;
        usize::try_from(product).ok()
    }

    /// What its interfaces have in common, Co-Simulation first.
    pub fn interfaces(&self) -> impl Iterator<Item = &Interface> {
        let co_simulation = self.co_simulation.as_ref().map(|kind| &kind.interface);
        let model_exchange = self.model_exchange.as_ref().map(|kind| &kind.interface);
        let scheduled = self.scheduled_execution.as_ref().map(|kind| &kind.interface);
        [co_simulation, model_exchange, scheduled].into_iter().flatten()
    }
}

/// Whether an error is about the text of the document, so that a line helps.
fn concerns_text(code: Code) -> bool {
    matches!(code, Code::BadXml | Code::XmlRefused | Code::BadDescription | Code::FmiVersion)
}

fn read(document: &Document<'_>, limits: &Limits) -> Result<ModelDescription, Flaw> {
    let root = document.root();
    if root.tag() != "fmiModelDescription" {
        let message = format!("the root element is {} instead of <fmiModelDescription>", root.shown());
        return Err(Flaw::new(Code::BadDescription, root.line(), message));
    }
    let version = version(&root)?;
    let mut builder = Builder::new(version, &root, document.encoding(), limits)?;
    match version {
        FmiVersion::V1 => xml1::read(&root, &mut builder)?,
        FmiVersion::V2 => xml2::read(&root, &mut builder)?,
        FmiVersion::V3 => xml3::read(&root, &mut builder)?,
    }
    for line in document.stray_text() {
        builder.report.warning(Code::FmuSchema, line, "there is text where only elements belong");
    }
    builder.finish(document.last_line())
}

fn version(root: &Element) -> Result<FmiVersion, Flaw> {
    let unsupported = |what: String| Flaw {
        error: Error::new(Code::FmiVersion, what).hint("FMI 1.0, 2.0 and 3.0 are supported"),
        line: Some(root.line()),
    };
    let Some(text) = root.get("fmiVersion") else {
        return Err(unsupported("the model description has no `fmiVersion`".into()));
    };
    let text = text.trim();
    let mut numbers = text.split(['.', '-']);
    match (numbers.next(), numbers.next()) {
        _ if text == "1.0" => Ok(FmiVersion::V1),
        _ if text == "2.0" => Ok(FmiVersion::V2),
        (Some("3"), Some(minor)) if minor.parse::<u16>().is_ok() => Ok(FmiVersion::V3),
        _ => Err(unsupported(format!("the FMU is of FMI version `{}`, which is not supported", short(text)))),
    }
}
