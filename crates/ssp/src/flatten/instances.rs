//! Walks through the systems, opens what they refer to, and makes ports of connectors.

use std::collections::HashMap;
use std::sync::Arc;

use costep_core::Code;
use costep_fmu_file::short;

use crate::flat;
use crate::flatten::dictionaries::Scope;
use crate::flatten::{Flattener, Instance, OpenFmu, Spot};
use crate::model::{Common, Component, Document, Element, Implementation, System};
use crate::note::Severity;
use crate::package::{DEFAULT_DOCUMENT, Location};
use crate::read::document::document;
use crate::uri::{self, Reference};

/// Deepest nesting of systems, and most elements of all of them.
const MAX_DEPTH: usize = 64;
const MAX_ELEMENTS: usize = 100_000;

const FMU: &str = "application/x-fmu-sharedlibrary";
const DESCRIPTION: &str = "application/x-ssp-definition";
const PACKAGE: &str = "application/x-ssp-package";

/// Where the walk is.
pub(super) struct Walk<'a> {
    pub(super) document: &'a Arc<Document>,
    /// Names from the root system on.
    pub(super) path: Vec<String>,
    /// Systems around, as (document, id), so that none contains itself.
    pub(super) around: Vec<(Location, Option<String>)>,
    /// Signal dictionaries in sight, the nearest last.
    pub(super) scopes: Vec<Scope>,
}

impl Walk<'_> {
    pub(super) fn spot(&self, line: u32) -> Spot {
        Spot::of(self.document, line, &self.path.join("/"))
    }
}

impl Flattener {
    pub(super) fn add_root(&mut self, document: &Arc<Document>) {
        let mut walk = Walk {
            document,
            path: vec![document.system.common.name.clone()],
            around: vec![(document.location.clone(), None)],
            scopes: Vec::new(),
        };
        let root = self.add_system(&document.system, &mut walk);
        self.instances.extend(root);
    }

    /// Adds the elements of a system, and gives the system itself.
    fn add_system(&mut self, system: &System, walk: &mut Walk<'_>) -> Option<Instance> {
        let spot = walk.spot(system.common.line);
        if walk.path.len() > MAX_DEPTH {
            self.error(Code::SspUnsupported, &spot, format!("systems are nested deeper than {MAX_DEPTH}"));
            return None;
        }
        let cost = system.common.connectors.len() + system.connections.len();
        if !self.spend(cost, &spot) {
            return None;
        }
        let mut instance = self.new_instance(&system.common, walk, None);
        let scope = self.scope(&system.dictionaries, walk);
        walk.scopes.push(scope);
        walk.around.push((walk.document.location.clone(), system.common.id.clone()));
        for element in &system.elements {
            self.visited += 1;
            if self.visited > MAX_ELEMENTS {
                self.error(
                    Code::SspUnsupported,
                    &spot,
                    format!("there are more than {MAX_ELEMENTS} elements"),
                );
                break;
            }
            walk.path.push(element.common().name.clone());
            let name = element.common().name.clone();
            if let Some(child) = self.add_element(element, walk) {
                instance.children.insert(name, self.instances.len());
                self.instances.push(child);
            } else {
                instance.lost.insert(name);
            }
            walk.path.pop();
        }
        for connection in &system.connections {
            self.connect(connection, &instance, &spot);
        }
        walk.around.pop();
        walk.scopes.pop();
        Some(instance)
    }

    fn add_element(&mut self, element: &Element, walk: &mut Walk<'_>) -> Option<Instance> {
        match element {
            Element::System(system) => self.add_system(system, walk),
            Element::Component(component) => self.add_component(component, walk),
            Element::Reference(common, dictionary) => Some(self.add_reference(common, dictionary, walk)),
        }
    }

    fn new_instance(&mut self, common: &Common, walk: &Walk<'_>, fmu: Option<&Location>) -> Instance {
        let mut ports = HashMap::new();
        if fmu.is_none() {
            for connector in &common.connectors {
                let port = self.add_port(connector, &walk.document.definitions, walk.spot(connector.line));
                ports.insert(connector.name.clone(), port);
            }
        }
        let values = self.values_of(&common.bindings, walk, fmu);
        Instance { ports, values, ..Instance::default() }
    }

