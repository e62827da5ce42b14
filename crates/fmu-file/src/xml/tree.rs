//! A whole document as a tree, for documents that refer back and forth. Under the same limits as the stream.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use costep_core::{Code, Error, Place, Result};

use super::{Element, Flaw, Literal, XML_SPACE, Xml};
use crate::archive::placed;
use crate::limits::Limits;

/// An element with everything inside of it, except text.
#[derive(Debug)]
pub struct Node {
    /// The namespace its prefix stands for; empty without one.
    pub namespace: Arc<str>,
    /// Its name without prefix.
    pub name: String,
    /// Its attributes in the order of the document, without declarations of namespaces. Those of a foreign
    /// namespace keep their prefix.
    pub attributes: Vec<(String, String)>,
    /// The elements inside.
    pub children: Vec<Node>,
    /// Line of the start tag, counted from 1.
    pub line: u32,
}

impl Node {
    /// Reads a document. `limits.list` bounds the number of elements; the path is for messages.
    pub fn read(source: impl Read, path: &Path, limits: &Limits) -> Result<Self> {
        read(source, limits).map_err(|Flaw { error, line }| {
            let place = Place::File { path: path.into(), line: line.map(|line| line as usize), text: None };
            match line {
                Some(_) => error.at(place),
                None => placed(error, path),
            }
        })
    }

    /// The text of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first child of this name, in whatever namespace.
    pub fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The children of a child, such as all `Connector` of `Connectors`.
    pub fn inside(&self, name: &str) -> &[Node] {
        self.child(name).map_or(&[], |child| &child.children)
    }
}

/// Texts in the forms that XML Schema has for numbers and Booleans.
pub mod literal {
    use super::{Literal, XML_SPACE};

    /// A number.
    pub fn number(text: &str) -> Option<f64> {
        f64::parse(text.trim_matches(XML_SPACE))
    }

    /// An integer of at most 64 bits.
    pub fn integer(text: &str) -> Option<i64> {
        i64::parse(text.trim_matches(XML_SPACE))
    }

    /// `true`, `false`, `1` or `0`.
    pub fn truth(text: &str) -> Option<bool> {
        bool::parse(text.trim_matches(XML_SPACE))
    }

    /// The items of a list.
    pub fn items(text: &str) -> impl Iterator<Item = &str> {
        text.split(XML_SPACE).filter(|item| !item.is_empty())
    }
}

fn read(source: impl Read, limits: &Limits) -> Result<Node, Flaw> {
    let mut xml = Xml::new(source, limits)?;
    let mut element = Element::default();
    xml.root(&mut element)?;
    let mut names = Namespaces::default();
    let mut open = vec![names.enter(&element)?];
    let mut count = 1;
    loop {
        if xml.child(open.len(), &mut element)? {
            count += 1;
            if count > limits.list {
                let message = format!("the document has more than {} elements", limits.list);
                return Err(Flaw::new(Code::XmlRefused, element.line(), message));
            }
            open.push(names.enter(&element)?);
            continue;
        }
        names.leave();
        match (open.pop(), open.last_mut()) {
            (Some(done), Some(parent)) => parent.children.push(done),
            (Some(root), None) => {
                xml.finish()?;
                return Ok(root);
            }
            (None, _) => return Err(Flaw::new(Code::BadXml, xml.line(), "the document has no root element")),
        }
    }
}

/// Which prefix stands for which namespace, at the present place of the document.
#[derive(Default)]
struct Namespaces {
    /// For each open element its declarations.
    declared: Vec<Vec<(String, Arc<str>)>>,
    /// The same text is stored once.
    known: HashMap<String, Arc<str>>,
}

impl Namespaces {
    fn enter(&mut self, element: &Element) -> Result<Node, Flaw> {
        let mut declared = Vec::new();
        let mut attributes = Vec::new();
        for (name, value) in element.attributes() {
            let prefix = if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") };
            match prefix {
                Some(prefix) => {
                    let known = self.known.entry(value.to_owned()).or_insert_with(|| value.into());
                    declared.push((prefix.to_owned(), known.clone()));
                }
                None => attributes.push((name.to_owned(), value.to_owned())),
            }
        }
        self.declared.push(declared);
        let (prefix, name) = element.name().split_once(':').unwrap_or(("", element.name()));
        let namespace = self.find(prefix).ok_or_else(|| {
            let message = format!("the prefix of {} stands for no namespace", element.shown());
            Flaw { error: Error::new(Code::BadXml, message), line: Some(element.line()) }
        })?;
        let name = name.to_owned();
        Ok(Node { namespace, name, attributes, children: Vec::new(), line: element.line() })
    }

    fn leave(&mut self) {
        self.declared.pop();
    }

    fn find(&self, prefix: &str) -> Option<Arc<str>> {
        let all = self.declared.iter().rev().flatten();
        let found = all.into_iter().find(|(name, _)| name == prefix).map(|(_, namespace)| namespace.clone());
        found.or_else(|| (prefix.is_empty() || prefix == "xml").then(|| Arc::from("")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Result<Node> {
        Node::read(text.as_bytes(), Path::new("a.xml"), &Limits::default())
    }

    #[test]
    fn prefixes_stand_for_namespaces_where_they_are_declared() {
        let root = tree(
            "<a:r xmlns:a='one' xmlns='two'>\n<b x='1' a:y='2'><a:c xmlns:a='three'/></b><a:c/>\n</a:r>",
        )
        .unwrap();
        assert_eq!((&*root.namespace, root.name.as_str()), ("one", "r"));
        let b = &root.children[0];
        assert_eq!((&*b.namespace, b.line), ("two", 2));
        assert_eq!((b.get("x"), b.get("a:y"), b.get("y")), (Some("1"), Some("2"), None));
        assert_eq!(&*b.children[0].namespace, "three");
        assert_eq!(&*root.children[1].namespace, "one");
        assert_eq!(root.inside("b").len(), 1);
    }

    #[test]
    fn an_unknown_prefix_and_too_many_elements_are_refused() {
        assert_eq!(tree("<x:r/>").unwrap_err().code(), Code::BadXml);
        let limits = Limits { list: 3, ..Limits::default() };
        let read = |text: &str| Node::read(text.as_bytes(), Path::new("a.xml"), &limits);
        assert!(read("<r><a/><a/></r>").is_ok());
        assert_eq!(read("<r><a/><a/><a/></r>").unwrap_err().code(), Code::XmlRefused);
    }
}
