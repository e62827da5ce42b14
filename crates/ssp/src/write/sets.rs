//! Parameter sets (SSV), one per component.

use std::collections::HashSet;
use std::sync::Arc;

use costep_core::{Code, Error};
use costep_fmu_file::{ModelDescription, Variable, VariableType};

use crate::flat::{Component, Flat, SetValue};
use crate::model::Value;
use crate::read::values::SSV;
use crate::write::Packed;
use crate::write::connectors::{Units, is_in_version_1, type_name};
use crate::write::xml::Xml;

/// Name and text of the set of each component that has values.
pub(super) fn write(
    flat: &Flat,
    fmus: &[Arc<Packed>],
    errors: &mut Vec<Error>,
) -> Vec<Option<(String, String)>> {
    let mut names = HashSet::new();
    let mut one = |(component, fmu): (&Component, &Arc<Packed>)| {
        if component.set.is_empty() {
            return None;
        }
        let text = write_set(component, &fmu.description, errors);
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let stem: String = component.name.chars().map(plain).collect();
        let mut name = format!("resources/{stem}.ssv");
        let mut number = 2;
        while !names.insert(name.clone()) {
            name = format!("resources/{stem}_{number}.ssv");
            number += 1;
        }
        Some((name, text))
    };
    flat.components.iter().zip(fmus).map(&mut one).collect()
}

fn write_set(component: &Component, description: &ModelDescription, errors: &mut Vec<Error>) -> String {
    let mut units = Units::default();
    let mut rows: Vec<(&Variable, &Value)> = Vec::new();
    for SetValue { name, value, .. } in &component.set {
        match description.variable(name) {
            Some(variable) => {
                units.add(description, variable);
                rows.push((variable, value));
            }
            None => {
                let message = format!("the FMU of `{}` has no variable `{name}`", component.name);
                errors.push(Error::new(Code::UnknownParameter, message));
            }
        }
    }
    let old = rows.iter().all(|(variable, _)| is_in_version_1(variable.kind) && !variable.is_array());
    let attributes = [
        ("xmlns:ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon"),
        ("xmlns:ssv", SSV),
        ("version", if old { "1.0" } else { "2.0" }),
        ("name", component.name.as_str()),
    ];
    let mut xml = Xml::new();
    xml.element("ssv:ParameterSet", &attributes, |xml| {
        xml.element("ssv:Parameters", &[], |xml| {
            for (variable, value) in rows {
                xml.element("ssv:Parameter", &[("name", &variable.name)], |xml| {
                    if let Err(cause) = write_value(variable, value, description, &units, xml) {
                        let message =
                            format!("the value of `{}.{}` cannot be written", component.name, variable.name);
                        errors.push(Error::new(Code::SspUnsupported, message).because(cause));
                    }
                });
            }
        });
        units.write(xml, "ssv:Units");
    });
    xml.text
}

fn write_value(
    variable: &Variable,
    value: &Value,
    description: &ModelDescription,
    units: &Units,
    xml: &mut Xml,
) -> Result<(), String> {
    let kind = format!("ssv:{}", type_name(variable.kind));
    let texts = texts(variable, value, description)?;
    let is_list = matches!(variable.kind, VariableType::String | VariableType::Enumeration);
    if is_list && texts.len() > 1 {
        let kind = if variable.kind == VariableType::String { "ssv:String" } else { "ssv:Enumeration" };
        xml.element(kind, &[], |xml| {
            texts.iter().for_each(|text| xml.empty("ssv:Value", &[("value", text)]))
        });
    } else {
        let joined = texts.join(" ");
        let unit = units.of(variable).map(|unit| ("unit", unit));
        let attributes: Vec<(&str, &str)> = [("value", joined.as_str())].into_iter().chain(unit).collect();
        xml.empty(&kind, &attributes);
    }
    if variable.is_array() {
        xml.empty("ssc:Dimension", &[("size", &texts.len().to_string())]);
    }
    Ok(())
}

/// The values in the words of the type of the variable.
fn texts(variable: &Variable, value: &Value, description: &ModelDescription) -> Result<Vec<String>, String> {
    let whole = |value: &f64| {
        if value.fract() == 0.0 && value.abs() < 1e18 {
            Ok(format!("{value:.0}"))
        } else {
            Err(format!("{value} is not an integer"))
        }
    };
    let item = |number: i64| {
        let items = variable.declared_type.map_or(&[][..], |index| &description.types[index].items);
        let found = items.iter().find(|item| item.value == number);
        found.map(|item| item.name.clone()).ok_or_else(|| format!("{number} is not in the enumeration"))
    };
    match (variable.kind, value) {
        (VariableType::Float64 | VariableType::Float32, Value::Real(values)) => {
            Ok(values.iter().map(|value| format!("{value:?}")).collect())
        }
        (VariableType::Float64 | VariableType::Float32, Value::Integer(values)) => {
            Ok(values.iter().map(|value| format!("{value}.0")).collect())
        }
        (VariableType::Boolean, Value::Boolean(values)) => Ok(values.iter().map(bool::to_string).collect()),
        (VariableType::String | VariableType::Enumeration, Value::Text(values)) => Ok(values.clone()),
        (VariableType::Enumeration, Value::Integer(values)) => {
            values.iter().map(|value| item(*value)).collect()
        }
        (VariableType::Enumeration, Value::Real(values)) => {
            values.iter().map(|value| whole(value).and_then(|_| item(*value as i64))).collect()
        }
        (VariableType::Binary | VariableType::Clock | VariableType::String | VariableType::Boolean, _) => {
            Err(format!("its type is {}", variable.kind))
        }
        (_, Value::Integer(values)) => Ok(values.iter().map(i64::to_string).collect()),
        (_, Value::Real(values)) => values.iter().map(whole).collect(),
        _ => Err(format!("its type is {}", variable.kind)),
    }
}
