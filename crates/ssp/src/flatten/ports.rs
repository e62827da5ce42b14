//! Connectors as nodes of a graph, connections as its edges.

use std::sync::Arc;

use costep_core::Code;
use costep_core::suggest::suggestion;
use costep_fmu_file::{Causality, ModelDescription, Unit, Variable, short};

use crate::flatten::parameters::nearest;
use crate::flatten::{Flattener, Instance, OpenFmu, Spot};
use crate::model::{Connection, Connector, Definitions, End, Kind, Passage, Settings};
use crate::note::Severity;

/// A connector of an instance, or an entry of a dictionary.
pub(crate) struct Port {
    /// For messages.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) signal: Option<&'static str>,
    pub(crate) unit: Option<Unit>,
    /// Component and variable of its FMU.
    pub(crate) variable: Option<(usize, usize)>,
    /// The edge that a value comes by.
    pub(crate) incoming: Option<usize>,
    /// The edges that it goes on by.
    pub(crate) outgoing: Vec<usize>,
    pub(crate) spot: Spot,
}

/// A connection in the direction of its values.
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) passage: Arc<Passage>,
    pub(crate) settings: Settings,
    pub(crate) spot: Spot,
}

impl Flattener {
    /// A port for a connector that is not a variable.
    pub(super) fn add_port(&mut self, connector: &Connector, definitions: &Definitions, spot: Spot) -> usize {
        self.ports.push(Port {
            name: connector.name.clone(),
            kind: connector.kind,
            signal: connector.signal,
            unit: connector.unit.as_deref().map(|name| defined(definitions, name)),
            variable: None,
            incoming: None,
            outgoing: Vec::new(),
            spot,
        });
        self.ports.len() - 1
    }

