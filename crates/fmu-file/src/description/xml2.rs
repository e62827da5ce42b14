//! `modelDescription.xml` of FMI 2.0.

use costep_core::Code;

use crate::description::builder::{Builder, default_initial};
use crate::description::enumerations::{Causality, Initial, Variability, VariableType};
use crate::description::interface::{CoSimulation, ModelExchange};
use crate::description::lists;
use crate::description::references::RawReferences;
use crate::description::solver;
use crate::description::structure::Unknown;
use crate::description::value::{Number, Values};
use crate::description::variable::{TypeDefinition, Variable};
use crate::text::short;
use crate::xml::{Element, Flaw};

/// The children of the root in the order of the schema.
const ORDER: &[&str] = &[
    "ModelExchange",
    "CoSimulation",
    "UnitDefinitions",
    "TypeDefinitions",
    "LogCategories",
    "DefaultExperiment",
    "VendorAnnotations",
    "ModelVariables",
    "ModelStructure",
];

/// Reads everything inside the root element.
pub(crate) fn read(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if !builder.enter(&element, ORDER)? {
            continue;
        }
        match element.tag() {
            "ModelExchange" => {
                builder.description.model_exchange = Some(model_exchange(&element, builder)?);
                source_files(&element, builder)?;
            }
            "CoSimulation" => {
                builder.description.co_simulation = Some(co_simulation(&element, builder)?);
                source_files(&element, builder)?;
            }
            "UnitDefinitions" => lists::units(&element, builder)?,
            "TypeDefinitions" => types(&element, builder)?,
            "LogCategories" => lists::log_categories(&element, builder)?,
            "DefaultExperiment" => lists::default_experiment(&element, builder),
            "VendorAnnotations" => solver::read(&element, builder, ("Tool", "name"))?,
            "ModelVariables" => variables(&element, builder)?,
            "ModelStructure" => structure(&element, builder)?,
            _ => {}
        }
    }
    Ok(())
}

fn model_exchange(element: &Element, builder: &mut Builder<'_>) -> Result<ModelExchange, Flaw> {
    let interface = builder.interface(element)?;
    let report = &mut builder.report;
    let needs = !element.flag("completedIntegratorStepNotNeeded", report);
    element.check_asked(report);
    Ok(ModelExchange {
        interface,
        needs_completed_integrator_step: needs,
        provides_evaluate_discrete_states: false,
    })
}

fn co_simulation(element: &Element, builder: &mut Builder<'_>) -> Result<CoSimulation, Flaw> {
    let interface = builder.interface(element)?;
    let report = &mut builder.report;
    let result = CoSimulation {
        interface,
        can_handle_variable_communication_step_size: element
            .flag("canHandleVariableCommunicationStepSize", report),
        can_interpolate_inputs: element.flag("canInterpolateInputs", report),
        max_output_derivative_order: element.read("maxOutputDerivativeOrder", report).unwrap_or(0),
        can_run_asynchronously: element.flag("canRunAsynchronuously", report),
        ..CoSimulation::default()
    };
    element.check_asked(report);
    Ok(result)
}

/// What is inside of an interface. The names of source files are not kept, because costep compiles none.
fn source_files(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "SourceFiles" {
            builder.unexpected(&element, "ModelExchange or CoSimulation");
            continue;
        }
        for file in element.children() {
            if file.tag() == "File" {
                builder.required(&file, "name");
                file.check_asked(&mut builder.report);
            } else {
                builder.unexpected(&file, "SourceFiles");
            }
        }
    }
    Ok(())
}

fn types(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "SimpleType" {
            builder.unexpected(&element, "TypeDefinitions");
            continue;
        }
        let name = builder.required(&element, "name");
        let description = element.string("description");
        element.check_asked(&mut builder.report);
        let mut definition = None;
        for child in element.children() {
            let Some(kind) = VariableType::of_fmi2(child.tag()).filter(|_| definition.is_none()) else {
                builder.unexpected(&child, "SimpleType");
                continue;
            };
            let mut attributes = lists::attributes(&child, kind, None, builder);
            let mut items = Vec::new();
            if kind == VariableType::Enumeration {
                // Only variables have a range here; that of a type is given by its items.
                (attributes.min, attributes.max) = (None, None);
                items = lists::items(&child, &name, builder)?;
            }
            child.check_asked(&mut builder.report);
            definition = Some((kind, attributes, items));
        }
        let Some((kind, attributes, items)) = definition else {
            let message = format!("the type `{}` does not say what it is a type of", short(&name));
            builder.report.error(Code::FmuType, element.line(), message);
            continue;
        };
        let line = element.line();
        builder.add_type(TypeDefinition { name, kind, description, attributes, items, clock: None, line })?;
    }
    Ok(())
}

