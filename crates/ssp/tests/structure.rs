//! Systems, connectors, connections and dictionaries, and what becomes of them.

mod common;

use common::{
    Files, component, connection, connections, connectors, elements, expect_error, good, links, ssd,
    ssd_with, units,
};
use costep_core::Code;
use costep_ssp::Severity;

/// Two components `a` and `b`, connected.
fn pair(connected: &str) -> String {
    let parts = component("a", "a", "y:output u:input") + &component("b", "a", "y:output u:input");
    elements(&parts) + connected
}

#[test]
fn components_and_connections_are_taken_over() {
    let document = ssd_with(
        &pair(&connections("a.y>b.u b.y>a.u")),
        r#"<ssd:DefaultExperiment startTime="0.5" stopTime="2"/>"#,
    );
    let flat = Files::new(&document).open().unwrap();
    good(&flat);
    assert_eq!((flat.name.as_str(), flat.start, flat.stop), ("rig", Some(0.5), Some(2.0)));
    assert_eq!(links(&flat), ["a.y>b.u", "b.y>a.u"]);
    assert_eq!(flat.components.len(), 2);
    assert_eq!(flat.components[0].file, flat.components[1].file);
    assert!(flat.notes.is_empty(), "{:?}", flat.notes);
}

#[test]
fn the_direction_comes_from_the_kinds_of_connectors() {
    let flat = Files::new(&ssd(&pair(&connections("b.u>a.y a.u>b.y")))).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a.y>b.u", "b.y>a.u"]);
}

#[test]
fn nested_systems_pass_values_both_ways() {
    let inner = format!(
        r#"<ssd:System name="sub">{}{}{}</ssd:System>"#,
        connectors("in:input out:output"),
        elements(&component("c", "a", "u:input y:output")),
        connections("in>c.u c.y>out"),
    );
    let middle = format!(
        r#"<ssd:System name="mid">{}{}{}</ssd:System>"#,
        connectors("x:input f:output"),
        elements(&inner),
        connections("x>sub.in sub.out>f"),
    );
    let parts = component("a", "a", "y:output u:input") + &middle;
    let flat = Files::new(&ssd(&(elements(&parts) + &connections("a.y>mid.x mid.f>a.u")))).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a.y>mid/sub/c.u", "mid/sub/c.y>a.u"]);
}

#[test]
fn a_system_may_pass_its_input_straight_through() {
    let through = format!(
        r#"<ssd:System name="through">{}{}</ssd:System>"#,
        connectors("in:input out:output"),
        connections("in>out"),
    );
    let parts = component("a", "a", "y:output") + &component("b", "a", "u:input") + &through;
    let text = elements(&parts) + &connections("a.y>through.in through.out>b.u");
    let flat = Files::new(&ssd(&text)).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a.y>b.u"]);
}

#[test]
fn units_are_converted_at_every_connector() {
    let parts = component("a", "a", "y:output:rpm") + &component("b", "a", "w:input");
    let flat =
        Files::new(&ssd_with(&(elements(&parts) + &connections("a.y>b.w")), &units("ssd"))).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a.y>b.w*0.10471975511965977+0"]);

    let parts = component("a", "a", "y:output:degC") + &component("b", "a", "u:input:K");
    let text = ssd_with(&(elements(&parts) + &connections("a.y>b.u")), &units("ssd"));
    assert_eq!(links(&Files::new(&text).open().unwrap()), ["a.y>b.u*1+273.15"]);
}

#[test]
fn a_connector_without_unit_takes_over_what_arrives() {
    let sub = format!(
        r#"<ssd:System name="sub">{}{}{}</ssd:System>"#,
        connectors("in:input"),
        elements(&component("c", "a", "w:input")),
        connections("in>c.w"),
    );
    let parts = component("a", "a", "y:output:rpm") + &sub;
    let text = ssd_with(&(elements(&parts) + &connections("a.y>sub.in")), &units("ssd"));
    let flat = Files::new(&text).open().unwrap();
    assert_eq!(links(&flat), ["a.y>sub/c.w*0.10471975511965977+0"]);
}

