//! Types of variables as elements of SSP, and the units they use.

use std::collections::BTreeMap;

use costep_fmu_file::{BaseUnit, Causality, ModelDescription, SI_NAMES, Variable, VariableType};

use crate::write::xml::Xml;

/// The element for a type: that of version 1.0 where it has one.
pub(crate) fn type_name(kind: VariableType) -> &'static str {
    match kind {
        VariableType::Float64 => "Real",
        VariableType::Int32 => "Integer",
        VariableType::Boolean => "Boolean",
        VariableType::String => "String",
        VariableType::Enumeration => "Enumeration",
        VariableType::Float32 => "Float32",
        VariableType::Int8 => "Int8",
        VariableType::UInt8 => "UInt8",
        VariableType::Int16 => "Int16",
        VariableType::UInt16 => "UInt16",
        VariableType::UInt32 => "UInt32",
        VariableType::Int64 => "Int64",
        VariableType::UInt64 => "UInt64",
        VariableType::Binary => "Binary",
        VariableType::Clock => "Clock",
    }
}

/// Whether version 1.0 of the standard has this type.
pub(crate) fn is_in_version_1(kind: VariableType) -> bool {
    matches!(type_name(kind), "Real" | "Integer" | "Boolean" | "String" | "Enumeration")
}

/// The word for the kind of a connector.
pub(crate) fn kind(causality: Causality) -> &'static str {
    match causality {
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::Parameter => "parameter",
        Causality::CalculatedParameter => "calculatedParameter",
        Causality::StructuralParameter => "structuralParameter",
        Causality::Local | Causality::Independent => "local",
    }
}

/// Units by name; none where two FMUs define the same name differently, because a file can have only one.
#[derive(Default)]
pub(crate) struct Units(BTreeMap<String, Option<BaseUnit>>);

impl Units {
    /// Takes note of the unit of a variable.
    pub(crate) fn add(&mut self, description: &ModelDescription, variable: &Variable) {
        let Some(name) = variable.unit() else { return };
        let base = description.unit(name).and_then(|unit| unit.base);
        let known = self.0.entry(name.to_owned()).or_insert(base);
        if *known != base {
            *known = None;
        }
    }

    /// The unit of a variable, if it can be written.
    pub(crate) fn of<'a>(&self, variable: &'a Variable) -> Option<&'a str> {
        variable.unit().filter(|name| self.0.get(*name).is_some_and(Option::is_some))
    }

    /// The element `name` with all definitions.
    pub(crate) fn write(&self, xml: &mut Xml, name: &'static str) {
        let defined: Vec<_> = self.0.iter().filter_map(|(name, base)| Some((name, (*base)?))).collect();
        if defined.is_empty() {
            return;
        }
        xml.element(name, &[], |xml| {
            for (name, base) in defined {
                xml.element("ssc:Unit", &[("name", name)], |xml| write_base(&base, xml));
            }
        });
    }
}

fn write_base(base: &BaseUnit, xml: &mut Xml) {
    let exponents = SI_NAMES.iter().zip(base.exponents).filter(|(_, exponent)| *exponent != 0);
    let mut attributes: Vec<(&str, String)> =
        exponents.map(|(name, exponent)| (*name, exponent.to_string())).collect();
    for (name, value, default) in [("factor", base.factor, 1.0), ("offset", base.offset, 0.0)] {
        if value != default {
            attributes.push((name, format!("{value:?}")));
        }
    }
    let attributes: Vec<(&str, &str)> =
        attributes.iter().map(|(name, value)| (*name, value.as_str())).collect();
    xml.empty("ssc:BaseUnit", &attributes);
}
