//! An element with its attributes, and attributes read as numbers and the like.

use std::cell::Cell;

use costep_core::Code;

use super::{Document, UNDECLARED};
use crate::finding::Report;
use crate::text::short;

/// An element of a document.
pub struct Element<'a> {
    node: roxmltree::Node<'a, 'a>,
    document: &'a Document<'a>,
    /// One bit per attribute that somebody asked for.
    asked: Cell<u128>,
}

impl<'a> Element<'a> {
    pub(super) fn new(node: roxmltree::Node<'a, 'a>, document: &'a Document<'a>) -> Self {
        Self { node, document, asked: Cell::new(0) }
    }

    /// Its name without prefix.
    pub fn name(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Its name as it is written, with the prefix.
    pub(crate) fn tag(&self) -> &'a str {
        let text = &self.document.tree.input_text()[self.node.range().start + 1..];
        text.split([' ', '\t', '\n', '\r', '/', '>']).next().unwrap_or_default()
    }

    /// The namespace its prefix stands for; empty without one.
    pub fn namespace(&self) -> &'a str {
        self.node.tag_name().namespace().unwrap_or_default()
    }

    /// Prefixes that the document uses without declaring them anywhere.
    pub fn undeclared_prefixes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.node.namespaces().filter_map(|namespace| namespace.uri().strip_prefix(UNDECLARED))
    }

    /// Whether its prefix is one of those.
    pub fn is_undeclared(&self) -> bool {
        self.namespace().starts_with(UNDECLARED)
    }

    /// The text before its first child, without blanks around.
    pub fn content(&self) -> &'a str {
        self.node.text().unwrap_or_default().trim_matches(XML_SPACE)
    }

    /// Line of the start tag, counted from 1.
    pub fn line(&self) -> u32 {
        self.document.line_at(self.node.range().start)
    }

    /// The elements inside.
    pub fn children(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        const MAX_STRAY: usize = 10;
        let document = self.document;
        self.node.children().filter_map(move |node| {
            let mut stray = document.stray_text.borrow_mut();
            if node.is_text() && stray.len() < MAX_STRAY && !node.text().unwrap_or_default().trim().is_empty()
            {
                stray.push(document.line_at(node.range().start));
            }
            node.is_element().then(|| Element::new(node, document))
        })
    }

    /// The elements inside that have this name, in whatever namespace.
    pub fn children_named(&self, name: &str) -> impl Iterator<Item = Element<'a>> {
        self.children().filter(move |child| child.name() == name)
    }

    /// The first child of this name, in whatever namespace.
    pub fn child(&self, name: &str) -> Option<Element<'a>> {
        self.children_named(name).next()
    }

    /// The children of a child, such as all `Connector` of `Connectors`.
    pub fn inside(&self, name: &str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.child(name).into_iter().flat_map(|child| child.children())
    }

    /// The attributes without prefix: name and text.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let own = self.node.attributes().filter(|attribute| attribute.namespace().is_none());
        own.map(|attribute| (attribute.name(), attribute.value()))
    }

    /// The text of an attribute without prefix.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let (index, (_, value)) = self.attributes().enumerate().find(|(_, (key, _))| *key == name)?;
        self.asked.set(self.asked.get() | 1 << (index & 127));
        Some(value)
    }

    pub(crate) fn string(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// An attribute as a value of some type. One that cannot be read is reported and left out.
    pub(crate) fn read<T: Literal>(&self, name: &str, report: &mut Report) -> Option<T> {
        let text = self.get(name)?;
        let value = T::parse(text.trim_matches(XML_SPACE));
        if value.is_none() {
            let message = format!(
                "`{name}` of {} is `{}`, which is not a valid {}",
                self.shown(),
                short(text),
                T::WHAT
            );
            report.error(Code::FmuSchema, self.line(), message);
        }
        value
    }

    /// A flag that is false unless the document says otherwise.
    pub(crate) fn flag(&self, name: &str, report: &mut Report) -> bool {
        self.read(name, report).unwrap_or(false)
    }

    /// An attribute as a list of values. A list with an element that cannot be read is reported and left out.
    pub(crate) fn list<T: Literal>(&self, name: &str, report: &mut Report) -> Option<Vec<T>> {
        let text = self.get(name)?;
        let length = text.split(XML_SPACE).filter(|item| !item.is_empty()).count();
        if length > MAX_ITEMS {
            let message = format!("`{name}` of {} has more than {MAX_ITEMS} values", self.shown());
            report.error(Code::FmuSchema, self.line(), message);
            return None;
        }
        let mut values = Vec::with_capacity(length);
        for item in text.split(XML_SPACE).filter(|item| !item.is_empty()) {
            let Some(value) = T::parse(item) else {
                let message = format!(
                    "`{name}` of {} contains `{}`, which is not a valid {}",
                    self.shown(),
                    short(item),
                    T::WHAT
                );
                report.error(Code::FmuSchema, self.line(), message);
                return None;
            };
            values.push(value);
        }
        Some(values)
    }

    /// Reports attributes that nobody asked for. Those of other namespaces are free.
    pub(crate) fn check_asked(&self, report: &mut Report) {
        for (index, (name, _)) in self.attributes().enumerate() {
            if self.asked.get() >> (index & 127) & 1 == 0 {
                report.warning_by(Code::FmuSchema, self.line(), || {
                    format!("{} has an attribute `{}` that is not known here", self.shown(), short(name))
                });
            }
        }
    }

    /// The element for messages: `<Float64>` `speed`.
    pub(crate) fn shown(&self) -> String {
        let find = |key: &&str| self.attributes().find(|(name, _)| name == key);
        match ["name", "index", "valueReference"].iter().find_map(find) {
            Some((_, name)) => format!("<{}> `{}`", short(self.tag()), short(name)),
            None => format!("<{}>", short(self.tag())),
        }
    }
}