#[test]
fn conversion_can_be_suppressed_and_comes_before_the_transformation() {
    let parts = component("a", "a", "y:output:degC") + &component("b", "a", "u:input:K");
    let with = |attributes: &str| {
        let linear = r#"<ssc:LinearTransformation factor="2" offset="1"/>"#;
        let connected =
            format!("<ssd:Connections>{}</ssd:Connections>", connection("a.y>b.u", attributes, linear));
        let flat = Files::new(&ssd_with(&(elements(&parts) + &connected), &units("ssd"))).open().unwrap();
        good(&flat);
        links(&flat).remove(0)
    };
    assert_eq!(with(""), "a.y>b.u*2+547.3");
    assert_eq!(with(r#"suppressUnitConversion="true""#), "a.y>b.u*2+1");
}

#[test]
fn transformations_of_a_way_are_joined_in_its_order() {
    let linear = |factor: f64, offset: f64| {
        format!(r#"<ssc:LinearTransformation factor="{factor}" offset="{offset}"/>"#)
    };
    let sub = format!(
        r#"<ssd:System name="sub">{}{}<ssd:Connections>{}</ssd:Connections></ssd:System>"#,
        connectors("in:input"),
        elements(&component("c", "a", "u:input")),
        connection("in>c.u", "", &linear(3.0, 1.0)),
    );
    let outer =
        format!("<ssd:Connections>{}</ssd:Connections>", connection("a.y>sub.in", "", &linear(2.0, 5.0)));
    let flat =
        Files::new(&ssd(&(elements(&(component("a", "a", "y:output") + &sub)) + &outer))).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a.y>sub/c.u*6+16"]);
}

#[test]
fn units_of_different_quantities_are_an_error() {
    let parts = component("a", "a", "y:output:rpm") + &component("b", "a", "u:input:K");
    let text = ssd_with(&(elements(&parts) + &connections("a.y>b.u")), &units("ssd"));
    expect_error(&Files::new(&text).open().unwrap(), Code::UnitMismatch, "cannot be converted");
}

#[test]
fn a_second_source_is_an_error() {
    let flat = Files::new(&ssd(&pair(&connections("a.y>b.u b.y>b.u")))).open().unwrap();
    expect_error(&flat, Code::DoubleSource, "`u` has another source");
}

#[test]
fn only_allowed_kinds_are_connected() {
    let flat = Files::new(&ssd(&pair(&connections("a.y>b.y")))).open().unwrap();
    expect_error(&flat, Code::SspSchema, "each of them gives a value");
    let flat = Files::new(&ssd(&pair(&connections("a.u>b.u")))).open().unwrap();
    expect_error(&flat, Code::SspSchema, "each of them takes a value");
}

#[test]
fn names_that_do_not_exist_are_named() {
    for (connected, words) in [
        ("a.y>c.u", "no element `c`"),
        ("a.y>b.nothing", "no connector `nothing`"),
        ("a.y>nothing", "the system has no connector `nothing`"),
    ] {
        let flat = Files::new(&ssd(&pair(&connections(connected)))).open().unwrap();
        expect_error(&flat, Code::SspReference, words);
    }
    let parts = component("a", "a", "y:output absent:input");
    expect_error(
        &Files::new(&ssd(&elements(&parts))).open().unwrap(),
        Code::SspReference,
        "no variable `absent`",
    );
}

#[test]
fn what_is_nearly_right_is_refused_with_what_is_meant() {
    let sound = pair(&connections("a.y>b.u"));
    for (from, to, words) in [
        ("ssd:Connections>", "ssd:Conections>", "did you mean <Connections>?"),
        ("endConnector=", "endConector=", "did you mean `endConnector`?"),
        ("kind=\"output\"", "kind=\"ouput\"", "did you mean `output`?"),
        ("name=\"y\" kind", "name=\"yy\" kind", "no variable `yy`: did you mean `y`?"),
        ("resources/a.fmu", "resources/aa.fmu", "did you mean `resources/a.fmu`?"),
    ] {
        let text = ssd(&sound.replace(from, to));
        assert_ne!(text, ssd(&sound), "{from}");
        let flat = Files::new(&text).open().unwrap();
        let told = flat.errors().any(|note| note.message.contains(words) && note.line.is_some());
        assert!(told, "{words}: {:#?}", flat.notes);
    }
}

#[test]
fn only_the_first_unknown_connectors_get_a_suggestion() {
    let wrong: Vec<String> = (0..60).map(|number| format!("y{number}:output")).collect();
    let parts = component("a", "a", &wrong.join(" "));
    let flat = Files::new(&ssd(&elements(&parts))).open().unwrap();
    let unknown = flat.errors().filter(|note| note.message.contains("no variable"));
    let near = flat.errors().filter(|note| note.message.contains("did you mean"));
    let (unknown, near) = (unknown.count(), near.count());
    assert!(unknown == 60 && (1..=50).contains(&near), "{unknown} {near}");
}

#[test]
fn an_undeclared_connector_of_an_fmu_is_a_warning() {
    let parts = component("a", "a", "y:output") + &component("b", "a", "");
    let flat = Files::new(&ssd(&(elements(&parts) + &connections("a.y>b.u")))).open().unwrap();
    assert_eq!(links(&flat), ["a.y>b.u"]);
    assert_eq!(flat.notes[0].severity, Severity::Warning);
    assert!(flat.notes[0].message.contains("not declared"), "{:?}", flat.notes);
}

#[test]
fn connectors_in_a_circle_are_found() {
    let through = |name: &str| {
        format!(
            r#"<ssd:System name="{name}">{}{}</ssd:System>"#,
            connectors("in:input out:output"),
            connections("in>out"),
        )
    };
    let parts = component("b", "a", "u:input") + &through("s") + &through("t");
    let text = elements(&parts) + &connections("s.out>t.in t.out>s.in s.out>b.u");
    expect_error(&Files::new(&ssd(&text)).open().unwrap(), Code::SspCycle, "by a cycle of connectors");
}

#[test]
fn values_meet_in_a_signal_dictionary() {
    let dictionary = format!(
        r#"<ssd:SignalDictionaries><ssd:SignalDictionary name="bus"><ssb:SignalDictionary version="1.0">
<ssb:DictionaryEntry name="speed"><ssc:Real unit="rad/s"/></ssb:DictionaryEntry>{}</ssb:SignalDictionary></ssd:SignalDictionary></ssd:SignalDictionaries>"#,
        units("ssb")
    );
    let reference = |name: &str, unit: &str| {
        format!(
            r#"<ssd:SignalDictionaryReference name="{name}" dictionary="bus">{}</ssd:SignalDictionaryReference>"#,
            connectors(&format!("speed:inout:{unit}"))
        )
    };
    // The reader is inside of a system below the one that defines the dictionary.
    let sub = format!(
        r#"<ssd:System name="sub">{}{}</ssd:System>"#,
        elements(&(reference("bus", "rpm") + &component("c", "a", "u:input:rpm"))),
        connections("bus.speed>c.u"),
    );
    let parts = component("a", "a", "z:output") + &reference("port", "rad/s") + &sub;
    let text = elements(&parts) + &connections("a.z>port.speed") + &dictionary;
    let flat = Files::new(&ssd_with(&text, &units("ssd"))).open().unwrap();
    good(&flat);
    let [link] = &flat.links[..] else { panic!("{:?}", flat.links) };
    assert!((link.factor - 30.0 / std::f64::consts::PI).abs() < 1e-12, "{link:?}");

    let unknown = text.replace(r#"dictionary="bus""#, r#"dictionary="can""#);
    let flat = Files::new(&ssd_with(&unknown, &units("ssd"))).open().unwrap();
    assert!(
        flat.errors().all(|note| note.message.contains("no signal dictionary `can`")),
        "{:?}",
        flat.notes
    );
    assert_eq!(flat.errors().count(), 2);
}

#[test]
fn a_system_can_be_used_several_times_by_its_id() {
    let unit = format!(
        r#"<ssd:System name="first" id="unit">{}{}{}</ssd:System>"#,
        connectors("in:input out:output"),
        elements(&component("c", "a", "u:input y:output")),
        connections("in>c.u c.y>out"),
    );
    let second = format!(
        r##"<ssd:Component name="second" source="#unit" type="application/x-ssp-definition">{}</ssd:Component>"##,
        connectors("in:input out:output")
    );
    let text = elements(&(unit + &second)) + &connections("first.out>second.in second.out>first.in");
    let flat = Files::new(&ssd(&text)).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["first/c.y>second/c.u", "second/c.y>first/c.u"]);
}

#[test]
fn packages_and_descriptions_can_be_components() {
    let inner = ssd(&format!(
        "{}{}{}",
        connectors("in:input out:output"),
        elements(&component("c", "a", "u:input y:output")),
        connections("in>c.u c.y>out"),
    ));
    let package = Files::new(&inner).with("Variant.ssd", inner.replace("\"c\"", "\"other\"").as_bytes());
    let component_of = |name: &str, kind: &str, source: &str| {
        format!(
            r#"<ssd:Component name="{name}" type="application/x-ssp-{kind}" source="{source}">{}</ssd:Component>"#,
            connectors("in:input out:output")
        )
    };
    let parts = component_of("one", "package", "resources/sub.ssp")
        + &component_of("two", "package", "resources/sub.ssp#Variant.ssd")
        + &component_of("three", "definition", "resources/sub.ssd");
    let text = elements(&parts) + &connections("one.out>two.in two.out>three.in three.out>one.in");
    // Beside the description the FMU is searched relative to it.
    let beside = inner.replace("resources/a.fmu", "a.fmu");
    let files = Files::new(&ssd(&text))
        .with("resources/sub.ssp", &package.zip())
        .with("resources/sub.ssd", beside.as_bytes());
    let flat = files.open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["one/c.y>two/other.u", "three/c.y>one/c.u", "two/other.y>three/c.u"]);
    assert_ne!(flat.components[0].file, flat.components[2].file);
}

/// x, 2 x, then 2 becomes 7, then half of it: 3.5, and not 7 as if the map came last. That the factors cancel does not help.
#[test]
fn maps_of_values_beside_linear_transformations_are_refused() {
    let double = r#"<ssc:LinearTransformation factor="2"/>"#;
    let half = r#"<ssc:LinearTransformation factor="0.5"/>"#;
    let map = "<ssc:IntegerMappingTransformation><ssc:MapEntry source=\"2\" target=\"7\"/></ssc:IntegerMappingTransformation>";
    for (ways, is_refused) in [
        (["", map, ""], false),
        ([double, half, ""], false),
        ([double, map, half], true),
        ([map, double, half], true),
        ([double, "", map], true),
    ] {
        let inner = format!(
            r#"<ssd:System name="inner">{}{}<ssd:Connections>{}</ssd:Connections></ssd:System>"#,
            connectors("in:input"),
            elements(&component("c", "a", "u:input")),
            connection("in>c.u", "", ways[2]),
        );
        let outer = format!(
            r#"<ssd:System name="outer">{}{}<ssd:Connections>{}</ssd:Connections></ssd:System>"#,
            connectors("in:input"),
            elements(&inner),
            connection("in>inner.in", "", ways[1]),
        );
        let connected =
            format!("<ssd:Connections>{}</ssd:Connections>", connection("a.y>outer.in", "", ways[0]));
        let text = ssd(&(elements(&(component("a", "a", "y:output") + &outer)) + &connected));
        let flat = Files::new(&text).open().unwrap();
        let refused = flat.errors().any(|note| note.to_string().contains("cannot be combined"));
        assert_eq!(refused, is_refused, "{ways:?}: {flat:#?}");
    }
}

#[test]
fn what_cannot_be_coupled_is_listed() {
    let parts = elements(
        &(component("a", "a", "alarm:output y:output p:parameter").replace(
            "<ssc:Real/></ssd:Connector><ssd:Connector name=\"y\"",
            "<ssc:Boolean/></ssd:Connector><ssd:Connector name=\"y\"",
        ) + &component("b", "a", "flag:input u:input")),
    );
    for (connected, words) in [
        (connection("a.alarm>b.flag", "", ""), "Boolean"),
        (connection("a.y>b.u", r#"startIndices="1""#, ""), "single elements of an array"),
        (
            connection(
                "a.y>b.u",
                "",
                "<ssc:IntegerMappingTransformation><ssc:MapEntry source=\"1\" target=\"2\"/></ssc:IntegerMappingTransformation>",
            ),
            "mapping of values",
        ),
    ] {
        let text = format!("{parts}<ssd:Connections>{connected}</ssd:Connections>");
        expect_error(&Files::new(&ssd(&text)).open().unwrap(), Code::SspUnsupported, words);
    }
    // Booleans feed Booleans.
    let truths = parts
        .replace("name=\"flag\" kind=\"input\"><ssc:Real/>", "name=\"flag\" kind=\"input\"><ssc:Boolean/>");
    assert_ne!(truths, parts);
    let text = format!("{truths}<ssd:Connections>{}</ssd:Connections>", connection("a.alarm>b.flag", "", ""));
    let flat = Files::new(&ssd(&text)).open().unwrap();
    assert!(flat.errors().next().is_none() && flat.links.len() == 1, "{flat:#?}");
    let modelica = r#"<ssd:Component name="m" type="text/x-modelica" source="resources/m.mo"/>"#;
    expect_error(
        &Files::new(&ssd(&elements(modelica))).open().unwrap(),
        Code::SspUnsupported,
        "text/x-modelica",
    );
    let sketch = r#"<ssd:Component name="m"/>"#;
    expect_error(&Files::new(&ssd(&elements(sketch))).open().unwrap(), Code::SspUnsupported, "no source");
}

#[test]
fn graphics_annotations_and_unknown_things_leave_notes() {
    let parts = elements(
        r#"<ssd:Component name="a" source="resources/a.fmu" colour="red">
<ssd:ElementGeometry x1="0" y1="0" x2="1" y2="1"/>
<ssd:Annotations><ssc:Annotation type="org.example.tool"><x/></ssc:Annotation></ssd:Annotations><ssd:Extra/></ssd:Component>"#,
    );
    let flat = Files::new(&ssd(&parts)).with("Other.ssd", b"").open().unwrap();
    assert_eq!(flat.errors().count(), 0);
    let all: Vec<String> = flat.notes.iter().map(ToString::to_string).collect();
    for words in
        ["attribute `colour`", "<Extra>", "org.example.tool", "1 graphical elements", "variant `Other.ssd`"]
    {
        assert!(all.iter().any(|note| note.contains(words)), "{words}: {all:#?}");
    }
    assert!(all.iter().any(|note| note.contains("SystemStructure.ssd:8, in root")), "{all:#?}");
}

#[test]
fn names_become_plain_words_and_stay_apart() {
    let parts = component("a b", "a", "y:output") + &component("a.b", "a", "u:input");
    let text = elements(&parts)
        + r#"<ssd:Connections><ssd:Connection startElement="a b" startConnector="y" endElement="a.b" endConnector="u"/></ssd:Connections>"#;
    let flat = Files::new(&ssd(&text)).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a_b.y>a_b_2.u"]);
    assert_eq!(flat.notes.len(), 2, "{:?}", flat.notes);
}

#[test]
fn a_description_in_a_folder_is_read_like_a_package() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("resources")).unwrap();
    std::fs::write(folder.path().join("resources/a.fmu"), common::fmu()).unwrap();
    let path = folder.path().join("rig.ssd");
    std::fs::write(&path, ssd(&pair(&connections("a.y>b.u")))).unwrap();
    let flat = costep_ssp::open(&path, folder.path()).unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["a.y>b.u"]);
    assert_eq!(flat.components[0].file, folder.path().join("resources/a.fmu"));
}

#[test]
fn files_of_version_2_are_read() {
    let text = ssd(&pair(&connections("a.y>b.u")))
        .replace(r#"version="1.0""#, r#"version="2.0""#)
        .replace("ssc:Real", "ssc:Float64");
    let flat = Files::new(&text).open().unwrap();
    good(&flat);
    assert_eq!(flat.version, "2.0");
    let text = text.replace(r#"version="2.0""#, r#"version="3.0""#);
    expect_error(&Files::new(&text).open().unwrap(), Code::SspUnsupported, "version `3.0`");
}

#[test]
fn connections_of_a_component_that_is_lost_are_not_reported_again() {
    let parts = component("a", "gone", "y:output u:input") + &component("b", "a", "y:output u:input");
    let text = ssd(&(elements(&parts) + &connections("a.y>b.u b.y>a.u")));
    expect_error(&Files::new(&text).open().unwrap(), Code::SspReference, "`resources/gone.fmu` is missing");
    let text = ssd(&elements(&component("b", "a", "y:output u:input")));
    let text = text.replace("resources/a.fmu", "fmus/a.fmu");
    expect_error(&Files::new(&text).open().unwrap(), Code::SspReference, "it lies at `resources/a.fmu`");
}
