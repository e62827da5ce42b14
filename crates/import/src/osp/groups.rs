//! `OspModelDescription.xml`: groups of variables beside an FMU.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};
use costep_fmu_file::xml::{self, Element, literal};
use costep_fmu_file::{Limits, Terminal, short};

use crate::builder::Builder;
use crate::format::read_bytes;

/// Variables, and groups inside.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Group {
    /// `Force`, `LinearMechanicalPort` and so on.
    kind: String,
    pub(crate) name: String,
    /// Name in the FMU and unit.
    pub(crate) variables: Vec<(String, Option<GroupUnit>)>,
    inner: Vec<Group>,
}

/// A unit by its name, with exponents, factor and offset if the file defines it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupUnit {
    name: String,
    base: Option<[f64; 10]>,
}

impl GroupUnit {
    fn is_same(&self, other: &Self) -> bool {
        match (self.base, other.base) {
            (Some(a), Some(b)) => a == b,
            _ => self.name == other.name,
        }
    }
}

/// Units of a file by name.
type Units = HashMap<String, [f64; 10]>;

/// The groups of FMUs by the files that describe them.
#[derive(Default)]
pub(crate) struct Groups {
    read: HashMap<PathBuf, Option<Vec<Group>>>,
}

impl Groups {
    /// A group of a component by its name; noted if there is none.
    pub(crate) fn find(
        &mut self,
        builder: &mut Builder,
        component: usize,
        name: &str,
        line: u32,
    ) -> Option<Group> {
        let model = builder.fmu(component).model_name.clone();
        let file_name = format!("{model}_OspModelDescription.xml");
        let part = builder.flat.components[component].name.clone();
        if model.contains(['/', '\\', '\0']) {
            builder.missing(line, format!("`{}` names no file for the groups of `{part}`", short(&model)));
            return None;
        }
        // Beside the FMU, else beside the system.
        let beside =
            builder.flat.components[component].file.parent().unwrap_or(Path::new("")).join(&file_name);
        let file = if beside.is_file() { beside } else { builder.folder.join(&file_name) };
        if !self.read.contains_key(&file) {
            let groups = match builder.check_file(&file, line).then(|| read(&file)) {
                Some(Ok(groups)) => Some(groups),
                Some(Err(error)) => {
                    let details = error.details();
                    builder.error(line, format!("{} in `{}`", details.message, short(&file_name)));
                    None
                }
                None => None,
            };
            self.read.insert(file.clone(), groups);
        }
        let groups = self.read.get(&file)?.as_ref()?;
        let found = find(groups, name).cloned();
        if found.is_none() {
            let near = builder.near(name, names_of(groups).into_iter());
            let message = format!("`{part}` has no group `{}` in `{}`{near}", short(name), short(&file_name));
            builder.missing(line, message);
        }
        found
    }
}

/// The groups of the file beside an FMU as terminals: those of a kind fit together. Empty if there is no such file.
pub(crate) fn terminals(fmu: &Path, model: &str) -> Result<Vec<Terminal>> {
    // Authors are not strict about capitals.
    let wanted = format!("{model}_OspModelDescription.xml");
    let is_it = |file: &PathBuf| file.file_name().is_some_and(|name| name.eq_ignore_ascii_case(&wanted));
    let folder = fmu.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let groups = files.find(is_it).map(|file| read(&file)).transpose()?.unwrap_or_default();
    Ok(groups.iter().map(Group::terminal).collect())
}

impl Group {
    fn terminal(&self) -> Terminal {
        let mut members = Vec::new();
        self.add_members("", &mut members);
        Terminal { name: self.name.clone(), kind: Some(self.kind.clone()), members, flows: Vec::new() }
    }

    /// Names by kind and place: names of groups are up to each author.
    fn add_members(&self, outer: &str, members: &mut Vec<(String, String)>) {
        let path = format!("{outer}{}", self.kind);
        let own =
            self.variables.iter().enumerate().map(|(at, (name, _))| (format!("{path}[{at}]"), name.clone()));
        members.extend(own);
        self.inner.iter().for_each(|inner| inner.add_members(&format!("{path}."), members));
    }
}

/// The first group of this name, outer ones before inner ones.
fn find<'a>(groups: &'a [Group], name: &str) -> Option<&'a Group> {
    let here = groups.iter().find(|group| group.name == name);
    here.or_else(|| groups.iter().find_map(|group| find(&group.inner, name)))
}

/// Names of groups and of those inside.
fn names_of(groups: &[Group]) -> Vec<&String> {
    groups.iter().flat_map(|group| std::iter::once(&group.name).chain(names_of(&group.inner))).collect()
}

fn read(path: &Path) -> Result<Vec<Group>> {
    let bytes = read_bytes(path)?;
    let limits = Limits { list: 1_000_000, ..Limits::default() };
    xml::read(&bytes[..], path, &limits, |root| {
        if root.name() != "OspModelDescription" {
            let message =
                format!("the root element is <{}> instead of <OspModelDescription>", short(root.name()));
            return Err(Error::new(Code::SspSchema, message));
        }
        let units: Units = root.inside("UnitDefinitions").filter_map(|node| unit(&node)).collect();
        Ok(root.inside("VariableGroups").map(|node| group(&node, &units)).collect())
    })
}

