//! `modelDescription.xml` of FMI 1.0, for Model Exchange and for stand-alone Co-Simulation.
//!
//! Its words are translated into those of later versions: a parameter is a variability there and a causality
//! since, `fixed` tells whether a start value is exact or a guess, and direct dependencies stand with their
//! outputs instead of in a list.

use costep_core::Code;

use crate::description::builder::Builder;
use crate::description::enumerations::{
    AliasKind, Causality, Causality1, DependencyKind, Initial, Variability, Variability1, VariableType,
};
use crate::description::interface::{CoSimulation, Interface, ModelExchange};
use crate::description::lists;
use crate::description::references::RawReferences;
use crate::description::structure::{Dependency, Unknown};
use crate::description::value::Values;
use crate::description::variable::{Item, TypeDefinition, Variable};
use crate::text::short;
use crate::units::{DisplayUnit, Unit};
use crate::xml::{Element, Flaw};

/// The children of the root in the order of the schema.
const ORDER: &[&str] = &[
    "UnitDefinitions",
    "TypeDefinitions",
    "DefaultExperiment",
    "VendorAnnotations",
    "ModelVariables",
    "Implementation",
];

/// States are not listed in FMI 1.0, and need not be variables. So many are believed without variables.
const HIDDEN_STATES: usize = 1_000;

/// Reads everything inside the root element.
pub(crate) fn read(root: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    let identifier = builder.identifier(root)?;
    let mut outputs = Vec::new();
    for element in root.children() {
        if !builder.enter(&element, ORDER)? {
            continue;
        }
        match element.tag() {
            "UnitDefinitions" => units(&element, builder)?,
            "TypeDefinitions" => types(&element, builder)?,
            "DefaultExperiment" => lists::default_experiment(&element, builder),
            "ModelVariables" => variables(&element, &mut outputs, builder)?,
            "Implementation" => {
                let kind = implementation(&element, &identifier, builder)?;
                builder.description.co_simulation = kind;
            }
            // Pairs of names and values for other tools.
            _ => {}
        }
    }
    builder.end_variables();
    dependencies(outputs, builder);
    if builder.description.co_simulation.is_none() {
        let interface = Interface { model_identifier: identifier, ..Interface::default() };
        builder.description.model_exchange = Some(ModelExchange {
            interface,
            needs_completed_integrator_step: true,
            provides_evaluate_discrete_states: false,
        });
        states(root, builder);
    }
    Ok(())
}

/// The number of continuous states, which is all that the document says about them.
fn states(root: &Element, builder: &mut Builder<'_>) {
    for required in ["numberOfContinuousStates", "numberOfEventIndicators"] {
        if root.get(required).is_none() {
            builder.report.error(Code::FmuSchema, root.line(), format!("`{required}` is missing"));
        }
    }
    let count = root.read::<u32>("numberOfContinuousStates", &mut builder.report).unwrap_or(0) as usize;
    if count > HIDDEN_STATES.max(builder.description.variables().len()) {
        let message = format!("{count} continuous states are not possible");
        builder.report.error(Code::FmuRange, root.line(), message);
        return;
    }
    builder.description.structure.unlisted_states = count;
}

/// `<Implementation>` is there for Co-Simulation only.
fn implementation(
    parent: &Element,
    identifier: &str,
    builder: &mut Builder<'_>,
) -> Result<Option<CoSimulation>, Flaw> {
    let mut kind = None;
    for element in parent.children() {
        match element.tag() {
            "CoSimulation_StandAlone" if kind.is_none() => {
                kind = Some(stand_alone(&element, identifier, builder));
            }
            "CoSimulation_Tool" => {
                let message = "the FMU is coupled with the tool that it comes from (CoSimulation_Tool), which is not supported";
                let mut flaw = Flaw::new(Code::FmuInterface, element.line(), message);
                flaw.error = flaw.error.hint("export it as a stand-alone FMU (CoSimulation_StandAlone)");
                return Err(flaw);
            }
            _ => builder.unexpected(&element, "Implementation"),
        }
    }
    if kind.is_none() {
        let message = "<Implementation> does not say how the FMU is implemented";
        return Err(Flaw::new(Code::BadDescription, parent.line(), message));
    }
    Ok(kind)
}

