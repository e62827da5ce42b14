//! Units, enumerations, types of connectors and transformations: the common part of all files.

use std::collections::HashSet;
use std::sync::Arc;

use costep_core::suggest::nearest;
use costep_fmu_file::xml;
use costep_fmu_file::{BaseUnit, SI_NAMES, Unit, short};

use crate::model::{Connector, Definitions, Enumeration, Kind, Passage, TYPES, Transformation};
use crate::read::reader::Reader;

/// Attributes of every root element that only inform.
pub(crate) const META: [&str; 6] =
    ["author", "fileversion", "copyright", "license", "generationTool", "generationDateAndTime"];

impl Reader<'_> {
    /// The version of the standard; others than 1 and 2 are noted.
    pub(crate) fn version(&mut self, node: &xml::Element) -> String {
        let version = self.required(node, "version").unwrap_or_default();
        if !matches!(version.as_str(), "1.0" | "2.0" | "") {
            let message = format!("the file is of SSP version `{}`; 1.0 and 2.0 are known", short(&version));
            match version.split('.').next() {
                Some("1" | "2") => self.warning(node.line(), message),
                _ => self.unsupported(node.line(), message),
            }
        }
        version
    }

    /// The units and enumerations of a file.
    pub(crate) fn definitions(&mut self, root: &xml::Element) -> Definitions {
        let mut definitions = Definitions::default();
        let mut names = HashSet::new();
        for node in root.inside("Units") {
            if let Some(unit) = self.unit(&node) {
                if !names.insert(unit.name.clone()) {
                    self.error(node.line(), format!("the unit `{}` is defined twice", short(&unit.name)));
                }
                definitions.units.push(unit);
            }
        }
        names.clear();
        for node in root.inside("Enumerations") {
            if let Some(enumeration) = self.enumeration(&node) {
                if !names.insert(enumeration.name.clone()) {
                    let name = short(&enumeration.name);
                    self.error(node.line(), format!("the enumeration `{name}` is defined twice"));
                }
                definitions.enumerations.push(enumeration);
            }
        }
        definitions
    }

    fn unit(&mut self, node: &xml::Element) -> Option<Unit> {
        self.check_known(node, &["name"], &["BaseUnit"]);
        let name = self.required(node, "name")?;
        let Some(base) = node.child("BaseUnit") else {
            self.error(node.line(), format!("the unit `{}` has no <BaseUnit>", short(&name)));
            return None;
        };
        self.check_known(&base, &["kg", "m", "s", "A", "K", "mol", "cd", "rad", "factor", "offset"], &[]);
        let mut unit = BaseUnit::default();
        for (exponent, name) in unit.exponents.iter_mut().zip(SI_NAMES) {
            let given = self.integer(&base, name).unwrap_or(0);
            *exponent = i32::try_from(given).unwrap_or_else(|_| {
                self.error(base.line(), format!("the exponent {given} of `{name}` is too large"));
                0
            });
        }
        unit.factor = self.number(&base, "factor").unwrap_or(1.0);
        unit.offset = self.number(&base, "offset").unwrap_or(0.0);
        Some(Unit { name, base: Some(unit), display: Vec::new(), line: node.line() })
    }

    fn enumeration(&mut self, node: &xml::Element) -> Option<Enumeration> {
        self.check_known(node, &["name"], &["Item"]);
        let name = self.required(node, "name")?;
        let mut items = Vec::new();
        for item in node.children_named("Item") {
            self.check_known(&item, &["name", "value"], &[]);
            if let (Some(name), Some(value)) = (self.required(&item, "name"), self.integer(&item, "value")) {
                items.push((name, value));
            }
        }
        Some(Enumeration { name, items })
    }

    /// Connectors, or entries of a dictionary, which have no kind.
    pub(crate) fn connectors<'a>(
        &mut self,
        nodes: impl Iterator<Item = xml::Element<'a>>,
        element: &str,
        kind: Option<Kind>,
        definitions: &Definitions,
    ) -> Vec<Connector> {
        let mut connectors: Vec<Connector> = Vec::new();
        let mut names = HashSet::new();
        for node in nodes.filter(|node| node.name() == element) {
            if let Some(connector) = self.connector(&node, kind, definitions) {
                if names.insert(connector.name.clone()) {
                    connectors.push(connector);
                } else {
                    let message = format!("the name `{}` is used twice", short(&connector.name));
                    self.error(node.line(), message);
                }
            }
        }
        connectors
    }

    fn connector(
        &mut self,
        node: &xml::Element,
        kind: Option<Kind>,
        definitions: &Definitions,
    ) -> Option<Connector> {
        let known: Vec<&str> = TYPES.iter().copied().chain(["Dimension"]).collect();
        self.check_known(node, if kind.is_none() { &["name", "kind"] } else { &["name"] }, &known);
        let name = self.name(node)?;
        let kind = match kind {
            Some(kind) => kind,
            None => self.kind(node)?,
        };
        let is_association = |child: &xml::Element| child.name() == "Clock" && child.get("name").is_some();
        let mut types = node
            .children()
            .filter(|child| !is_association(child))
            .filter_map(|child| TYPES.iter().find(|name| child.name() == **name).map(|name| (*name, child)));
        let found = types.next();
        if let Some((_, second)) = types.next() {
            self.error(second.line(), format!("`{}` has two types", short(&name)));
        }
        if let Some(clock) = node.children().find(is_association) {
            self.unused(clock.line(), format!("`{}` belongs to a clock, which is ignored", short(&name)));
        }
        let unit = found.as_ref().and_then(|(_, node)| node.get("unit")).filter(|unit| !unit.is_empty());
        if let Some(unit) = unit.filter(|unit| definitions.unit(unit).is_none()) {
            let message =
                format!("the unit `{}` of `{}` is not defined in this file", short(unit), short(&name));
            self.warning(node.line(), message);
        }
        let unit = unit.map(str::to_owned);
        Some(Connector { name, kind, signal: found.map(|(name, _)| name), unit, line: node.line() })
    }

    fn kind(&mut self, node: &xml::Element) -> Option<Kind> {
        let word = self.required(node, "kind")?;
        let kind = Kind::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind);
        if kind.is_none() {
            let known = Kind::WORDS.map(|(known, _)| known);
            let near = nearest(&word, &known).map(|near| format!(": did you mean `{near}`?"));
            let message =
                format!("`{}` is not a kind of connector{}", short(&word), near.unwrap_or_default());
            self.error(node.line(), message);
        }
        kind
    }

    /// Suppression of conversion, and the transformation.
    pub(crate) fn passage(&mut self, node: &xml::Element) -> Arc<Passage> {
        let suppress_conversion = self.truth(node, "suppressUnitConversion").unwrap_or(false);
        let mut found = node.children().filter(|child| TRANSFORMATIONS.contains(&child.name()));
        let transformation = found.next().and_then(|node| self.transformation(&node));
        if let Some(second) = found.next() {
            self.error(second.line(), "there is a second transformation");
        }
        Arc::new(Passage { suppress_conversion, transformation, line: node.line() })
    }

    fn transformation(&mut self, node: &xml::Element) -> Option<Transformation> {
        match node.name() {
            "LinearTransformation" => {
                self.check_known(node, &["factor", "offset"], &[]);
                let factor = self.number(node, "factor").unwrap_or(1.0);
                let offset = self.number(node, "offset").unwrap_or(0.0);
                Some(Transformation::Linear { factor, offset })
            }
            "BooleanMappingTransformation" => self
                .entries(node, |reader, entry, name| reader.truth(entry, name))
                .map(Transformation::Boolean),
            "IntegerMappingTransformation" => self
                .entries(node, |reader, entry, name| reader.integer(entry, name))
                .map(Transformation::Integer),
            _ => self
                .entries(node, |_, entry, name| entry.get(name).map(str::to_owned))
                .map(Transformation::Enumeration),
        }
    }

    fn entries<T: PartialEq>(
        &mut self,
        node: &xml::Element,
        read: impl Fn(&mut Self, &xml::Element, &str) -> Option<T>,
    ) -> Option<Vec<(T, T)>> {
        self.check_known(node, &[], &["MapEntry"]);
        let mut entries: Vec<(T, T)> = Vec::new();
        for entry in node.children_named("MapEntry") {
            self.check_known(&entry, &["source", "target"], &[]);
            self.required(&entry, "source")?;
            self.required(&entry, "target")?;
            let pair = (read(self, &entry, "source")?, read(self, &entry, "target")?);
            if entries.iter().any(|(source, _)| *source == pair.0) {
                self.error(entry.line(), "a source value is mapped twice");
            }
            entries.push(pair);
        }
        Some(entries)
    }
}

pub(crate) const TRANSFORMATIONS: [&str; 4] = [
    "LinearTransformation",
    "BooleanMappingTransformation",
    "IntegerMappingTransformation",
    "EnumerationMappingTransformation",
];