fn unit(node: &Element) -> Option<(String, [f64; 10])> {
    const PARTS: [(&str, f64); 10] = [
        ("kg", 0.0),
        ("m", 0.0),
        ("s", 0.0),
        ("A", 0.0),
        ("K", 0.0),
        ("mol", 0.0),
        ("cd", 0.0),
        ("rad", 0.0),
        ("factor", 1.0),
        ("offset", 0.0),
    ];
    let base = node.child("BaseUnit")?;
    let value = |(name, usual): (&str, f64)| base.get(name).map_or(Some(usual), literal::number);
    let mut parts = [0.0; 10];
    for (part, place) in parts.iter_mut().zip(PARTS) {
        *part = value(place)?;
    }
    Some((node.get("name")?.to_owned(), parts))
}

/// Reads a group. Depth is bounded by the XML reader.
fn group(node: &Element, units: &Units) -> Group {
    let text = |node: &Element, name: &str| node.get(name).unwrap_or_default().to_owned();
    let mut found = Group { kind: node.name().to_owned(), name: text(node, "name"), ..Group::default() };
    for child in node.children() {
        match child.name() {
            "Variable" => {
                let unit = child.get("unit");
                let unit =
                    unit.map(|name| GroupUnit { name: name.to_owned(), base: units.get(name).copied() });
                found.variables.push((text(&child, "ref"), unit));
            }
            _ => found.inner.push(group(&child, units)),
        }
    }
    found
}

/// The variables of two groups that belong together.
pub(crate) struct Pairs {
    pub(crate) variables: Vec<(String, String)>,
    /// What is said of pairs whose units differ.
    pub(crate) differing_units: Vec<String>,
    /// How many bonds of power there are, if the groups are ports: first all efforts, then all flows.
    pub(crate) bonds: Option<usize>,
}

impl Pairs {
    /// Pairs in the order of the files; an error if the groups are not alike.
    pub(crate) fn of(a: &Group, b: &Group) -> Result<Self, String> {
        let mut pairs = Self { variables: Vec::new(), differing_units: Vec::new(), bonds: None };
        pairs.add(a, b)?;
        let is_port = a.kind == b.kind && a.kind.ends_with("Port") && !a.kind.ends_with("QuasiPort");
        if let ([effort, flow], true) = (&a.inner[..], is_port && a.variables.is_empty())
            && effort.variables.len() == flow.variables.len()
        {
            pairs.bonds = Some(effort.variables.len()).filter(|count| *count > 0);
        }
        Ok(pairs)
    }

    fn add(&mut self, a: &Group, b: &Group) -> Result<(), String> {
        let sizes = [(a.variables.len(), b.variables.len()), (a.inner.len(), b.inner.len())];
        if let Some((first, second)) = sizes.into_iter().find(|(first, second)| first != second) {
            let (a, b) = (short(&a.name), short(&b.name));
            return Err(format!("the groups `{a}` and `{b}` are of different size: {first} and {second}"));
        }
        for ((first, unit), (second, other)) in a.variables.iter().zip(&b.variables) {
            self.variables.push((first.clone(), second.clone()));
            if let (Some(unit), Some(other)) = (unit, other)
                && !unit.is_same(other)
            {
                let names = [first, second, &unit.name, &other.name].map(|name| short(name).to_string());
                self.differing_units
                    .push(format!("`{}` is in {}, `{}` in {}", names[0], names[2], names[1], names[3]));
            }
        }
        a.inner.iter().zip(&b.inner).try_for_each(|(a, b)| self.add(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(kind: &str, sizes: &[usize]) -> Group {
        let inner = |(at, size): (usize, &usize)| Group {
            name: format!("g{at}"),
            variables: (0..*size).map(|k| (format!("v{at}{k}"), None)).collect(),
            ..Group::default()
        };
        Group {
            kind: kind.into(),
            name: "p".into(),
            inner: sizes.iter().enumerate().map(inner).collect(),
            ..Group::default()
        }
    }

    #[test]
    fn ports_of_power_are_bonds_and_others_are_not() {
        let bonds =
            |kind: &str, sizes: &[usize]| Pairs::of(&port(kind, sizes), &port(kind, sizes)).unwrap().bonds;
        assert_eq!(bonds("LinearMechanicalPort", &[3, 3]), Some(3));
        assert_eq!(bonds("LinearMechanicalQuasiPort", &[3, 3]), None);
        assert_eq!(bonds("LinearMechanicalPort", &[3, 2]), None);
        assert_eq!(bonds("Generic", &[1, 1]), None);
        assert_eq!(bonds("HydraulicPort", &[0, 0]), None);
        assert!(Pairs::of(&port("A", &[3]), &port("A", &[2])).is_err());
        assert!(Pairs::of(&port("A", &[3]), &port("A", &[])).is_err());
    }

    #[test]
    fn units_are_compared_by_what_they_are() {
        let unit = |name: &str, factor: Option<f64>| {
            let base = factor.map(|factor| [1.0, 1.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, factor, 0.0]);
            GroupUnit { name: name.into(), base }
        };
        assert!(unit("N", Some(1.0)).is_same(&unit("newton", Some(1.0))));
        assert!(!unit("N", Some(1.0)).is_same(&unit("N", Some(1e3))));
        assert!(!unit("N", None).is_same(&unit("kN", Some(1e3))));
    }
}
