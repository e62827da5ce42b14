//! How to do a run again: command, versions, files, project.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use costep_report::{Section, Table, TableCell};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::shell_word;
use crate::system::System;

/// The section of a page; `command` is the list of words that made the run.
pub(super) fn section(
    system: Option<&System>,
    metadata: &BTreeMap<String, String>,
    command: &Value,
) -> Section {
    let mut section = Section::new("How to reproduce it");
    if let Some(words) = command.as_array().filter(|words| !words.is_empty()) {
        let words = words.iter().filter_map(Value::as_str).map(word);
        section = section.code("Command", words.collect::<Vec<_>>().join(" "));
    }
    let by = metadata.get("costep").map_or(env!("CARGO_PKG_VERSION"), String::as_str);
    let machine = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    section = section.facts([("Version of costep".to_owned(), by.to_owned()), ("Machine".into(), machine)]);
    if let Some(system) = system {
        section = section.table(files(system));
    }
    let text = metadata.get("project").cloned().or_else(|| system.map(System::to_toml));
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => section.code("Project file", text),
        None => section,
    }
}

/// A word of a command; flags as they are, where a shell leaves them so.
fn word(text: &str) -> String {
    let plain = text.trim_start_matches('-');
    match (plain.len() < text.len(), shell_word(Path::new(plain)) == plain) {
        (true, true) => text.into(),
        (true, false) => format!("'{}'", text.replace('\'', r"'\''")),
        (false, _) => shell_word(Path::new(text)),
    }
}

/// The FMUs by their fingerprints.
fn files(system: &System) -> Table {
    let table = Table::new("FMUs by their SHA-256", ["part", "file", "SHA-256"]);
    let row = |fmu: &costep_project::FmuSpec| -> Vec<TableCell> {
        let sum = sha256(&fmu.path).unwrap_or_else(|| "cannot be read".into());
        vec![fmu.name.as_str().into(), fmu.file.display().to_string().into(), sum.into()]
    };
    table.rows(system.project().given.fmus.iter().map(row))
}

/// The fingerprint of a file, as `sha256sum` prints it.
fn sha256(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let (mut sum, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece).ok()? {
            0 => break,
            length => sum.update(&piece[..length]),
        }
    }
    Some(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("abc");
        std::fs::write(&file, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&file).as_deref(), Some(expected));
        assert_eq!(sha256(&folder.path().join("none")), None);
    }
}
