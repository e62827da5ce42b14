//! Files that are no project files: what they are, and what to do with them. A reader of TOML has something to say about each of
//! their lines.

use std::path::Path;

use costep_core::{Code, Error, Result};

use crate::problems::shortened;

const SYSTEMS: &str = "a system is a TOML project, an .fmu, .ssp, .ssd or .msim file, an OspSystemStructure.xml or a multi-model in JSON (docs/import.md)";

/// An error if a file is plainly of another kind than text in TOML.
pub(crate) fn refuse(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some((what, hint)) = other_kind(bytes).or_else(|| kind_by_ending(path)) else { return Ok(()) };
    let message = format!("`{}` is {what}, not a project file", path.display());
    Err(Error::new(Code::NotAProject, message).in_file(path).hint(hint))
}

/// What a file is that is not text in TOML, and what to do about it.
fn other_kind(bytes: &[u8]) -> Option<(String, String)> {
    let kind = |what: &str, hint: &str| Some((what.to_owned(), hint.to_owned()));
    match bytes {
        [b'P', b'K', 3, 4, ..] => {
            kind("a zip archive", "FMUs end in .fmu, system structures in .ssp: rename it if it is one")
        }
        [0xff, 0xff, 0xff, 0xff, ..] | [b'A', b'R', b'R', b'O', b'W', b'1', ..] => kind(
            "a recording",
            "`costep plot` and `costep export` read recordings; the project of a run is the run.toml beside it",
        ),
        [0x89, b'P', b'N', b'G', ..] => kind("a picture", SYSTEMS),
        [0x7f, b'E', b'L', b'F', ..] => kind("a program or library", "give the FMU that it belongs to"),
        _ => {
            let text = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes).trim_ascii_start();
            text.starts_with(b"<").then(|| xml_kind(text))
        }
    }
}

/// The same by the ending of its name, of files that are text too.
fn kind_by_ending(path: &Path) -> Option<(String, String)> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let file = path.file_name()?.to_string_lossy();
    let (what, hint) = match ending.as_str() {
        "csv" | "tsv" => (
            "a file of values",
            format!("a project takes inputs from it: `[[external]] to = \"part.port\" file = \"{file}\"`"),
        ),
        "py" => (
            "Python code",
            format!(
                "make an FMU of it, `pythonfmu build -f {file}`, or use it by the Python package (docs/python.md)"
            ),
        ),
        "mo" | "slx" | "mdl" => {
            ("a model of another tool", "export it there as an FMU for Co-Simulation".into())
        }
        _ => return None,
    };
    Some((what.into(), hint))
}

fn xml_kind(text: &[u8]) -> (String, String) {
    let Some(root) = root_element(text) else { return ("an XML document".into(), SYSTEMS.into()) };
    let hint = match root.as_str() {
        "fmiModelDescription" => {
            "it describes an FMU: give the .fmu file, which is a zip archive with this document inside"
        }
        "html" | "HTML" => "it is a web page",
        _ => SYSTEMS,
    };
    (format!("an XML document of `{}`", shortened(&root)), hint.into())
}

/// The name of the first element, without its prefix.
fn root_element(text: &[u8]) -> Option<String> {
    const LOOKED_AT: usize = 4096;
    let beginning = String::from_utf8_lossy(&text[..text.len().min(LOOKED_AT)]);
    let mut rest = &beginning[..];
    loop {
        rest = &rest[rest.find('<')? + 1..];
        let end = match rest {
            _ if rest.starts_with("!--") => "-->",
            _ if rest.starts_with('?') => "?>",
            _ if rest.starts_with('!') => ">",
            _ => break,
        };
        rest = &rest[rest.find(end)?..];
    }
    let name: String = rest.chars().take_while(|c| !c.is_whitespace() && !"/>".contains(*c)).collect();
    Some(name.rsplit(':').next().unwrap_or(&name).to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_are_named() {
        let what = |bytes: &[u8]| other_kind(bytes).map(|(what, _)| what).unwrap_or_default();
        assert_eq!(what(b"PK\x03\x04..."), "a zip archive");
        assert_eq!(
            what("\u{feff}<?xml version='1.0'?><!-- <no> --> <a:plant x=''/>".as_bytes()),
            "an XML document of `plant`"
        );
        assert_eq!(what(b" <a:plant/>"), "an XML document of `plant`");
        assert_eq!(what(b"<?xml"), "an XML document");
        assert_eq!(what(b"[system]\n"), "");
        assert_eq!(what(b""), "");
        assert_eq!(what(b"\x89PNG\r\n"), "a picture");
        let by_ending =
            |name: &str| kind_by_ending(Path::new(name)).map(|(what, _)| what).unwrap_or_default();
        assert_eq!(
            (by_ending("rig/cycle.CSV"), by_ending("rig/plant.mo")),
            ("a file of values".into(), "a model of another tool".into())
        );
        assert_eq!((by_ending("system.toml"), by_ending("system")), (String::new(), String::new()));
    }
}
