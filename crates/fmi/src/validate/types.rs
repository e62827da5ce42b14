//! Units and declared types.

use costep_core::Code;

use crate::description::ModelDescription;
use crate::description::variable::Variable;
use crate::description::words::VariableType;
use crate::finding::Report;
use crate::text::short;

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    for definition in &description.types {
        let name = &definition.name;
        let (unit, display) =
            (definition.attributes.unit.as_deref(), definition.attributes.display_unit.as_deref());
        check_units(description, (unit, display), name, definition.line, report);
        if definition.kind == VariableType::Enumeration && definition.items.is_empty() {
            let message = format!("the enumeration `{}` has no items", short(name));
            report.warning(Code::FmuType, definition.line, message);
        }
    }
    for variable in description.variables() {
        let unit = variable.unit();
        let display = variable.attributes.display_unit.as_deref();
        check_units(description, (unit, display), &variable.name, variable.line, report);
        for alias in &variable.aliases {
            if alias.display_unit.is_some() {
                check_units(
                    description,
                    (unit, alias.display_unit.as_deref()),
                    &alias.name,
                    variable.line,
                    report,
                );
            }
        }
        check_item(description, variable, report);
    }
}

fn check_units(
    description: &ModelDescription,
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
            (None, _) => warn(format!("the unit `{}` of `{}` is not defined", short(unit), short(owner))),
            (Some(known), Some(display)) if !known.display.iter().any(|other| other.name == display) => {
                let message =
                    format!("the display unit `{}` of `{}` is not defined", short(display), short(owner));
                warn(message);
            }
            _ => {}
        },
    }
}

/// The start value of an enumeration is one of its items.
fn check_item(description: &ModelDescription, variable: &Variable, report: &mut Report) {
    use crate::description::value::Values;
    let (Some(Values::Enumeration(values)), Some(index)) = (&variable.start, variable.declared_type) else {
        return;
    };
    let items = &description.types[index].items;
    if let Some(wrong) = values.iter().find(|value| !items.iter().any(|item| item.value == **value)) {
        let message =
            format!("the start value {wrong} of `{}` is not an item of its type", short(&variable.name));
        report.warning(Code::FmuRange, variable.line, message);
    }
}
