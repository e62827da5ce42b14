//! Parameter sets, mappings and dictionaries, inline or in files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use costep_core::{Code, Error};
use costep_fmu_file::short;
use costep_fmu_file::xml;

use crate::elsewhere::parts;
use crate::flatten::instances::Walk;
use crate::flatten::ports::defined;
use crate::flatten::{Flattener, NamedValue, Spot};
use crate::model::{Binding, Given, Mapping, Parameter, ParameterSet};
use crate::note::Severity;
use crate::package::Location;
use crate::read::mapping::SSM;
use crate::read::reader::Reader;
use crate::read::values::SSV;
use crate::uri::{self, Reference};

/// Contents of files by the document that names them, the name, and the FMU that the name starts from. Nothing for a file
/// that could not be read, which was noted.
pub(super) type Files<T> = HashMap<(Location, String, Option<Option<Location>>), Option<(Arc<T>, Arc<str>)>>;

impl Flattener {
    /// The values of all bindings of an element, mapped.
    pub(super) fn values_of(
        &mut self,
        bindings: &[Binding],
        walk: &Walk<'_>,
        fmu: Option<&Location>,
    ) -> Vec<NamedValue> {
        let mut values = Vec::new();
        for binding in bindings {
            let spot = walk.spot(binding.line);
            let place = (walk, fmu, &spot);
            let kind = ("ParameterSet", SSV);
            let set = self.content(
                &binding.values,
                place,
                kind,
                |own| &mut own.sets,
                |reader, node| reader.parameter_set(node),
            );
            let Some((set, set_file)) = set else { continue };
            let mapping = binding.mapping.as_ref().map(|mapping| {
                let kind = ("ParameterMapping", SSM);
                self.content(
                    mapping,
                    place,
                    kind,
                    |own| &mut own.mappings,
                    |reader, node| reader.mapping(node),
                )
            });
            let mapping = match mapping {
                None => None,
                Some(Some(mapping)) => Some(mapping),
                Some(None) => continue,
            };
            let cost =
                set.parameters.len() + mapping.as_ref().map_or(0, |(mapping, _)| mapping.entries.len());
            if !self.spend(cost, &spot) {
                break;
            }
            match mapping {
                None => values.extend(set.parameters.iter().map(|parameter| {
                    let name = format!("{}{}", binding.prefix, parameter.name);
                    named(name, parameter, &set, &set_file)
                })),
                Some((mapping, file)) => {
                    self.map_values((&set, &set_file), (&mapping, &file), &binding.prefix, &mut values);
                }
            }
        }
        values
    }