    fn add_component(&mut self, component: &Component, walk: &mut Walk<'_>) -> Option<Instance> {
        let spot = walk.spot(component.common.line);
        let Some(source) = &component.source else {
            let message = "the component has no source: a design without implementation cannot be run";
            self.error(Code::SspUnsupported, &spot, message);
            return None;
        };
        let (source, isolated) = match uri::proxied(source) {
            None => (Ok(source.as_str()), false),
            Some(file) => (file, true),
        };
        let folder = uri::folder(&walk.document.location.1);
        let may_leave = self.packages.may_leave(walk.document.location.0);
        let reference = match source.and_then(|source| Reference::parse(source, folder, may_leave)) {
            Ok(reference) => reference,
            Err(why) => {
                let source = component.source.as_deref().unwrap_or_default();
                self.refuse_source(source, why, walk, &spot);
                return None;
            }
        };
        let location = (walk.document.location.0, reference.path.clone());
        match component.kind.split(';').next().unwrap_or_default().trim() {
            _ if reference.path.is_empty() => self.add_own_system(component, &reference, walk, &spot),
            FMU => self.add_fmu(component, location, isolated, walk, &spot),
            DESCRIPTION => self.add_document(component, location, walk, &spot),
            PACKAGE => self.add_package(component, &location, reference.fragment, walk, &spot),
            other => {
                let message = format!("components of type `{}` cannot be run", short(other));
                self.error(Code::SspUnsupported, &spot, message);
                None
            }
        }
    }

    fn add_fmu(
        &mut self,
        component: &Component,
        location: Location,
        isolated: bool,
        walk: &mut Walk<'_>,
        spot: &Spot,
    ) -> Option<Instance> {
        if !self.spend(component.common.connectors.len(), spot) {
            return None;
        }
        let fmu = self.open_fmu(&location, spot)?;
        self.check_interface(component.implementation, &fmu, spot);
        let mut instance = self.new_instance(&component.common, walk, Some(&location));
        let index = self.components.len();
        instance.component = Some(index);
        let name = self.component_name(&walk.path[1..], spot);
        let mut settings = component.common.settings.clone();
        if isolated && !settings.iter().any(|(key, _)| key == "isolation") {
            settings.push(("isolation".into(), "\"process\"".into()));
        }
        self.components.push(flat::Component {
            name,
            file: fmu.path.clone(),
            implementation: component.implementation,
            set: Vec::new(),
            settings,
            place: spot.place(),
        });
        self.sources.push(fmu.clone());
        for connector in &component.common.connectors {
            let spot = spot.line(connector.line);
            let definitions = &walk.document.definitions;
            if let Some(port) = self.add_variable_port(connector, definitions, index, &fmu, spot) {
                instance.ports.insert(connector.name.clone(), port);
            }
        }
        Some(instance)
    }

    fn open_fmu(&mut self, location: &Location, spot: &Spot) -> Option<Arc<OpenFmu>> {
        if let Some(known) = self.fmus.get(location) {
            return known.clone();
        }
        let opened = match self.packages.open_fmu(location) {
            Ok(Some((path, mut fmu))) => {
                let terminals = fmu.terminals().unwrap_or_else(|error| {
                    let message = format!("terminals are not read: {}", error.details().message);
                    self.note(Severity::Remark, Code::SspUnused, spot, message);
                    Vec::new()
                });
                Some(Arc::new(OpenFmu { path, description: fmu.into_description(), terminals }))
            }
            Ok(None) => {
                let mut message = format!("the FMU `{}` is missing", short(&location.1));
                if let Some(place) = self.packages.elsewhere(location) {
                    message += &format!(": it lies at `{}`, which `source` should name", short(&place));
                } else if let Some(near) = self.packages.nearest(location) {
                    message += &format!(": did you mean `{}`?", short(&near));
                }
                self.error(Code::SspReference, spot, message);
                None
            }
            Err(error) => {
                self.foreign_error(&error, spot);
                None
            }
        };
        self.fmus.insert(location.clone(), opened.clone());
        opened
    }

    fn check_interface(&mut self, wanted: Implementation, fmu: &OpenFmu, spot: &Spot) {
        let offered = match wanted {
            Implementation::Any => return,
            Implementation::CoSimulation => fmu.description.co_simulation.is_some(),
            Implementation::ModelExchange => fmu.description.model_exchange.is_some(),
        };
        if !offered {
            self.error(Code::FmuInterface, spot, format!("the FMU does not offer {wanted:?}"));
        }
    }

