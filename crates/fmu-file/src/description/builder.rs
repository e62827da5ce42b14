//! Puts a model description together while its document is read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use costep_core::Code;

use crate::description::enumerations::{Causality, Initial, NamingConvention, Variability, VariableType};
use crate::description::interface::{Interface, is_identifier, is_name_of_c};
use crate::description::references::RawReferences;
use crate::description::solver::Annotations;
use crate::description::structure::ModelStructure;
use crate::description::variable::{TypeDefinition, Variable};
use crate::description::{DefaultExperiment, FmiVersion, Index, ModelDescription, Origin};
use crate::finding::Report;
use crate::limits::Limits;
use crate::text::short;
use crate::xml::{Element, Encoding, Flaw};

/// A model description under construction.
pub(crate) struct Builder<'a> {
    pub(crate) description: ModelDescription,
    pub(crate) report: Report,
    pub(crate) limits: &'a Limits,
    /// Types by name.
    types: HashMap<Arc<str>, usize>,
    words: HashSet<Arc<str>>,
    pub(super) references: Vec<(usize, RawReferences)>,
    /// Top-level elements seen, by their place in the order of the schema.
    rank: usize,
    seen: HashSet<&'static str>,
    pub(super) variables_done: bool,
    /// Elements of all arrays so far.
    pub(super) elements: u64,
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
        let token = if version < FmiVersion::V3 { "guid" } else { "instantiationToken" };
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
        if version < FmiVersion::V3 {
            events = root.read::<u32>("numberOfEventIndicators", &mut report).unwrap_or(0) as usize;
            if events > limits.list {
                report.error(
                    Code::FmuRange,
                    root.line(),
                    format!("{events} event indicators are not possible"),
                );
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
            annotations: Annotations::default(),
            structure: ModelStructure::default(),
            number_of_event_indicators: events,
            variables: Vec::new(),
            index: Index::default(),
            report: Report::default(),
        };
        if version == FmiVersion::V1 {
            // Read by those who need them.
            let _ = (root.get("modelIdentifier"), root.get("numberOfContinuousStates"));
        }
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
        let Some(rank) = order.iter().position(|name| *name == element.tag()) else {
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

    /// What all interfaces of FMI 2 and 3 have; the names of some flags depend on the version.
    pub(crate) fn interface(&mut self, element: &Element) -> Result<Interface, Flaw> {
        let v2 = self.description.fmi_version == FmiVersion::V2;
        let (state, serialize, directional) = match v2 {
            true => ("canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative"),
            false => ("canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives"),
        };
        let model_identifier = self.identifier(element)?;
        let report = &mut self.report;
        Ok(Interface {
            model_identifier,
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

    /// The model identifier, which names of files and symbols are built from.
    pub(crate) fn identifier(&mut self, element: &Element) -> Result<String, Flaw> {
        let identifier = element.get("modelIdentifier").unwrap_or_default();
        if is_identifier(identifier) {
            if !is_name_of_c(identifier) {
                let message = format!("the model identifier `{}` is not a name of C", short(identifier));
                self.report.warning(Code::FmuSchema, element.line(), message);
            }
            return Ok(identifier.to_owned());
        }
        let message = format!("the model identifier `{}` is not allowed", short(identifier));
        let mut flaw = Flaw::new(Code::BadDescription, element.line(), message);
        flaw.error = flaw.error.hint("it consists of at most 256 letters, digits and underscores");
        Err(flaw)
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

    /// The whole description. `line` is that of the end of the document.
    pub(crate) fn finish(mut self, line: u32) -> Result<ModelDescription, Flaw> {
        if !self.variables_done {
            return Err(Flaw::new(Code::BadDescription, line, "<ModelVariables> is missing"));
        }
        if self.description.fmi_version > FmiVersion::V1 && !self.seen.contains("ModelStructure") {
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
        description.index.unit_names = unit_names;
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
