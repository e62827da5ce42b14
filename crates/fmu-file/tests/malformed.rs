//! FMUs that are cut, changed, or made to do harm: each ends in a coded error or in findings, soon, with
//! little memory, and without a trace outside of its folder.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use common::archive_cases::{self, Case};
use common::finding_cases::MISTAKES;
use common::xml::{ENGINE_2, ENGINE_3, SMALL_1, SMALL_2, SMALL_3};
use common::{Random, fmu, xml_cases};
use costep_core::{Error, Result};
use costep_fmu_file::{Archive, Finding, Fmu, Limits, ModelDescription, validate};
use documented::assert_counted;

/// No more memory and time than this for any malformed file.
const MAX_MEMORY: u64 = 100 << 20;
const MAX_TIME: Duration = Duration::from_secs(1);

/// Time this thread has computed, so that other programs on the machine do not count; wall time where the
/// system does not tell.
fn computed(start: Instant) -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Runs something and asserts that it needed little memory and time.
fn modest<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let before = computed(start);
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(work()));
    let time = computed(start).saturating_sub(before);
    assert!(info.bytes_max < MAX_MEMORY, "{name}: {} bytes", info.bytes_max);
    assert!(time < MAX_TIME, "{name}: {time:?}");
    result.unwrap()
}

/// Does with the bytes of an FMU all that can be done with a file: open, check, unpack. Asserts that nothing
/// was written outside of the folder.
fn examine(name: &str, bytes: &[u8]) -> Result<(ModelDescription, Vec<Finding>)> {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("a/b/c");
    fs::create_dir_all(&inner).unwrap();
    let copy = bytes.to_vec();
    let result = modest(name, || {
        let mut fmu = Fmu::new(Archive::from_bytes("test.fmu", copy, Limits::default())?)?;
        let findings = fmu.validate();
        let description = fmu.description().clone();
        for interface in description.interfaces() {
            fmu.unpack_in(&interface.model_identifier, Some(&inner))?;
        }
        Ok((description, findings))
    });
    // What is not needed for a run is unpacked too, by force.
    let copy = bytes.to_vec();
    let _ =
        modest(name, || Archive::from_bytes("test.fmu", copy, Limits::default())?.extract(&inner, |_| true));
    for (folder, only) in [("", "a"), ("a", "b"), ("a/b", "c")] {
        let entries = fs::read_dir(outer.path().join(folder)).unwrap();
        let entries: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(entries, [only], "{name}: written outside");
    }
    result
}

/// Reads the description and all entries, in memory.
fn open_all(bytes: &[u8]) -> Result<ModelDescription> {
    let open = || Archive::from_bytes("test.fmu", bytes.to_vec(), Limits::default());
    let fmu = Fmu::new(open()?)?;
    let mut archive = open()?;
    let names: Vec<String> = archive.entries().map(|entry| entry.name.to_owned()).collect();
    for name in names {
        archive.read(&name, u64::MAX)?;
    }
    Ok(fmu.description().clone())
}

fn id(error: &Error) -> &'static str {
    error.code().entry().id
}

/// Such files are so many, says the document.
#[track_caller]
fn count(what: &str, files: usize, test: &str) {
    assert_counted(what, files, "crates/fmu-file/tests/malformed.rs", test);
}

