//! `modelDescription.xml` of FMI 3.0.

use costep_core::Code;

use crate::description::builder::{Builder, default_initial};
use crate::description::enumerations::{AliasKind, Causality, Variability, VariableType};
use crate::description::interface::{CoSimulation, ModelExchange, ScheduledExecution};
use crate::description::lists;
use crate::description::references::{RawDimension, RawReferences};
use crate::description::solver;
use crate::description::value::Values;
use crate::description::variable::{Alias, Clock, TypeDefinition, Variable, VariableFlags};
use crate::finding::Report;
use crate::text::short;
use crate::xml::{Element, Flaw, Literal};

/// The children of the root in the order of the schema.
const ORDER: &[&str] = &[
    "ModelExchange",
    "CoSimulation",
    "ScheduledExecution",
    "UnitDefinitions",
    "TypeDefinitions",
    "LogCategories",
    "DefaultExperiment",
    "ModelVariables",
    "ModelStructure",
    "Annotations",
];

/// Most dimensions of an array.
const MAX_DIMENSIONS: usize = 64;

/// Reads everything inside the root element.
pub(crate) fn read(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if !builder.enter(&element, ORDER)? {
            continue;
        }
        match element.tag() {
            "ModelExchange" => builder.description.model_exchange = Some(model_exchange(&element, builder)?),
            "CoSimulation" => builder.description.co_simulation = Some(co_simulation(&element, builder)?),
            "ScheduledExecution" => {
                let interface = builder.interface(&element)?;
                builder.description.scheduled_execution = Some(ScheduledExecution { interface });
            }
            "UnitDefinitions" => lists::units(&element, builder)?,
            "TypeDefinitions" => types(&element, builder)?,
            "LogCategories" => lists::log_categories(&element, builder)?,
            "DefaultExperiment" => lists::default_experiment(&element, builder),
            "ModelVariables" => variables(&element, builder)?,
            "ModelStructure" => structure(&element, builder)?,
            "Annotations" => solver::read(&element, builder, ("Annotation", "type"))?,
            _ => {}
        }
    }
    Ok(())
}

// Later minor releases may add capability flags, so unknown ones are not reported here.

fn model_exchange(element: &Element, builder: &mut Builder<'_>) -> Result<ModelExchange, Flaw> {
    let interface = builder.interface(element)?;
    let report = &mut builder.report;
    Ok(ModelExchange {
        interface,
        needs_completed_integrator_step: element.flag("needsCompletedIntegratorStep", report),
        provides_evaluate_discrete_states: element.flag("providesEvaluateDiscreteStates", report),
    })
}

fn co_simulation(element: &Element, builder: &mut Builder<'_>) -> Result<CoSimulation, Flaw> {
    let interface = builder.interface(element)?;
    let report = &mut builder.report;
    Ok(CoSimulation {
        interface,
        can_handle_variable_communication_step_size: element
            .flag("canHandleVariableCommunicationStepSize", report),
        can_interpolate_inputs: false,
        max_output_derivative_order: element.read("maxOutputDerivativeOrder", report).unwrap_or(0),
        can_run_asynchronously: false,
        fixed_internal_step_size: element.read("fixedInternalStepSize", report),
        recommended_intermediate_input_smoothness: element
            .read("recommendedIntermediateInputSmoothness", report)
            .unwrap_or(0),
        provides_intermediate_update: element.flag("providesIntermediateUpdate", report),
        might_return_early_from_do_step: element.flag("mightReturnEarlyFromDoStep", report),
        can_return_early_after_intermediate_update: element
            .flag("canReturnEarlyAfterIntermediateUpdate", report),
        has_event_mode: element.flag("hasEventMode", report),
        provides_evaluate_discrete_states: element.flag("providesEvaluateDiscreteStates", report),
    })
}

