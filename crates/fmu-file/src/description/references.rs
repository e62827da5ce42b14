//! References inside a model description, from one variable to another and from the model structure to variables: resolved
//! when all variables are known.

use costep_core::Code;

use crate::description::builder::Builder;
use crate::description::enumerations::DependencyKind;
use crate::description::structure::{Dependency, Unknown};
use crate::description::value::Values;
use crate::description::variable::Dimension;
use crate::description::{FmiVersion, NameEntry};
use crate::text::short;
use crate::xml::Element;

/// A dimension as written.
pub(crate) struct RawDimension {
    pub(crate) start: Option<u64>,
    pub(crate) value_reference: Option<u32>,
}

/// References of a variable to others as written, to be resolved when all variables are known.
#[derive(Default)]
pub(crate) struct RawReferences {
    pub(crate) derivative: Option<u32>,
    pub(crate) previous: Option<u32>,
    pub(crate) clocks: Vec<u32>,
    pub(crate) dimensions: Vec<RawDimension>,
}

impl RawReferences {
    pub(super) fn is_empty(&self) -> bool {
        self.derivative.is_none()
            && self.previous.is_none()
            && self.clocks.is_empty()
            && self.dimensions.is_empty()
    }
}

impl Builder<'_> {
    /// All variables are known: builds the indices and resolves their references.
    pub(crate) fn end_variables(&mut self) {
        self.variables_done = true;
        let variables = &self.description.variables;
        let mut references: Vec<(u32, u32)> =
            variables.iter().zip(0..).map(|(variable, index)| (variable.value_reference, index)).collect();
        references.sort_unstable();
        self.description.index.references = references;
        let mut names: Vec<NameEntry> = Vec::with_capacity(variables.len());
        for (variable, index) in variables.iter().zip(0..) {
            names.push(NameEntry { variable: index, alias: None });
            names.extend(
                (0..).take(variable.aliases.len()).map(|a| NameEntry { variable: index, alias: Some(a) }),
            );
        }
        names.sort_by(|a, b| a.text(variables).cmp(b.text(variables)));
        self.description.index.names = names;

        for (index, raw) in std::mem::take(&mut self.references) {
            let owner = self.description.variables[index].name.clone();
            let line = self.description.variables[index].line;
            let derivative_of = raw.derivative.and_then(|to| self.resolve(to, "derivative", &owner, line));
            let previous = raw.previous.and_then(|to| self.resolve(to, "previous", &owner, line));
            let clocks = if raw.clocks.len() > self.description.variables.len() {
                let message = format!("`{}` has more clocks than there are variables", short(&owner));
                self.report.error(Code::FmuClock, line, message);
                Vec::new()
            } else {
                raw.clocks.iter().filter_map(|to| self.resolve(*to, "clocks", &owner, line)).collect()
            };
            let dimensions: Option<Vec<Dimension>> =
                raw.dimensions.iter().map(|dimension| self.dimension(dimension, &owner, line)).collect();
            let elements = dimensions.as_deref().map_or(0, |d| self.count_elements(d, &owner, line));
            let variable = &mut self.description.variables[index];
            variable.derivative_of = derivative_of;
            variable.previous = previous;
            variable.clocks = clocks;
            variable.elements = elements;
            variable.dimensions = dimensions.unwrap_or_default();
        }
    }

    /// The variable that an index from 1 on (FMI 2) or a value reference (FMI 3) stands for.
    fn resolve(&mut self, reference: u32, attribute: &str, owner: &str, line: u32) -> Option<usize> {
        let found = match self.description.fmi_version {
            // FMI 1 refers by names.
            FmiVersion::V1 | FmiVersion::V2 => {
                (reference as usize).checked_sub(1).filter(|index| *index < self.description.variables.len())
            }
            FmiVersion::V3 => {
                let list = &self.description.index.references;
                let at = list.partition_point(|(known, _)| *known < reference);
                list.get(at).filter(|(known, _)| *known == reference).map(|(_, index)| *index as usize)
            }
        };
        if found.is_none() {
            let what = match self.description.fmi_version {
                FmiVersion::V1 | FmiVersion::V2 => "index",
                FmiVersion::V3 => "value reference",
            };
            let message = format!(
                "`{attribute}` of `{}` refers to {what} {reference}, which does not exist",
                short(owner)
            );
            self.report.error(Code::FmuReference, line, message);
        }
        found
    }

    fn dimension(&mut self, raw: &RawDimension, owner: &str, line: u32) -> Option<Dimension> {
        match (raw.start, raw.value_reference) {
            (Some(size), None) => Some(Dimension::Fixed(size)),
            (None, Some(reference)) => {
                self.resolve(reference, "Dimension", owner, line).map(Dimension::Variable)
            }
            _ => {
                let message =
                    format!("a dimension of `{}` needs either a size or a value reference", short(owner));
                self.report.error(Code::FmuArray, line, message);
                None
            }
        }
    }

    /// Number of elements at the start; 0 and an error if it cannot be told.
    fn count_elements(&mut self, dimensions: &[Dimension], owner: &str, line: u32) -> usize {
        let mut product = 1_u64;
        for dimension in dimensions {
            let size = match dimension {
                Dimension::Fixed(size) => Some(*size),
                Dimension::Variable(index) => match &self.description.variables[*index].start {
                    Some(Values::UInt64(values)) => values.first().copied(),
                    _ => None,
                },
            };
            let what = match size {
                None => "has a size that is not the start value of a UInt64",
                Some(0) => "has the size 0",
                Some(size) => {
                    match product.checked_mul(size).filter(|p| *p <= self.limits.elements - self.elements) {
                        Some(larger) => {
                            product = larger;
                            continue;
                        }
                        None => "makes the array too large",
                    }
                }
            };
            self.report.error(Code::FmuArray, line, format!("a dimension of `{}` {what}", short(owner)));
            return 0;
        }
        self.elements += product;
        usize::try_from(product).unwrap_or(0)
    }

    /// An unknown of the model structure; `reference` is the attribute that names it.
    pub(crate) fn unknown(&mut self, element: &Element, reference: &str, list: &str) -> Option<Unknown> {
        let line = element.line();
        let value: Option<u32> = element.read(reference, &mut self.report);
        let dependencies: Option<Vec<u32>> = element.list("dependencies", &mut self.report);
        let kinds: Option<Vec<DependencyKind>> = element.list("dependenciesKind", &mut self.report);
        element.check_asked(&mut self.report);
        let Some(value) = value else {
            if element.get(reference).is_none() {
                let message = format!("an entry of {list} has no `{reference}`");
                self.report.error(Code::FmuSchema, line, message);
            }
            return None;
        };
        let variable = self.resolve(value, list, "ModelStructure", line)?;
        let owner = self.description.variables[variable].name.clone();
        let dependencies = dependencies.and_then(|dependencies| {
            if dependencies.len() > self.description.variables.len() {
                let message = format!("`{}` has more dependencies than there are variables", short(&owner));
                self.report.error(Code::FmuStructure, line, message);
                return None;
            }
            let fitting = kinds.as_ref().filter(|kinds| kinds.len() == dependencies.len());
            let resolved = dependencies.iter().enumerate().filter_map(|(at, to)| {
                let variable = self.resolve(*to, "dependencies", &owner, line)?;
                let kind = fitting.map_or(DependencyKind::Dependent, |kinds| kinds[at]);
                Some(Dependency { variable, kind })
            });
            let resolved: Vec<Dependency> = resolved.collect();
            if kinds.is_some() && fitting.is_none() {
                let message =
                    format!("`dependencies` and `dependenciesKind` of `{}` differ in length", short(&owner));
                self.report.warning(Code::FmuStructure, line, message);
            }
            // With one dependency unknown, all have to be assumed.
            (resolved.len() == dependencies.len()).then_some(resolved)
        });
        if kinds.is_some() && element.get("dependencies").is_none() {
            let message = format!("`{}` has `dependenciesKind` but no `dependencies`", short(&owner));
            self.report.warning(Code::FmuStructure, line, message);
        }
        Some(Unknown { variable, dependencies, line })
    }
}
