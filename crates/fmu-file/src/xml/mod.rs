//! XML as FMUs and SSPs need it: elements and attributes, pulled one after the other. Document types and entities are
//! refused, depth and sizes are bounded, and what the underlying parser lets pass is checked here.

mod element;
mod encoding;
mod guard;
mod tree;

use std::io::Read;

use costep_core::{Code, Error, Result};
use quick_xml::events::{BytesRef, Event};
use quick_xml::{Reader, XmlVersion};

use element::XML_SPACE;
pub(crate) use element::{Element, Literal};
pub(crate) use encoding::Encoding;
use encoding::Utf8Reader;
use guard::Guard;
pub use tree::{Node, literal};

use crate::archive::as_error;
use crate::limits::Limits;
use crate::text::{short, shorten};

/// Most attributes of one element.
const MAX_ATTRIBUTES: usize = 128;

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
}

/// A document, read forwards.
pub(crate) struct Xml<R: Read> {
    reader: Reader<Guard<Utf8Reader<R>>>,
    encoding: Encoding,
    buffer: Vec<u8>,
    depth: usize,
    max_depth: usize,
    /// Line on which the piece of markup read last starts.
    line: u32,
    started: bool,
    root_seen: bool,
    /// Lines of text where only elements belong; the first few.
    stray_text: Vec<u32>,
}

/// What is of interest in a document.
enum Step {
    Open,
    Close,
    End,
}

impl<R: Read> Xml<R> {
    pub(crate) fn new(inner: R, limits: &Limits) -> Result<Self, Flaw> {
        let decoder = Utf8Reader::new(inner)
            .map_err(|cause| as_error(&cause).unwrap_or_else(|| broken(cause.to_string())))
            .and_then(|decoder| decoder)
            .map_err(|error| Flaw { error, line: None })?;
        let encoding = decoder.encoding();
        let mut reader = Reader::from_reader(Guard::new(decoder, limits));
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.enable_all_checks(true);
        Ok(Self {
            reader,
            encoding,
            buffer: Vec::new(),
            depth: 0,
            max_depth: limits.depth,
            line: 1,
            started: false,
            root_seen: false,
            stray_text: Vec::new(),
        })
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The line of the piece of markup read last.
    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// Lines of text that was found between the elements that were asked for.
    pub(crate) fn stray_text(&self) -> &[u32] {
        &self.stray_text
    }

    /// Reads up to the root element.
    pub(crate) fn root(&mut self, element: &mut Element) -> Result<(), Flaw> {
        match self.step(Some(element))? {
            Step::Open => Ok(()),
            Step::Close | Step::End => Err(self.flaw(broken("it has no root element"))),
        }
    }

    /// Reads the next child of the element at depth `parent` (the root has depth 1); false at its end.
    /// Children of children that nobody asked for are skipped.
    pub(crate) fn child(&mut self, parent: usize, element: &mut Element) -> Result<bool, Flaw> {
        while self.depth >= parent {
            let wanted = self.depth == parent;
            match self.step(wanted.then_some(&mut *element))? {
                Step::Open if wanted => return Ok(true),
                Step::Open | Step::Close => {}
                Step::End => break,
            }
        }
        Ok(false)
    }

    /// Reads to the end of the document, so that all of it is checked.
    pub(crate) fn finish(&mut self) -> Result<(), Flaw> {
        while !matches!(self.step(None)?, Step::End) {}
        Ok(())
    }

    fn flaw(&self, error: Error) -> Flaw {
        Flaw { error, line: Some(self.line) }
    }

    /// Reads up to the next tag. Fills `element` from a start tag, if it is wanted.
    fn step(&mut self, element: Option<&mut Element>) -> Result<Step, Flaw> {
        const MAX_STRAY: usize = 10;
        loop {
            // An empty element comes as two events; the second one has no text, so its line does not count.
            self.line = self.reader.get_mut().start_token();
            self.buffer.clear();
            let line = self.line;
            let flaw = |error| Flaw { error, line: Some(line) };
            let event =
                self.reader.read_event_into(&mut self.buffer).map_err(|error| flaw(parse_error(&error)))?;
            match event {
                Event::Start(tag) => {
                    if self.depth == 0 && self.root_seen {
                        return Err(flaw(broken("it has a second root element")));
                    }
                    self.root_seen = true;
                    self.depth += 1;
                    if self.depth > self.max_depth {
                        let message = format!("the document nests elements deeper than {}", self.max_depth);
                        return Err(flaw(Error::new(Code::XmlRefused, message)));
                    }
                    if let Some(element) = element {
                        element.start(tag.name().into_inner(), line);
                        for attribute in tag.attributes() {
                            let attribute = attribute.map_err(|error| flaw(broken(error.to_string())))?;
                            if element.len() == MAX_ATTRIBUTES {
                                let message = format!("an element has more than {MAX_ATTRIBUTES} attributes");
                                return Err(flaw(Error::new(Code::XmlRefused, message)));
                            }
                            if attribute.value.contains('<') {
                                return Err(flaw(broken("an attribute contains `<`")));
                            }
                            let value = attribute
                                .normalized_value(XmlVersion::Implicit1_0)
                                .map_err(|error| flaw(parse_error(&error)))?;
                            if let Some(wrong) = value.chars().find(|c| !is_xml_char(*c)) {
                                let what =
                                    format!("an attribute contains the character U+{:04X}", wrong as u32);
                                return Err(flaw(broken(what)));
                            }
                            element.push(attribute.key.into_inner(), &value);
                        }
                    }
                    return Ok(Step::Open);
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Step::Close);
                }
                Event::Eof if self.depth > 0 => {
                    return Err(flaw(broken(format!("it ends within {} open elements", self.depth))));
                }
                Event::Eof => return Ok(Step::End),
                Event::DocType(_) => {
                    return Err(flaw(
                        Error::new(Code::XmlRefused, "the document has a document type declaration")
                            .hint("remove `<!DOCTYPE ...>`; it serves no purpose here"),
                    ));
                }
                Event::Decl(_) if self.started => {
                    return Err(flaw(broken("it has a declaration that is not at its start")));
                }
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Text(_) | Event::CData(_) if self.depth == 0 => {
                    return Err(flaw(broken("it has text outside of its root element")));
                }
                Event::GeneralRef(reference) => check_reference(&reference).map_err(flaw)?,
                Event::Text(_) | Event::CData(_)
                    if element.is_some() && self.stray_text.len() < MAX_STRAY =>
                {
                    self.stray_text.push(line);
                }
                Event::Text(_) | Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                // Never sent, because empty elements are expanded.
                Event::Empty(_) => return Err(flaw(broken("it has an element that cannot be read"))),
            }
            self.started = true;
        }
    }
}

/// A reference in text: one of the five names of XML or a number.
fn check_reference(reference: &BytesRef<'_>) -> Result<(), Error> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) if is_xml_char(character) => Ok(()),
        Ok(None) if ["amp", "lt", "gt", "quot", "apos"].contains(&&**reference) => Ok(()),
        _ => Err(broken(format!("the entity `&{};` is not known", short(reference)))),
    }
}

fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn broken(cause: impl Into<String>) -> Error {
    Error::new(Code::BadXml, "the document is not well-formed XML").because(cause.into())
}

/// An error of the parser, or our own that passed through it.
fn parse_error(error: &quick_xml::Error) -> Error {
    if let quick_xml::Error::Io(cause) = error {
        return as_error(cause).unwrap_or_else(|| {
            Error::new(Code::FileNotReadable, "the document cannot be read").because(cause)
        });
    }
    broken(shorten(&error.to_string(), 300))
}