    /// The nearest of these names, if one is near. Names are compared a few times only: it takes long.
    pub(super) fn near<'a>(&mut self, name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
        self.suggestions = self.suggestions.checked_sub(1)?;
        nearest(name, known)
    }

    /// A port for a connector of an FMU; the FMU knows its type and what it is without one.
    pub(super) fn add_variable_port(
        &mut self,
        connector: &Connector,
        definitions: &Definitions,
        component: usize,
        fmu: &OpenFmu,
        spot: Spot,
    ) -> Option<usize> {
        let description = &fmu.description;
        let Some(index) = description.find(&connector.name) else {
            let known = description.variables().iter().take(10_000).map(|variable| &*variable.name);
            let near = self.near(&connector.name, known);
            let near = near.map(|near| format!(": did you mean `{}`?", short(&near)));
            let message =
                format!("the FMU has no variable `{}`{}", short(&connector.name), near.unwrap_or_default());
            self.error(Code::SspReference, &spot, message);
            return None;
        };
        let variable = &description.variables()[index];
        let kind = kind_of(variable.causality);
        if kind != connector.kind && connector.kind != Kind::Unspecified {
            let (ours, theirs) = (connector.kind.word(), kind.word());
            let message =
                format!("`{}` is declared as {ours}, but is {theirs} in the FMU", short(&connector.name));
            self.note(Severity::Warning, Code::SspSchema, &spot, message);
        }
        let port = self.add_port(connector, definitions, spot.clone());
        let own = unit_of(description, variable);
        if let (Some(own), Some(given)) = (&own, &self.ports[port].unit)
            && let (Some(a), Some(b)) = (own.base, given.base)
            && a != b
        {
            let message = format!(
                "the unit `{}` of `{}` is another one than `{}` in the FMU",
                short(&given.name),
                short(&connector.name),
                short(&own.name)
            );
            self.note(Severity::Warning, Code::UnitMismatch, &spot, message);
        }
        let port_data = &mut self.ports[port];
        port_data.kind = kind;
        port_data.variable = Some((component, index));
        if port_data.unit.is_none() {
            port_data.unit = own;
        }
        Some(port)
    }

    /// Makes an edge of a connection between the system and its elements, or among them.
    pub(super) fn connect(&mut self, connection: &Connection, own: &Instance, spot: &Spot) {
        let spot = spot.line(connection.passage.line);
        let ends = [&connection.start, &connection.end].map(|end| self.find_end(end, own, &spot));
        let [Some(start), Some(end)] = ends else { return };
        let [start_gives, end_gives] =
            [(start, &connection.start), (end, &connection.end)].map(|(port, end)| {
                // A connector of the system itself is seen from inside.
                let gives = self.ports[port].kind.gives();
                if end.0.is_none() { gives.map(|gives| !gives) } else { gives }
            });
        let (from, to) = match (start_gives, end_gives) {
            (Some(true), Some(false) | None) | (None, Some(false)) => (start, end),
            (Some(false), Some(true) | None) | (None, Some(true)) => (end, start),
            (Some(gives), Some(_)) => {
                let what = if gives { "gives" } else { "takes" };
                let [a, b] = [start, end].map(|port| short(&self.ports[port].name));
                let message = format!("`{a}` and `{b}` cannot be connected: each of them {what} a value");
                return self.error(Code::SspSchema, &spot, message);
            }
            (None, None) => {
                let message = "which way values go is not specified by either connector";
                return self.error(Code::SspUnsupported, &spot, message);
            }
        };
        self.add_edge(from, to, connection.passage.clone(), connection.settings.clone(), spot);
    }

    /// Adds an edge, unless its target has one.
    pub(super) fn add_edge(
        &mut self,
        from: usize,
        to: usize,
        passage: Arc<Passage>,
        settings: Settings,
        spot: Spot,
    ) {
        if let Some(other) = self.ports[to].incoming {
            let line = self.edges[other].spot.line;
            let message = format!("`{}` has another source in line {line}", short(&self.ports[to].name));
            return self.error(Code::DoubleSource, &spot, message);
        }
        let edge = self.edges.len();
        self.ports[to].incoming = Some(edge);
        self.ports[from].outgoing.push(edge);
        self.edges.push(Edge { from, to, passage, settings, spot });
    }

    fn find_end(&mut self, (element, connector): &End, own: &Instance, spot: &Spot) -> Option<usize> {
        let ports = match element {
            None => &own.ports,
            Some(name) => match own.children.get(name) {
                Some(child) => &self.instances[*child].ports,
                // What is wrong with it has been said.
                None if own.lost.contains(name) => return None,
                None => {
                    let known = suggestion(name, own.children.keys().map(String::as_str));
                    let known = known.map_or_else(String::new, |known| format!(": {known}"));
                    let message = format!("the system has no element `{}`{known}", short(name));
                    self.error(Code::SspReference, spot, message);
                    return None;
                }
            },
        };
        if let Some(port) = ports.get(connector) {
            return Some(*port);
        }
        let known = suggestion(connector, ports.keys().map(String::as_str));
        let known = known.map_or_else(String::new, |known| format!(": {known}"));
        let owner = element.as_deref().map_or("the system".into(), |name| format!("`{}`", short(name)));
        let child = element.as_ref().and_then(|name| own.children.get(name)).copied();
        if let Some(port) = child.and_then(|child| self.undeclared(child, connector, spot)) {
            return Some(port);
        }
        let message = format!("{owner} has no connector `{}`{known}", short(connector));
        self.error(Code::SspReference, spot, message);
        None
    }

    /// A variable of an FMU that is connected without being declared as a connector.
    fn undeclared(&mut self, instance: usize, name: &str, spot: &Spot) -> Option<usize> {
        let component = self.instances[instance].component?;
        let fmu = self.sources[component].clone();
        fmu.description.find(name)?;
        let message = format!("`{}` is a variable of the FMU, but not declared as a connector", short(name));
        self.note(Severity::Warning, Code::SspSchema, spot, message);
        let connector = Connector {
            name: name.to_owned(),
            kind: Kind::Unspecified,
            signal: None,
            unit: None,
            line: spot.line,
        };
        let port =
            self.add_variable_port(&connector, &Definitions::default(), component, &fmu, spot.clone())?;
        self.instances[instance].ports.insert(name.to_owned(), port);
        Some(port)
    }
}

/// A unit by its name; one that is not defined has no base.
pub(super) fn defined(definitions: &Definitions, name: &str) -> Unit {
    definitions.unit(name).cloned().unwrap_or_else(|| nameless(name))
}

fn nameless(name: &str) -> Unit {
    Unit { name: name.to_owned(), base: None, display: Vec::new(), line: 0 }
}

/// The unit of a variable of an FMU.
pub(super) fn unit_of(description: &ModelDescription, variable: &Variable) -> Option<Unit> {
    let name = variable.unit()?;
    Some(description.unit(name).cloned().unwrap_or_else(|| nameless(name)))
}

fn kind_of(causality: Causality) -> Kind {
    match causality {
        Causality::Input => Kind::Input,
        Causality::Output => Kind::Output,
        Causality::Parameter => Kind::Parameter,
        Causality::CalculatedParameter => Kind::CalculatedParameter,
        Causality::StructuralParameter => Kind::StructuralParameter,
        Causality::Local | Causality::Independent => Kind::Local,
    }
}