fn stand_alone(parent: &Element, identifier: &str, builder: &mut Builder<'_>) -> CoSimulation {
    let mut kind = CoSimulation::default();
    kind.interface.model_identifier = identifier.to_owned();
    for element in parent.children() {
        if element.tag() != "Capabilities" {
            builder.unexpected(&element, "CoSimulation_StandAlone");
            continue;
        }
        let report = &mut builder.report;
        let mut flag = |name: &str| element.flag(name, report);
        kind.can_handle_variable_communication_step_size = flag("canHandleVariableCommunicationStepSize");
        kind.can_interpolate_inputs = flag("canInterpolateInputs");
        kind.can_run_asynchronously = flag("canRunAsynchronuously");
        kind.interface.can_be_instantiated_only_once_per_process =
            flag("canBeInstantiatedOnlyOncePerProcess");
        kind.interface.can_not_use_memory_management_functions = flag("canNotUseMemoryManagementFunctions");
        // Nobody signals events to it, nor asks it to, and without states no step is done again.
        let _ = ["canHandleEvents", "canSignalEvents", "canRejectSteps"].map(flag);
        kind.max_output_derivative_order = element.read("maxOutputDerivativeOrder", report).unwrap_or(0);
        element.check_asked(report);
    }
    kind
}

fn units(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "BaseUnit" {
            builder.unexpected(&element, "UnitDefinitions");
            continue;
        }
        builder.check_list(builder.description.units.len(), element.line())?;
        let name = builder.required(&element, "unit");
        element.check_asked(&mut builder.report);
        let mut unit = Unit { name, base: None, display: Vec::new(), line: element.line() };
        for child in element.children() {
            if child.tag() != "DisplayUnitDefinition" {
                builder.unexpected(&child, "BaseUnit");
                continue;
            }
            builder.check_list(unit.display.len(), child.line())?;
            let name = builder.required(&child, "displayUnit");
            let report = &mut builder.report;
            let factor = child.read("gain", report).unwrap_or(1.0);
            let offset = child.read("offset", report).unwrap_or(0.0);
            child.check_asked(report);
            lists::check_scale(factor, offset, &unit.name, &child, builder);
            unit.display.push(DisplayUnit { name, factor, offset, inverse: false });
        }
        builder.description.units.push(unit);
    }
    Ok(())
}

fn types(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "Type" {
            builder.unexpected(&element, "TypeDefinitions");
            continue;
        }
        let name = builder.required(&element, "name");
        let description = element.string("description");
        element.check_asked(&mut builder.report);
        let mut definition = None;
        for child in element.children() {
            let kind = child.tag().strip_suffix("Type").and_then(VariableType::of_fmi2);
            let Some(kind) = kind.filter(|_| definition.is_none()) else {
                builder.unexpected(&child, "Type");
                continue;
            };
            let mut attributes = lists::attributes(&child, kind, None, builder);
            let mut items = Vec::new();
            if kind == VariableType::Enumeration {
                (attributes.min, attributes.max) = (None, None);
                items = enumerated(&child, builder)?;
            }
            child.check_asked(&mut builder.report);
            definition = Some((kind, attributes, items));
        }
        let line = element.line();
        let Some((kind, attributes, items)) = definition else {
            let message = format!("the type `{}` does not say what it is a type of", short(&name));
            builder.report.error(Code::FmuType, line, message);
            continue;
        };
        builder.add_type(TypeDefinition { name, kind, description, attributes, items, clock: None, line })?;
    }
    Ok(())
}

/// The items of an enumeration, which have no values of their own: they are counted from 1.
fn enumerated(parent: &Element, builder: &mut Builder<'_>) -> Result<Vec<Item>, Flaw> {
    let mut items = Vec::new();
    for element in parent.children() {
        if element.tag() != "Item" {
            builder.unexpected(&element, "EnumerationType");
            continue;
        }
        builder.check_list(items.len(), element.line())?;
        let name = builder.required(&element, "name");
        let description = element.string("description");
        element.check_asked(&mut builder.report);
        items.push(Item { name, value: items.len() as i64 + 1, description });
    }
    Ok(items)
}

/// An output and the names of the inputs that it depends on, if it says so.
type Output = (usize, u32, Option<Vec<String>>);

fn variables(parent: &Element, outputs: &mut Vec<Output>, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "ScalarVariable" {
            builder.unexpected(&element, "ModelVariables");
            continue;
        }
        let (mut variable, words) = outer(&element, builder)?;
        let (mut typed, mut known) = (false, None);
        for child in element.children() {
            match VariableType::of_fmi2(child.tag()) {
                Some(kind) if !typed => {
                    typed = true;
                    inner(&child, kind, words, &mut variable, builder);
                }
                None if child.tag() == "DirectDependency" => {
                    let names = known.get_or_insert_with(Vec::new);
                    names.extend(child.children_named("Name").map(|name| name.content().to_owned()));
                }
                _ => builder.unexpected(&child, "ScalarVariable"),
            }
        }
        if !typed {
            let message = format!("the variable `{}` has no type", short(&variable.name));
            return Err(Flaw::new(Code::BadDescription, element.line(), message));
        }
        if variable.causality == Causality::Output {
            outputs.push((builder.description.variables().len(), element.line(), known));
        }
        builder.add_variable(variable, RawReferences::default())?;
    }
    Ok(())
}

