//! SSM: from names of a parameter set to names of the system.

use std::collections::HashSet;

use costep_fmu_file::short;
use costep_fmu_file::xml;

use crate::model::{Mapping, MappingEntry};
use crate::read::common::{META, TRANSFORMATIONS};
use crate::read::reader::Reader;

/// Namespace of mappings.
pub(crate) const SSM: &str = "http://ssp-standard.org/SSP1/SystemStructureParameterMapping";

impl Reader<'_> {
    /// Reads `<ParameterMapping>` of an SSM.
    pub(crate) fn mapping(&mut self, node: &xml::Element) -> Mapping {
        let known: Vec<&str> = ["version"].into_iter().chain(META).collect();
        self.check_known(node, &known, &["MappingEntry"]);
        self.version(node);
        let mut targets = HashSet::new();
        let mut entries = Vec::new();
        for node in node.children_named("MappingEntry") {
            self.check_known(&node, &["source", "target", "suppressUnitConversion"], &TRANSFORMATIONS);
            let (Some(source), Some(target)) =
                (self.required(&node, "source"), self.required(&node, "target"))
            else {
                continue;
            };
            if !targets.insert(target.clone()) {
                self.error(node.line(), format!("two parameters are mapped to `{}`", short(&target)));
            }
            entries.push(MappingEntry { source, target, passage: self.passage(&node), line: node.line() });
        }
        Mapping { entries }
    }
}
