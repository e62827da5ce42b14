//! SSPs that are cut, changed, or made to do harm: each ends in a coded error or in notes, soon, with little
//! memory, and without a trace outside of its folder.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use std::fs;
use std::time::{Duration, Instant};

use common::cases::{Case, archives, greedy, references, schema, sound, values, wiring, xml};
use common::{Files, bindings, component, connection, elements, fmu, parameter_set, ssd};
use costep_core::Result;
use costep_ssp::{Flat, Severity};
use documented::assert_counted;

const FILE: &str = "crates/ssp/tests/malformed.rs";

/// No more memory and time than this for any malformed file.
const MAX_MEMORY: u64 = 100 << 20;
const MAX_TIME: Duration = Duration::from_secs(2);

/// Time this thread has computed, so that other programs on the machine do not count.
fn computed(start: Instant) -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Opens an SSP under guard: memory, time, and nothing written outside of the folder for it.
fn examine(name: &str, bytes: &[u8]) -> Result<Flat> {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("a/b/c");
    fs::create_dir_all(&inner).unwrap();
    let path = inner.join("test.ssp");
    fs::write(&path, bytes).unwrap();
    let start = Instant::now();
    let before = computed(start);
    let mut result = None;
    let info =
        allocation_counter::measure(|| result = Some(costep_ssp::open(&path, &inner.join("unpacked"))));
    let time = computed(start).saturating_sub(before);
    assert!(info.bytes_max < MAX_MEMORY, "{name}: {} bytes", info.bytes_max);
    assert!(time < MAX_TIME, "{name}: {time:?}");
    for (folder, only) in [("", "a"), ("a", "b"), ("a/b", "c")] {
        let entries = fs::read_dir(outer.path().join(folder)).unwrap();
        let entries: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(entries, [only], "{name}: written outside");
    }
    result.unwrap()
}

#[test]
fn many_components_of_one_name_take_no_longer_each() {
    // Names are cut to their ends, which are all the same.
    let tail = "x".repeat(64);
    let parts: String = (0..20_000).map(|k| component(&format!("{k}{tail}"), "a", "")).collect();
    let flat = examine("one name", &Files::new(&ssd(&elements(&parts))).zip()).unwrap();
    let names: std::collections::HashSet<_> = flat.components.iter().map(|part| &part.name).collect();
    assert_eq!(names.len(), 20_000);
}

#[test]
fn a_set_of_values_is_read_once() {
    // To read it for each binding would take longer than the whole is allowed to.
    let values: String = (0..2000).map(|k| format!("p{k}=1.5 ")).collect();
    let source = r#"<ssd:ParameterBinding source="x.ssv"/>"#.repeat(50);
    let text = ssd(&(bindings(&source) + &elements(&component("a", "a", ""))));
    let files = Files::new(&text).with("x.ssv", parameter_set(&values, "").as_bytes());
    let flat = examine("one set", &files.zip()).unwrap();
    assert!(flat.notes.iter().all(|note| note.severity == Severity::Remark));
}