fn variables(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "ScalarVariable" {
            builder.unexpected(&element, "ModelVariables");
            continue;
        }
        let (mut variable, stated) = outer(&element, builder)?;
        let mut references = RawReferences::default();
        let mut typed = false;
        for child in element.children() {
            match VariableType::of_fmi2(child.tag()) {
                Some(kind) if !typed => {
                    typed = true;
                    references.derivative = inner(&child, kind, &mut variable, builder);
                }
                None if child.tag() == "Annotations" => {}
                _ => builder.unexpected(&child, "ScalarVariable"),
            }
        }
        if !typed {
            let message = format!("the variable `{}` has no type", short(&variable.name));
            return Err(Flaw::new(Code::BadDescription, element.line(), message));
        }
        variable.initial = stated.or(default_initial(variable.causality, variable.variability));
        builder.add_variable(variable, references)?;
    }
    builder.end_variables();
    Ok(())
}

/// The attributes of `<ScalarVariable>`. Without name or value reference nothing can be done with a variable,
/// and leaving it out would shift the indices of all that follow.
fn outer(element: &Element, builder: &mut Builder<'_>) -> Result<(Variable, Option<Initial>), Flaw> {
    let report = &mut builder.report;
    let name = element.string("name");
    let value_reference: Option<u32> = element.read("valueReference", report);
    let (Some(name), Some(value_reference)) = (name, value_reference) else {
        let message = "a variable has no name or no value reference";
        return Err(Flaw::new(Code::BadDescription, element.line(), message));
    };
    let causality = match element.read("causality", report) {
        Some(Causality::StructuralParameter) => {
            let message = format!("`causality` of `{}` is a word of FMI 3", short(&name));
            report.error(Code::FmuSchema, element.line(), message);
            Causality::Parameter
        }
        Some(causality) => causality,
        None => Causality::Local,
    };
    let initial = element.read("initial", report);
    let multiple = element.read("canHandleMultipleSetPerTimeInstant", report);
    let mut variable = Variable {
        causality,
        variability: element.read("variability", report).unwrap_or(Variability::Continuous),
        description: element.string("description"),
        ..Variable::new(name, value_reference, VariableType::Float64, element.line())
    };
    variable.flags.can_handle_multiple_set_per_time_instant = multiple.unwrap_or(true);
    element.check_asked(report);
    Ok((variable, initial))
}

/// The attributes of `<Real>`, `<Integer>` and so on. Returns the index of the state it is the derivative of.
fn inner(
    element: &Element,
    kind: VariableType,
    variable: &mut Variable,
    builder: &mut Builder<'_>,
) -> Option<u32> {
    variable.kind = kind;
    variable.declared_type = builder.declared_type(element, kind, &variable.name);
    variable.attributes = lists::attributes(element, kind, variable.declared_type, builder);
    let report = &mut builder.report;
    variable.start = match kind {
        VariableType::String => element.string("start").map(|text| Values::String(vec![text])),
        _ => Values::read(element, "start", kind, report),
    };
    let mut derivative = None;
    if kind == VariableType::Float64 {
        derivative = element.read("derivative", report);
        variable.flags.reinit = element.flag("reinit", report);
    }
    if kind == VariableType::Enumeration {
        if element.get("declaredType").is_none() {
            let message = format!("the enumeration `{}` declares no type", short(&variable.name));
            report.warning(Code::FmuType, element.line(), message);
        }
        let too_large = |number: Number| !matches!(number, Number::Integer(n) if i32::try_from(n).is_ok());
        let bounds = [variable.attributes.min, variable.attributes.max];
        if variable.start.as_ref().is_some_and(|start| start.find(too_large).is_some())
            || bounds.into_iter().flatten().any(too_large)
        {
            let message =
                format!("a value of the enumeration `{}` has more than 32 bits", short(&variable.name));
            report.error(Code::FmuSchema, element.line(), message);
            variable.start = None;
        }
    }
    element.check_asked(report);
    derivative
}

fn structure(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    const LISTS: [&str; 3] = ["Outputs", "Derivatives", "InitialUnknowns"];
    let mut rank = 0;
    for element in parent.children() {
        let Some(at) = LISTS.iter().position(|name| *name == element.tag()) else {
            builder.unexpected(&element, "ModelStructure");
            continue;
        };
        // Each list is there once.
        builder.check_order(&element, at, rank);
        rank = rank.max(at + 1);
        let unknowns = unknowns(&element, LISTS[at], builder)?;
        let structure = &mut builder.description.structure;
        match at {
            0 => structure.outputs.extend(unknowns),
            1 => structure.derivatives.extend(unknowns),
            _ => structure.initial_unknowns.extend(unknowns),
        }
    }
    Ok(())
}

fn unknowns(parent: &Element, list: &str, builder: &mut Builder<'_>) -> Result<Vec<Unknown>, Flaw> {
    let mut unknowns = Vec::new();
    for element in parent.children() {
        if element.tag() != "Unknown" {
            builder.unexpected(&element, list);
            continue;
        }
        unknowns.extend(builder.unknown(&element, "index", list));
    }
    Ok(unknowns)
}