/// Most values of one attribute.
const MAX_ITEMS: usize = 4_000_000;

const XML_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// A type that XML Schema has a literal form for.
pub(crate) trait Literal: Sized {
    /// For messages: which is not a valid ...
    const WHAT: &'static str;
    /// Reads a trimmed text.
    fn parse(text: &str) -> Option<Self>;
}

macro_rules! numbers {
    ($($kind:ty, $what:literal);*) => { $(
        impl Literal for $kind {
            const WHAT: &'static str = $what;
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )* };
}

numbers! {
    i8, "8-bit integer"; u8, "unsigned 8-bit integer";
    i16, "16-bit integer"; u16, "unsigned 16-bit integer";
    i32, "32-bit integer"; u32, "unsigned 32-bit integer";
    i64, "64-bit integer"; u64, "unsigned 64-bit integer"
}

/// Real numbers. Rust reads more words for infinity than XML Schema does.
fn float<T: std::str::FromStr>(text: &str) -> Option<T> {
    match text {
        "INF" | "+INF" => "inf".parse().ok(),
        "-INF" => "-inf".parse().ok(),
        "NaN" => "NaN".parse().ok(),
        _ if text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) => {
            text.parse().ok()
        }
        _ => None,
    }
}

impl Literal for f64 {
    const WHAT: &'static str = "number";
    fn parse(text: &str) -> Option<Self> {
        float(text)
    }
}

impl Literal for f32 {
    const WHAT: &'static str = "number";
    fn parse(text: &str) -> Option<Self> {
        float(text)
    }
}

impl Literal for bool {
    const WHAT: &'static str = "Boolean (`true` or `false`)";
    fn parse(text: &str) -> Option<Self> {
        match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Literal>(text: &str) -> Option<T> {
        T::parse(text)
    }

    #[test]
    fn numbers_are_those_of_xml_schema() {
        for (text, value) in
            [("1", 1.0), ("-1.5e-3", -1.5e-3), ("+.5", 0.5), ("3.", 3.0), ("-INF", f64::NEG_INFINITY)]
        {
            assert_eq!(parse::<f64>(text), Some(value), "{text}");
        }
        assert!(parse::<f64>("NaN").is_some_and(f64::is_nan));
        for text in ["", "inf", "infinity", "nan", "1,5", "0x1", "1e", "--1", "1 2"] {
            assert_eq!(parse::<f64>(text), None, "{text}");
        }
        assert_eq!(parse::<i8>("-128"), Some(-128));
        assert_eq!(parse::<i8>("128"), None);
        assert_eq!(parse::<u64>("18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse::<u32>("-1"), None);
        assert_eq!(parse::<i32>("1.0"), None);
        assert_eq!(parse::<bool>("1"), Some(true));
        assert_eq!(parse::<bool>("True"), None);
    }
}