fn hand_made() -> Vec<Case> {
    [
        archive_cases::damaged(),
        archive_cases::names(),
        archive_cases::links(),
        archive_cases::bombs(),
        archive_cases::contradictions(),
        archive_cases::wide(),
        archive_cases::binaries(),
        xml_cases::entities(),
        xml_cases::sizes(),
        xml_cases::broken(),
        xml_cases::versions(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_malformed_fmu_ends_in_its_code() {
    let cases = hand_made();
    let mut names = BTreeSet::new();
    for case in &cases {
        assert!(names.insert(&case.name), "{} is there twice", case.name);
    }
    count("FMUs made by hand, each with its own code", cases.len(), "every_malformed_fmu_ends_in_its_code");
    let mut wrong = Vec::new();
    for case in &cases {
        match examine(&case.name, &case.bytes) {
            Err(error) if error.code() == case.code => {
                let message = error.to_string();
                assert!(message.len() < 1500 && !message.contains('\0'), "{}: {message}", case.name);
                assert!(message.contains("test.fmu"), "{}: {message}", case.name);
            }
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
            Ok(_) => wrong.push(format!("{}: accepted", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mistake_is_found() {
    count("mistakes in model descriptions", MISTAKES.len(), "every_mistake_is_found");
    let mut wrong = Vec::new();
    for mistake in MISTAKES {
        let (from, to) = (mistake.from, mistake.to);
        let description = match ModelDescription::parse(&mistake.text()) {
            Ok(description) => description,
            Err(error) => {
                wrong.push(format!("{from} -> {to}: {error}"));
                continue;
            }
        };
        let findings = validate(&description);
        let fits = |finding: &Finding| {
            finding.code == mistake.code
                && finding.severity == mistake.severity
                && finding.message.contains(mistake.says)
        };
        if !findings.iter().any(fits) {
            wrong.push(format!("{from} -> {to}: {findings:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn archives_cut_at_every_byte_are_refused() {
    let mut cuts = 0;
    for (version, text) in [(1, SMALL_1), (2, SMALL_2), (3, SMALL_3)] {
        let bytes = fmu(version, text).bytes();
        for length in 0..bytes.len() {
            let error =
                Archive::from_bytes("test.fmu", bytes[..length].to_vec(), Limits::default()).unwrap_err();
            assert!(id(&error).starts_with("E01"), "{length}: {error}");
            cuts += 1;
        }
    }
    count("FMUs cut at every byte", cuts, "archives_cut_at_every_byte_are_refused");
}

#[test]
fn archives_with_a_flipped_byte_are_refused_or_say_the_same() {
    let mut flips = 0;
    for (version, text) in [(1, SMALL_1), (2, SMALL_2), (3, SMALL_3)] {
        let bytes = fmu(version, text).bytes();
        let sound = ModelDescription::parse(text).unwrap();
        let (mut refused, mut same) = (0, 0);
        for place in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xFF] {
                let mut bad = bytes.clone();
                bad[place] ^= flip;
                let name = format!("byte {place} ^ {flip:#x}");
                match open_all(&bad) {
                    Ok(description) => {
                        assert_eq!(description, sound, "{name}");
                        same += 1;
                    }
                    Err(error) => {
                        assert!(id(&error).starts_with("E01"), "{name}: {error}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 2000 && same > 100, "{refused} {same}");
        flips += refused + same;
    }
    let test = "archives_with_a_flipped_byte_are_refused_or_say_the_same";
    count("FMUs with a byte changed, every byte in three ways", flips, test);
}

#[test]
fn archives_with_random_damage_are_refused_or_read() {
    let mut random = Random(0x5EED);
    let sources = [fmu(2, ENGINE_2).bytes(), fmu(3, ENGINE_3).bytes()];
    let rounds = 3000;
    for round in 0..rounds {
        let mut bad = sources[random.below(2)].clone();
        for _ in 0..1 + random.below(6) {
            let (place, other) = (random.below(bad.len()), random.below(bad.len()));
            match random.below(6) {
                0 => bad[place] = random.next() as u8,
                1 => bad.truncate(place.max(1)),
                2 => bad.swap(place, other),
                3 => bad.copy_within(place.min(other)..place.max(other), 0),
                4 => drop(bad.splice(place..place, [0xFF; 4])),
                _ => drop(
                    bad.drain(place.min(other)..place.max(other).min(place.min(other) + 100).min(bad.len())),
                ),
            }
            if bad.is_empty() {
                bad.push(0);
            }
        }
        let name = format!("round {round}");
        // Unpacking is slow, so most are only read.
        let result = if round % 10 == 0 {
            examine(&name, &bad).map(|(description, _)| description)
        } else {
            modest(&name, || open_all(&bad))
        };
        if let Err(error) = result {
            assert!(id(&error).starts_with("E01"), "{round}: {error}");
        }
    }
    count("FMUs damaged by chance", rounds, "archives_with_random_damage_are_refused_or_read");
}

#[test]
fn every_number_of_the_headers_replaced_by_an_extreme_is_survived() {
    let bytes = fmu(2, SMALL_2).bytes();
    let directory = bytes.windows(4).position(|mark| mark == b"PK\x01\x02").unwrap();
    let mut changed = 0;
    for place in (0..30).chain(directory..bytes.len() - 4) {
        for extreme in [u32::MAX, u32::MAX - 1, 0x8000_0000, 0x7FFF_FFFF, 0x0001_0000, 0xFFFF, 0] {
            for width in [2, 4] {
                let mut bad = bytes.clone();
                bad[place..place + width].copy_from_slice(&extreme.to_le_bytes()[..width]);
                if let Err(error) = open_all(&bad) {
                    assert!(id(&error).starts_with("E01"), "{place}: {error}");
                }
                changed += 1;
            }
        }
    }
    let test = "every_number_of_the_headers_replaced_by_an_extreme_is_survived";
    count("FMUs with an extreme number in a header", changed, test);
}

/// Parses and validates a text; nothing if it is refused.
fn survives(name: &str, text: &str) -> Option<Vec<Finding>> {
    let result = modest(name, || {
        ModelDescription::parse(text).map(|description| {
            // What the call layer will ask for.
            let _ = (description.number_of_states(), description.states().count());
            let _ = description.feedthrough(&[], &[]);
            validate(&description)
        })
    });
    match result {
        Ok(findings) => Some(findings),
        Err(error) => {
            assert!(id(&error).starts_with("E01"), "{name}: {error}");
            None
        }
    }
}

#[test]
fn documents_with_flipped_or_missing_characters_are_survived() {
    let mut changed = 0;
    for text in [SMALL_1, SMALL_2, SMALL_3] {
        for place in 0..text.len() {
            let (head, tail) = (&text[..place], &text[place + 1..]);
            for replacement in ["", "\"", "<", ">", "&", "9", "-", " ", "\u{0}", "é"] {
                survives(&format!("{place} {replacement:?}"), &format!("{head}{replacement}{tail}"));
            }
            survives(&format!("cut at {place}"), head);
            changed += 11;
        }
    }
    let test = "documents_with_flipped_or_missing_characters_are_survived";
    count("model descriptions cut, or changed, at every character", changed, test);
}

/// Places of `name="value"` in a text: of the name, and of the value.
fn attributes(text: &str) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(equals) = text[at..].find("=\"").map(|offset| at + offset) {
        let start = text[..equals].rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let end = equals + 2 + text[equals + 2..].find('"').unwrap();
        found.push((start..equals, equals + 2..end));
        at = end + 1;
    }
    found
}

#[test]
fn documents_with_swapped_removed_or_extreme_attributes_are_survived() {
    let mut random = Random(0xC0FFEE);
    let long = "7 ".repeat(100_000);
    let extremes = [
        "",
        " ",
        "0",
        "-1",
        "1e999",
        "NaN",
        "INF",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "99999999999999999999999",
        "true",
        "local",
        "exact",
        "x",
        "1 2 3",
        "&lt;",
        "../..",
        "\u{10FFFF}",
        &long,
    ];
    let (mut sound, mut found, mut refused) = (0, 0, 0);
    for text in [ENGINE_2, ENGINE_3, SMALL_1, SMALL_2, SMALL_3] {
        let places = attributes(text);
        let mut look = |name: &str, text: &str| match survives(name, text) {
            Some(findings) if findings.is_empty() => sound += 1,
            Some(_) => found += 1,
            None => refused += 1,
        };
        for (name, value) in &places {
            let mut bad = text.to_owned();
            bad.replace_range(name.start..value.end + 1, "");
            look("removed", &bad);
            for extreme in extremes {
                let mut bad = text.to_owned();
                bad.replace_range(value.clone(), extreme);
                look(&format!("{} = {extreme:.20}", &text[name.clone()]), &bad);
            }
        }
        for _ in 0..500 {
            let (a, b) = (random.below(places.len()), random.below(places.len()));
            let (first, second) = (&places[a.min(b)].1, &places[a.max(b)].1);
            if first.end < second.start {
                let mut bad = text.to_owned();
                bad.replace_range(second.clone(), &text[first.clone()]);
                bad.replace_range(first.clone(), &text[second.clone()]);
                look("swapped", &bad);
            }
        }
    }
    assert!(sound > 100 && found > 3000 && refused > 300, "{sound} {found} {refused}");
    let test = "documents_with_swapped_removed_or_extreme_attributes_are_survived";
    count("model descriptions with attributes swapped, removed, extreme", sound + found + refused, test);
}

#[test]
fn documents_with_lines_removed_doubled_or_moved_are_survived() {
    let mut random = Random(0xBEEF);
    let mut changed = 0;
    for text in [ENGINE_2, ENGINE_3, SMALL_1, SMALL_2, SMALL_3] {
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..400 {
            let mut bad = lines.clone();
            for _ in 0..1 + random.below(3) {
                let (a, b) = (random.below(bad.len()), random.below(bad.len()));
                match random.below(3) {
                    0 => drop(bad.remove(a)),
                    1 => bad.insert(b, bad[a]),
                    _ => bad.swap(a, b),
                }
            }
            survives("lines", &bad.join("\n"));
            changed += 1;
        }
    }
    let test = "documents_with_lines_removed_doubled_or_moved_are_survived";
    count("model descriptions with lines removed, doubled, moved", changed, test);
}

/// Documents of a few megabytes made to cost more than they weigh: long lists, and lists times lists.
#[test]
fn large_documents_made_to_harm_are_survived() {
    let numbers = "0 ".repeat(8_000_000);
    let start = SMALL_3.replace("start=\"1 2 3\"", &format!("start=\"{numbers}\""));
    assert!(
        survives("8,000,000 start values", &start).unwrap()[0].message.contains("more than 4000000 values")
    );
    let start = SMALL_3.replace("start=\"1 2 3\"", &format!("start=\"{}\"", &numbers[..7_000_000]));
    assert!(
        survives("3,500,000 start values", &start).unwrap()[0]
            .message
            .contains("start values for 3 elements")
    );
    let dependencies = SMALL_3.replace("dependencies=\"1 2\"", &format!("dependencies=\"{numbers}\""));
    assert!(!survives("8,000,000 dependencies", &dependencies).unwrap().is_empty());
    let clocks = SMALL_3.replace("clocks=\"8\"", &format!("clocks=\"{}\"", "8 ".repeat(1_000_000)));
    assert!(survives("1,000,000 clocks", &clocks).unwrap()[0].message.contains("more clocks than"));

    let repeat_from = |from: usize, count: usize, piece: fn(usize) -> String| {
        (from..from + count).map(piece).collect::<String>()
    };
    let repeat = |count: usize, piece: fn(usize) -> String| repeat_from(0, count, piece);
    let displays = repeat(20_000, |i| format!("<DisplayUnit name=\"d{i}\"/>"));
    let variables = repeat(20_000, |i| {
        format!("<Float64 name=\"v{i}\" valueReference=\"{}\" unit=\"m\" displayUnit=\"none\"/>", 100 + i)
    });
    let many = SMALL_3
        .replace("<DisplayUnit name=\"mm\" factor=\"1000\"/>", &displays)
        .replace("</ModelVariables>", &format!("{variables}</ModelVariables>"));
    assert!(survives("20,000 display units of 20,000 variables", &many).unwrap().len() > 500);

    let items = repeat(50_000, |i| format!("<Item name=\"i{i}\" value=\"{i}\"/>"));
    let values = repeat(50_000, |i| format!("{} ", 49_999 - i));
    let many = SMALL_3.replace("<Item name=\"a\" value=\"1\"/>", &items).replace(
        "causality=\"parameter\" start=\"2\"",
        &format!("causality=\"parameter\" start=\"{values}\""),
    );
    assert!(!survives("50,000 values of 50,000 items", &many).unwrap().is_empty());

    let attributes = repeat(120, |i| format!(" a{i}=\"\""));
    let many = SMALL_2.replace(
        "<ModelVariables>",
        &format!("<ModelVariables>{}", format!("<X{attributes}/>").repeat(5_000)),
    );
    assert!(!survives("5,000 times 120 attributes", &many).unwrap().is_empty());

    let spaces = |from: usize| repeat_from(from, 60, |i| format!(" xmlns:p{i}=\"a\""));
    let nested = format!("<a{}><b{}>{}</b></a>", spaces(0), spaces(60), "<c xmlns:q=\"a\"/>".repeat(50_000));
    let many = SMALL_2.replace("<ModelVariables>", &format!("{nested}<ModelVariables>"));
    assert_eq!(survives("50,000 elements inside of 120 namespaces", &many), None);
    let many = SMALL_2.replace("<ModelVariables>", &format!("<ModelVariables>{}", "=".repeat(15_000_000)));
    assert_eq!(survives("15,000,000 signs of attributes without attributes", &many), None);

    let same = repeat(50_000, |_| "<Float64 name=\"v\" valueReference=\"3\"/>".into());
    let many = SMALL_3.replace("</ModelVariables>", &format!("{same}</ModelVariables>"));
    assert!(!survives("50,000 times the same variable", &many).unwrap().is_empty());
    let derivatives = repeat(20_000, |_| "<Output valueReference=\"2\"/>".into());
    let many = SMALL_3.replace("<ModelStructure>", &format!("<ModelStructure>{derivatives}"));
    assert!(!survives("20,000 times the same output", &many).unwrap().is_empty());
}

/// Writes all hand-made cases to the folder named by COSTEP_CASES, to try other tools on them.
#[test]
#[ignore = "writes files for other tools"]
fn write_cases() {
    let folder = std::path::PathBuf::from(std::env::var_os("COSTEP_CASES").expect("COSTEP_CASES"));
    for (number, case) in hand_made().iter().enumerate() {
        fs::write(folder.join(format!("{number:03}.fmu")), &case.bytes).unwrap();
    }
    for (number, mistake) in MISTAKES.iter().enumerate() {
        fs::write(folder.join(format!("{number:03}.xml")), mistake.text()).unwrap();
    }
}
