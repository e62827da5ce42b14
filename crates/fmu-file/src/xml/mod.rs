//! XML as FMUs and SSPs need it: a tree of elements and attributes. Document types and entities are refused, and depth and
//! sizes are bounded before the parser sees the document.

mod bounds;
mod element;
mod encoding;

use std::cell::RefCell;
use std::io::Read;
use std::path::Path;

use costep_core::{Code, Error, Place, Result};

pub(crate) use element::Literal;
pub use element::{Element, literal};
pub(crate) use encoding::Encoding;

use crate::archive::placed;
use crate::limits::Limits;
use crate::text::shorten;

/// Prefixes that are used but not declared stand for namespaces that start with this.
const UNDECLARED: &str = "urn:undeclared:";

/// An error with the line it was noticed at. The file is added by those who know it.
#[derive(Debug)]
pub(crate) struct Flaw {
    pub(crate) error: Error,
    pub(crate) line: Option<u32>,
}

impl Flaw {
    pub(crate) fn new(code: Code, line: u32, message: impl Into<String>) -> Self {
        Self { error: Error::new(code, message), line: Some(line) }
    }

    /// The error with its place in a file.
    fn in_file(self, path: &Path) -> Error {
        match self.line {
            Some(line) => {
                self.error.at(Place::File { path: path.into(), line: Some(line as usize), text: None })
            }
            None => placed(self.error, path),
        }
    }
}

/// A document in memory.
pub(crate) struct Document<'a> {
    tree: roxmltree::Document<'a>,
    encoding: Encoding,
    /// Positions of all line feeds.
    line_feeds: Vec<usize>,
    /// Lines of text where only elements belong; the first few.
    stray_text: RefCell<Vec<u32>>,
}

impl<'a> Document<'a> {
    fn new(tree: roxmltree::Document<'a>, encoding: Encoding) -> Self {
        let line_feeds = tree.input_text().match_indices('\n').map(|(at, _)| at).collect();
        Self { tree, encoding, line_feeds, stray_text: RefCell::default() }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The root element.
    pub(crate) fn root(&self) -> Element<'_> {
        Element::new(self.tree.root_element(), self)
    }

    /// The number of lines.
    pub(crate) fn last_line(&self) -> u32 {
        self.line_at(usize::MAX)
    }

    /// Lines of text that was found between the elements that were asked for.
    pub(crate) fn stray_text(&self) -> Vec<u32> {
        self.stray_text.borrow().clone()
    }

    fn line_at(&self, position: usize) -> u32 {
        let before = self.line_feeds.partition_point(|feed| *feed < position);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

/// Reads a document and does something with it.
pub(crate) fn with_document<T>(
    source: impl Read,
    limits: &Limits,
    action: impl FnOnce(&Document<'_>) -> Result<T, Flaw>,
) -> Result<T, Flaw> {
    let (mut text, encoding) = encoding::read(source, limits)?;
    let root = bounds::check(&text, limits)?;
    for _ in 0..=bounds::MAX_NAMESPACES {
        match roxmltree::Document::parse(&text) {
            Ok(tree) => return action(&Document::new(tree, encoding)),
            // Annotations of vendors often have prefixes that nobody declares. The root element does so then.
            Err(roxmltree::Error::UnknownNamespace(prefix, _)) => {
                text.insert_str(root, &format!(" xmlns:{prefix}=\"{UNDECLARED}{prefix}\""));
            }
            Err(error) => {
                return Err(Flaw { error: broken(error.to_string()), line: Some(error.pos().row) });
            }
        }
    }
    Err(Flaw { error: broken("it has too many prefixes that are not declared"), line: None })
}

/// Reads a document of another format than that of model descriptions. `limits.list` bounds the number of elements; the
/// path is for messages. Prefixes that nobody declares are those of [`Element::undeclared_prefixes`].
pub fn read<T>(
    source: impl Read,
    path: &Path,
    limits: &Limits,
    action: impl FnOnce(&Element) -> Result<T>,
) -> Result<T> {
    let checked = |document: &Document<'_>| {
        let elements = document.tree.descendants().filter(|node| node.is_element());
        if let Some(node) = elements.into_iter().nth(limits.list) {
            let message = format!("the document has more than {} elements", limits.list);
            return Err(Flaw::new(Code::XmlRefused, document.line_at(node.range().start), message));
        }
        Ok(action(&document.root()))
    };
    with_document(source, limits, checked).map_err(|flaw| flaw.in_file(path))?
}

fn broken(cause: impl AsRef<str>) -> Error {
    Error::new(Code::BadXml, "the document is not well-formed XML").because(shorten(cause.as_ref(), 300))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(text: &str, limits: &Limits, action: impl Fn(&Element) -> T) -> Result<T> {
        super::read(text.as_bytes(), Path::new("a.xml"), limits, |root| Ok(action(root)))
    }

    #[test]
    fn prefixes_stand_for_namespaces_where_they_are_declared() {
        let text =
            "<a:r xmlns:a='one' xmlns='two'>\n<b x='1' a:y='2'><a:c xmlns:a='three'/></b><a:c/>\n</a:r>";
        read(text, &Limits::default(), |root| {
            assert_eq!((root.namespace(), root.name(), root.tag()), ("one", "r", "a:r"));
            let b = root.child("b").unwrap();
            assert_eq!((b.namespace(), b.line()), ("two", 2));
            assert_eq!((b.get("x"), b.get("y")), (Some("1"), None));
            assert_eq!(b.children().next().unwrap().namespace(), "three");
            assert_eq!(root.child("c").unwrap().namespace(), "one");
            assert_eq!(root.inside("b").count(), 1);
        })
        .unwrap();
    }

    #[test]
    fn unknown_prefixes_are_told_and_too_many_elements_refused() {
        let limits = Limits { list: 3, ..Limits::default() };
        read("<x:r xmlns:z='z'><y:a z:b='1'>text</y:a></x:r>", &limits, |root| {
            assert_eq!(root.undeclared_prefixes().collect::<Vec<_>>(), ["y", "x"]);
            let inner = root.children().next().unwrap();
            assert!(root.is_undeclared() && inner.is_undeclared());
            assert_eq!((root.content(), inner.content()), ("", "text"));
        })
        .unwrap();
        assert!(read("<r><a/><a/></r>", &limits, |_| ()).is_ok());
        assert_eq!(read("<r><a/><a/><a/></r>", &limits, |_| ()).unwrap_err().code(), Code::XmlRefused);
    }

    #[test]
    fn prefixes_that_nobody_declares_are_those_of_vendors() {
        let text = "<?xml version='1.0'?><!-- <c> -->\n<r>\n<v:a w:x='1' y='2'/></r>";
        let seen = with_document(text.as_bytes(), &Limits::default(), |document| {
            let inner = document.root().children().next().unwrap();
            Ok((inner.tag().to_owned(), inner.get("x").is_some(), inner.get("y").is_some(), inner.line()))
        });
        assert_eq!(seen.unwrap(), ("v:a".to_owned(), false, true, 3));
        let many: String = (0..1000).map(|index| format!("<p{index}:a/>")).collect();
        let refused = with_document(format!("<r>{many}</r>").as_bytes(), &Limits::default(), |_| Ok(()));
        assert_eq!(refused.unwrap_err().error.code(), Code::BadXml);
    }
}
