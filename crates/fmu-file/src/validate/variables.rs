//! Causality, variability, initial and start of each variable; ranges; the independent variable.

use costep_core::Code;

use crate::description::enumerations::{Causality, Initial, Variability, VariableType};
use crate::description::value::Number;
use crate::description::variable::Variable;
use crate::description::{FmiVersion, ModelDescription};
use crate::finding::Report;
use crate::text::short;

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    for variable in description.variables() {
        check_combination(variable, report);
        if description.fmi_version > FmiVersion::V1 {
            check_start(variable, report);
        }
        check_range(description.fmi_version, variable, report);
    }
    check_independent(description, report);
}

/// The tables of the standard, the same in all versions.
fn is_allowed(variable: &Variable) -> bool {
    use Causality as C;
    use Initial as I;
    use Variability as V;
    if variable.kind == VariableType::Clock {
        return matches!(variable.causality, C::Input | C::Output | C::Local)
            && variable.variability == V::Discrete;
    }
    matches!(
        (variable.causality, variable.variability, variable.initial),
        (C::StructuralParameter | C::Parameter, V::Fixed | V::Tunable, Some(I::Exact))
            | (C::CalculatedParameter | C::Local, V::Fixed | V::Tunable, Some(I::Calculated | I::Approx))
            | (C::Input, V::Discrete | V::Continuous, Some(I::Exact))
            | (C::Output | C::Local, V::Constant, Some(I::Exact))
            | (C::Output | C::Local, V::Discrete | V::Continuous, Some(_))
            | (C::Independent, V::Continuous, None)
    )
}

fn check_combination(variable: &Variable, report: &mut Report) {
    if variable.variability == Variability::Continuous && !variable.kind.is_float() {
        let message = format!("`{}` of type {} cannot be continuous", short(&variable.name), variable.kind);
        report.warning(Code::FmuCausality, variable.line, message);
    }
    if !is_allowed(variable) {
        let initial = variable.initial.map_or("none", Initial::word);
        let message = format!(
            "causality `{}`, variability `{}` and initial `{initial}` of `{}` are not compatible",
            variable.causality,
            variable.variability,
            short(&variable.name)
        );
        report.warning(Code::FmuCausality, variable.line, message);
    }
}

fn check_start(variable: &Variable, report: &mut Report) {
    if variable.kind == VariableType::Clock {
        return;
    }
    let name = short(&variable.name);
    let needed = matches!(variable.initial, Some(Initial::Exact | Initial::Approx))
        || matches!(variable.causality, Causality::Input | Causality::Parameter)
        || variable.variability == Variability::Constant;
    let forbidden =
        variable.initial == Some(Initial::Calculated) || variable.causality == Causality::Independent;
    let missing = variable.start.as_ref().is_none_or(|start| start.is_empty());
    if needed && missing {
        report.warning(Code::FmuStart, variable.line, format!("`{name}` has no start value"));
    }
    if forbidden && variable.start.is_some() && !needed {
        let why = if variable.causality == Causality::Independent {
            "the independent variable"
        } else {
            "calculated"
        };
        report.warning(Code::FmuStart, variable.line, format!("`{name}` is {why} but has a start value"));
    }
}

fn check_range(version: FmiVersion, variable: &Variable, report: &mut Report) {
    let name = short(&variable.name);
    let attributes = &variable.attributes;
    let (min, max) = (attributes.min, attributes.max);
    let mut warn = |message: String| report.warning(Code::FmuRange, variable.line, message);
    if let (Some(min), Some(max)) = (min, max)
        && max.is_below(min)
    {
        warn(format!("min {min} of `{name}` is larger than max {max}"));
    }
    let outside =
        |value: Number| min.is_some_and(|m| value.is_below(m)) || max.is_some_and(|m| m.is_below(value));
    if let Some(value) = variable.start.as_ref().and_then(|start| start.find(outside)) {
        warn(format!("the start value {value} of `{name}` is outside of min and max"));
    }
    if let Some(nominal) = attributes.nominal {
        let allowed =
            nominal.is_finite() && if version == FmiVersion::V2 { nominal > 0.0 } else { nominal != 0.0 };
        if !allowed {
            warn(format!("the nominal value {nominal} of `{name}` is invalid"));
        }
    }
}

fn check_independent(description: &ModelDescription, report: &mut Report) {
    let all: Vec<&Variable> = description
        .with_causality(Causality::Independent)
        .map(|index| &description.variables()[index])
        .collect();
    for variable in &all {
        if !variable.kind.is_float() || variable.is_array() {
            let message =
                format!("the independent variable `{}` is not a plain number", short(&variable.name));
            report.warning(Code::FmuCausality, variable.line, message);
        }
    }
    match (description.fmi_version, all.as_slice()) {
        (_, [first, second, ..]) => {
            let message = format!(
                "`{}` and `{}` are both independent variables",
                short(&first.name),
                short(&second.name)
            );
            report.warning(Code::FmuCausality, second.line, message);
        }
        (FmiVersion::V3, []) => {
            report.warning(Code::FmuCausality, 0, "there is no independent variable; FMI 3.0 demands one");
        }
        _ => {}
    }
}
