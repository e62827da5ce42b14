//! Systems with their elements and connections.

use std::collections::HashSet;

use costep_fmu_file::short;
use costep_fmu_file::xml::{self, literal};

use crate::model::{Common, Component, Connection, Definitions, Element, End, Implementation, System};
use crate::read::common::TRANSFORMATIONS;
use crate::read::reader::Reader;

/// Children that all elements of a system have.
const COMMON: [&str; 3] = ["Connectors", "ParameterBindings", "Annotations"];

impl Reader<'_> {
    /// Reads `<System>`. Depth is bounded by the XML reader.
    pub(crate) fn system(&mut self, node: &xml::Element, definitions: &Definitions) -> Option<System> {
        let known: Vec<&str> =
            COMMON.into_iter().chain(["Elements", "Connections", "SignalDictionaries"]).collect();
        self.check_known(node, &["name"], &known);
        let common = self.common(node, definitions)?;
        self.path.push(common.name.clone());
        let mut elements: Vec<Element> = Vec::new();
        let mut names = HashSet::new();
        for child in node.inside("Elements") {
            let Some(element) = self.element(&child, definitions) else { continue };
            let name = &element.common().name;
            if !names.insert(name.clone()) {
                let message = format!("the name `{}` is used twice in this system", short(name));
                self.error(child.line(), message);
                continue;
            }
            elements.push(element);
        }
        let connections = node.inside("Connections").filter_map(|node| self.connection(&node)).collect();
        let dictionaries =
            node.inside("SignalDictionaries").filter_map(|node| self.dictionary(&node)).collect();
        self.path.pop();
        Some(System { common, elements, connections, dictionaries })
    }

    fn element(&mut self, node: &xml::Element, definitions: &Definitions) -> Option<Element> {
        match node.name() {
            "System" => self.system(node, definitions).map(Element::System),
            "Component" => self.component(node, definitions).map(Element::Component),
            "SignalDictionaryReference" => {
                self.check_known(node, &["name", "dictionary"], &COMMON);
                let common = self.common(node, definitions)?;
                let dictionary = self.required(node, "dictionary")?;
                Some(Element::Reference(common, dictionary))
            }
            other => {
                self.error(node.line(), format!("<{}> is not an element of a system", short(other)));
                None
            }
        }
    }

    fn common(&mut self, node: &xml::Element, definitions: &Definitions) -> Option<Common> {
        let name = self.name(node)?;
        self.path.push(name.clone());
        let common = Common {
            name,
            id: node.get("id").map(str::to_owned),
            line: node.line(),
            connectors: self.connectors(node.inside("Connectors"), "Connector", None, definitions),
            bindings: self.bindings(node),
            settings: self.settings(node),
        };
        self.path.pop();
        Some(common)
    }

    fn component(&mut self, node: &xml::Element, definitions: &Definitions) -> Option<Component> {
        self.check_known(node, &["name", "type", "source", "implementation"], &COMMON);
        let common = self.common(node, definitions)?;
        let implementation = match node.get("implementation") {
            None | Some("any") => Implementation::Any,
            Some("CoSimulation") => Implementation::CoSimulation,
            Some("ModelExchange") => Implementation::ModelExchange,
            Some("ScheduledExecution") => {
                self.unsupported(
                    node.line(),
                    format!("`{}` asks for Scheduled Execution", short(&common.name)),
                );
                Implementation::Any
            }
            Some(other) => {
                self.error(node.line(), format!("`{}` is not an implementation of an FMU", short(other)));
                Implementation::Any
            }
        };
        let kind = node.get("type").unwrap_or("application/x-fmu-sharedlibrary").to_owned();
        Some(Component { common, kind, source: node.get("source").map(str::to_owned), implementation })
    }

    fn connection(&mut self, node: &xml::Element) -> Option<Connection> {
        if node.name() != "Connection" {
            self.warning(node.line(), format!("<{}> is not a connection", short(node.name())));
            return None;
        }
        let attributes = [
            "startElement",
            "startConnector",
            "startIndices",
            "endElement",
            "endConnector",
            "endIndices",
            "suppressUnitConversion",
        ];
        let children: Vec<&str> = TRANSFORMATIONS.into_iter().chain(["Annotations"]).collect();
        self.check_known(node, &attributes, &children);
        let start = self.end(node, "startElement", "startConnector");
        let end = self.end(node, "endElement", "endConnector");
        for name in ["startIndices", "endIndices"] {
            if node.get(name).is_some_and(|indices| literal::items(indices).next().is_some()) {
                let message =
                    format!("`{name}`: connections of single elements of an array are not supported");
                self.unsupported(node.line(), message);
                return None;
            }
        }
        Some(Connection {
            start: start?,
            end: end?,
            passage: self.passage(node),
            settings: self.settings(node),
        })
    }

    fn end(&mut self, node: &xml::Element, element: &str, connector: &str) -> Option<End> {
        let connector = self.required(node, connector)?;
        let named = node.get(element);
        if named == Some("") {
            self.warning(node.line(), format!("`{element}` is empty: the system itself is meant"));
        }
        Some((named.filter(|name| !name.is_empty()).map(str::to_owned), connector))
    }
}
