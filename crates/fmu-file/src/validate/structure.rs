//! The lists of the model structure: complete, without duplicates, and of the right kind.

use std::collections::HashSet;

use costep_core::Code;

use crate::description::enumerations::{Causality, DependencyKind, Initial, Variability};
use crate::description::structure::Unknown;
use crate::description::variable::Variable;
use crate::description::{FmiVersion, ModelDescription};
use crate::finding::{Report, UNLISTED};
use crate::text::{listed, short};

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    if description.fmi_version == FmiVersion::V1 {
        // It has no such lists.
        return;
    }
    let structure = &description.structure;
    for (list, unknowns) in [
        ("outputs", &structure.outputs),
        ("derivatives", &structure.derivatives),
        ("clocked states", &structure.clocked_states),
        ("initial unknowns", &structure.initial_unknowns),
        ("event indicators", &structure.event_indicators),
    ] {
        check_duplicates(description, list, unknowns, report);
    }
    check_outputs(description, report);
    check_states(description, report);
    check_derivatives(description, report);
    check_initial_unknowns(description, report);
    let variables = description.variables();
    for unknown in &structure.event_indicators {
        let variable = &variables[unknown.variable];
        if !variable.kind.is_float() || variable.variability != Variability::Continuous {
            let message =
                format!("the event indicator `{}` is not a continuous number", short(&variable.name));
            report.warning(Code::FmuStructure, unknown.line, message);
        }
    }
    for unknown in &structure.clocked_states {
        let variable = &variables[unknown.variable];
        if variable.previous.is_none() || variable.clocks.is_empty() {
            let message =
                format!("the clocked state `{}` has no clock or no previous value", short(&variable.name));
            report.warning(Code::FmuStructure, unknown.line, message);
        }
    }
}

fn check_duplicates(description: &ModelDescription, list: &str, unknowns: &[Unknown], report: &mut Report) {
    let mut seen = HashSet::new();
    for unknown in unknowns {
        if !seen.insert(unknown.variable) {
            let name = short(&description.variables()[unknown.variable].name);
            report.warning(Code::FmuStructure, unknown.line, format!("`{name}` is twice among the {list}"));
        }
    }
}

/// Names of variables for a message, not too many.
fn names<'a>(variables: impl Iterator<Item = &'a Variable>) -> Option<String> {
    const SHOWN: usize = 8;
    let all: Vec<&Variable> = variables.collect();
    (!all.is_empty()).then(|| listed(&all, SHOWN, |variable| format!("`{}`", short(&variable.name))))
}

fn check_outputs(description: &ModelDescription, report: &mut Report) {
    let variables = description.variables();
    let listed: HashSet<usize> = description.structure.outputs.iter().map(|u| u.variable).collect();
    let missing = description.with_causality(Causality::Output).filter(|index| !listed.contains(index));
    if let Some(names) = names(missing.map(|index| &variables[index])) {
        report.warning(Code::FmuStructure, 0, format!("not listed among the outputs: {names}"));
    }
    for unknown in &description.structure.outputs {
        let variable = &variables[unknown.variable];
        if variable.causality != Causality::Output {
            let message = format!(
                "`{}` is listed among the outputs but is `{}`",
                short(&variable.name),
                variable.causality
            );
            report.warning(Code::FmuStructure, unknown.line, message);
        }
    }
}

/// Derivatives of which none is listed: the equations of Model Exchange would have no states, and their outputs stand still.
fn check_states(description: &ModelDescription, report: &mut Report) {
    if description.model_exchange.is_none() || !description.structure.derivatives.is_empty() {
        return;
    }
    let derivatives = description.variables().iter().filter(|variable| variable.derivative_of.is_some());
    let Some(names) = names(derivatives) else { return };
    let message =
        format!("no derivative is listed, so that Model Exchange has no states; derivatives are {names}");
    match description.co_simulation {
        None => report.error(Code::FmuStructure, 0, message),
        Some(_) => report.warning(Code::FmuStructure, 0, message),
    }
}

fn check_derivatives(description: &ModelDescription, report: &mut Report) {
    let variables = description.variables();
    for unknown in &description.structure.derivatives {
        let derivative = &variables[unknown.variable];
        let name = short(&derivative.name);
        let Some(state) = derivative.derivative_of.map(|index| &variables[index]) else {
            let message = format!("`{name}` is listed among the derivatives but does not say of which state");
            if description.model_exchange.is_some() {
                report.error(Code::FmuStructure, unknown.line, message);
            } else {
                report.warning(Code::FmuStructure, unknown.line, message);
            }
            continue;
        };
        let state_name = short(&state.name);
        let continuous = |v: &Variable| v.kind.is_float() && v.variability == Variability::Continuous;
        if !continuous(state) || !matches!(state.causality, Causality::Local | Causality::Output) {
            let message = format!("the state `{state_name}` is not a continuous local variable or output");
            report.warning(Code::FmuStructure, unknown.line, message);
        }
        if state.kind != derivative.kind || state.elements != derivative.elements {
            let message =
                format!("the state `{state_name}` and its derivative `{name}` differ in type or size");
            report.error(Code::FmuStructure, unknown.line, message);
        }
    }
}

fn check_initial_unknowns(description: &ModelDescription, report: &mut Report) {
    let variables = description.variables();
    let computed = |v: &Variable| matches!(v.initial, Some(Initial::Approx | Initial::Calculated));
    let mut expected: HashSet<usize> = HashSet::new();
    for (index, variable) in variables.iter().enumerate() {
        let output =
            variable.causality == Causality::Output && computed(variable) && variable.clocks.is_empty();
        if output || variable.causality == Causality::CalculatedParameter {
            expected.insert(index);
        }
    }
    for state in description.states() {
        expected.extend([state.state, state.derivative].iter().filter(|index| computed(&variables[**index])));
    }
    let listed: HashSet<usize> = description.structure.initial_unknowns.iter().map(|u| u.variable).collect();
    let mut missing: Vec<usize> = expected.difference(&listed).copied().collect();
    missing.sort_unstable();
    if let Some(names) = names(missing.iter().map(|index| &variables[*index])) {
        report.warning(Code::FmuStructure, 0, format!("{UNLISTED}: {names}"));
    }
    for unknown in &description.structure.initial_unknowns {
        let variable = &variables[unknown.variable];
        // Clocked variables may be initialised, but need not be.
        let optional = description.fmi_version == FmiVersion::V3 && !variable.clocks.is_empty();
        if !expected.contains(&unknown.variable) && !optional {
            let message = format!(
                "`{}` is not an unknown of the initialisation but listed as one",
                short(&variable.name)
            );
            report.warning(Code::FmuStructure, unknown.line, message);
        }
        let wrong = |kind| !matches!(kind, DependencyKind::Dependent | DependencyKind::Constant);
        if description.fmi_version == FmiVersion::V3
            && unknown.dependencies.iter().flatten().any(|dependency| wrong(dependency.kind))
        {
            let message = format!(
                "a dependency of the initial unknown `{}` has a kind that is not allowed at initialisation",
                short(&variable.name)
            );
            report.warning(Code::FmuStructure, unknown.line, message);
        }
    }
}
