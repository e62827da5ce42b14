//! System structures as other tools write them: each tolerance is a rule of its own, and leaves a warning.

mod common;
#[path = "../../import/tests/common/real.rs"]
mod real;

use std::fs;

use common::{
    Files, binding, bindings, component, connections, connectors, elements, expect_error, fmu, good, links,
    parameter_set, ssd, ssd_with, value,
};
use costep_core::Code;
use costep_ssp::{Flat, Reach, Severity, Value};
use real::real_files;

/// The warnings, of a system without errors.
fn warnings(flat: &Flat) -> Vec<&str> {
    assert!(flat.errors().next().is_none(), "{:#?}", flat.notes);
    let of = flat.notes.iter().filter(|note| note.severity == Severity::Warning);
    of.map(|note| note.message.as_str()).collect()
}

#[test]
fn prefixes_that_nobody_declares_are_read_and_told() {
    let set = parameter_set("p=2.5", "")
        .replace(r#" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues""#, "");
    let annotation = r#"<ssd:DefaultExperiment startTime="1"><ssd:Annotations><ssc:Annotation type="com.opensimulationplatform">
<osp:Algorithm><osp:FixedStepAlgorithm baseStepSize="1e-2"/></osp:Algorithm></ssc:Annotation></ssd:Annotations></ssd:DefaultExperiment>"#;
    let bound = bindings(r#"<ssd:ParameterBinding source="x.ssv"/>"#);
    let part = format!(r#"<ssd:Component name="a" source="resources/a.fmu">{bound}</ssd:Component>"#);
    let flat =
        Files::new(&ssd_with(&elements(&part), annotation)).with("x.ssv", set.as_bytes()).open().unwrap();
    let told = warnings(&flat);
    assert!(
        matches!(told[..], [first, second] if first.contains("`osp`") && second.contains("`ssv`")),
        "{told:?}"
    );
    assert_eq!(value(&flat, "a", "p"), Some(Value::Real(vec![2.5])));
    // What the Open Simulation Platform says about the step is heard.
    assert_eq!(flat.settings, [("step".to_owned(), "{ size = 0.01 }".to_owned())]);
    assert_eq!(flat.start, Some(1.0));
}

#[test]
fn an_empty_element_is_the_system_itself() {
    let parts = component("a", "a", "u:input y:output");
    let inner = |name: &str| {
        format!(
            r#"<ssd:Connections><ssd:Connection {name} startConnector="in" endElement="a" endConnector="u"/>
<ssd:Connection startElement="a" startConnector="y" endConnector="out"/></ssd:Connections>"#
        )
    };
    for (name, told) in [("", 0), (r#"startElement="""#, 1)] {
        let system = format!(
            r#"<ssd:System name="s">{}{}{}</ssd:System>{}"#,
            connectors("in:input out:output"),
            elements(&parts),
            inner(name),
            component("b", "a", "u:input y:output")
        );
        let all = elements(&system) + &connections("b.y>s.in s.out>b.u");
        let flat = Files::new(&ssd(&all)).open().unwrap();
        assert_eq!(warnings(&flat).len(), told, "{:#?}", flat.notes);
        // The top-level system has no FMU that is not in a system of its own, or one that is.
        assert_eq!(links(&flat), ["b.y>s/a.u", "s/a.y>b.u"]);
    }
}

#[test]
fn a_system_whose_parts_are_all_in_other_systems_is_one() {
    let parts = component("a", "a", "u:input") + &component("b", "a", "y:output");
    let inner =
        format!(r#"<ssd:System name="s">{}{}</ssd:System>"#, elements(&parts), connections("b.y>a.u"));
    let flat = Files::new(&ssd(&elements(&inner))).open().unwrap();
    good(&flat);
    assert_eq!(links(&flat), ["s/b.y>s/a.u"]);
}

#[test]
fn enumerations_and_integers_keep_their_numbers() {
    let description = String::from_utf8(description_of(&fmu())).unwrap();
    let more = r#"<ScalarVariable name="m" valueReference="90" causality="output" variability="discrete"><Enumeration declaredType="Mode"/></ScalarVariable>
<ScalarVariable name="k" valueReference="91" causality="output" variability="discrete"><Integer/></ScalarVariable>
<ScalarVariable name="m in" valueReference="92" causality="input" variability="discrete"><Enumeration declaredType="Mode" start="1"/></ScalarVariable>
<ScalarVariable name="k in" valueReference="93" causality="input" variability="discrete"><Integer start="0"/></ScalarVariable></ModelVariables>"#;
    let fmu = Files::default()
        .with("modelDescription.xml", description.replace("</ModelVariables>", more).as_bytes())
        .zip();
    let typed = |name: &str, kind: &str, signal: &str| {
        format!(r#"<ssd:Connector name="{name}" kind="{kind}"><ssc:{signal}/></ssd:Connector>"#)
    };
    let ports = [
        typed("m", "output", "Enumeration name=\"Mode\""),
        typed("k", "output", "Integer"),
        typed("m in", "input", "Enumeration name=\"Mode\""),
        typed("k in", "input", "Integer"),
    ];
    let part = |name: &str| {
        let ports = ports.concat();
        format!(
            r#"<ssd:Component name="{name}" source="m.fmu"><ssd:Connectors>{ports}</ssd:Connectors></ssd:Component>"#
        )
    };
    let wires = r#"<ssd:Connections><ssd:Connection startElement="a" startConnector="m" endElement="b" endConnector="k in"/>
<ssd:Connection startElement="a" startConnector="k" endElement="b" endConnector="m in"/></ssd:Connections>"#;
    let text = ssd(&(elements(&(part("a") + &part("b"))) + wires));
    let flat = Files::new(&text).with("m.fmu", &fmu).open().unwrap();
    assert_eq!(
        warnings(&flat).iter().filter(|text| text.contains("enumeration")).count(),
        2,
        "{:#?}",
        flat.notes
    );
    assert!(flat.links.iter().all(|link| link.map == [(1, 1), (2, 2)]), "{:?}", flat.links);
}

fn description_of(fmu: &[u8]) -> Vec<u8> {
    use std::io::Read as _;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(fmu.to_vec())).unwrap();
    let mut bytes = Vec::new();
    archive.by_name("modelDescription.xml").unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn of_values_given_more_than_once_the_outer_and_later_ones_count() {
    let with = |outer: &str, inner: &str| {
        let part = format!(
            r#"<ssd:Component name="a" source="resources/a.fmu">{}</ssd:Component>"#,
            bindings(inner)
        );
        Files::new(&ssd(&(bindings(outer) + &elements(&part)))).open().unwrap()
    };
    let set = |values: &str| binding("", values, "", "");
    let flat = with("", &(set("p=2.5 q=3.5") + &set("p=4.5")));
    good(&flat);
    assert_eq!(value(&flat, "a", "p"), Some(Value::Real(vec![4.5])));
    assert_eq!(value(&flat, "a", "q"), Some(Value::Real(vec![3.5])));
    let flat = with(&set("a.p=9.5"), &(set("p=2.5") + &set("p=4.5")));
    assert_eq!(value(&flat, "a", "p"), Some(Value::Real(vec![9.5])));
    // Twice in one set is a mistake; without a doubt what is meant it is told only.
    let flat = with("", &set("p=2.5 p=2.5"));
    assert!(matches!(warnings(&flat)[..], [told] if told.contains("given twice")));
    assert_eq!(value(&flat, "a", "p"), Some(Value::Real(vec![2.5])));
    expect_error(&with("", &set("p=2.5 p=3.5")), Code::SspSchema, "with two values");
}

#[test]
fn references_of_an_ssd_lead_as_far_as_they_may() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data/ssp/demo");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(outer.path().join("data/fmus")).unwrap();
    fs::write(outer.path().join("data/fmus/a.fmu"), fmu()).unwrap();
    let path = folder.join("x.ssd");
    let open = |source: &str, reach: Reach| {
        let part = format!(r#"<ssd:Component name="a" source="{source}"/>"#);
        fs::write(&path, ssd(&elements(&part))).unwrap();
        costep_ssp::open_within(&path, outer.path(), reach).unwrap()
    };
    let near = || Reach::beside(&path);
    let far = || Reach::beside(&outer.path().join("data/x"));
    expect_error(&open("../../fmus/a.fmu", near()), Code::SspReference, "--allow-outside");
    good(&open("../../fmus/a.fmu", far()));
    good(&open("../../../data/fmus/a.fmu", far()));
    good(&open("../../fmus/a.fmu", Reach::anywhere()));
    expect_error(&open("../../../x.fmu", far()), Code::SspReference, "--allow-outside");
    expect_error(&open("../../fmus/b.fmu", far()), Code::SspReference, "missing");
    let proxied = open("proxyfmu://localhost?file=../../fmus/a.fmu", far());
    good(&proxied);
    assert_eq!(proxied.components[0].settings, [("isolation".to_owned(), "\"process\"".to_owned())]);
    expect_error(
        &open("proxyfmu://elsewhere?file=../../fmus/a.fmu", far()),
        Code::SspReference,
        "another machine",
    );
}

#[test]
fn system_structures_of_libcosim_are_read() {
    let Some(folder) = real_files("libcosim/tests/data") else { return };
    let unpacked = tempfile::tempdir().unwrap();
    for (name, count) in [("demo", 9), ("demo/no_algorithm_element", 9), ("demo/proxy", 9)] {
        let path = folder.join("ssp").join(name).join("SystemStructure.ssd");
        let flat = costep_ssp::open_within(&path, unpacked.path(), Reach::beside(&folder.join("x"))).unwrap();
        assert!(flat.errors().next().is_none(), "{name}: {:#?}", flat.notes);
        assert_eq!(flat.links.len(), count, "{name}");
        let isolated =
            flat.components.iter().all(|part| part.settings.iter().any(|(key, _)| key == "isolation"));
        assert_eq!(isolated, name.ends_with("proxy"));
    }
    let flat = costep_ssp::open(&folder.join("ssp/demo/demo.ssp"), unpacked.path()).unwrap();
    assert!(flat.errors().next().is_none(), "{:#?}", flat.notes);
}
