//! No text makes the reader panic, hang or take all memory.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use std::path::Path;
use std::time::Duration;

use common::{RIG, WHOLE, errors, good, read, read_with};
use costep_core::Code;
use costep_project::{Source, load};
use documented::assert_counted;

const FILE: &str = "crates/project/tests/hostile.rs";

/// A small generator of numbers that look random; the same in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

const CHUNKS: &[&str] = &[
    "",
    "\"",
    "'",
    "[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    "\n",
    "#",
    "\0",
    "é",
    "[[connect]]",
    "[native.a]",
    "nan",
    "-inf",
    "1e999",
    "true",
    "1979-05-27",
    "\"\"\"",
    "\\u0000",
    "*",
    "99999999999999999999",
    "[system]\n",
    "a.b.c = 1\n",
    "-",
    ", ",
    "\r\n",
    "sum = true\n",
    "[group.fast]\n",
    "\u{feff}",
    "0x",
];

/// Deletes, replaces, inserts, copies or swaps pieces of the text.
fn mutated(text: &str, random: &mut Lcg) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let start = random.below(letters.len() + 1);
        let end = (start + random.below(30)).min(letters.len());
        let piece: Vec<char> = match random.below(4) {
            0 => Vec::new(),
            1 => letters[start..end].iter().rev().copied().collect(),
            2 => {
                let from = random.below(letters.len() + 1);
                letters[from..(from + random.below(40)).min(letters.len())].to_vec()
            }
            _ => CHUNKS[random.below(CHUNKS.len())].chars().collect(),
        };
        letters.splice(start..end, piece);
    }
    letters.into_iter().collect()
}

/// Deletes, doubles or moves one or two lines.
fn shuffled(text: &str, random: &mut Lcg) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..=random.below(2) {
        let (from, to) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(3) {
            0 => drop(lines.remove(from)),
            1 => lines.insert(to, lines[from]),
            _ => lines.swap(from, to),
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_files_are_read_or_refused() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..4000 {
        let (base, mut random) = (if seed % 4 == 0 { WHOLE } else { RIG }, Lcg(seed));
        let text = if seed % 2 == 0 { mutated(base, &mut random) } else { shuffled(base, &mut random) };
        match read(&text) {
            // What was accepted must be a project that can be written and read again.
            Ok(project) => {
                accepted += 1;
                let written = project.to_toml();
                assert_eq!(good(&written).to_toml(), written, "{text}");
            }
            Err(errors) => {
                refused += 1;
                assert!(!errors.is_empty());
                assert!(errors.iter().all(|error| error.code() != Code::Bug), "{text}\n{errors:#?}");
            }
        }
    }
    assert!(accepted > 50 && refused > 1000, "{accepted} {refused}");
    let what = "projects changed and mixed by chance";
    assert_counted(what, accepted + refused, FILE, "damaged_files_are_read_or_refused");
}

#[test]
fn damaged_overrides_are_read_or_refused() {
    let paths =
        ["b.ck", "method", "method.alpha", "step.size", "system.model", "guard.bounds.b.F", "record.signals"];
    for seed in 0..1000 {
        let mut random = Lcg(seed);
        let path = mutated(paths[random.below(paths.len())], &mut random);
        let value = mutated("{ a = [\"nepce:alpha=1\", 5] }", &mut random);
        for (path, value) in
            [(path.as_str(), "5"), ("method", value.as_str()), (paths[random.below(7)], value.as_str())]
        {
            let _ = read_with(RIG, &[(path, value)]);
        }
    }
}

#[test]
fn wrong_types_for_every_key() {
    let wrong = [
        "1",
        "-0.5",
        "nan",
        "true",
        "\"word\"",
        "\"\"",
        "[]",
        "[[]]",
        "[1, \"a\"]",
        "{}",
        "{ a = { b = 1 } }",
        "1979-05-27",
    ];
    let mut tried = 0;
    for text in [RIG, WHOLE] {
        for (index, line) in text.lines().enumerate() {
            let Some((key, _)) = line.split_once(" = ") else { continue };
            for value in wrong {
                let lines = text.lines().enumerate();
                let changed: Vec<_> = lines
                    .map(|(i, line)| if i == index { format!("{key} = {value}") } else { line.into() })
                    .collect();
                let _ = read(&changed.join("\n"));
                tried += 1;
            }
        }
        for table in [
            "system",
            "parameters",
            "step",
            "method",
            "schedule",
            "native",
            "connect",
            "group",
            "external",
            "record",
            "guard",
            "run",
        ] {
            for value in wrong {
                assert!(read(&format!("{table} = {value}\n")).is_err());
                let _ = read_with(text, &[(table, value)]);
                let _ = read_with(text, &[(&format!("{table}.x"), value), (&format!("{table}.x.y"), value)]);
            }
        }
    }
    assert_counted(
        "projects with a value of a wrong type, key by key",
        tried,
        FILE,
        "wrong_types_for_every_key",
    );
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("[{}]", vec!["a"; 100_000].join(".")),
        format!("[[{}]]\n", vec!["a"; 70].join(".")).repeat(1000),
        format!("[guard.bounds{}]\nx = 1", ".a".repeat(70)),
    ] {
        errors(&text);
    }
}

#[test]
fn megabytes_are_read_at_once() {
    const SIZE: usize = 4 << 20;
    let fill = |unit: &str| unit.repeat(SIZE / unit.len());
    let points = format!("{RIG}[[external]]\nto = \"a.F\"\nsum = true\ntable = [{}[1e9, 0]]", {
        (0..500_000).map(|i| format!("[{i}, 1],")).collect::<String>()
    });
    let before = computed();
    good(&points);
    for text in [
        fill("key = 1\n"),
        fill("[[connect]]\nfrom = \"b.q\"\nto = \"a.q\"\n"),
        fill("x"),
        format!("{} = 1", fill("x")),
        format!("[method]\nid = \"{}\"\n", fill("x")),
        format!("{RIG}{}", fill("[[external]]\nto = \"a.F\"\n")),
        fill("\""),
        fill("[a\n"),
        (0..300_000).map(|i| format!("[native.p{i}]\nmodel = \"x\"\n")).collect(),
        (0..500_000).map(|i| format!("k{i} = {i}\n")).collect(),
    ] {
        let found = errors(&text);
        assert!(found.len() <= 101 && found.iter().all(|error| error.to_string().len() < 2000));
    }
    if let (Some(before), Some(after)) = (before, computed()) {
        assert!(after - before < Duration::from_secs(30), "{:?}", after - before);
    }
}

/// Time this thread has computed, so that other programs on the machine do not count; none where the system does
/// not tell.
fn computed() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

#[test]
fn files_that_are_not_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("system.toml");
    std::fs::write(&path, b"[system]\nname = \"\xff\xfe\"\n").unwrap();
    let found = load(&Source::File(path.clone()), &[]).err().unwrap();
    assert_eq!((found[0].code(), common::line(&found[0])), (Code::Syntax, 2));
    std::fs::write(&path, vec![b'#'; 33 << 20]).unwrap();
    assert_eq!(load(&Source::File(path), &[]).err().unwrap()[0].code(), Code::FileNotReadable);
    let missing = load(&Source::File(Path::new("/no/such/file.toml").into()), &[]).err().unwrap();
    assert_eq!(missing[0].code(), Code::FileNotReadable);
}
