//! Bytes of an XML document to UTF-8, as a stream. FMI and SSP demand UTF-8; tools also write Latin-1 and UTF-16.

use std::io::{self, Read};

use costep_core::{Code, Error, Result};

use crate::text::short;

/// The encodings that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// ISO-8859-1.
    Latin1,
    Windows1252,
    Utf16Le,
    Utf16Be,
}

/// 0x80 to 0x9F of Windows-1252; the five bytes without a character are kept as control characters.
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
];

fn refused(message: impl Into<String>) -> Error {
    Error::new(Code::XmlRefused, message)
        .hint("FMI and SSP demand UTF-8; ISO-8859-1, Windows-1252 and UTF-16 are read too")
}

/// Finds the encoding from the first bytes of a document, and the length of its byte order mark.
fn detect(head: &[u8]) -> Result<(Encoding, usize)> {
    let wide = match head {
        [0xEF, 0xBB, 0xBF, ..] => return named(head, 3).map(|encoding| (encoding, 3)),
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, b'<', ..] | [b'<', 0, 0, 0, ..] => {
            return Err(refused("the document is written in UTF-32"));
        }
        [0xFF, 0xFE, ..] => (Encoding::Utf16Le, 2),
        [0xFE, 0xFF, ..] => (Encoding::Utf16Be, 2),
        [b'<', 0, ..] => (Encoding::Utf16Le, 0),
        [0, b'<', ..] => (Encoding::Utf16Be, 0),
        [0x4C, 0x6F, 0xA7, 0x94, ..] => return Err(refused("the document is written in EBCDIC")),
        _ => return named(head, 0).map(|encoding| (encoding, 0)),
    };
    Ok(wide)
}

/// The encoding that the declaration `<?xml ... encoding="..."?>` of an 8-bit document names.
fn named(head: &[u8], mark: usize) -> Result<Encoding> {
    let head = &head[mark..];
    let declaration = head
        .starts_with(b"<?xml")
        .then(|| head.windows(2).position(|pair| pair == b"?>"))
        .flatten()
        .map(|end| String::from_utf8_lossy(&head[..end]));
    let label = declaration.as_deref().and_then(|text| {
        let rest = text.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
        rest[1..].split(quote).next()
    });
    let Some(label) = label else { return Ok(Encoding::Utf8) };
    match label.to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "us-ascii" | "ascii" => Ok(Encoding::Utf8),
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" if mark == 0 => Ok(Encoding::Latin1),
        "windows-1252" | "cp1252" | "cp-1252" if mark == 0 => Ok(Encoding::Windows1252),
        _ => Err(refused(format!(
            "the document claims the encoding `{}`, which is not what it is written in, or not known",
            short(label)
        ))),
    }
}

/// A reader of UTF-8 over a reader of anything.
pub(crate) struct Utf8Reader<R> {
    inner: R,
    encoding: Encoding,
    /// Bytes read but not yet decoded.
    raw: Vec<u8>,
    /// UTF-8 not yet handed out, from `next` on.
    decoded: Vec<u8>,
    next: usize,
    at_end: bool,
}

