//! Puts a model description together while its document is read, and resolves references at the end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use costep_core::Code;

use crate::description::interface::{Interface, is_identifier};
use crate::description::structure::{Dependency, ModelStructure, Unknown};
use crate::description::value::Values;
use crate::description::variable::{Dimension, TypeDefinition, Variable};
use crate::description::words::{
    Causality, DependencyKind, Initial, NamingConvention, Variability, VariableType,
};
use crate::description::{DefaultExperiment, FmiVersion, ModelDescription, NameEntry, Origin};
use crate::finding::Report;
use crate::limits::Limits;
use crate::text::short;
use crate::xml::{Element, Encoding, Flaw};

/// A dimension as written.
pub(crate) struct RawDimension {
    pub(crate) start: Option<u64>,
    pub(crate) value_reference: Option<u32>,
}

/// References of a variable to others as written, to be resolved when all variables are known.
#[derive(Default)]
pub(crate) struct RawReferences {
    pub(crate) derivative: Option<u32>,
    pub(crate) previous: Option<u32>,
    pub(crate) clocks: Vec<u32>,
    pub(crate) dimensions: Vec<RawDimension>,
}

impl RawReferences {
    fn is_empty(&self) -> bool {
        self.derivative.is_none()
            && self.previous.is_none()
            && self.clocks.is_empty()
            && self.dimensions.is_empty()
    }
}

/// A model description under construction.
pub(crate) struct Builder<'a> {
    pub(crate) description: ModelDescription,
    pub(crate) report: Report,
    pub(crate) limits: &'a Limits,
    /// Types by name.
    types: HashMap<Arc<str>, usize>,
    words: HashSet<Arc<str>>,
    references: Vec<(usize, RawReferences)>,
    /// Top-level elements seen, by their place in the order of the schema.
    rank: usize,
    seen: HashSet<&'static str>,
    variables_done: bool,
    /// Elements of all arrays so far.
    elements: u64,
}

impl<'a> Builder<'a> {
    /// Starts with the attributes of the root element.
    pub(crate) fn new(
        version: FmiVersion,
        root: &Element,
        encoding: Encoding,
        limits: &'a Limits,
    ) -> Result<Self, Flaw> {
        let mut report = Report::default();
        let token = if version == FmiVersion::V2 { "guid" } else { "instantiationToken" };
        for required in ["modelName", token] {
            if root.get(required).is_none() {
                report.error(Code::FmuSchema, root.line(), format!("`{required}` is missing"));
            }
        }
        if encoding != Encoding::Utf8 {
            report.warning(Code::FmuSchema, 1, "the model description is not written in UTF-8");
        }
        let fmi_version_text = root.get("fmiVersion").unwrap_or_default().trim().to_owned();
        if fmi_version_text.contains('-') {
            let message = format!("`{}` is a trial version of FMI", short(&fmi_version_text));
            report.warning(Code::FmuSchema, root.line(), message);
        }
        let mut events = 0;
        if version == FmiVersion::V2 {
            events = root.read::<u32>("numberOfEventIndicators", &mut report).unwrap_or(0) as usize;
            if events > limits.list {
                report.error(Code::FmuRange, root.line(), format!("{events} event indicators cannot be"));
                events = 0;
            }
        }
        let description = ModelDescription {
            fmi_version: version,
            fmi_version_text,
            model_name: root.string("modelName").unwrap_or_default(),
            token: root.string(token).unwrap_or_default(),
            origin: Origin {
                description: root.string("description"),
                author: root.string("author"),
                version: root.string("version"),
                copyright: root.string("copyright"),
                license: root.string("license"),
                generation_tool: root.string("generationTool"),
                generation_date_and_time: root.string("generationDateAndTime"),
            },
            naming: root.read("variableNamingConvention", &mut report).unwrap_or(NamingConvention::Flat),
            co_simulation: None,
            model_exchange: None,
            scheduled_execution: None,
            units: Vec::new(),
            types: Vec::new(),
            log_categories: Vec::new(),
            default_experiment: DefaultExperiment::default(),
            solver: None,
            input_derivatives: None,
            structure: ModelStructure::default(),
            number_of_event_indicators: events,
            variables: Vec::new(),
            names: Vec::new(),
            references: Vec::new(),
            unit_names: Vec::new(),
            report: Report::default(),
        };
        root.check_asked(&mut report);
        Ok(Self {
            description,
            report,
            limits,
            types: HashMap::new(),
            words: HashSet::new(),
            references: Vec::new(),
            rank: 0,
            seen: HashSet::new(),
            variables_done: false,
            elements: 0,
        })
    }

