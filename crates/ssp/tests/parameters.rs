//! Parameter sets, mappings, prefixes, levels and units.

mod common;

use common::{
    Files, binding, bindings, component, connection, connections, connectors, elements, expect_error, good,
    parameter_set, ssd, ssd_with, units, value,
};
use costep_core::Code;
use costep_ssp::{Flat, Severity, Value};

const NO_CONNECTORS: &str = "";

/// The component `a` with bindings.
fn with_bindings(text: &str) -> String {
    format!(r#"<ssd:Component name="a" source="resources/a.fmu">{}</ssd:Component>"#, bindings(text))
}

fn open(system: &str) -> Flat {
    Files::new(&ssd(system)).open().unwrap()
}

fn real(value: f64) -> Option<Value> {
    Some(Value::Real(vec![value]))
}

fn mapping(entries: &str) -> String {
    format!(
        r#"<ssd:ParameterMapping><ssm:ParameterMapping version="1.0">{entries}</ssm:ParameterMapping></ssd:ParameterMapping>"#
    )
}

#[test]
fn a_component_gets_values_of_all_types_and_the_last_one_counts() {
    let text = binding("", "p=1.5 n=3 b=false mode=on", "", "") + &binding("", "p=2.5 inner.p=0.5", "", "");
    let flat = open(&elements(&with_bindings(&text)));
    good(&flat);
    assert_eq!(value(&flat, "a", "p"), real(2.5));
    assert_eq!(value(&flat, "a", "inner.p"), real(0.5));
    assert_eq!(value(&flat, "a", "n"), Some(Value::Integer(vec![3])));
    assert_eq!(value(&flat, "a", "b"), Some(Value::Boolean(vec![false])));
    assert_eq!(value(&flat, "a", "mode"), Some(Value::Text(vec!["on".into()])));
}

#[test]
fn outer_levels_win_by_hierarchical_names() {
    let sub = format!(
        r#"<ssd:System name="sub">{}{}</ssd:System>"#,
        bindings(&binding("", "a.p=2.5 a.q=2.5", "", "")),
        elements(&with_bindings(&binding("", "p=1.5 q=1.5 inner.p=1.5", "", ""))),
    );
    let flat = open(&(bindings(&binding("", "sub.a.q=3.5 sub.nobody.q=1.5", "", "")) + &elements(&sub)));
    good(&flat);
    let values = ["inner.p", "p", "q"].map(|name| value(&flat, "sub/a", name));
    assert_eq!(values, [real(1.5), real(2.5), real(3.5)]);
    let [note] = &flat.notes[..] else { panic!("{:?}", flat.notes) };
    assert!(note.message.contains("nothing is called `sub.nobody.q`"), "{note}");
}

/// SSP lets sets have more parameters than are used: those that are nearly like another are most likely misspelt.
#[test]
fn names_that_are_nearly_right_are_warned_of() {
    let own = with_bindings(&binding("", "inner.pp=1.5 n=2", "", ""));
    let flat = open(&(bindings(&binding("", "aa.q=1.5 something.else=1.5", "", "")) + &elements(&own)));
    let notes: Vec<_> = flat.notes.iter().map(|note| (note.severity, note.hint.as_deref())).collect();
    let near = |name| (Severity::Warning, Some(name));
    let expected = [near("did you mean `inner.p`?"), near("did you mean `a.q`?"), (Severity::Remark, None)];
    assert!(expected.iter().all(|note| notes.contains(note)) && notes.len() == 3, "{:?}", flat.notes);
    assert!(flat.notes.iter().all(|note| note.line.is_some()), "{:?}", flat.notes);
}

#[test]
fn names_with_the_component_in_its_own_set_are_warned_of() {
    let flat = open(&elements(&with_bindings(&binding("", "a.p=1.5", "", ""))));
    let [note] = &flat.notes[..] else { panic!("{:?}", flat.notes) };
    assert_eq!((note.severity, note.hint.as_deref()), (Severity::Warning, Some("did you mean `p`?")));
}

#[test]
fn parameters_that_are_nearly_elements_of_the_format_are_refused() {
    let sound = elements(&with_bindings(&binding("", "p=1.5", "", "")));
    for (from, to, words) in [
        ("ssv:Parameter name", "ssv:Paramter name", "did you mean <Parameter>?"),
        ("<ssv:Real value=\"1.5\"/>", "<ssv:Real>1.5</ssv:Real>", "write `value=\"1.5\"`, not a text inside"),
        ("<ssv:Real value=\"1.5\"/>", "", "it is the `value` of a <Real>"),
    ] {
        let text = sound.replace(from, to);
        let text =
            if to.contains("Paramter") { text.replace("</ssv:Parameter>", "</ssv:Paramter>") } else { text };
        assert_ne!(text, sound, "{from}");
        let flat = open(&text);
        assert!(flat.errors().any(|note| note.message.contains(words)), "{words}: {:#?}", flat.notes);
    }
}

#[test]
fn a_prefix_turns_names_of_a_component_into_those_of_a_system() {
    let text = bindings(&binding(r#"prefix="a.""#, "p=7.5", "", ""))
        + &elements(&component("a", "a", NO_CONNECTORS));
    assert_eq!(value(&open(&text), "a", "p"), real(7.5));
}

#[test]
fn a_mapping_renames_transforms_and_leaves_out() {
    let entries = r#"<ssm:MappingEntry source="x.mass" target="p"><ssc:LinearTransformation factor="2" offset="1"/></ssm:MappingEntry>
<ssm:MappingEntry source="x.mass" target="inner.p"/>
<ssm:MappingEntry source="x.count" target="n"><ssc:IntegerMappingTransformation><ssc:MapEntry source="3" target="30"/></ssc:IntegerMappingTransformation></ssm:MappingEntry>
<ssm:MappingEntry source="x.on" target="b"><ssc:BooleanMappingTransformation><ssc:MapEntry source="true" target="false"/></ssc:BooleanMappingTransformation></ssm:MappingEntry>
<ssm:MappingEntry source="x.state" target="mode"><ssc:EnumerationMappingTransformation><ssc:MapEntry source="idle" target="off"/></ssc:EnumerationMappingTransformation></ssm:MappingEntry>
<ssm:MappingEntry source="x.absent" target="q"/>"#;
    // The prefix comes before the mapping.
    let text = binding(r#"prefix="x.""#, "mass=4.5 count=3 on=true state=idle q=9.5", "", &mapping(entries));
    let flat = open(&elements(&with_bindings(&text)));
    good(&flat);
    assert_eq!(value(&flat, "a", "p"), real(10.0));
    assert_eq!(value(&flat, "a", "inner.p"), real(4.5));
    assert_eq!(value(&flat, "a", "n"), Some(Value::Integer(vec![30])));
    assert_eq!(value(&flat, "a", "b"), Some(Value::Boolean(vec![false])));
    assert_eq!(value(&flat, "a", "mode"), Some(Value::Text(vec!["off".into()])));
    assert_eq!(value(&flat, "a", "q"), None);
    let notes: Vec<_> = flat.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("`x.absent`")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("leaves out the parameter `q`")), "{notes:?}");
}

#[test]
fn values_are_converted_to_the_unit_of_the_variable() {
    let flat = open(&elements(&with_bindings(&binding("", "q=60.0:rpm", &units("ssv"), ""))));
    good(&flat);
    assert_eq!(value(&flat, "a", "q"), real(60.0 * 0.10471975511965977));
    let suppressed = mapping(r#"<ssm:MappingEntry source="q" target="q" suppressUnitConversion="true"/>"#);
    let flat = open(&elements(&with_bindings(&binding("", "q=60.0:rpm", &units("ssv"), &suppressed))));
    assert_eq!(value(&flat, "a", "q"), real(60.0));
    let flat = open(&elements(&with_bindings(&binding("", "q=60.0:K", &units("ssv"), ""))));
    expect_error(&flat, Code::UnitMismatch, "cannot be converted");
}

#[test]
fn parameters_of_systems_flow_along_connections() {
    let sub = format!(
        r#"<ssd:System name="sub">{}{}<ssd:Connections>{}{}</ssd:Connections></ssd:System>"#,
        connectors("speed:parameter:rpm load:input"),
        elements(&component("c", "a", "q:parameter u:input")),
        connection("speed>c.q", "", r#"<ssc:LinearTransformation factor="2"/>"#),
        connection("load>c.u", "", ""),
    );
    let text = bindings(&binding("", "sub.speed=30.0 sub.load=1.5", "", "")) + &elements(&sub);
    let flat = Files::new(&ssd_with(&text, &units("ssd"))).open().unwrap();
    good(&flat);
    assert_eq!(value(&flat, "sub/c", "q"), real(2.0 * (30.0 * 0.10471975511965977)));
    assert_eq!(value(&flat, "sub/c", "u"), real(1.5));
    assert!(flat.links.is_empty());
}

#[test]
fn parameters_of_the_root_reach_nested_components() {
    let sub = format!(
        r#"<ssd:System name="sub">{}{}{}</ssd:System>"#,
        connectors("m:parameter"),
        elements(&(component("c", "a", "p:parameter") + &component("d", "a", "p:parameter"))),
        connections("m>c.p m>d.p"),
    );
    let text = connectors("mass:parameter")
        + &bindings(&binding("", "mass=3.5", "", ""))
        + &elements(&sub)
        + &connections("mass>sub.m");
    let flat = open(&text);
    good(&flat);
    assert_eq!([value(&flat, "sub/c", "p"), value(&flat, "sub/d", "p")], [real(3.5), real(3.5)]);
}

#[test]
fn sets_and_mappings_come_from_files_too() {
    let ssv = parameter_set("mass=4.5", "");
    let ssm = r#"<ssm:ParameterMapping version="1.0" xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"><ssm:MappingEntry source="mass" target="p"/></ssm:ParameterMapping>"#;
    let text = r#"<ssd:ParameterBinding source="resources/set.ssv"><ssd:ParameterMapping source="resources/map.ssm"/></ssd:ParameterBinding>"#;
    let files = Files::new(&ssd(&elements(&with_bindings(text))))
        .with("resources/set.ssv", ssv.as_bytes())
        .with("resources/map.ssm", ssm.as_bytes());
    let flat = files.open().unwrap();
    good(&flat);
    assert_eq!(value(&flat, "a", "p"), real(4.5));
    let missing = Files::new(&ssd(&elements(&with_bindings(text)))).open().unwrap();
    expect_error(&missing, Code::SspReference, "`resources/set.ssv` is missing");
}

#[test]
fn a_set_may_be_inside_of_the_fmu() {
    let inside = common::fmu();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(inside)).unwrap();
    let mut description = Vec::new();
    std::io::Read::read_to_end(&mut archive.by_name("modelDescription.xml").unwrap(), &mut description)
        .unwrap();
    let fmu = Files::default()
        .with("modelDescription.xml", &description)
        .with("extra/set.ssv", parameter_set("p=8.5", "").as_bytes());
    let text = r#"<ssd:ParameterBinding source="extra/set.ssv" sourceBase="component"/>"#;
    let document = ssd(&elements(&with_bindings(text)));
    let files =
        Files::default().with("SystemStructure.ssd", document.as_bytes()).with("resources/a.fmu", &fmu.zip());
    let flat = files.open().unwrap();
    good(&flat);
    assert_eq!(value(&flat, "a", "p"), real(8.5));
}

#[test]
fn a_component_that_is_a_package_adds_its_values_last() {
    let inner =
        ssd(&(bindings(&binding("", "c.p=1.5 c.q=1.5", "", ""))
            + &elements(&component("c", "a", NO_CONNECTORS))));
    let outer = format!(
        r#"<ssd:Component name="sub" type="application/x-ssp-package" source="resources/sub.ssp">{}</ssd:Component>"#,
        bindings(&binding("", "c.q=2.5", "", ""))
    );
    let flat = Files::new(&ssd(&elements(&outer)))
        .with("resources/sub.ssp", &Files::new(&inner).zip())
        .open()
        .unwrap();
    good(&flat);
    assert_eq!([value(&flat, "sub/c", "p"), value(&flat, "sub/c", "q")], [real(1.5), real(2.5)]);
}

#[test]
fn the_same_name_of_different_things_gives_it_to_all() {
    let sub =
        format!(r#"<ssd:System name="B">{}</ssd:System>"#, elements(&component("C", "a", NO_CONNECTORS)));
    let text = bindings(&binding("", "B.C.p=6.5", "", ""))
        + &elements(&(sub + &component("B.C", "a", NO_CONNECTORS)));
    let flat = open(&text);
    good(&flat);
    assert_eq!([value(&flat, "B/C", "p"), value(&flat, "B_C", "p")], [real(6.5), real(6.5)]);
}

#[test]
fn a_transformation_of_the_wrong_type_is_an_error() {
    let entries = r#"<ssm:MappingEntry source="n" target="n"><ssc:LinearTransformation factor="2"/></ssm:MappingEntry>"#;
    let flat = open(&elements(&with_bindings(&binding("", "n=3", "", &mapping(entries)))));
    expect_error(&flat, Code::SspSchema, "does not fit the type");
}

#[test]
fn a_parameter_that_another_component_computes_is_listed() {
    let parts = component("a", "a", "y:output") + &component("b", "a", "p:parameter");
    let flat = open(&(elements(&parts) + &connections("a.y>b.p")));
    expect_error(&flat, Code::SspUnsupported, "computed by another component");
}
