//! A start tag with its attributes, and attributes read as numbers and the like.

use std::cell::Cell;
use std::ops::Range;

use costep_core::Code;

use crate::finding::Report;
use crate::text::short;

/// A start tag. Its memory is used again for the next one.
#[derive(Default)]
pub(crate) struct Element {
    text: String,
    name: usize,
    attributes: Vec<(Range<usize>, Range<usize>)>,
    /// One bit per attribute that somebody asked for.
    asked: Cell<u128>,
    line: u32,
}

impl Element {
    pub(crate) fn start(&mut self, name: &str, line: u32) {
        self.text.clear();
        self.text.push_str(name);
        self.name = name.len();
        self.attributes.clear();
        self.asked.set(0);
        self.line = line;
    }

    pub(crate) fn push(&mut self, name: &str, value: &str) {
        let start = self.text.len();
        self.text.push_str(name);
        let middle = self.text.len();
        self.text.push_str(value);
        self.attributes.push((start..middle, middle..self.text.len()));
    }

    /// Number of attributes.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len()
    }

    pub(crate) fn name(&self) -> &str {
        &self.text[..self.name]
    }

    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// All attributes: name and text.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|(name, value)| (&self.text[name.clone()], &self.text[value.clone()]))
    }

    /// The text of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let index = self.attributes.iter().position(|(key, _)| &self.text[key.clone()] == name)?;
        self.asked.set(self.asked.get() | 1 << (index & 127));
        Some(&self.text[self.attributes[index].1.clone()])
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
            report.error(Code::FmuSchema, self.line, message);
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
            report.error(Code::FmuSchema, self.line, message);
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
                report.error(Code::FmuSchema, self.line, message);
                return None;
            };
            values.push(value);
        }
        Some(values)
    }

    /// Reports attributes that nobody asked for. Those of other namespaces are free.
    pub(crate) fn check_asked(&self, report: &mut Report) {
        for (index, (key, _)) in self.attributes.iter().enumerate() {
            let name = &self.text[key.clone()];
            if self.asked.get() >> (index & 127) & 1 == 0 && !name.contains(':') && name != "xmlns" {
                report.warning_by(Code::FmuSchema, self.line, || {
                    format!("{} has an attribute `{}` that is not known here", self.shown(), short(name))
                });
            }
        }
    }

    /// The element for messages: `<Float64>` `speed`.
    pub(crate) fn shown(&self) -> String {
        let name = ["name", "index", "valueReference"].iter().find_map(|key| {
            let value = self.attributes.iter().find(|(found, _)| self.text[found.clone()] == **key)?;
            Some(short(&self.text[value.1.clone()]))
        });
        match name {
            Some(name) => format!("<{}> `{name}`", short(self.name())),
            None => format!("<{}>", short(self.name())),
        }
    }
}

/// Most values of one attribute.
const MAX_ITEMS: usize = 4_000_000;

pub(crate) const XML_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

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
