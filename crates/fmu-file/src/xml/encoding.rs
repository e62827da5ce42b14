//! Bytes of an XML document to text. FMI and SSP demand UTF-8; tools also write Latin-1 and UTF-16.

use std::io::{self, Read};

use costep_core::{Code, Error, Result};

use super::{Flaw, broken};
use crate::archive::as_error;
use crate::limits::Limits;
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
    const LONGEST: usize = 1024;
    let head = &head[mark..head.len().min(LONGEST)];
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

/// Reads a whole document, which is refused as soon as it, or a piece without a `<`, is too long.
pub(super) fn read(mut source: impl Read, limits: &Limits) -> Result<(String, Encoding), Flaw> {
    let chunk = limits.token.clamp(1, 1 << 16) as u64;
    let (mut bytes, mut piece) = (Vec::new(), 0);
    loop {
        let known = bytes.len();
        source.by_ref().take(chunk).read_to_end(&mut bytes).map_err(not_read)?;
        if bytes.len() == known {
            break;
        }
        let mut starts = bytes[known..].iter().enumerate().filter(|(_, byte)| **byte == b'<');
        let end = starts.next().map_or(bytes.len(), |(at, _)| known + at);
        if end - piece > limits.token {
            return Err(too_long(&bytes[..piece], "one tag, text or comment", limits.token as u64));
        }
        if end < bytes.len() {
            piece = starts.next_back().map_or(end, |(at, _)| known + at);
        }
        if bytes.len() as u64 > limits.document {
            return Err(too_long(&bytes, "a size", limits.document));
        }
    }
    let (encoding, mark) = detect(&bytes).map_err(|error| Flaw { error, line: None })?;
    bytes.drain(..mark);
    Ok((decode(bytes, encoding)?, encoding))
}

fn not_read(cause: io::Error) -> Flaw {
    let other = || Error::new(Code::FileNotReadable, "the document cannot be read").because(&cause);
    Flaw { error: as_error(&cause).unwrap_or_else(other), line: None }
}

fn too_long(before: &[u8], what: &str, limit: u64) -> Flaw {
    let message = format!("the document has {what} of more than {limit} bytes");
    Flaw::new(Code::XmlRefused, line_after(before), message)
}

/// The line of what comes after these bytes.
pub(super) fn line_after(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|byte| **byte == b'\n').count() + 1).unwrap_or(u32::MAX)
}

fn decode(bytes: Vec<u8>, encoding: Encoding) -> Result<String, Flaw> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text = char::decode_utf16(units).collect::<std::result::Result<String, _>>();
        text.ok()
            .filter(|_| bytes.len().is_multiple_of(2))
            .ok_or_else(|| Flaw { error: refused("the document is not valid UTF-16"), line: None })
    };
    match encoding {
        Encoding::Utf8 => String::from_utf8(bytes).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            Flaw { line: Some(line_after(&error.as_bytes()[..good])), error: broken("it is not valid UTF-8") }
        }),
        Encoding::Latin1 => Ok(bytes.into_iter().map(char::from).collect()),
        Encoding::Windows1252 => Ok(bytes.into_iter().map(windows_1252).collect()),
        Encoding::Utf16Le => wide(u16::from_le_bytes),
        Encoding::Utf16Be => wide(u16::from_be_bytes),
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9F => char::from_u32(WINDOWS_1252[usize::from(byte - 0x80)].into()).unwrap_or('\u{FFFD}'),
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<String> {
        read(bytes, &Limits::default()).map(|(text, _)| text).map_err(|flaw| flaw.error)
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
    fn what_is_too_long_is_refused_before_all_of_it_is_read() {
        let limits = Limits { token: 1 << 20, document: 3 << 20, ..Limits::default() };
        let text = |length: usize| format!("<a>\n<b x='{}'/></a>", "x".repeat(length));
        let line = |text: &str| read(text.as_bytes(), &limits).map_err(|flaw| (flaw.error.code(), flaw.line));
        assert!(line(&text(1_000_000)).is_ok());
        assert_eq!(line(&text(1_100_000)).unwrap_err(), (Code::XmlRefused, Some(2)));
        assert!(line(&"<a/>".repeat(1_000_000)).is_err());
        let endless = read(io::repeat(b'x'), &limits).unwrap_err();
        assert_eq!(endless.error.code(), Code::XmlRefused);
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
