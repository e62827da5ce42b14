//! Malformed SSPs, made by hand, with the codes that they end in.

use costep_core::Code;

use super::{
    Files, binding, bindings, component, connection, connections, connectors, elements, fmu, parameter_set,
    ssd, ssd_with, units,
};

/// A name, an SSP, and the code that its error or one of its notes has.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) code: Code,
}

pub(crate) fn case(name: &str, files: &Files, code: Code) -> Case {
    Case { name: name.into(), bytes: files.zip(), code }
}

pub(crate) fn document(name: &str, text: &str, code: Code) -> Case {
    case(name, &Files::new(text), code)
}

/// A sound system that uses all features.
pub(crate) fn sound() -> String {
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

pub(crate) fn archives() -> Vec<Case> {
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
        raw("text", b"this is not an archive".to_vec(), Code::NotAnFmu),
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

pub(crate) fn xml() -> Vec<Case> {
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

pub(crate) fn schema() -> Vec<Case> {
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
            "a Boolean",
            r#"endConnector="u" >"#,
            r#"endConnector="u" suppressUnitConversion="yes">"#,
            Code::SspSchema,
        ),
        edit("a unit twice", r#"<ssc:Unit name="rpm">"#, r#"<ssc:Unit name="K">"#, Code::SspSchema),
        edit("a huge exponent", r#"rad="1""#, r#"rad="99999999999""#, Code::SspSchema),
        edit("a factor of zero", r#"factor="0.10471975511965977""#, r#"factor="0""#, Code::UnitMismatch),
        edit("a value that is not a number", r#"value="1.5""#, r#"value="1,5""#, Code::SspSchema),
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

pub(crate) fn references() -> Vec<Case> {
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
            "a package that is not a package",
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
        case("a set that is not a set", &Files::new(&set("x.ssv")).with("x.ssv", b"<x/>"), Code::SspSchema),
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
pub(crate) fn greedy() -> Vec<Case> {
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

/// Connections and connectors that do not go together.
pub(crate) fn wiring() -> Vec<Case> {
    let parts =
        || component("a", "a", "y:output u:input p:parameter") + &component("b", "a", "y:output u:input");
    let wired =
        |name: &str, text: &str, code| document(name, &ssd(&(elements(&parts()) + &connections(text))), code);
    let changed = |name: &str, attributes: &str, content: &str, code| {
        let all =
            format!("<ssd:Connections>{}</ssd:Connections>", connection("a.y>b.u", attributes, content));
        document(name, &ssd(&(elements(&parts()) + &all)), code)
    };
    let typed = |name: &str, from: &str, to: &str, code| {
        let text = elements(&parts()) + &connections("a.y>b.u");
        assert!(text.contains(from), "{name}");
        document(name, &ssd(&text.replacen(from, to, 1)), code)
    };
    let inner = |name: &str, ports: &str, wires: &str, outside: &str, code| {
        let part = elements(&component("c", "a", "y:output u:input"));
        let sub = format!(
            r#"<ssd:System name="sub">{}{part}{}</ssd:System>"#,
            connectors(ports),
            connections(wires)
        );
        document(name, &ssd(&(elements(&(parts() + &sub)) + &connections(outside))), code)
    };
    vec![
        wired("a connection from nobody", "x.y>b.u", Code::SspReference),
        wired("a connection to nobody", "a.y>x.u", Code::SspReference),
        wired("a connection from no connector", "a.nothing>b.u", Code::SspReference),
        wired("a connection to no connector", "a.y>b.nothing", Code::SspReference),
        wired("a connector of the system that is not there", "a.y>out", Code::SspReference),
        wired("two sources", "a.y>b.u b.y>b.u", Code::DoubleSource),
        wired("the same connection twice", "a.y>b.u a.y>b.u", Code::DoubleSource),
        wired("from output to output", "a.y>b.y", Code::SspSchema),
        wired("from input to input", "a.u>b.u", Code::SspSchema),
        wired("a connection to a parameter", "b.y>a.p", Code::SspUnsupported),
        changed("an unknown transformation", "", "<ssc:SplineTransformation/>", Code::SspSchema),
        changed("a map without entries", "", "<ssc:IntegerMappingTransformation/>", Code::SspUnsupported),
        changed(
            "a map of Booleans with a word",
            "",
            r#"<ssc:BooleanMappingTransformation><ssc:MapEntry source="yes" target="true"/></ssc:BooleanMappingTransformation>"#,
            Code::SspSchema,
        ),
        changed(
            "a map of integers with a fraction",
            "",
            r#"<ssc:IntegerMappingTransformation><ssc:MapEntry source="1.5" target="2"/></ssc:IntegerMappingTransformation>"#,
            Code::SspSchema,
        ),
        changed(
            "a map without a target",
            "",
            r#"<ssc:IntegerMappingTransformation><ssc:MapEntry source="1"/></ssc:IntegerMappingTransformation>"#,
            Code::SspSchema,
        ),
        changed("an unknown attribute", r#"colour="red""#, "", Code::SspSchema),
        typed("a connector that the FMU does not have", r#"name="y""#, r#"name="yy""#, Code::SspReference),
        typed("a connector of another type", "<ssc:Real/>", "<ssc:Boolean/>", Code::SspUnsupported),
        typed("a connector of text", "<ssc:Real/>", "<ssc:String/>", Code::SspUnsupported),
        typed("a connector without a name", r#"name="y" "#, "", Code::SspSchema),
        typed("a connector without a kind", r#" kind="output""#, "", Code::SspSchema),
        typed(
            "an enumeration nobody defined",
            "<ssc:Real/>",
            r#"<ssc:Enumeration name="M"/>"#,
            Code::SspUnsupported,
        ),
        inner("connectors in a ring", "i:input o:output", "i>o", "sub.o>sub.i sub.o>a.u", Code::SspCycle),
        inner("a nested connector that is not there", "i:input", "j>c.u", "a.y>sub.i", Code::SspReference),
        inner("two sources inside", "i:input", "i>c.u c.y>c.u", "a.y>sub.i", Code::DoubleSource),
        inner("past the boundary of a system", "i:input", "i>c.u", "a.y>c.u", Code::SspReference),
    ]
}

/// Values, mappings and dictionaries that cannot be used.
pub(crate) fn values() -> Vec<Case> {
    let part = || elements(&component("a", "a", "p:parameter"));
    let mapped = |name: &str, entries: &str, code| {
        let mapping = format!(
            r#"<ssd:ParameterMapping><ssm:ParameterMapping version="1.0">{entries}</ssm:ParameterMapping></ssd:ParameterMapping>"#
        );
        document(name, &ssd(&(bindings(&binding("", "x=1.5", "", &mapping)) + &part())), code)
    };
    let mapping_file = |name: &str, text: &str, code| {
        let mapping = r#"<ssd:ParameterMapping source="m.ssm"/>"#;
        let root = ssd(&(bindings(&binding("", "x=1.5", "", mapping)) + &part()));
        case(name, &Files::new(&root).with("m.ssm", text.as_bytes()), code)
    };
    let valued = |name: &str, from: &str, to: &str, code| {
        let text = bindings(&binding("", "a.p=1.5", "", ""));
        assert!(text.contains(from), "{name}");
        document(name, &ssd(&(text.replacen(from, to, 1) + &part())), code)
    };
    let entry =
        |source: &str, target: &str| format!(r#"<ssm:MappingEntry source="{source}" target="{target}"/>"#);
    let dictionary = |name: &str, element: &str, code| {
        document(
            name,
            &ssd(&(part() + &format!("<ssd:SignalDictionaries>{element}</ssd:SignalDictionaries>"))),
            code,
        )
    };
    vec![
        mapped("two mapped to one", &(entry("x", "a.p") + &entry("x", "a.p")), Code::SspSchema),
        mapped("a mapping without a source", r#"<ssm:MappingEntry target="a.p"/>"#, Code::SspSchema),
        mapped("a mapping without a target", r#"<ssm:MappingEntry source="x"/>"#, Code::SspSchema),
        mapped("an unknown element of a mapping", "<ssm:Magic/>", Code::SspSchema),
        mapping_file("a mapping that is not a mapping", "<x/>", Code::SspSchema),
        mapping_file("a mapping that is no XML", "x -> a.p", Code::BadXml),
        mapping_file("a mapping with entities", "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>", Code::XmlRefused),
        document(
            "a missing mapping",
            &ssd(
                &(bindings(&binding("", "x=1.5", "", r#"<ssd:ParameterMapping source="m.ssm"/>"#)) + &part())
            ),
            Code::SspReference,
        ),
        valued("a set without a version", r#" version="1.0" name="set""#, r#" name="set""#, Code::SspSchema),
        valued("a parameter without a name", r#" name="a.p""#, "", Code::SspSchema),
        valued("an unknown type of value", "ssv:Real", "ssv:Complex", Code::SspSchema),
        valued(
            "a unit of a value that nobody defined",
            r#"value="1.5""#,
            r#"value="1.5" unit="ell""#,
            Code::SspSchema,
        ),
        dictionary("a dictionary without content", r#"<ssd:SignalDictionary name="d"/>"#, Code::SspSchema),
        dictionary(
            "a missing dictionary",
            r#"<ssd:SignalDictionary name="d" source="d.ssb"/>"#,
            Code::SspReference,
        ),
        dictionary(
            "a dictionary of another type",
            r#"<ssd:SignalDictionary name="d" type="text/csv" source="d.csv"/>"#,
            Code::SspUnsupported,
        ),
    ]
}