impl<R: Read> Utf8Reader<R> {
    /// Looks at the start of a document. The outer error is that of the reader.
    pub(crate) fn new(mut inner: R) -> io::Result<Result<Self>> {
        const HEAD: u64 = 1024;
        let mut raw = Vec::new();
        inner.by_ref().take(HEAD).read_to_end(&mut raw)?;
        Ok(detect(&raw).map(|(encoding, mark)| {
            raw.drain(..mark);
            Self { inner, encoding, raw, decoded: Vec::new(), next: 0, at_end: false }
        }))
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Decodes what is in `raw`, except the first part of a character that is not there as a whole.
    fn decode(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.next = 0;
        let byte_to_char = |byte: u8| match (self.encoding, byte) {
            (Encoding::Windows1252, 0x80..=0x9F) => {
                char::from_u32(WINDOWS_1252[usize::from(byte - 0x80)].into()).unwrap_or('\u{FFFD}')
            }
            _ => char::from(byte),
        };
        match self.encoding {
            Encoding::Utf8 => std::mem::swap(&mut self.raw, &mut self.decoded),
            Encoding::Latin1 | Encoding::Windows1252 => {
                let text: String = self.raw.drain(..).map(byte_to_char).collect();
                self.decoded = text.into_bytes();
            }
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let little = self.encoding == Encoding::Utf16Le;
                let unit = |pair: &[u8]| {
                    let pair = [pair[0], pair[1]];
                    if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
                };
                let mut units: Vec<u16> = self.raw.chunks_exact(2).map(unit).collect();
                if units.last().is_some_and(|last| (0xD800..0xDC00).contains(last)) {
                    units.pop();
                }
                let text: std::result::Result<String, _> =
                    char::decode_utf16(units.iter().copied()).collect();
                let broken = || io::Error::other(refused("the document is not valid UTF-16"));
                self.decoded = text.map_err(|_| broken())?.into_bytes();
                self.raw.drain(..2 * units.len());
                if self.at_end && !self.raw.is_empty() {
                    return Err(broken());
                }
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const CHUNK: u64 = 1 << 14;
        while self.next == self.decoded.len() {
            if self.raw.len() < 4 && !self.at_end {
                let before = self.raw.len();
                self.inner.by_ref().take(CHUNK).read_to_end(&mut self.raw)?;
                self.at_end = self.raw.len() == before;
            }
            self.decode()?;
            if self.decoded.is_empty() && self.at_end {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.decoded.len() - self.next);
        buffer[..count].copy_from_slice(&self.decoded[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<String> {
        let mut text = String::new();
        Utf8Reader::new(bytes).unwrap()?.read_to_string(&mut text).map_err(|cause| {
            crate::archive::as_error(&cause).unwrap_or_else(|| Error::new(Code::BadXml, cause.to_string()))
        })?;
        Ok(text)
    }

    fn utf16(text: &str, little: bool, mark: bool) -> Vec<u8> {
        let mark = if mark { "\u{FEFF}" } else { "" };
        let units = format!("{mark}{text}");
        units.encode_utf16().flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
    }

    #[test]
    fn each_encoding_gives_the_same_text() {
        let text = |label: &str| format!("<?xml version='1.0' encoding='{label}'?><a é='µ'/>");
        let bytes = |label: &str| text(label).chars().map(|c| c as u8).collect::<Vec<u8>>();
        assert_eq!(decode(text("UTF-8").as_bytes()).unwrap(), text("UTF-8"));
        assert_eq!(decode(format!("\u{FEFF}{}", text("utf-8")).as_bytes()).unwrap(), text("utf-8"));
        assert_eq!(decode(&bytes("ISO-8859-1")).unwrap(), text("ISO-8859-1"));
        assert_eq!(decode(&bytes("windows-1252")).unwrap(), text("windows-1252"));
        for (little, mark) in [(true, true), (true, false), (false, true), (false, false)] {
            let text = format!("{}<b>𝄞</b>", text("UTF-16"));
            assert_eq!(decode(&utf16(&text, little, mark)).unwrap(), text);
        }
    }

    #[test]
    fn a_long_document_is_decoded_across_the_seams_of_its_pieces() {
        for shift in 0..4 {
            let text = format!("<{}{}", "x".repeat(shift), "𝄞".repeat(20_000));
            assert_eq!(decode(&utf16(&text, true, true)).unwrap(), text);
        }
        assert_eq!(decode(b"").unwrap(), "");
        assert_eq!(decode(b"<a/>").unwrap(), "<a/>");
    }

    #[test]
    fn the_euro_sign_of_windows_is_not_a_control_character() {
        assert_eq!(decode(b"<?xml version='1.0' encoding='cp1252'?>\x80").unwrap().chars().last(), Some('€'));
    }

    #[test]
    fn other_encodings_are_refused() {
        let refused = |bytes: &[u8]| decode(bytes).unwrap_err().code() == Code::XmlRefused;
        for label in ["UTF-16", "UTF-7", "EBCDIC-CP-US", "shift_jis", ""] {
            assert!(refused(format!("<?xml version='1.0' encoding='{label}'?><a/>").as_bytes()), "{label}");
        }
        assert!(refused(b"\xFF\xFE\0\0<\0\0\0"));
        assert!(refused(b"\0\0\0<"));
        assert!(refused(&[0x4C, 0x6F, 0xA7, 0x94]));
        let half = utf16("<a/>\u{1D11E}", true, true);
        assert!(refused(&half[..half.len() - 2]), "half of a pair");
        assert!(refused(&half[..half.len() - 5]), "half of a unit");
    }
}