    /// What is inline, or in a file that is read once, with its place; nothing if there is nothing or if that was noted.
    fn content<T>(
        &mut self,
        given: &Given<T>,
        (walk, fmu, spot): (&Walk<'_>, Option<&Location>, &Spot),
        kind: (&str, &str),
        files: impl Fn(&mut Self) -> &mut Files<T>,
        read: impl Fn(&mut Reader<'_>, &xml::Element) -> T,
    ) -> Option<(Arc<T>, Spot)> {
        let (source, in_component) = match given {
            Given::Inline(content) => return Some((content.clone(), spot.clone())),
            Given::File { source, in_component } => (source, in_component),
            Given::Nothing => return None,
        };
        let base = in_component.then_some(fmu);
        let key = (walk.document.location.clone(), source.clone(), base.map(|fmu| fmu.cloned()));
        if !files(self).contains_key(&key) {
            let found = self.file(source, base, walk, spot, kind, read);
            files(self).insert(key.clone(), found.map(|(content, spot)| (Arc::new(content), spot.file)));
        }
        let (content, file) = files(self).get(&key)?.clone()?;
        Some((content, Spot { file, ..spot.clone() }))
    }

    /// Only mapped values count; names of the source have the prefix.
    fn map_values(
        &mut self,
        (set, spot): (&ParameterSet, &Spot),
        (mapping, mapping_spot): (&Mapping, &Spot),
        prefix: &str,
        values: &mut Vec<NamedValue>,
    ) {
        let index: HashMap<&str, &Parameter> =
            set.parameters.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect();
        let mut used = HashSet::new();
        for entry in &mapping.entries {
            let found = entry.source.strip_prefix(prefix).and_then(|name| index.get(name));
            let Some(parameter) = found else {
                let source = short(&entry.source);
                let message = format!("the mapping names `{source}`, which is not in the parameter set");
                let known = set.parameters.iter().map(|parameter| parameter.name.as_str()).take(1000);
                let near = Error::new(Code::UnknownName, "").suggest(&entry.source, known);
                let place = mapping_spot.line(entry.line);
                // The value of the FMU is used in its place, which nobody has asked for.
                match near.details().hint.as_deref().filter(|hint| hint.starts_with("did you mean")) {
                    Some(hint) => self.misspelt(&place, message, hint.into()),
                    None => self.note(Severity::Remark, Code::SspUnused, &place, message),
                }
                continue;
            };
            used.insert(parameter.name.as_str());
            let mut value = named(entry.target.clone(), parameter, set, spot);
            value.passage = Some(entry.passage.clone());
            value.mapped_at = Some(Box::new(mapping_spot.line(entry.line)));
            values.push(value);
        }
        for parameter in set.parameters.iter().filter(|parameter| !used.contains(parameter.name.as_str())) {
            let message = format!("the mapping leaves out the parameter `{}`", short(&parameter.name));
            self.note(Severity::Remark, Code::SspUnused, &spot.line(parameter.line), message);
        }
    }

    /// Notes that a source is not opened, and where a file of its name lies in the package.
    pub(super) fn refuse_source(&mut self, source: &str, why: String, walk: &Walk<'_>, spot: &Spot) {
        let mut message = format!("the source `{}` is not opened: {why}", short(source));
        let location = (walk.document.location.0, parts(source).join("/"));
        if let Some(place) = self.packages.at_end_of(&location).or_else(|| self.packages.elsewhere(&location))
        {
            message += &format!("; it lies at `{}`, which `source` should name", short(&place));
        }
        self.error(Code::SspReference, spot, message);
    }

    /// Reads a file that an element refers to; `base` is that of the FMU the reference starts from, if it does.
    pub(super) fn file<T>(
        &mut self,
        source: &str,
        base: Option<Option<&Location>>,
        walk: &Walk<'_>,
        spot: &Spot,
        (root, namespace): (&str, &str),
        read: impl Fn(&mut Reader<'_>, &xml::Element) -> T,
    ) -> Option<(T, Spot)> {
        let folder = if base.is_some() { "" } else { uri::folder(&walk.document.location.1) };
        let may_leave = base.is_none() && self.packages.may_leave(walk.document.location.0);
        let reference = match Reference::parse(source, folder, may_leave) {
            Ok(reference) if !reference.path.is_empty() => reference,
            outcome => {
                let why = outcome.err().unwrap_or_else(|| "it names no file".into());
                self.refuse_source(source, why, walk, spot);
                return None;
            }
        };
        let location = (walk.document.location.0, reference.path);
        let (bytes, file): (_, Arc<str>) = match base {
            None => (self.packages.read(&location), self.packages.shown(&location)),
            Some(Some(fmu)) => {
                let file = format!("{}/{}", self.packages.shown(fmu), location.1).into();
                (self.packages.read_in_fmu(fmu, &location.1), file)
            }
            Some(None) => {
                let message = "a source inside of a component is only read from FMUs";
                self.error(Code::SspUnsupported, spot, message);
                return None;
            }
        };
        let bytes = match bytes {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                self.error(Code::SspReference, spot, format!("the file `{}` is missing", short(source)));
                return None;
            }
            Err(error) => {
                self.foreign_error(&error, spot);
                return None;
            }
        };
        let limits = self.packages.limits().clone();
        let mut reader = Reader::new(file.clone(), &mut self.notes);
        match reader.parse(&bytes, root, namespace, &limits, read) {
            Ok(content) => {
                reader.finish();
                Some((content, Spot { file, ..spot.clone() }))
            }
            Err(error) => {
                self.foreign_error(&error, spot);
                None
            }
        }
    }
}

fn named(name: String, parameter: &Parameter, set: &ParameterSet, spot: &Spot) -> NamedValue {
    let items = |name: &String| {
        let found = set.definitions.enumerations.iter().find(|enumeration| enumeration.name == *name);
        found.map(|enumeration| enumeration.items.clone())
    };
    NamedValue {
        name,
        value: parameter.value.clone(),
        unit: parameter.unit.as_deref().map(|unit| defined(&set.definitions, unit)),
        items: parameter.enumeration.as_ref().and_then(items).unwrap_or_default(),
        passage: None,
        spot: spot.line(parameter.line),
        mapped_at: None,
    }
}