    /// The same text as the one seen before, so that many variables share one unit.
    pub(crate) fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.words.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.words.insert(new.clone());
        new
    }

    /// Notes a top-level element and checks its place among the others. False if it is not known.
    pub(crate) fn enter(&mut self, element: &Element, order: &[&'static str]) -> Result<bool, Flaw> {
        let Some(rank) = order.iter().position(|name| *name == element.name()) else {
            self.unexpected(element, "fmiModelDescription");
            return Ok(false);
        };
        let name = order[rank];
        if !self.seen.insert(name) {
            let message = format!("<{name}> is there twice");
            return Err(Flaw::new(Code::BadDescription, element.line(), message));
        }
        if name == "ModelStructure" && !self.variables_done {
            let message = "<ModelStructure> comes before <ModelVariables>";
            return Err(Flaw::new(Code::BadDescription, element.line(), message));
        }
        // The two interfaces of FMI 2 may come in any order.
        if rank < self.rank && !(self.description.fmi_version == FmiVersion::V2 && self.rank < 2) {
            let message = format!("<{name}> is not where it belongs in the order of elements");
            self.report.warning(Code::FmuSchema, element.line(), message);
        }
        self.rank = self.rank.max(rank);
        Ok(true)
    }

    /// Reports a list of the model structure whose place `at` among the others is before the `rank` reached.
    pub(crate) fn check_order(&mut self, element: &Element, at: usize, rank: usize) {
        if at < rank {
            let message = format!("{} is not where it belongs in the order of elements", element.shown());
            self.report.warning(Code::FmuSchema, element.line(), message);
        }
    }

    /// Reports an element that should not be here.
    pub(crate) fn unexpected(&mut self, element: &Element, parent: &str) {
        let message = format!("{} is not known inside <{parent}>", element.shown());
        self.report.warning(Code::FmuSchema, element.line(), message);
    }

    /// Refuses lists that have no end.
    pub(crate) fn check_list(&self, length: usize, line: u32) -> Result<(), Flaw> {
        if length < self.limits.list {
            return Ok(());
        }
        let message = format!("a list of the model description has more than {} elements", self.limits.list);
        Err(Flaw::new(Code::XmlRefused, line, message))
    }

    /// An attribute without which the element has no meaning.
    pub(crate) fn required(&mut self, element: &Element, name: &str) -> String {
        element.string(name).unwrap_or_else(|| {
            let message = format!("{} has no `{name}`", element.shown());
            self.report.error(Code::FmuSchema, element.line(), message);
            String::new()
        })
    }

    /// What all interfaces have; the names of some flags depend on the version.
    pub(crate) fn interface(&mut self, element: &Element) -> Result<Interface, Flaw> {
        let (state, serialize, directional) = match self.description.fmi_version {
            FmiVersion::V2 => {
                ("canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative")
            }
            FmiVersion::V3 => {
                ("canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives")
            }
        };
        let v2 = self.description.fmi_version == FmiVersion::V2;
        let identifier = element.get("modelIdentifier").unwrap_or_default();
        if !is_identifier(identifier) {
            let message = format!("the model identifier `{}` is not allowed", short(identifier));
            let mut flaw = Flaw::new(Code::BadDescription, element.line(), message);
            flaw.error = flaw.error.hint("it consists of at most 256 letters, digits and underscores");
            return Err(flaw);
        }
        let report = &mut self.report;
        Ok(Interface {
            model_identifier: identifier.to_owned(),
            needs_execution_tool: element.flag("needsExecutionTool", report),
            can_be_instantiated_only_once_per_process: element
                .flag("canBeInstantiatedOnlyOncePerProcess", report),
            can_not_use_memory_management_functions: v2
                && element.flag("canNotUseMemoryManagementFunctions", report),
            can_get_and_set_state: element.flag(state, report),
            can_serialize_state: element.flag(serialize, report),
            provides_directional_derivatives: element.flag(directional, report),
            provides_adjoint_derivatives: !v2 && element.flag("providesAdjointDerivatives", report),
            provides_per_element_dependencies: !v2 && element.flag("providesPerElementDependencies", report),
        })
    }

    pub(crate) fn add_type(&mut self, definition: TypeDefinition) -> Result<(), Flaw> {
        self.check_list(self.description.types.len(), definition.line)?;
        let name = self.intern(&definition.name);
        if self.types.insert(name, self.description.types.len()).is_some() {
            let message = format!("the type `{}` is defined twice", short(&definition.name));
            self.report.warning(Code::FmuDuplicate, definition.line, message);
        }
        self.description.types.push(definition);
        Ok(())
    }

    /// The type an element declares, if it exists and fits.
    pub(crate) fn declared_type(
        &mut self,
        element: &Element,
        kind: VariableType,
        owner: &str,
    ) -> Option<usize> {
        let name = element.get("declaredType")?;
        let Some(index) = self.types.get(name).copied() else {
            let message =
                format!("`{}` declares the type `{}`, which is not defined", short(owner), short(name));
            self.report.warning(Code::FmuType, element.line(), message);
            return None;
        };
        let found = self.description.types[index].kind;
        if found != kind {
            let message = format!(
                "`{}` is of type {kind}, its declared type `{}` of {found}",
                short(owner),
                short(name)
            );
            self.report.warning(Code::FmuType, element.line(), message);
            return None;
        }
        Some(index)
    }

    pub(crate) fn add_variable(&mut self, variable: Variable, references: RawReferences) -> Result<(), Flaw> {
        let index = self.description.variables.len();
        if index >= self.limits.variables {
            let message = format!("the model description has more than {} variables", self.limits.variables);
            return Err(Flaw::new(Code::XmlRefused, variable.line, message));
        }
        if !references.is_empty() {
            self.references.push((index, references));
        }
        self.description.variables.push(variable);
        Ok(())
    }

    /// All variables are known: builds the indices and resolves their references.
    pub(crate) fn end_variables(&mut self) {
        self.variables_done = true;
        let variables = &self.description.variables;
        let mut references: Vec<(u32, u32)> =
            variables.iter().zip(0..).map(|(variable, index)| (variable.value_reference, index)).collect();
        references.sort_unstable();
        self.description.references = references;
        let mut names: Vec<NameEntry> = Vec::with_capacity(variables.len());
        for (variable, index) in variables.iter().zip(0..) {
            names.push(NameEntry { variable: index, alias: None });
            names.extend(
                (0..).take(variable.aliases.len()).map(|a| NameEntry { variable: index, alias: Some(a) }),
            );
        }
        names.sort_by(|a, b| a.text(variables).cmp(b.text(variables)));
        self.description.names = names;

        for (index, raw) in std::mem::take(&mut self.references) {
            let owner = self.description.variables[index].name.clone();
            let line = self.description.variables[index].line;
            let derivative_of = raw.derivative.and_then(|to| self.resolve(to, "derivative", &owner, line));
            let previous = raw.previous.and_then(|to| self.resolve(to, "previous", &owner, line));
            let clocks = if raw.clocks.len() > self.description.variables.len() {
                let message = format!("`{}` has more clocks than there are variables", short(&owner));
                self.report.error(Code::FmuClock, line, message);
                Vec::new()
            } else {
                raw.clocks.iter().filter_map(|to| self.resolve(*to, "clocks", &owner, line)).collect()
            };
            let dimensions: Option<Vec<Dimension>> =
                raw.dimensions.iter().map(|dimension| self.dimension(dimension, &owner, line)).collect();
            let elements = dimensions.as_deref().map_or(0, |d| self.count_elements(d, &owner, line));
            let variable = &mut self.description.variables[index];
            variable.derivative_of = derivative_of;
            variable.previous = previous;
            variable.clocks = clocks;
            variable.elements = elements;
            variable.dimensions = dimensions.unwrap_or_default();
        }
    }

    /// The variable that an index from 1 on (FMI 2) or a value reference (FMI 3) stands for.
    fn resolve(&mut self, reference: u32, attribute: &str, owner: &str, line: u32) -> Option<usize> {
        let found = match self.description.fmi_version {
            FmiVersion::V2 => {
                (reference as usize).checked_sub(1).filter(|index| *index < self.description.variables.len())
            }
            FmiVersion::V3 => {
                let list = &self.description.references;
                let at = list.partition_point(|(known, _)| *known < reference);
                list.get(at).filter(|(known, _)| *known == reference).map(|(_, index)| *index as usize)
            }
        };
        if found.is_none() {
            let what = match self.description.fmi_version {
                FmiVersion::V2 => "index",
                FmiVersion::V3 => "value reference",
            };
            let message = format!(
                "`{attribute}` of `{}` refers to {what} {reference}, which does not exist",
                short(owner)
            );
            self.report.error(Code::FmuReference, line, message);
        }
        found
    }

    fn dimension(&mut self, raw: &RawDimension, owner: &str, line: u32) -> Option<Dimension> {
        match (raw.start, raw.value_reference) {
            (Some(size), None) => Some(Dimension::Fixed(size)),
            (None, Some(reference)) => {
                self.resolve(reference, "Dimension", owner, line).map(Dimension::Variable)
            }
            _ => {
                let message =
                    format!("a dimension of `{}` needs either a size or a value reference", short(owner));
                self.report.error(Code::FmuArray, line, message);
                None
            }
        }
    }

    /// Number of elements at the start; 0 and an error if it cannot be told.
    fn count_elements(&mut self, dimensions: &[Dimension], owner: &str, line: u32) -> usize {
        let mut product = 1_u64;
        for dimension in dimensions {
            let size = match dimension {
                Dimension::Fixed(size) => Some(*size),
                Dimension::Variable(index) => match &self.description.variables[*index].start {
                    Some(Values::UInt64(values)) => values.first().copied(),
                    _ => None,
                },
            };
            let what = match size {
                None => "has a size that is not the start value of a UInt64",
                Some(0) => "has the size 0",
                Some(size) => {
                    match product.checked_mul(size).filter(|p| *p <= self.limits.elements - self.elements) {
                        Some(larger) => {
                            product = larger;
                            continue;
                        }
                        None => "makes it larger than arrays may be",
                    }
                }
            };
            self.report.error(Code::FmuArray, line, format!("a dimension of `{}` {what}", short(owner)));
            return 0;
        }
        self.elements += product;
        usize::try_from(product).unwrap_or(0)
    }

    /// An unknown of the model structure; `reference` is the attribute that names it.
    pub(crate) fn unknown(&mut self, element: &Element, reference: &str, list: &str) -> Option<Unknown> {
        let line = element.line();
        let value: Option<u32> = element.read(reference, &mut self.report);
        let dependencies: Option<Vec<u32>> = element.list("dependencies", &mut self.report);
        let kinds: Option<Vec<DependencyKind>> = element.list("dependenciesKind", &mut self.report);
        element.check_asked(&mut self.report);
        let Some(value) = value else {
            if element.get(reference).is_none() {
                let message = format!("an entry of {list} has no `{reference}`");
                self.report.error(Code::FmuSchema, line, message);
            }
            return None;
        };
        let variable = self.resolve(value, list, "ModelStructure", line)?;
        let owner = self.description.variables[variable].name.clone();
        let dependencies = dependencies.and_then(|dependencies| {
            if dependencies.len() > self.description.variables.len() {
                let message = format!("`{}` has more dependencies than there are variables", short(&owner));
                self.report.error(Code::FmuStructure, line, message);
                return None;
            }
            let fitting = kinds.as_ref().filter(|kinds| kinds.len() == dependencies.len());
            let resolved = dependencies.iter().enumerate().filter_map(|(at, to)| {
                let variable = self.resolve(*to, "dependencies", &owner, line)?;
                let kind = fitting.map_or(DependencyKind::Dependent, |kinds| kinds[at]);
                Some(Dependency { variable, kind })
            });
            let resolved: Vec<Dependency> = resolved.collect();
            if kinds.is_some() && fitting.is_none() {
                let message =
                    format!("`dependencies` and `dependenciesKind` of `{}` differ in length", short(&owner));
                self.report.warning(Code::FmuStructure, line, message);
            }
            // With one dependency unknown, all have to be assumed.
            (resolved.len() == dependencies.len()).then_some(resolved)
        });
        if kinds.is_some() && element.get("dependencies").is_none() {
            let message = format!("`{}` has `dependenciesKind` but no `dependencies`", short(&owner));
            self.report.warning(Code::FmuStructure, line, message);
        }
        Some(Unknown { variable, dependencies, line })
    }

    /// The whole description. `line` is that of the end of the document.
    pub(crate) fn finish(mut self, line: u32) -> Result<ModelDescription, Flaw> {
        if !self.variables_done {
            return Err(Flaw::new(Code::BadDescription, line, "<ModelVariables> is missing"));
        }
        if !self.seen.contains("ModelStructure") {
            self.report.error(Code::FmuStructure, line, "<ModelStructure> is missing");
        }
        let mut description = self.description;
        if description.interfaces().next().is_none() {
            let message = "the FMU is neither for Co-Simulation nor for Model Exchange";
            self.report.error(Code::FmuCapability, line, message);
        }
        let units = &description.units;
        let mut unit_names: Vec<u32> = (0..).take(units.len()).collect();
        unit_names.sort_by(|a, b| units[*a as usize].name.cmp(&units[*b as usize].name));
        description.unit_names = unit_names;
        if description.fmi_version == FmiVersion::V3 {
            let indicators = description.structure.event_indicators.iter();
            description.number_of_event_indicators = indicators
                .fold(0, |sum, unknown| sum.saturating_add(description.variables[unknown.variable].elements));
        }
        description.report = self.report;
        Ok(description)
    }
}

/// How a variable is initialised if it does not say so.
pub(crate) fn default_initial(causality: Causality, variability: Variability) -> Option<Initial> {
    use Causality as C;
    use Variability as V;
    match (causality, variability) {
        (C::Output | C::Local, V::Constant) => Some(Initial::Exact),
        (C::StructuralParameter | C::Parameter, V::Fixed | V::Tunable) => Some(Initial::Exact),
        (C::CalculatedParameter | C::Local, V::Fixed | V::Tunable) => Some(Initial::Calculated),
        (C::Input, V::Discrete | V::Continuous) => Some(Initial::Exact),
        (C::Output | C::Local, V::Discrete | V::Continuous) => Some(Initial::Calculated),
        _ => None,
    }
}
