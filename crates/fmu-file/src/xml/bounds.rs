//! What the parser must not be asked to do. It takes memory for each tag and attribute, compares each attribute of an
//! element with all others, and copies the namespaces of an element to those inside that declare more.

use costep_core::{Code, Error};

use super::encoding::line_after;
use super::{Flaw, broken};
use crate::limits::Limits;

/// Most attributes of one element.
const MAX_ATTRIBUTES: usize = 128;
/// Most declarations of namespaces around an element, and most prefixes that nobody declares.
pub(super) const MAX_NAMESPACES: usize = 64;
/// A document of the largest size may have a tag or attribute per so many bytes: each takes about 80 bytes of memory.
const BYTES_PER_PIECE: u64 = 12;
/// Most `<` and `=` that are not those of tags and attributes: the parser takes memory for them as well.
const MAX_STRAY: usize = 1_000_000;

/// Markup without attributes: how it starts and how it ends.
const PLAIN: [(&str, &str); 4] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("</", ">")];

/// Refuses document types and what is too deep or too much. Returns the end of the name of the root element.
pub(super) fn check(text: &str, limits: &Limits) -> Result<usize, Flaw> {
    let line = |at: usize| line_after(&text.as_bytes()[..at]);
    let refused = |at: usize, message: String| Err(Flaw::new(Code::XmlRefused, line(at), message));
    let most = limits.document / BYTES_PER_PIECE;
    let pieces = text.bytes().filter(|byte| matches!(byte, b'<' | b'=')).count();
    if pieces as u64 > most {
        return refused(0, format!("the document has more than {most} tags and attributes"));
    }
    // For each open element the declarations of namespaces in it and around it.
    let mut open: Vec<usize> = Vec::new();
    let (mut root, mut at, mut known) = (0, 0, 0);
    while let Some(start) = text[at..].find('<').map(|offset| at + offset) {
        let rest = &text[start..];
        let plain = PLAIN.iter().find(|(opening, _)| rest.starts_with(opening));
        let end = match plain {
            Some((_, end)) => rest.find(end).map(|length| (length + end.len(), 0)),
            None => tag(rest),
        };
        let Some((length, attributes)) = end else {
            return Err(Flaw {
                error: broken("it has a tag or comment without an end"),
                line: Some(line(start)),
            });
        };
        let before = std::mem::replace(&mut at, start + length);
        known += 1 + attributes;
        // The parser would take such a number for the replacement character.
        if names_no_character(&text[before..if plain.is_some() { start } else { at }]) {
            return Err(Flaw { error: broken("a number stands for no character"), line: Some(line(start)) });
        }
        if plain.is_some() {
            if rest.starts_with("</") {
                open.pop();
            }
            continue;
        }
        if rest.starts_with("<!") {
            let error = Error::new(Code::XmlRefused, "the document has a document type declaration")
                .hint("remove `<!DOCTYPE ...>`; it serves no purpose here");
            return Err(Flaw { error, line: Some(line(start)) });
        }
        if root == 0 {
            root = start + rest.find([' ', '\t', '\n', '\r', '/', '>']).unwrap_or(length);
        }
        if attributes > MAX_ATTRIBUTES {
            return refused(start, format!("an element has more than {MAX_ATTRIBUTES} attributes"));
        }
        let declared = if attributes == 0 { 0 } else { rest[..length].matches("xmlns").count() };
        let namespaces = open.last().unwrap_or(&0) + declared;
        if namespaces > MAX_NAMESPACES {
            return refused(start, format!("an element is inside of more than {MAX_NAMESPACES} namespaces"));
        }
        if open.len() == limits.depth {
            return refused(start, format!("the document nests elements deeper than {}", limits.depth));
        }
        if !rest[..length].ends_with("/>") {
            open.push(namespaces);
        }
    }
    if pieces - known > MAX_STRAY {
        return refused(0, format!("the document has more than {MAX_STRAY} `<` and `=` outside of tags"));
    }
    if root == 0 { Err(Flaw { error: broken("it has no root element"), line: Some(1) }) } else { Ok(root) }
}

/// The length of a start tag and the number of its attributes; nothing if it has no end.
fn tag(text: &str) -> Option<(usize, usize)> {
    let (mut at, mut attributes) = (0, 0);
    loop {
        match text.as_bytes().get(at)? {
            b'>' => return Some((at + 1, attributes)),
            b'=' => attributes += 1,
            quote @ (b'"' | b'\'') => at += 1 + text[at + 1..].find(char::from(*quote))?,
            _ => {}
        }
        at += 1;
    }
}

/// Whether there is a reference such as `&#xD800;` to what is no character.
fn names_no_character(text: &str) -> bool {
    text.contains('&')
        && text.split("&#").skip(1).any(|rest| {
            let digits = rest.split(';').next().unwrap_or_default();
            let number = match digits.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            number.is_ok_and(|number| char::from_u32(number).is_none())
        })
}
