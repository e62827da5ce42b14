//! Parameter bindings of systems and components.

use std::sync::Arc;

use costep_fmu_file::short;
use costep_fmu_file::xml;

use crate::model::{Binding, Given};
use crate::read::mapping::SSM;
use crate::read::reader::Reader;
use crate::read::values::SSV;

const VALUES: &str = "application/x-ssp-parameter-set";
const MAPPING: &str = "application/x-ssp-parameter-mapping";

impl Reader<'_> {
    /// All bindings of an element.
    pub(crate) fn bindings(&mut self, node: &xml::Element) -> Vec<Binding> {
        let nodes = node.inside("ParameterBindings");
        nodes.filter(|node| node.name() == "ParameterBinding").map(|node| self.binding(&node)).collect()
    }

    fn binding(&mut self, node: &xml::Element) -> Binding {
        let attributes = ["type", "source", "sourceBase", "prefix"];
        self.check_known(node, &attributes, &["ParameterValues", "ParameterMapping"]);
        let values = self.given(
            node,
            VALUES,
            node.child("ParameterValues").as_ref(),
            "ParameterSet",
            |reader, set| {
                reader.check_namespace(set, SSV);
                reader.parameter_set(set)
            },
        );
        let mapping = node.child("ParameterMapping").map(|node| {
            self.check_known(&node, &["type", "source", "sourceBase"], &["ParameterMapping"]);
            self.given(&node, MAPPING, Some(&node), "ParameterMapping", |reader, mapping| {
                reader.check_namespace(mapping, SSM);
                reader.mapping(mapping)
            })
        });
        let prefix = node.get("prefix").unwrap_or_default().to_owned();
        Binding { prefix, values, mapping, line: node.line() }
    }

    /// What is in the element `name` of `holder`, or in the file that `node` names.
    pub(crate) fn given<T>(
        &mut self,
        node: &xml::Element,
        mime: &str,
        holder: Option<&xml::Element>,
        name: &str,
        read: impl Fn(&mut Self, &xml::Element) -> T,
    ) -> Given<T> {
        if !self.expect_type(node, mime) {
            return Given::Nothing;
        }
        let inline = holder.and_then(|holder| holder.child(name));
        if let Some(source) = node.get("source") {
            if inline.is_some() {
                self.error(node.line(), format!("<{}> has both a source and content", short(node.name())));
            }
            let in_component = match node.get("sourceBase") {
                None | Some("SSD") => false,
                Some("component") => true,
                Some(other) => {
                    self.error(node.line(), format!("`{}` is not a base of a source", short(other)));
                    return Given::Nothing;
                }
            };
            return Given::File { source: source.to_owned(), in_component };
        }
        match inline {
            Some(inline) => Given::Inline(Arc::new(read(self, &inline))),
            None => {
                self.error(node.line(), format!("<{}> has neither source nor content", short(node.name())));
                Given::Nothing
            }
        }
    }
}
