//! Entries of signal dictionaries as nodes of the graph: one node per entry, joined with the connectors of all
//! references to the dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use costep_core::Code;
use costep_fmu_file::short;

use crate::flatten::instances::Walk;
use crate::flatten::{Flattener, Instance};
use crate::model::{Common, Dictionary, DictionaryContent, Given, Passage, Settings};
use crate::read::dictionary::SSB;

/// Dictionaries of a system by name: ports by the names of entries.
pub(super) type Scope = HashMap<String, HashMap<String, usize>>;

impl Flattener {
    /// The dictionaries that a system defines.
    pub(super) fn scope(&mut self, dictionaries: &[Dictionary], walk: &Walk<'_>) -> Scope {
        let mut scope = Scope::new();
        for dictionary in dictionaries {
            let spot = walk.spot(dictionary.line);
            let read;
            let content: &DictionaryContent = match &dictionary.content {
                Given::Inline(content) => content,
                Given::Nothing => continue,
                Given::File { source, .. } => {
                    let kind = ("SignalDictionary", SSB);
                    match self
                        .file(source, None, walk, &spot, kind, |reader, node| reader.dictionary_content(node))
                    {
                        Some((content, _)) => read = content,
                        None => continue,
                    }
                    &read
                }
            };
            let ports = content.entries.iter().map(|entry| {
                (entry.name.clone(), self.add_port(entry, &content.definitions, spot.line(entry.line)))
            });
            let ports = ports.collect();
            if scope.insert(dictionary.name.clone(), ports).is_some() {
                let message = format!("the signal dictionary `{}` is there twice", short(&dictionary.name));
                self.error(Code::SspSchema, &spot, message);
            }
        }
        scope
    }

    pub(super) fn add_reference(&mut self, common: &Common, name: &str, walk: &Walk<'_>) -> Instance {
        let spot = walk.spot(common.line);
        let mut ports = HashMap::new();
        let found = walk.scopes.iter().rev().find_map(|scope| scope.get(name));
        if found.is_none() {
            self.error(Code::SspReference, &spot, format!("there is no signal dictionary `{}`", short(name)));
        }
        for connector in &common.connectors {
            let spot = spot.line(connector.line);
            let port = self.add_port(connector, &walk.document.definitions, spot.clone());
            ports.insert(connector.name.clone(), port);
            match found.and_then(|entries| entries.get(&connector.name)) {
                Some(entry) => self.references.push((port, *entry)),
                None if found.is_none() => {}
                None => {
                    let near = found.map(|entries| entries.keys().map(String::as_str).take(1000));
                    let near = near.and_then(|names| self.near(&connector.name, names));
                    let near =
                        near.map_or_else(String::new, |name| format!("; did you mean `{}`?", short(&name)));
                    let message =
                        format!("the signal dictionary has no entry `{}`{near}", short(&connector.name));
                    self.error(Code::SspReference, &spot, message);
                }
            }
        }
        let values = self.values_of(&common.bindings, walk, None);
        Instance { ports, values, ..Instance::default() }
    }

    /// Joins references with entries: those that get a value give it to the entry, the others get its value.
    pub(super) fn join_dictionaries(&mut self) {
        let references = std::mem::take(&mut self.references);
        let passage = Arc::new(Passage::default());
        let (givers, takers): (Vec<_>, Vec<_>) =
            references.into_iter().partition(|(port, _)| self.ports[*port].incoming.is_some());
        for (port, entry) in givers {
            let spot = self.ports[port].spot.clone();
            self.add_edge(port, entry, passage.clone(), Settings::new(), spot);
        }
        for (port, entry) in takers {
            let spot = self.ports[port].spot.clone();
            self.add_edge(entry, port, passage.clone(), Settings::new(), spot);
        }
    }
}
