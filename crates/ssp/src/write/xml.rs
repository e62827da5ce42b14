//! Elements and attributes as text.

use std::fmt::Write;

/// Text of a document, indented.
#[derive(Default)]
pub(crate) struct Xml {
    pub(crate) text: String,
    open: Vec<&'static str>,
}

impl Xml {
    pub(crate) fn new() -> Self {
        Self { text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".into(), open: Vec::new() }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], end: &str) {
        let _ = write!(self.text, "{:1$}<{name}", "", 2 * self.open.len());
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escaped(value));
        }
        self.text.push_str(end);
        self.text.push('\n');
    }

    /// An element without content.
    pub(crate) fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, "/>");
    }

    /// An element with content.
    pub(crate) fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&str, &str)],
        content: impl FnOnce(&mut Self),
    ) {
        let start = self.text.len();
        self.tag(name, attributes, ">");
        let inside = self.text.len();
        self.open.push(name);
        content(self);
        self.open.pop();
        if self.text.len() == inside {
            self.text.truncate(start);
            return self.empty(name, attributes);
        }
        let _ = writeln!(self.text, "{:1$}</{name}>", "", 2 * self.open.len());
    }
}

/// A text as the value of an attribute. Characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