/// What a variable says about itself in the words of FMI 1.0.
#[derive(Clone, Copy)]
struct Words {
    causality: Causality1,
    /// Continuous unless stated otherwise, which only real numbers can be.
    variability: Option<Variability1>,
}

/// The attributes of `<ScalarVariable>`.
fn outer(element: &Element, builder: &mut Builder<'_>) -> Result<(Variable, Words), Flaw> {
    let report = &mut builder.report;
    let name = element.string("name");
    let value_reference: Option<u32> = element.read("valueReference", report);
    let (Some(name), Some(value_reference)) = (name, value_reference) else {
        let message = "a variable has no name or no value reference";
        return Err(Flaw::new(Code::BadDescription, element.line(), message));
    };
    let words = Words {
        causality: element.read("causality", report).unwrap_or(Causality1::Internal),
        variability: element.read("variability", report),
    };
    let mut variable = Variable {
        description: element.string("description"),
        ..Variable::new(name, value_reference, VariableType::Float64, element.line())
    };
    variable.flags.alias = element.read("alias", report).unwrap_or(AliasKind::NoAlias);
    element.check_asked(report);
    Ok((variable, words))
}

/// The attributes of `<Real>`, `<Integer>` and so on, and what follows from them.
fn inner(
    element: &Element,
    kind: VariableType,
    words: Words,
    variable: &mut Variable,
    builder: &mut Builder<'_>,
) {
    variable.kind = kind;
    variable.declared_type = builder.declared_type(element, kind, &variable.name);
    variable.attributes = lists::attributes(element, kind, variable.declared_type, builder);
    let report = &mut builder.report;
    variable.start = match kind {
        VariableType::String => element.string("start").map(|text| Values::String(vec![text])),
        _ => Values::read(element, "start", kind, report),
    };
    let is_exact = element.read("fixed", report).unwrap_or(true);
    element.check_asked(report);
    let has_start = variable.start.is_some();
    (variable.causality, variable.variability) = meaning(words, kind, has_start);
    variable.initial = Some(match (variable.causality, variable.variability) {
        (Causality::Parameter | Causality::Input, _) | (_, Variability::Constant) => Initial::Exact,
        (Causality::CalculatedParameter, _) => Initial::Calculated,
        _ if !has_start => Initial::Calculated,
        _ if is_exact => Initial::Exact,
        _ => Initial::Approx,
    });
    let is_negated = variable.flags.alias == AliasKind::NegatedAlias;
    if is_negated && matches!(kind, VariableType::String | VariableType::Enumeration) {
        let message = format!("`{}` is a negated alias of type {kind}", short(&variable.name));
        report.warning(Code::FmuType, element.line(), message);
        variable.flags.alias = AliasKind::Alias;
    }
}

/// Causality and variability in the words of later versions. A parameter without a start value is computed
/// from others, unless it is an input.
fn meaning(words: Words, kind: VariableType, has_start: bool) -> (Causality, Variability) {
    let causality = match words.causality {
        Causality1::Input => Causality::Input,
        Causality1::Output => Causality::Output,
        Causality1::Internal | Causality1::None => Causality::Local,
    };
    match words.variability {
        Some(Variability1::Constant) => (causality, Variability::Constant),
        Some(Variability1::Parameter) if has_start || causality == Causality::Input => {
            (Causality::Parameter, Variability::Fixed)
        }
        Some(Variability1::Parameter) => (Causality::CalculatedParameter, Variability::Fixed),
        Some(Variability1::Discrete) => (causality, Variability::Discrete),
        None if !kind.is_float() => (causality, Variability::Discrete),
        Some(Variability1::Continuous) | None => (causality, Variability::Continuous),
    }
}

/// The outputs and what they depend on, now that all names are known. Without information that is every
/// input.
fn dependencies(outputs: Vec<Output>, builder: &mut Builder<'_>) {
    for (variable, line, names) in outputs {
        let description = &builder.description;
        let owner = short(&description.variables()[variable].name);
        let report = &mut builder.report;
        let mut find = |name: String| {
            let found = description.find(&name);
            if found.is_none() {
                let message =
                    format!("DirectDependency of `{owner}` names `{}`, which does not exist", short(&name));
                report.warning(Code::FmuReference, line, message);
            }
            found.map(|variable| Dependency { variable, kind: DependencyKind::Dependent })
        };
        let dependencies = names.and_then(|names| names.into_iter().map(&mut find).collect());
        let unknown = Unknown { variable, dependencies, line };
        builder.description.structure.outputs.push(unknown);
    }
}
