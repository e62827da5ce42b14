//! The parts of a document that versions of FMI have in common: units, attributes of types, log categories,
//! the default experiment.

use costep_core::Code;
use std::collections::HashSet;

use crate::description::builder::Builder;
use crate::description::enumerations::VariableType;
use crate::description::value::Number;
use crate::description::variable::{Attributes, Item};
use crate::description::{DefaultExperiment, FmiVersion, LogCategory};
use crate::text::short;
use crate::units::{BaseUnit, DisplayUnit, SI_NAMES, Unit};
use crate::xml::{Element, Flaw};

/// The children of `<UnitDefinitions>`.
pub(crate) fn units(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    let mut names = HashSet::new();
    for element in parent.children() {
        if element.tag() != "Unit" {
            builder.unexpected(&element, "UnitDefinitions");
            continue;
        }
        builder.check_list(builder.description.units.len(), element.line())?;
        let name = builder.required(&element, "name");
        element.check_asked(&mut builder.report);
        if !names.insert(name.clone()) {
            let message = format!("the unit `{}` is defined twice", short(&name));
            builder.report.warning(Code::FmuDuplicate, element.line(), message);
        }
        let mut unit = Unit { name, base: None, display: Vec::new(), line: element.line() };
        for child in element.children() {
            match child.tag() {
                "BaseUnit" => unit.base = Some(base_unit(&child, &unit.name, builder)),
                "DisplayUnit" => {
                    builder.check_list(unit.display.len(), child.line())?;
                    let display = display_unit(&child, &unit.name, builder);
                    unit.display.push(display);
                }
                "Annotations" => {}
                _ => builder.unexpected(&child, "Unit"),
            }
        }
        builder.description.units.push(unit);
    }
    Ok(())
}

fn base_unit(element: &Element, unit: &str, builder: &mut Builder<'_>) -> BaseUnit {
    let report = &mut builder.report;
    let exponents = SI_NAMES.map(|name| element.read(name, report).unwrap_or(0));
    let factor = element.read("factor", report).unwrap_or(1.0);
    let offset = element.read("offset", report).unwrap_or(0.0);
    element.check_asked(report);
    check_scale(factor, offset, unit, element, builder);
    BaseUnit { exponents, factor, offset }
}

fn display_unit(element: &Element, unit: &str, builder: &mut Builder<'_>) -> DisplayUnit {
    let name = builder.required(element, "name");
    let report = &mut builder.report;
    let factor = element.read("factor", report).unwrap_or(1.0);
    let offset = element.read("offset", report).unwrap_or(0.0);
    let inverse = builder.description.fmi_version == FmiVersion::V3 && element.flag("inverse", report);
    element.check_asked(report);
    if inverse && offset != 0.0 {
        let message = format!("the display unit `{}` is inverse and has an offset", short(&name));
        report.warning(Code::FmuUnit, element.line(), message);
    }
    check_scale(factor, offset, unit, element, builder);
    DisplayUnit { name, factor, offset, inverse }
}

pub(crate) fn check_scale(
    factor: f64,
    offset: f64,
    unit: &str,
    element: &Element,
    builder: &mut Builder<'_>,
) {
    if factor == 0.0 || !factor.is_finite() || !offset.is_finite() {
        let message = format!("<{}> of `{}` has an invalid factor or offset", element.tag(), short(unit));
        builder.report.warning(Code::FmuUnit, element.line(), message);
    }
}

/// The children of `<LogCategories>`.
pub(crate) fn log_categories(parent: &Element, builder: &mut Builder<'_>) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != "Category" {
            builder.unexpected(&element, "LogCategories");
            continue;
        }
        builder.check_list(builder.description.log_categories.len(), element.line())?;
        let name = builder.required(&element, "name");
        let description = element.string("description");
        element.check_asked(&mut builder.report);
        builder.description.log_categories.push(LogCategory { name, description });
    }
    Ok(())
}

/// `<DefaultExperiment>`.
pub(crate) fn default_experiment(element: &Element, builder: &mut Builder<'_>) {
    let report = &mut builder.report;
    builder.description.default_experiment = DefaultExperiment {
        start_time: element.read("startTime", report),
        stop_time: element.read("stopTime", report),
        tolerance: element.read("tolerance", report),
        step_size: element.read("stepSize", report),
    };
    element.check_asked(report);
}

/// Unit, range and so on of a type or variable; what is not stated comes from `base`.
pub(crate) fn attributes(
    element: &Element,
    kind: VariableType,
    base: Option<usize>,
    builder: &mut Builder<'_>,
) -> Attributes {
    let base = base.map(|index| builder.description.types[index].attributes.clone()).unwrap_or_default();
    let mut word = |name: &str| element.get(name).map(|text| builder.intern(text));
    let mut own = Attributes::default();
    if !matches!(
        kind,
        VariableType::Boolean | VariableType::String | VariableType::Binary | VariableType::Clock
    ) {
        own.quantity = word("quantity").or(base.quantity);
    }
    if kind.is_float() {
        own.unit = word("unit");
        own.display_unit = word("displayUnit");
        // The display unit of the type belongs to the unit of the type.
        if own.display_unit.is_none() && (own.unit.is_none() || own.unit == base.unit) {
            own.display_unit = base.display_unit;
        }
        own.unit = own.unit.or(base.unit);
    }
    if kind == VariableType::Binary {
        own.mime_type = word("mimeType").or(base.mime_type);
    }
    let report = &mut builder.report;
    if kind.is_float() {
        own.relative_quantity = element.read("relativeQuantity", report).unwrap_or(base.relative_quantity);
        own.unbounded = element.read("unbounded", report).unwrap_or(base.unbounded);
        own.nominal = Number::read(element, "nominal", kind, report).map(Number::to_f64).or(base.nominal);
    }
    own.min = Number::read(element, "min", kind, report).or(base.min);
    own.max = Number::read(element, "max", kind, report).or(base.max);
    if kind == VariableType::Binary {
        own.max_size = element.read("maxSize", report).or(base.max_size);
    }
    own
}

/// The children `<Item>` of an enumeration.
pub(crate) fn items(parent: &Element, owner: &str, builder: &mut Builder<'_>) -> Result<Vec<Item>, Flaw> {
    let mut items: Vec<Item> = Vec::new();
    let (mut names, mut values) = (HashSet::new(), HashSet::new());
    for element in parent.children() {
        if element.tag() != "Item" {
            if element.tag() != "Annotations" {
                builder.unexpected(&element, "Enumeration");
            }
            continue;
        }
        builder.check_list(items.len(), element.line())?;
        let name = builder.required(&element, "name");
        let value: Option<i64> = element.read("value", &mut builder.report);
        if element.get("value").is_none() {
            builder.required(&element, "value");
        }
        let description = element.string("description");
        element.check_asked(&mut builder.report);
        let Some(value) = value else { continue };
        if !names.insert(name.clone()) || !values.insert(value) {
            let message =
                format!("name or value of the item `{}` of `{}` is not unique", short(&name), short(owner));
            builder.report.warning(Code::FmuType, element.line(), message);
        }
        items.push(Item { name, value, description });
    }
    Ok(items)
}