fn types(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        let Some(kind) = element.tag().strip_suffix("Type").and_then(VariableType::parse) else {
            builder.unexpected(&element, "TypeDefinitions");
            continue;
        };
        let name = builder.required(&element, "name");
        let description = element.string("description");
        let attributes = lists::attributes(&element, kind, None, builder);
        let clock =
            (kind == VariableType::Clock).then(|| Box::new(clock(&element, None, &mut builder.report)));
        element.check_asked(&mut builder.report);
        let line = element.line();
        let items = match kind {
            VariableType::Enumeration => lists::items(&element, &name, builder)?,
            _ => Vec::new(),
        };
        builder.add_type(TypeDefinition { name, kind, description, attributes, items, clock, line })?;
    }
    Ok(())
}

fn clock(element: &Element, base: Option<&Clock>, report: &mut Report) -> Clock {
    let base = base.cloned().unwrap_or_default();
    Clock {
        interval_variability: element.read("intervalVariability", report).or(base.interval_variability),
        can_be_deactivated: element.read("canBeDeactivated", report).unwrap_or(base.can_be_deactivated),
        priority: element.read("priority", report).or(base.priority),
        interval_decimal: element.read("intervalDecimal", report).or(base.interval_decimal),
        shift_decimal: element.read("shiftDecimal", report).or(base.shift_decimal),
        supports_fraction: element.read("supportsFraction", report).unwrap_or(base.supports_fraction),
        resolution: element.read("resolution", report).or(base.resolution),
        interval_counter: element.read("intervalCounter", report).or(base.interval_counter),
        shift_counter: element.read("shiftCounter", report).or(base.shift_counter),
    }
}

fn variables(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        let Some(kind) = VariableType::parse(element.tag()) else {
            builder.unexpected(&element, "ModelVariables");
            continue;
        };
        let (mut variable, mut references) = attributes(&element, kind, builder)?;
        let mut starts = Starts::default();
        for child in element.children() {
            let report = &mut builder.report;
            match child.tag() {
                "Dimension" if kind != VariableType::Clock => {
                    if references.dimensions.len() == MAX_DIMENSIONS {
                        let message =
                            format!("`{}` has more than {MAX_DIMENSIONS} dimensions", short(&variable.name));
                        return Err(Flaw::new(Code::XmlRefused, child.line(), message));
                    }
                    references.dimensions.push(RawDimension {
                        start: child.read("start", report),
                        value_reference: child.read("valueReference", report),
                    });
                    child.check_asked(report);
                }
                "Start" if matches!(kind, VariableType::String | VariableType::Binary) => {
                    starts.push(&child, kind, &variable.name, report);
                }
                "Alias" => {
                    let name = builder.required(&child, "name");
                    let display_unit = child.get("displayUnit").map(|text| builder.intern(text));
                    let description = child.string("description");
                    child.check_asked(&mut builder.report);
                    builder.check_list(variable.aliases.len(), child.line())?;
                    variable.aliases.push(Alias { name, description, display_unit });
                }
                "Annotations" => {}
                _ => builder.unexpected(&child, kind.word()),
            }
        }
        variable.start = starts.finish(kind).or(variable.start);
        builder.add_variable(variable, references)?;
    }
    builder.end_variables();
    Ok(())
}

