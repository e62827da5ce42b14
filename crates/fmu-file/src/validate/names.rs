//! Names and value references: unique, and of the form that is promised.

use std::collections::HashMap;

use costep_core::Code;

use crate::description::enumerations::{AliasKind, Causality, NamingConvention, VariableType};
use crate::description::variable::Variable;
use crate::description::{FmiVersion, ModelDescription};
use crate::finding::Report;
use crate::text::short;

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    unique_names(description, report);
    match description.fmi_version {
        FmiVersion::V1 => aliases(description, report),
        FmiVersion::V2 => shared_references(description, report),
        FmiVersion::V3 => unique_references(description, report),
    }
    for variable in description.variables() {
        let aliases = variable.aliases.iter().map(|alias| alias.name.as_str());
        for name in std::iter::once(variable.name.as_str()).chain(aliases) {
            let flaw = match description.naming {
                _ if name.is_empty() => Some("is empty"),
                _ if name.contains(['\r', '\n', '\t']) => Some("contains a line break or tab"),
                NamingConvention::Structured if !is_structured(name) => Some("is not of the structured form"),
                _ => None,
            };
            if let Some(flaw) = flaw {
                let message = format!("the name `{}` {flaw}", short(name));
                report.warning(Code::FmuName, variable.line, message);
            }
        }
    }
    for definition in &description.types {
        if description.find(&definition.name).is_some() {
            let message = format!("`{}` is the name of a type and of a variable", short(&definition.name));
            report.warning(Code::FmuDuplicate, definition.line, message);
        }
    }
}

fn unique_names(description: &ModelDescription, report: &mut Report) {
    let variables = description.variables();
    for pair in description.index.names.windows(2) {
        let name = pair[0].text(variables);
        if name == pair[1].text(variables) {
            let both = [0, 1].map(|at: usize| &variables[pair[at].variable as usize]);
            let [first, second] = both.map(|variable| variable.line);
            let (first, second) = (first.min(second), first.max(second));
            let message = format!("the name `{}` is used twice, on line {first} and here", short(name));
            // Nobody connects inner variables, and who sets one by such a name is told.
            match both.iter().all(|variable| variable.causality == Causality::Local) {
                true => report.warning(Code::FmuDuplicate, second, message),
                false => report.error(Code::FmuDuplicate, second, message),
            }
        }
    }
}

fn unique_references(description: &ModelDescription, report: &mut Report) {
    let variables = description.variables();
    for pair in description.index.references.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let [first, second] = [0, 1].map(|at: usize| &variables[pair[at].1 as usize]);
        report.error(Code::FmuDuplicate, second.line, same_reference(first, second));
    }
}

/// In FMI 2 variables of the same type may be names of one value, but only one of them can be set.
fn shared_references(description: &ModelDescription, report: &mut Report) {
    let mut settable: HashMap<(u32, VariableType), &Variable> = HashMap::new();
    for variable in description.variables() {
        if matches!(variable.causality, Causality::Input | Causality::Parameter) {
            let key = (variable.value_reference, variable.kind);
            if let Some(first) = settable.insert(key, variable) {
                let message = format!("{} and can both be set", same_reference(first, variable));
                report.error(Code::FmuDuplicate, variable.line, message);
            }
        }
    }
}

/// In FMI 1 variables of one value say so: one of them is the variable itself, the others are its aliases.
fn aliases(description: &ModelDescription, report: &mut Report) {
    let is_alias = |variable: &Variable| variable.flags.alias != AliasKind::NoAlias;
    let key = |variable: &Variable| (variable.value_reference, carried_as(variable.kind));
    let mut bases: HashMap<(u32, VariableType), &Variable> = HashMap::new();
    for variable in description.variables().iter().filter(|variable| !is_alias(variable)) {
        if let Some(first) = bases.insert(key(variable), variable) {
            let message = format!("{} and neither is an alias", same_reference(first, variable));
            report.warning(Code::FmuDuplicate, variable.line, message);
        }
    }
    for variable in description.variables().iter().filter(|variable| is_alias(variable)) {
        if !bases.contains_key(&key(variable)) {
            let message = format!(
                "`{}` is an alias, but no other variable has its value reference {}",
                short(&variable.name),
                variable.value_reference
            );
            report.warning(Code::FmuReference, variable.line, message);
        }
    }
}

/// Enumerations are handed over as integers.
fn carried_as(kind: VariableType) -> VariableType {
    if kind == VariableType::Enumeration { VariableType::Int32 } else { kind }
}

fn same_reference(first: &Variable, second: &Variable) -> String {
    let [a, b] = [first, second].map(|variable| short(&variable.name));
    format!("`{a}` and `{b}` have the same value reference {}", first.value_reference)
}

/// `a.b[1,2].'any text'` or `der(a.b,2)`.
fn is_structured(name: &str) -> bool {
    let Some(inside) = name.strip_prefix("der(") else { return identifier(name) == Some("") };
    // The number of the derivative is behind the last comma, if that is not inside an index or a quoted name.
    match identifier(inside) {
        Some(")") => true,
        Some(rest) => rest
            .strip_prefix(',')
            .and_then(|rest| rest.strip_suffix(')'))
            .is_some_and(|order| !order.is_empty() && order.bytes().all(|byte| byte.is_ascii_digit())),
        None => false,
    }
}

/// Reads an identifier; what follows it is left.
fn identifier(mut text: &str) -> Option<&str> {
    loop {
        text =
            if let Some(quoted) = text.strip_prefix('\'') { quoted_name(quoted)? } else { plain_name(text)? };
        if let Some(index) = text.strip_prefix('[') {
            let (numbers, rest) = index.split_once(']')?;
            let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if !numbers.split(',').all(number) {
                return None;
            }
            text = rest;
        }
        match text.strip_prefix('.') {
            Some(rest) => text = rest,
            None => return Some(text),
        }
    }
}

fn plain_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let starts_well = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts_well.then(|| &text[end..])
}

/// What follows the closing quote.
fn quoted_name(text: &str) -> Option<&str> {
    const MARKS: &str = "_!#$%&()*+,-./:;<>=?@[]^{}|~ ";
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\'' => return (at > 0).then(|| &text[at + 1..]),
            '\\' if characters.next().is_some_and(|(_, c)| "'\"?\\abfnrtv".contains(c)) => {}
            c if c.is_ascii_alphanumeric() || MARKS.contains(c) => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_names_are_those_of_the_standard() {
        for name in [
            "a",
            "_x1",
            "vehicle.engine.speed",
            "v_min",
            "robot.axis.'motor #234'",
            "der(pipe[3,4].T[14],2)",
            "der(x)",
            "a[1]",
            "'\\''",
            "'a.b'.c",
            "der('a,b')",
            "der(a[1,2])",
            "derx",
            "der",
        ] {
            assert!(is_structured(name), "{name}");
        }
        for name in [
            "",
            "1a",
            "a.",
            ".a",
            "a b",
            "a-b",
            "a[",
            "a[]",
            "a[x]",
            "a[1][2]",
            "der(x",
            "der(x,)",
            "der()",
            "der(x,y)",
            "''",
            "'a",
            "'é'",
            "a..b",
            "der(der(x))",
            "der(x) ",
            "'\\z'",
            "a[1,]",
        ] {
            assert!(!is_structured(name), "{name}");
        }
    }
}
