//! Units and declared types.

use std::collections::HashSet;

use costep_core::Code;

use crate::description::enumerations::VariableType;
use crate::description::value::Values;
use crate::description::variable::Variable;
use crate::description::{FmiVersion, ModelDescription};
use crate::finding::Report;
use crate::text::short;

/// Pairs of unit and display unit that are defined.
type Displays<'a> = HashSet<(&'a str, &'a str)>;

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    let displays: Displays<'_> = description
        .units
        .iter()
        .flat_map(|unit| unit.display.iter().map(|display| (unit.name.as_str(), display.name.as_str())))
        .collect();
    let values: Vec<HashSet<i64>> =
        description.types.iter().map(|kind| kind.items.iter().map(|item| item.value).collect()).collect();
    for definition in &description.types {
        let name = &definition.name;
        let (unit, display) =
            (definition.attributes.unit.as_deref(), definition.attributes.display_unit.as_deref());
        check_units(description, &displays, (unit, display), name, definition.line, report);
        if definition.kind == VariableType::Enumeration && definition.items.is_empty() {
            let message = format!("the enumeration `{}` has no items", short(name));
            report.warning(Code::FmuType, definition.line, message);
        }
    }
    for variable in description.variables() {
        let unit = variable.unit();
        let display = variable.attributes.display_unit.as_deref();
        check_units(description, &displays, (unit, display), &variable.name, variable.line, report);
        for alias in &variable.aliases {
            if alias.display_unit.is_some() {
                check_units(
                    description,
                    &displays,
                    (unit, alias.display_unit.as_deref()),
                    &alias.name,
                    variable.line,
                    report,
                );
            }
        }
        check_item(&values, variable, report);
    }
}

fn check_units(
    description: &ModelDescription,
    displays: &Displays<'_>,
    (unit, display): (Option<&str>, Option<&str>),
    owner: &str,
    line: u32,
    report: &mut Report,
) {
    let mut warn = |what: String| report.warning(Code::FmuUnit, line, what);
    match (unit, display) {
        (None, None) => {}
        (None, Some(display)) => {
            warn(format!("`{}` has a display unit `{}` but no unit", short(owner), short(display)));
        }
        (Some(unit), display) => match (description.unit(unit), display) {
            // In FMI 1 definitions of units are there for display units only.
            (None, None) if description.fmi_version == FmiVersion::V1 => {}
            (None, _) => warn(format!("the unit `{}` of `{}` is not defined", short(unit), short(owner))),
            (Some(_), Some(display)) if !displays.contains(&(unit, display)) => {
                let message =
                    format!("the display unit `{}` of `{}` is not defined", short(display), short(owner));
                warn(message);
            }
            _ => {}
        },
    }
}

/// The start value of an enumeration is one of its items.
fn check_item(items: &[HashSet<i64>], variable: &Variable, report: &mut Report) {
    let (Some(Values::Enumeration(values)), Some(index)) = (&variable.start, variable.declared_type) else {
        return;
    };
    if let Some(wrong) = values.iter().find(|value| !items[index].contains(value)) {
        let message =
            format!("the start value {wrong} of `{}` is not an item of its type", short(&variable.name));
        report.warning(Code::FmuRange, variable.line, message);
    }
}