#[test]
fn truth_values_are_mapped_on_connections() {
    let mapped = |entries: &[(&str, &str)]| {
        let entries: String = entries
            .iter()
            .map(|(source, target)| format!(r#"<ssc:MapEntry source="{source}" target="{target}"/>"#))
            .collect();
        let map = format!("<ssc:BooleanMappingTransformation>{entries}</ssc:BooleanMappingTransformation>");
        let parts = component("a", "a", "alarm:output") + &component("b", "a", "flag:input");
        let parts = parts.replace("ssc:Real", "ssc:Boolean");
        let connection =
            format!("<ssd:Connections>{}</ssd:Connections>", connection("a.alarm>b.flag", "", &map));
        let flat = examine("map", &Files::new(&ssd(&(elements(&parts) + &connection))).zip()).unwrap();
        flat.links.first().map(|link| (link.factor, link.offset))
    };
    assert_eq!(mapped(&[("true", "false"), ("false", "true")]), Some((-1.0, 1.0)));
    assert_eq!(mapped(&[("true", "true")]), Some((1.0, 0.0)));
    assert_eq!(mapped(&[("true", "false")]), Some((0.0, 0.0)));
}

#[test]
fn the_sound_system_is_sound() {
    let flat = examine("sound", &Files::new(&sound()).zip()).unwrap();
    assert!(flat.notes.iter().all(|note| note.severity == Severity::Remark), "{:#?}", flat.notes);
    assert_eq!(flat.links.len(), 3);
}

fn hand_made() -> Vec<Case> {
    [archives(), xml(), schema(), references(), wiring(), values(), greedy()].into_iter().flatten().collect()
}

#[test]
fn every_malformed_ssp_ends_in_its_code() {
    let cases = hand_made();
    let names: std::collections::HashSet<_> = cases.iter().map(|case| &case.name).collect();
    assert!(names.len() == cases.len(), "{} of {}", names.len(), cases.len());
    let what = "SSPs made by hand, each with its own code";
    assert_counted(what, cases.len(), FILE, "every_malformed_ssp_ends_in_its_code");
    let mut wrong = Vec::new();
    for case in &cases {
        match examine(&case.name, &case.bytes) {
            Err(error) if error.code() == case.code => {
                let message = error.to_string();
                assert!(message.len() < 1500 && message.contains("test.ssp"), "{}: {message}", case.name);
            }
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
            Ok(flat) => {
                let serious = |note: &&costep_ssp::Note| note.severity > Severity::Remark;
                if !flat
                    .notes
                    .iter()
                    .filter(serious)
                    .any(|note| note.code == case.code && note.line.is_some())
                {
                    wrong.push(format!("{}: {:#?}", case.name, flat.notes));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A small generator of the xorshift family.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn documents_changed_at_random_never_do_harm() {
    let text = sound().into_bytes();
    let words: [&[u8]; 8] = [b"\"", b"<", b"/>", b"&", b"name", b"ssd:System", b"\xff", b"-1"];
    let mut random = Random(0x5eed_0055);
    let (mut refused, rounds) = (0, 300);
    for round in 0..rounds {
        let mut bytes = text.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            let end = (at + random.below(12)).min(bytes.len());
            match random.below(4) {
                0 => drop(bytes.drain(at..end)),
                1 => bytes[at] = random.below(256) as u8,
                2 => drop(bytes.splice(at..at, words[random.below(words.len())].iter().copied())),
                _ => {
                    let copy = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
        }
        let files = Files::default().with("SystemStructure.ssd", &bytes).with("resources/a.fmu", &fmu());
        match examine(&format!("round {round}"), &files.zip()) {
            Err(_) => refused += 1,
            Ok(flat) => refused += usize::from(flat.errors().next().is_some()),
        }
    }
    assert!(refused > 100, "{refused}");
    let what = "system structure descriptions changed by chance";
    assert_counted(what, rounds, FILE, "documents_changed_at_random_never_do_harm");
}

#[test]
fn archives_changed_at_random_never_do_harm() {
    let good = Files::new(&sound()).zip();
    let mut random = Random(0xa5c1);
    let rounds = 200;
    for round in 0..rounds {
        let mut bytes = good.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
        if random.below(5) == 0 {
            bytes.truncate(random.below(good.len()));
        }
        let _ = examine(&format!("round {round}"), &bytes);
    }
    assert_counted("SSPs changed by chance", rounds, FILE, "archives_changed_at_random_never_do_harm");
}

/// Writes all hand-made cases to the folder named by COSTEP_CASES, to try other tools on them.
#[test]
#[ignore = "writes files for other tools"]
fn write_cases() {
    let folder = std::path::PathBuf::from(std::env::var_os("COSTEP_CASES").expect("COSTEP_CASES"));
    for (number, case) in hand_made().iter().enumerate() {
        fs::write(folder.join(format!("{number:03}.ssp")), &case.bytes).unwrap();
    }
}
