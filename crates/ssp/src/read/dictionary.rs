//! SSB: signal dictionaries.

use costep_fmu_file::xml;

use crate::model::{Dictionary, DictionaryContent, Kind};
use crate::read::common::META;
use crate::read::reader::Reader;

/// Namespace of dictionaries.
pub(crate) const SSB: &str = "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary";
const MIME: &str = "application/x-ssp-signal-dictionary";

impl Reader<'_> {
    /// Reads `<SignalDictionary>` of an SSB.
    pub(crate) fn dictionary_content(&mut self, node: &xml::Element) -> DictionaryContent {
        let known: Vec<&str> = ["version"].into_iter().chain(META).collect();
        self.check_known(node, &known, &["DictionaryEntry", "Enumerations", "Units"]);
        self.version(node);
        let definitions = self.definitions(node);
        let entries = self.connectors(node.children(), "DictionaryEntry", Some(Kind::Inout), &definitions);
        DictionaryContent { definitions, entries }
    }

    /// Reads `<SignalDictionary>` of an SSD.
    pub(crate) fn dictionary(&mut self, node: &xml::Element) -> Option<Dictionary> {
        self.check_known(node, &["name", "type", "source"], &["SignalDictionary"]);
        let name = self.name(node)?;
        let content = self.given(node, MIME, Some(node), "SignalDictionary", |reader, inline| {
            reader.check_namespace(inline, SSB);
            reader.dictionary_content(inline)
        });
        Some(Dictionary { name, content, line: node.line() })
    }

    /// Whether the MIME type of an element is the one that is known.
    pub(crate) fn expect_type(&mut self, node: &xml::Element, known: &str) -> bool {
        let kind = node.get("type").unwrap_or(known);
        if kind != known {
            let (name, kind) = (costep_fmu_file::short(node.name()), costep_fmu_file::short(kind));
            self.unsupported(node.line(), format!("<{name}> is of type `{kind}`; only `{known}` is read"));
        }
        kind == known
    }
}
