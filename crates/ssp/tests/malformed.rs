//! SSPs that are cut, changed, or made to do harm: each ends in a coded error or in notes, soon, with little
//! memory, and without a trace outside of its folder.

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{
    Files, binding, bindings, component, connection, connections, connectors, elements, fmu, parameter_set,
    ssd, ssd_with, units,
};
use costep_core::{Code, Result};
use costep_ssp::{Flat, Severity};

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

/// A name, an SSP, and the code that its error or one of its notes has.
struct Case {
    name: String,
    bytes: Vec<u8>,
    code: Code,
}

fn case(name: &str, files: &Files, code: Code) -> Case {
    Case { name: name.into(), bytes: files.zip(), code }
}

fn document(name: &str, text: &str, code: Code) -> Case {
    case(name, &Files::new(text), code)
}

/// A sound system that uses all features.
fn sound() -> String {
    let sub = format!(
        r#"<ssd:System name="sub" id="sub">{}{}{}{}</ssd:System>"#,
        connectors("in:input:rpm m:parameter"),
        bindings(&binding("", "c.q=3.5:rpm", &units("ssv"), "")),
        elements(&component("c", "a", "w:input p:parameter")),
        connections("in>c.w m>c.p"),
    );
    let parts =
        component("a", "a", "y:output:rad/s u:input") + &component("b", "a", "y:output u:input") + &sub;
    let linear = connection("a.y>b.u", "", r#"<ssc:LinearTransformation factor="2" offset="1"/>"#);
    let text = bindings(&binding(r#"prefix="a.""#, "p=1.5", "", ""))
        + &elements(&parts)
        + &connections("b.y>a.u a.y>sub.in")
            .replace("</ssd:Connections>", &format!("{linear}</ssd:Connections>"));
    ssd_with(&text, &(units("ssd") + r#"<ssd:DefaultExperiment startTime="0" stopTime="1"/>"#))
}

fn archives() -> Vec<Case> {
    let good = Files::new(&sound()).zip();
    let raw = |name: &str, bytes: Vec<u8>, code| Case { name: name.into(), bytes, code };
    let patched = |from: &[u8], to: &[u8]| {
        let mut bytes = good.clone();
        let mut at = 0;
        while let Some(found) = bytes[at..].windows(from.len()).position(|window| window == from) {
            bytes[at + found..at + found + to.len()].copy_from_slice(to);
            at += found + to.len();
        }
        bytes
    };
    let name = b"resources/a.fmu";
    vec![
        raw("empty", Vec::new(), Code::NotAnFmu),
        raw("text", b"this is no archive".to_vec(), Code::NotAnFmu),
        raw("a bare document", sound().into_bytes(), Code::NotAnFmu),
        raw("cut", good[..good.len() / 2].to_vec(), Code::ArchiveDamaged),
        raw("leads out", patched(name, b"../../../a/.fmu"), Code::ArchiveRefused),
        raw("absolute", patched(name, b"/etc/cron.d/fmu"), Code::ArchiveRefused),
        raw("a backslash", patched(name, b"..\\..\\..\\.a.fmu"), Code::ArchiveRefused),
        case("no document", &Files::default().with("resources/a.fmu", &fmu()), Code::NoSystemStructure),
        case(
            "document in a folder",
            &Files::default().with("rig/SystemStructure.ssd", sound().as_bytes()),
            Code::NoSystemStructure,
        ),
        case("an empty document", &Files::new(""), Code::BadXml),
        case("a bomb", &Files::new(&sound()).with("resources/zeros", &vec![0; 20 << 20]), Code::ArchiveLimit),
    ]
}

fn xml() -> Vec<Case> {
    let text = sound();
    let deep = format!(
        "{}{}",
        "<ssd:System name='s'><ssd:Elements>".repeat(300),
        "</ssd:Elements></ssd:System>".repeat(300)
    );
    let laughs = text.replace(
        "<ssd:SystemStructureDescription",
        "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><ssd:SystemStructureDescription",
    );
    vec![
        document("entities", &laughs, Code::XmlRefused),
        document(
            "an external entity",
            &laughs.replace("\"aaaaaaaaaa\"", "SYSTEM \"file:///etc/passwd\""),
            Code::XmlRefused,
        ),
        document("an unknown entity", &text.replace("name=\"rig\"", "name=\"&rig;\""), Code::BadXml),
        document("cut xml", &text[..text.len() / 2], Code::BadXml),
        document("crossed tags", &text.replacen("</ssd:Connectors>", "</ssd:Elements>", 1), Code::BadXml),
        document("two roots", &(text.clone() + "<x/>"), Code::BadXml),
        document(
            "an unknown prefix",
            &text.replacen("<ssd:Elements>", "<foo:Elements>", 1).replacen(
                "</ssd:Elements>",
                "</foo:Elements>",
                1,
            ),
            Code::BadXml,
        ),
        document("too deep", &ssd(&elements(&deep)), Code::XmlRefused),
        document("another root", "<project/>", Code::SspSchema),
        document(
            "another namespace",
            &text.replace("SSP1/SystemStructureDescription", "SSP9/SystemStructureDescription"),
            Code::SspSchema,
        ),
        document("control characters", &text.replace("name=\"rig\"", "name=\"a&#1;\""), Code::BadXml),
        document(
            "half a character",
            &text.replace("name=\"rig\"", "name=\"\u{fffd}\"").replace('\u{fffd}', "\u{1}"),
            Code::BadXml,
        ),
        document("another encoding", &text.replace("UTF-8", "EBCDIC-FR"), Code::XmlRefused),
    ]
}

fn schema() -> Vec<Case> {
    let text = sound();
    let edit = |name: &str, from: &str, to: &str, code| {
        assert!(text.contains(from), "{name}: nothing to change");
        document(name, &text.replacen(from, to, 1), code)
    };
    vec![
        edit("no version", r#"version="1.0" name="rig""#, r#"name="rig""#, Code::SspSchema),
        edit("version 17", r#"version="1.0" name="rig""#, r#"version="17" name="rig""#, Code::SspUnsupported),
        document(
            "no system",
            &text.replace("ssd:System ", "ssd:Sys ").replace("/ssd:System>", "/ssd:Sys>"),
            Code::SspSchema,
        ),
        edit("an empty name", r#"name="b""#, r#"name="""#, Code::SspSchema),
        edit(
            "the same name twice",
            r#"<ssd:Component name="b""#,
            r#"<ssd:Component name="a""#,
            Code::SspSchema,
        ),
        edit(
            "the same connector twice",
            r#"name="u" kind="input""#,
            r#"name="y" kind="input""#,
            Code::SspSchema,
        ),
        edit("an unknown kind", r#"kind="output""#, r#"kind="outputs""#, Code::SspSchema),
        edit("an unknown type", "<ssc:Real/>", "<ssc:Quaternion/>", Code::SspSchema),
        edit("two types", "<ssc:Real/>", "<ssc:Real/><ssc:Integer/>", Code::SspSchema),
        edit("no start connector", r#"startConnector="y""#, "", Code::SspSchema),
        edit("factor is a word", r#"factor="2""#, r#"factor="two""#, Code::SspSchema),
        edit("factor is not a number", r#"factor="2""#, r#"factor="NaN""#, Code::SspSchema),
        edit("offset is infinite", r#"offset="1""#, r#"offset="INF""#, Code::SspSchema),
        edit(
            "two transformations",
            "<ssc:LinearTransformation",
            "<ssc:LinearTransformation/><ssc:LinearTransformation",
            Code::SspSchema,
        ),
        edit(
            "a truth value",
            r#"endConnector="u" >"#,
            r#"endConnector="u" suppressUnitConversion="yes">"#,
            Code::SspSchema,
        ),
        edit("a unit twice", r#"<ssc:Unit name="rpm">"#, r#"<ssc:Unit name="K">"#, Code::SspSchema),
        edit("a huge exponent", r#"rad="1""#, r#"rad="99999999999""#, Code::SspSchema),
        edit("a factor of zero", r#"factor="0.10471975511965977""#, r#"factor="0""#, Code::UnitMismatch),
        edit("a value that is no number", r#"value="1.5""#, r#"value="1,5""#, Code::SspSchema),
        edit("an empty value", r#"value="1.5""#, r#"value="  ""#, Code::SspSchema),
        edit("no value", r#"value="1.5""#, "", Code::SspSchema),
        edit("binding without content", "<ssd:ParameterValues>", "<ssd:Nothing>", Code::BadXml),
        edit("another type of set", r#"prefix="a.""#, r#"prefix="a." type="text/csv""#, Code::SspUnsupported),
        edit("a stop time", r#"stopTime="1""#, r#"stopTime="soon""#, Code::SspSchema),
        edit(
            "an unknown implementation",
            r#"<ssd:Component name="b""#,
            r#"<ssd:Component implementation="Magic" name="b""#,
            Code::SspSchema,
        ),
        edit(
            "scheduled execution",
            r#"<ssd:Component name="b""#,
            r#"<ssd:Component implementation="ScheduledExecution" name="b""#,
            Code::SspUnsupported,
        ),
        edit(
            "model exchange that is not offered",
            r#"<ssd:Component name="b""#,
            r#"<ssd:Component implementation="ModelExchange" name="b""#,
            Code::FmuInterface,
        ),
    ]
}

fn references() -> Vec<Case> {
    let text = sound();
    let with_source =
        |name: &str, source: &str, code| document(name, &text.replacen("resources/a.fmu", source, 1), code);
    let itself = ssd(&elements(
        r#"<ssd:Component name="me" type="application/x-ssp-definition" source="SystemStructure.ssd"/>"#,
    ));
    let by_id = ssd(&elements(
        r##"<ssd:System name="s" id="s"><ssd:Elements><ssd:Component name="c" source="#s"/></ssd:Elements></ssd:System>"##,
    ));
    let root_by_id = ssd(&elements(r##"<ssd:Component name="c" source="#root"/>"##))
        .replace(r#"<ssd:System name="root">"#, r#"<ssd:System name="root" id="root">"#);
    let other = r#"<ssd:Component name="o" type="application/x-ssp-definition" source="B.ssd"/>"#;
    let two = Files::new(&ssd(&elements(other)))
        .with("B.ssd", ssd(&elements(&other.replace("B.ssd", "SystemStructure.ssd"))).as_bytes());
    // 30 levels of systems, each of which contains the next one ten times.
    let level = |depth: usize| {
        let parts: String = (0..if depth < 29 { 10 } else { 0 })
            .map(|index| format!(r##"<ssd:Component name="c{index}" source="#s{}"/>"##, depth + 1))
            .collect();
        format!(r#"<ssd:System name="s{depth}" id="s{depth}">{}</ssd:System>"#, elements(&parts))
    };
    let explosion = ssd(&elements(&(0..30).map(level).collect::<String>()));
    let set = |source: &str| {
        ssd(&(bindings(&format!(r#"<ssd:ParameterBinding source="{source}"/>"#))
            + &elements(&component("a", "a", ""))))
    };
    vec![
        with_source("a missing FMU", "resources/b.fmu", Code::SspReference),
        with_source("an FMU on the network", "http://example.org/a.fmu", Code::SspReference),
        with_source("an FMU on the disk", "file:///etc/passwd", Code::SspReference),
        with_source("an FMU outside", "../../a.fmu", Code::SspReference),
        with_source("an FMU outside, hidden", "resources/%2e%2e/%2e%2e/a.fmu", Code::SspReference),
        with_source("an absolute path", "/etc/passwd", Code::SspReference),
        with_source("an empty source", "", Code::SspReference),
        with_source("a document instead of an FMU", "SystemStructure.ssd", Code::NotAnFmu),
        document("contains itself", &itself, Code::SspCycle),
        document("contains itself by id", &by_id, Code::SspCycle),
        document("the root contains itself", &root_by_id, Code::SspCycle),
        case("two contain each other", &two, Code::SspCycle),
        document("grows without bound", &explosion, Code::SspUnsupported),
        document(
            "an unknown id",
            &ssd(&elements(r##"<ssd:Component name="c" source="#nobody"/>"##)),
            Code::SspReference,
        ),
        document(
            "a missing package",
            &ssd(&elements(r#"<ssd:Component name="c" type="application/x-ssp-package" source="x.ssp"/>"#)),
            Code::SspReference,
        ),
        case(
            "a package that is none",
            &Files::new(&ssd(&elements(
                r#"<ssd:Component name="c" type="application/x-ssp-package" source="x.ssp"/>"#,
            )))
            .with("x.ssp", b"no"),
            Code::NotAnFmu,
        ),
        case(
            "a package without document",
            &Files::new(&ssd(&elements(
                r#"<ssd:Component name="c" type="application/x-ssp-package" source="x.ssp"/>"#,
            )))
            .with("x.ssp", &Files::default().with("readme", b"x").zip()),
            Code::SspReference,
        ),
        document("a missing set", &set("resources/x.ssv"), Code::SspReference),
        document("a set on the network", &set("https://example.org/x.ssv"), Code::SspReference),
        case("a set that is no set", &Files::new(&set("x.ssv")).with("x.ssv", b"<x/>"), Code::SspSchema),
        case("a set that is no XML", &Files::new(&set("x.ssv")).with("x.ssv", b"p = 1"), Code::BadXml),
        case(
            "a set with a document type",
            &Files::new(&set("x.ssv"))
                .with("x.ssv", format!("<!DOCTYPE x>{}", parameter_set("p=1.5", "")).as_bytes()),
            Code::XmlRefused,
        ),
        case(
            "a broken FMU",
            &Files::default()
                .with("SystemStructure.ssd", text.as_bytes())
                .with("resources/a.fmu", &fmu()[..200]),
            Code::ArchiveDamaged,
        ),
        case(
            "an FMU without description",
            &Files::default()
                .with("SystemStructure.ssd", text.as_bytes())
                .with("resources/a.fmu", &Files::default().with("x", b"x").zip()),
            Code::NoModelDescription,
        ),
        document(
            "a unit nobody defined",
            &text.replacen("unit=\"rad/s\"", "unit=\"furlong\"", 1),
            Code::SspSchema,
        ),
    ]
}

/// Small files that stand for much: systems, sets and mappings that are used again and again.
fn greedy() -> Vec<Case> {
    let uses = |count: usize, target: &str| -> String {
        (0..count).map(|k| format!(r##"<ssd:Component name="u{k}" source="#{target}"/>"##)).collect()
    };
    let system = |content: &str| format!(r#"<ssd:System name="w" id="w">{content}</ssd:System>"#);
    let names: String = (0..2000).map(|k| format!("c{k}:input ")).collect();
    let wide = ssd(&elements(&(system(&connectors(&names)) + &uses(3000, "w"))));
    let ends: String = (0..1000).map(|k| format!("a{k}:input b{k}:output ")).collect();
    let pairs: String = (0..1000).map(|k| format!("a{k}>b{k} ")).collect();
    let wired = system(&(connectors(&ends) + &connections(&pairs)));
    let wired = ssd(&elements(&(wired + &uses(3000, "w"))));
    let values: String = (0..2000).map(|k| format!("p{k}=1.5 ")).collect();
    let source = r#"<ssd:ParameterBinding source="x.ssv"/>"#.repeat(3000);
    let sets = ssd(&(bindings(&source) + &elements(&component("a", "a", ""))));
    let sets = Files::new(&sets).with("x.ssv", parameter_set(&values, "").as_bytes());
    let empty: String = (0..1000).map(|k| format!(r#"<ssd:System name="s{k}" id="s{k}"/>"#)).collect();
    let searches = ssd(&elements(&(empty + &uses(5000, "s999"))));
    vec![
        document("connectors used again", &wide, Code::SspUnsupported),
        document("connections used again", &wired, Code::SspUnsupported),
        case("values used again", &sets, Code::SspUnsupported),
        document("systems searched again", &searches, Code::SspUnsupported),
    ]
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
        let parts = component("a", "a", "y:output") + &component("b", "a", "u:input");
        let connection = format!("<ssd:Connections>{}</ssd:Connections>", connection("a.y>b.u", "", &map));
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

#[test]
fn every_malformed_ssp_ends_in_its_code() {
    let cases: Vec<Case> =
        [archives(), xml(), schema(), references(), greedy()].into_iter().flatten().collect();
    assert!(cases.len() >= 70, "{}", cases.len());
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
    let mut refused = 0;
    for round in 0..300 {
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
}

#[test]
fn archives_changed_at_random_never_do_harm() {
    let good = Files::new(&sound()).zip();
    let mut random = Random(0xa5c1);
    for round in 0..200 {
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
}
