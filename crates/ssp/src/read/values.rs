//! SSV: sets of parameter values.

use std::collections::HashMap;

use costep_core::suggest::nearest_by_letters;
use costep_fmu_file::short;
use costep_fmu_file::xml::{self, literal};

use crate::model::{Parameter, ParameterSet, TYPES, Value};
use crate::read::common::META;
use crate::read::reader::Reader;

/// Namespace of parameter sets.
pub(crate) const SSV: &str = "http://ssp-standard.org/SSP1/SystemStructureParameterValues";

impl Reader<'_> {
    /// Reads `<ParameterSet>`.
    pub(crate) fn parameter_set(&mut self, node: &xml::Element) -> ParameterSet {
        let known: Vec<&str> = ["version", "name"].into_iter().chain(META).collect();
        self.check_known(node, &known, &["Parameters", "Enumerations", "Units"]);
        self.version(node);
        let definitions = self.definitions(node);
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut places = HashMap::new();
        for node in node.inside("Parameters") {
            if node.name() != "Parameter" {
                let message = format!("<{}> is not a parameter", short(node.name()));
                let near = nearest_by_letters(node.name(), &["Parameter"]).map(|near| format!("<{near}>"));
                self.unknown(node.line(), message, near);
                continue;
            }
            let Some(parameter) = self.parameter(&node) else { continue };
            if let Some(unit) = parameter.unit.as_deref().filter(|unit| definitions.unit(unit).is_none()) {
                let message = format!("the unit `{}` is not defined in this parameter set", short(unit));
                self.warning(node.line(), message);
            }
            let earlier = *places.entry(parameter.name.clone()).or_insert(parameters.len());
            match parameters.get(earlier) {
                None => parameters.push(parameter),
                Some(same) if (&same.value, &same.unit) == (&parameter.value, &parameter.unit) => {
                    let message = format!("the parameter `{}` is given twice", short(&parameter.name));
                    self.warning(node.line(), message);
                }
                Some(_) => {
                    let name = short(&parameter.name);
                    self.error(
                        node.line(),
                        format!("the parameter `{name}` is given twice, with two values"),
                    );
                }
            }
        }
        ParameterSet { definitions, parameters }
    }

    fn parameter(&mut self, node: &xml::Element) -> Option<Parameter> {
        let known: Vec<&str> = TYPES.iter().copied().chain(["Dimension"]).collect();
        self.check_known(node, &["name"], &known);
        let name = self.name(node)?;
        let mut types = node.children().filter(|child| TYPES.contains(&child.name()));
        let Some(kind) = types.next() else {
            self.error(node.line(), format!("the parameter `{}` has no value: it is the `value` of a <Real>, <Integer>, <Boolean>, <String> or <Enumeration> inside", short(&name)));
            return None;
        };
        if types.next().is_some() {
            self.error(node.line(), format!("the parameter `{}` has two types", short(&name)));
            return None;
        }
        self.check_known(&kind, &["value", "unit", "name", "mime-type"], &["Value"]);
        let value = self.parameter_value(&kind, &name)?;
        Some(Parameter {
            name,
            value,
            unit: kind.get("unit").filter(|unit| !unit.is_empty()).map(str::to_owned),
            enumeration: (kind.name() == "Enumeration")
                .then(|| kind.get("name").map(str::to_owned))
                .flatten(),
            line: node.line(),
        })
    }

    fn parameter_value(&mut self, node: &xml::Element, name: &str) -> Option<Value> {
        let value = match node.name() {
            "Real" | "Float64" | "Float32" => {
                let finite = |text: &str| literal::number(text).filter(|x| x.is_finite());
                Value::Real(self.list(node, name, finite)?)
            }
            "Boolean" => Value::Boolean(self.list(node, name, literal::truth)?),
            "String" | "Enumeration" => Value::Text(self.texts(node)?),
            "Binary" | "Clock" => {
                self.unsupported(
                    node.line(),
                    format!("the parameter `{}` is a <{}>", short(name), node.name()),
                );
                return None;
            }
            _ => Value::Integer(self.list(node, name, literal::integer)?),
        };
        Some(value)
    }

    fn list<T>(
        &mut self,
        node: &xml::Element,
        name: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let text = self.required(node, "value")?;
        let mut values = Vec::new();
        for item in literal::items(&text) {
            let Some(value) = read(item) else {
                let mut message = format!(
                    "`{}` cannot be the value of `{}`, a <{}>",
                    short(&text),
                    short(name),
                    node.name()
                );
                let is_real = matches!(node.name(), "Real" | "Float32" | "Float64");
                if let Some(why) = number_with_more(&text, is_real) {
                    message = format!("{message}: {why}");
                }
                self.error(node.line(), message);
                return None;
            };
            values.push(value);
        }
        if values.is_empty() {
            self.error(node.line(), format!("the value of `{}` is empty", short(name)));
            return None;
        }
        Some(values)
    }

    fn texts(&mut self, node: &xml::Element) -> Option<Vec<String>> {
        let several: Vec<String> =
            node.children().filter_map(|child| child.get("value").map(str::to_owned)).collect();
        match (node.get("value"), several.is_empty()) {
            (Some(_), false) => {
                self.error(node.line(), "there is both a `value` and <Value>");
                None
            }
            (None, false) => Some(several),
            (_, true) => self.required(node, "value").map(|value| vec![value]),
        }
    }
}

/// What is to be written for a number with a unit or a decimal comma; an integer has neither.
fn number_with_more(text: &str, is_real: bool) -> Option<String> {
    let text = text.trim();
    let with_point = text.replacen(',', ".", 1);
    if is_real && text.contains(',') && literal::number(&with_point).is_some() {
        return Some(format!("write a decimal point, `value=\"{with_point}\"`"));
    }
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.')? + 1;
    let (number, unit) = (text[..end].trim(), text[end..].trim());
    let is_quantity =
        number.starts_with(is_of_number) && literal::number(number).is_some() && !unit.is_empty();
    is_quantity.then(|| match is_real {
        true => format!(
            "a unit is an attribute of its own, `value=\"{number}\" unit=\"{}\"`, and defined in <Units>",
            short(unit)
        ),
        false => "integers have no unit".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_more_are_explained() {
        let why = |text| number_with_more(text, true).unwrap_or_default();
        assert!(why("10 ms").contains("`value=\"10\" unit=\"ms\"`"), "{}", why("10 ms"));
        assert!(why("-2.5e3kg").contains("`value=\"-2.5e3\" unit=\"kg\"`"));
        assert!(why("0,5").contains("`value=\"0.5\"`"));
        assert_eq!(why("five") + &why("5 m2") + &why("1 2 x"), "");
        assert_eq!(number_with_more("5 kg", false).unwrap(), "integers have no unit");
        assert_eq!(number_with_more("0,5", false), None, "a decimal point does not make an integer of it");
    }
}
