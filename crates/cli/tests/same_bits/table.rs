//! The file of digests: a line per run, and one for the elementary functions of the machine that made it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::digest::{BLOCKS, Bits, Digests};

const FUNCTIONS: &str = "elementary functions";
const MODELS: &str = "identified models";
const HEAD: &str = "\
# Bits of runs: command | exit code, rows, digest of the recording, digest of the last checkpoint, short digests of the
# recording's metadata and columns, and of the checkpoint's blocks. COSTEP_WRITE_BITS=1 makes this file anew.
";

/// What is kept.
#[derive(Default)]
pub(crate) struct Kept {
    /// Of the elementary functions.
    pub(crate) functions: u64,
    /// Of the file that `identify` wrote.
    pub(crate) models: u64,
    pub(crate) runs: BTreeMap<String, Bits>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/same_bits.txt")
}

/// Reads the file.
pub(crate) fn read() -> Kept {
    let text = std::fs::read_to_string(path()).unwrap();
    let mut kept = Kept::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (key, value) = line.split_once(" | ").unwrap_or_else(|| panic!("no digests in `{line}`"));
        match key {
            FUNCTIONS => kept.functions = digest(value),
            MODELS => kept.models = digest(value),
            command => {
                let bits = bits(value).unwrap_or_else(|| panic!("`{line}` is damaged"));
                assert!(kept.runs.insert(command.into(), bits).is_none(), "`{command}` is there twice");
            }
        }
    }
    kept
}

/// Writes the file, with the runs in this order.
pub(crate) fn write<'a>(functions: u64, models: u64, runs: impl IntoIterator<Item = (&'a String, &'a Bits)>) {
    let mut text = format!("{HEAD}{FUNCTIONS} | {functions:016x}\n{MODELS} | {models:016x}\n");
    for (command, Bits { exit, rows, recording, checkpoint }) in runs {
        let (columns, blocks) = (hex(&recording.items), hex(&checkpoint.items));
        let digests = format!("{:016x} {:016x}", recording.whole, checkpoint.whole);
        writeln!(text, "{command} | {exit} {rows} {digests} {columns} {blocks}").unwrap();
    }
    std::fs::write(path(), text).unwrap();
}

fn digest(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}

fn bits(text: &str) -> Option<Bits> {
    let words: Vec<_> = text.split_whitespace().collect();
    let [exit, rows, recording, checkpoint, columns, blocks] = words[..] else { return None };
    Some(Bits {
        exit: exit.parse().ok()?,
        rows: rows.parse().ok()?,
        recording: Digests { whole: digest(recording), items: shorts(columns)? },
        checkpoint: Digests { whole: digest(checkpoint), items: shorts(blocks)? },
    })
}

fn hex(items: &[u16]) -> String {
    match items {
        [] => "-".into(),
        _ => items.iter().map(|item| format!("{item:04x}")).collect(),
    }
}

fn shorts(text: &str) -> Option<Vec<u16>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let digits = |start| text.get(start..start + 4).and_then(|four| u16::from_str_radix(four, 16).ok());
    (0..text.len()).step_by(4).map(digits).collect()
}

/// What differs, if anything does; the first column is named.
pub(crate) fn difference(kept: &Bits, now: &Bits, columns: &[String]) -> Option<String> {
    let mut words = Vec::new();
    if kept.exit != now.exit {
        words.push(format!("exit code {} instead of {}", now.exit, kept.exit));
    }
    if kept.rows != now.rows {
        words.push(format!("{} rows instead of {}", now.rows, kept.rows));
    }
    if now.rows == 0 && !words.is_empty() {
        return Some(words.join("; "));
    }
    if kept.recording != now.recording {
        let names: Vec<_> = std::iter::once("(metadata)").chain(columns.iter().map(String::as_str)).collect();
        words.push(first("column", &kept.recording, &now.recording, &names));
    }
    if kept.checkpoint != now.checkpoint {
        words.push(first("block of the checkpoint", &kept.checkpoint, &now.checkpoint, &BLOCKS));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// Names the first item that differs.
fn first(what: &str, kept: &Digests, now: &Digests, names: &[&str]) -> String {
    let (then, count) = (kept.items.len(), now.items.len());
    let counts = if then == count { String::new() } else { format!(", {count} of them instead of {then}") };
    let differing = kept.items.iter().zip(&now.items).filter(|(a, b)| a != b).count();
    match kept.items.iter().zip(&now.items).position(|(a, b)| a != b) {
        Some(at) => format!("first {what} that differs: {} ({differing} differ{counts})", names[at]),
        None if then == count => format!("a {what} differs"),
        None => format!("other number of {what}s{counts}"),
    }
}