    /// A component that is another system of the same document.
    fn add_own_system(
        &mut self,
        component: &Component,
        reference: &Reference,
        walk: &mut Walk<'_>,
        spot: &Spot,
    ) -> Option<Instance> {
        let document = walk.document;
        let id = reference.fragment.as_deref().unwrap_or_default();
        let mut looked_at = 0;
        let found = system_with_id(&document.system, id, &mut looked_at);
        if !self.spend(looked_at, spot) {
            return None;
        }
        let Some(system) = found else {
            let message = format!("there is no system with the id `{}` in this document", short(id));
            self.error(Code::SspReference, spot, message);
            return None;
        };
        let target = (document.location.clone(), Some(id.to_owned()));
        let is_root = std::ptr::eq(system, &document.system);
        if walk.around.contains(&target) || (is_root && walk.around.contains(&(target.0, None))) {
            self.error(Code::SspCycle, spot, format!("the system `{}` contains itself", short(id)));
            return None;
        }
        let instance = self.add_system(system, walk);
        self.with_own_values(instance, component, walk)
    }

    fn add_document(
        &mut self,
        component: &Component,
        location: Location,
        walk: &mut Walk<'_>,
        spot: &Spot,
    ) -> Option<Instance> {
        let document = self.open_document(&location, spot)?;
        let around = (location.clone(), None);
        if walk.around.contains(&around) {
            self.error(
                Code::SspCycle,
                spot,
                format!("the description `{}` contains itself", short(&location.1)),
            );
            return None;
        }
        let mut inner = Walk {
            document: &document,
            path: walk.path.clone(),
            around: walk.around.iter().cloned().chain([around]).collect(),
            // Names of dictionaries do not reach into other documents.
            scopes: Vec::new(),
        };
        let instance = self.add_system(&document.system, &mut inner);
        self.with_own_values(instance, component, walk)
    }

    fn add_package(
        &mut self,
        component: &Component,
        location: &Location,
        variant: Option<String>,
        walk: &mut Walk<'_>,
        spot: &Spot,
    ) -> Option<Instance> {
        match self.packages.enter(location) {
            Ok(Some(package)) => {
                let document = variant.unwrap_or_else(|| DEFAULT_DOCUMENT.to_owned());
                self.add_document(component, (package, document), walk, spot)
            }
            Ok(None) => {
                let message = format!("the package `{}` is missing", short(&location.1));
                self.error(Code::SspReference, spot, message);
                None
            }
            Err(error) => {
                self.foreign_error(&error, spot);
                None
            }
        }
    }

    fn open_document(&mut self, location: &Location, spot: &Spot) -> Option<Arc<Document>> {
        if let Some(known) = self.documents.get(location) {
            return known.clone();
        }
        let opened = match self.packages.read(location) {
            Ok(Some(bytes)) => {
                let (file, limits) = (self.packages.shown(location), self.packages.limits().clone());
                document(&bytes, location.clone(), file, &limits, &mut self.notes)
            }
            Ok(None) => {
                let message = format!("the description `{}` is missing", short(&location.1));
                self.error(Code::SspReference, spot, message);
                self.documents.insert(location.clone(), None);
                return None;
            }
            Err(error) => Err(error),
        };
        let opened = opened.map_err(|error| self.foreign_error(&error, spot)).ok().map(Arc::new);
        self.documents.insert(location.clone(), opened.clone());
        opened
    }

    /// The bindings of a component that stands for a system come after those of the system.
    fn with_own_values(
        &mut self,
        instance: Option<Instance>,
        component: &Component,
        walk: &Walk<'_>,
    ) -> Option<Instance> {
        let mut instance = instance?;
        instance.values.extend(self.values_of(&component.common.bindings, walk, None));
        for connector in &component.common.connectors {
            if !instance.ports.contains_key(&connector.name) {
                let message = format!("the system has no connector `{}`", short(&connector.name));
                self.error(Code::SspReference, &walk.spot(connector.line), message);
            }
        }
        Some(instance)
    }

    fn component_name(&mut self, path: &[String], spot: &Spot) -> String {
        let name = self.names.unique(path);
        if name != path.join("/") {
            let message = format!("the component is called `{name}` here");
            self.note(crate::note::Severity::Remark, Code::SspUnused, spot, message);
        }
        name
    }
}

fn system_with_id<'a>(system: &'a System, id: &str, looked_at: &mut usize) -> Option<&'a System> {
    *looked_at += 1 + system.elements.len();
    if id.is_empty() {
        return None;
    }
    if system.common.id.as_deref() == Some(id) {
        return Some(system);
    }
    system.elements.iter().find_map(|element| match element {
        Element::System(inner) => system_with_id(inner, id, looked_at),
        _ => None,
    })
}
