//! modelDescription.xml: what both versions have in common.

use std::collections::BTreeSet;
use std::fmt;

use costep_fmu_file::{BaseUnit, FmiVersion, SI_NAMES};
use costep_fmu_runtime::{Capability, Role};

use crate::Options;
use crate::variables::{Variable, VariableTable};
use crate::{xml2, xml3};

/// The parameter of models that their inner step is.
const MICRO_STEP: &str = "micro_step";

/// The model description of an FMU.
pub(crate) struct Document<'a> {
    pub(crate) sheet: &'a VariableTable,
    pub(crate) options: &'a Options,
    pub(crate) token: &'a str,
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        match self.options.version {
            // Nobody gets here: `export` refuses it.
            FmiVersion::V1 => Err(fmt::Error),
            FmiVersion::V2 => xml2::write(self, f),
            FmiVersion::V3 => xml3::write(self, f),
        }
    }
}

impl Document<'_> {
    /// Whether the FMU can do this.
    pub(crate) fn can(&self, capability: Capability) -> bool {
        self.options.capabilities.contains(&capability)
    }

    /// Attributes of the root that both versions have.
    pub(crate) fn root(&self) -> String {
        let sheet = self.sheet;
        let about = format!("{}, part `{}`. {}", sheet.model.title, sheet.name, sheet.model.summary);
        format!(
            "modelName=\"{}\" description=\"{}\" generationTool=\"costep {}\" variableNamingConvention=\"structured\"",
            escaped(&sheet.title),
            escaped(&about),
            env!("CARGO_PKG_VERSION")
        )
    }

    /// Definitions of all units in use.
    pub(crate) fn units(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units: BTreeSet<&str> = self.sheet.variables.iter().filter_map(unit).collect();
        writeln!(f, "  <UnitDefinitions>")?;
        for name in units {
            let base = BaseUnit::parse(name).unwrap_or_default();
            write!(f, "    <Unit name=\"{}\"><BaseUnit", escaped(name))?;
            for (symbol, exponent) in SI_NAMES.iter().zip(base.exponents).filter(|(_, e)| *e != 0) {
                write!(f, " {symbol}=\"{exponent}\"")?;
            }
            if base.factor != 1.0 {
                write!(f, " factor=\"{:?}\"", base.factor)?;
            }
            writeln!(f, "/></Unit>")?;
        }
        writeln!(f, "  </UnitDefinitions>")
    }

    /// How the FMU solves its equations in Co-Simulation, as costep reads it: `predictive` coupling responds like that.
    pub(crate) fn solver(&self) -> Option<String> {
        let sheet = self.sheet;
        let step = sheet.inner_step.filter(|_| sheet.is_euler && self.options.co_simulation)?;
        let place = sheet.model.parameters.iter().position(|spec| spec.name == MICRO_STEP);
        let parameter = place.and_then(|place| sheet.index(Role::Parameter, place));
        let parameter = parameter.map(|index| escaped(&sheet.variables[index].name));
        let parameter = parameter.map_or(String::new(), |name| format!(" parameter=\"{name}\""));
        Some(format!("<Solver method=\"explicit-euler\" step=\"{step:?}\"{parameter}/>"))
    }

    /// The default experiment.
    pub(crate) fn experiment(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = self.sheet.experiment;
        writeln!(
            f,
            "  <DefaultExperiment startTime=\"{:?}\" stopTime=\"{:?}\" stepSize=\"{:?}\"/>",
            run.start, run.stop, run.step
        )
    }

    /// Attributes that say what a variable is, equal in both versions.
    pub(crate) fn head(&self, variable: &Variable) -> String {
        let (causality, variability) = match variable.role {
            Role::Time => ("independent", "continuous"),
            Role::Input => ("input", "continuous"),
            Role::Parameter => ("parameter", "fixed"),
            _ if variable.is_output => ("output", "continuous"),
            _ => ("local", "continuous"),
        };
        let initial = match variable.role {
            Role::Parameter => " initial=\"exact\"",
            Role::State | Role::Output | Role::Derivative => " initial=\"calculated\"",
            Role::Time | Role::Input => "",
        };
        let about = match variable.about.as_str() {
            "" => String::new(),
            about => format!(" description=\"{}\"", escaped(about)),
        };
        format!(
            "name=\"{}\" valueReference=\"{}\"{about} causality=\"{causality}\" variability=\"{variability}\"{initial}",
            escaped(&variable.name),
            variable.reference
        )
    }

    /// Attributes of the value, equal in both versions.
    pub(crate) fn value(&self, variable: &Variable) -> String {
        let number = |name: &str, value: Option<f64>| {
            value.map_or(String::new(), |value| format!(" {name}=\"{value:?}\""))
        };
        let unit = unit(variable).map_or(String::new(), |unit| format!(" unit=\"{}\"", escaped(unit)));
        let (min, max) = variable.limits;
        let nominal = variable.nominal.filter(|nominal| *nominal > 0.0 && nominal.is_finite());
        [
            unit,
            number("min", min),
            number("max", max),
            number("nominal", nominal),
            number("start", variable.start),
        ]
        .concat()
    }
}

/// The unit of a variable, if it can be defined.
fn unit(variable: &Variable) -> Option<&str> {
    variable.unit.as_deref().filter(|unit| BaseUnit::parse(unit).is_some())
}

/// A text inside an attribute.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Numbers of a list.
pub(crate) fn numbers(list: impl IntoIterator<Item = u64>) -> String {
    list.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_all_models_are_understood() {
        for entry in costep_models::MODELS.iter().chain(costep_fmu_runtime::TEST_SYSTEMS) {
            let (_, model) = entry.model(&[]).unwrap();
            let parameters = entry.parameters.iter().map(|spec| spec.unit.to_owned());
            let ports = model.parts.iter().flat_map(|part| {
                let description = part.description().clone();
                description.inputs.into_iter().chain(description.outputs).filter_map(|port| port.unit)
            });
            for unit in parameters.chain(ports) {
                assert!(BaseUnit::parse(&unit).is_some(), "{unit}");
            }
        }
    }
}