/// Everything about a variable that its start tag says.
fn attributes(
    element: &Element,
    kind: VariableType,
    builder: &mut Builder<'_>,
) -> Result<(Variable, RawReferences), Flaw> {
    let name = element.string("name");
    let value_reference: Option<u32> = element.read("valueReference", &mut builder.report);
    let (Some(name), Some(value_reference)) = (name, value_reference) else {
        let message = "a variable has no name or no value reference";
        return Err(Flaw::new(Code::BadDescription, element.line(), message));
    };
    let declared_type = builder.declared_type(element, kind, &name);
    let attributes = lists::attributes(element, kind, declared_type, builder);
    let base = declared_type.and_then(|index| builder.description.types[index].clock.clone());
    let report = &mut builder.report;
    let causality = element.read("causality", report).unwrap_or(Causality::Local);
    let default_variability = match causality {
        Causality::Parameter | Causality::CalculatedParameter | Causality::StructuralParameter => {
            Variability::Fixed
        }
        _ if kind.is_float() => Variability::Continuous,
        _ => Variability::Discrete,
    };
    let variability = element.read("variability", report).unwrap_or(default_variability);
    let mut references =
        RawReferences { clocks: element.list("clocks", report).unwrap_or_default(), ..Default::default() };
    let (mut initial, mut intermediate_update) = (None, false);
    if kind != VariableType::Clock {
        initial = element.read("initial", report).or(default_initial(causality, variability));
        intermediate_update = element.flag("intermediateUpdate", report);
        references.previous = element.read("previous", report);
    }
    let mut reinit = false;
    if kind.is_float() {
        references.derivative = element.read("derivative", report);
        reinit = element.flag("reinit", report);
    }
    if kind == VariableType::Enumeration && element.get("declaredType").is_none() {
        let message = format!("the enumeration `{}` declares no type", short(&name));
        report.warning(Code::FmuType, element.line(), message);
    }
    let clock = (kind == VariableType::Clock).then(|| Box::new(clock(element, base.as_deref(), report)));
    let multiple = element.read("canHandleMultipleSetPerTimeInstant", report);
    let variable = Variable {
        causality,
        variability,
        initial,
        description: element.string("description"),
        attributes,
        declared_type,
        start: Values::read(element, "start", kind, report),
        flags: VariableFlags {
            intermediate_update,
            can_handle_multiple_set_per_time_instant: multiple.unwrap_or(true),
            reinit,
            alias: AliasKind::NoAlias,
        },
        clock,
        ..Variable::new(name, value_reference, kind, element.line())
    };
    element.check_asked(report);
    Ok((variable, references))
}

/// Start values that are elements of their own.
#[derive(Default)]
struct Starts {
    texts: Vec<String>,
    bytes: Vec<Vec<u8>>,
}

impl Starts {
    fn push(&mut self, element: &Element, kind: VariableType, owner: &str, report: &mut Report) {
        let text = element.get("value");
        element.check_asked(report);
        let Some(text) = text else {
            let message = format!("a start value of `{}` is left out", short(owner));
            return report.warning(Code::FmuStart, element.line(), message);
        };
        if kind == VariableType::String {
            self.texts.push(text.to_owned());
            return;
        }
        match hex(text.trim()) {
            Some(bytes) => self.bytes.push(bytes),
            None => {
                let message =
                    format!("a start value of `{}` is not written as hexadecimal bytes", short(owner));
                report.error(Code::FmuSchema, element.line(), message);
            }
        }
    }

    fn finish(self, kind: VariableType) -> Option<Values> {
        match kind {
            VariableType::String if !self.texts.is_empty() => Some(Values::String(self.texts)),
            VariableType::Binary if !self.bytes.is_empty() => Some(Values::Binary(self.bytes)),
            _ => None,
        }
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

fn structure(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    const LISTS: [&str; 5] =
        ["Output", "ContinuousStateDerivative", "ClockedState", "InitialUnknown", "EventIndicator"];
    let mut rank = 0;
    for element in parent.children() {
        let list = element.tag();
        let Some(at) = LISTS.iter().position(|name| *name == list) else {
            builder.unexpected(&element, "ModelStructure");
            continue;
        };
        builder.check_order(&element, at, rank);
        rank = rank.max(at);
        let Some(unknown) = builder.unknown(&element, "valueReference", list) else { continue };
        let structure = &mut builder.description.structure;
        match list {
            "Output" => structure.outputs.push(unknown),
            "ContinuousStateDerivative" => structure.derivatives.push(unknown),
            "ClockedState" => structure.clocked_states.push(unknown),
            "InitialUnknown" => structure.initial_unknowns.push(unknown),
            _ => structure.event_indicators.push(unknown),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_pairs_of_hexadecimal_digits() {
        assert_eq!(hex("3c3F00"), Some(vec![0x3c, 0x3f, 0]));
        assert_eq!(hex(""), Some(vec![]));
        for text in ["3", "3c3", "zz", "+1", "é"] {
            assert_eq!(hex(text), None, "{text}");
        }
    }
}
