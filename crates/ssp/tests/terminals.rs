//! Power bonds from the terminals of FMUs.

mod common;

use common::{Files, component, connections, elements, good, ssd};
use costep_ssp::{Flat, Severity};

const UNITS: &str = r#"<UnitDefinitions><Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit>
<Unit name="m"><BaseUnit m="1"/></Unit><Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit>
<Unit name="K"><BaseUnit K="1"/></Unit><Unit name="W"><BaseUnit kg="1" m="2" s="-3"/></Unit></UnitDefinitions>"#;

/// An FMU with these variables, `v:output:m/s`, and one terminal `flange` of them: `v:signal`.
fn fmu(variables: &str, kind: &str, members: &str) -> Vec<u8> {
    let mut text = String::new();
    let mut outputs = String::new();
    for (at, variable) in variables.split_whitespace().enumerate() {
        let mut words = variable.split(':');
        let (name, causality) = (words.next().unwrap(), words.next().unwrap());
        let unit = words.next().map_or(String::new(), |unit| format!(r#" unit="{unit}""#));
        let start = if causality == "input" { r#" start="0""# } else { "" };
        text += &format!(
            r#"<ScalarVariable name="{name}" valueReference="{at}" causality="{causality}" variability="continuous"><Real{start}{unit}/></ScalarVariable>"#
        );
        if causality == "output" {
            outputs += &format!(r#"<Unknown index="{}"/>"#, at + 1);
        }
    }
    let description = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="2.0" modelName="A" guid="g">
<CoSimulation modelIdentifier="A"/>{UNITS}<ModelVariables>{text}</ModelVariables>
<ModelStructure><Outputs>{outputs}</Outputs></ModelStructure></fmiModelDescription>"#
    );
    let member = |member: &str| {
        let (name, kind) = member.split_once(':').unwrap();
        format!(
            r#"<TerminalMemberVariable variableName="{name}" memberName="{name}" variableKind="{kind}"/>"#
        )
    };
    let members: String = members.split_whitespace().map(member).collect();
    let terminals = format!(
        r#"<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals><Terminal name="flange" terminalKind="{kind}" matchingRule="plug">{members}</Terminal></Terminals></fmiTerminalsAndIcons>"#
    );
    Files::default()
        .with("modelDescription.xml", description.as_bytes())
        .with("terminalsAndIcons/terminalsAndIcons.xml", terminals.as_bytes())
        .zip()
}

const MASS: &str = "x:output:m v:output:m/s F:input:N";
const SPRING: &str = "x:input:m v:input:m/s F:output:N";
const MEMBERS: &str = "x:signal v:signal F:inflow";

/// A mass and a spring, by these FMUs.
fn rig(mass: Vec<u8>, spring: Vec<u8>) -> Flat {
    let parts = component("mass", "mass", "x:output v:output F:input")
        + &component("spring", "spring", "x:input v:input F:output");
    let connected = connections("mass.x>spring.x mass.v>spring.v spring.F>mass.F");
    let flat = Files::new(&ssd(&(elements(&parts) + &connected)))
        .with("resources/mass.fmu", &mass)
        .with("resources/spring.fmu", &spring)
        .open()
        .unwrap();
    good(&flat);
    flat
}

/// Outputs of links with a bond, and their bonds.
fn bonds(flat: &Flat) -> Vec<(String, String)> {
    let bond = |link: &costep_ssp::Link| {
        let (_, bond) = link.settings.iter().find(|(key, _)| key == "bond")?;
        Some((link.from.1.clone(), bond.clone()))
    };
    let mut bonds: Vec<_> = flat.links.iter().filter_map(bond).collect();
    bonds.sort();
    bonds
}

#[test]
fn connected_terminals_are_bonds_of_their_effort_and_flow() {
    let flat = rig(fmu(MASS, "flange", MEMBERS), fmu(SPRING, "flange", MEMBERS));
    let name = "\"mass.flange\"".to_owned();
    assert_eq!(bonds(&flat), [("F".to_owned(), name.clone()), ("v".to_owned(), name)]);
    let text = flat.to_toml(|file| file.display().to_string());
    assert_eq!(text.matches("bond = \"mass.flange\"").count(), 2, "{text}");
}

#[test]
fn what_is_no_power_is_no_bond() {
    // Terminals of different kinds, one without its force, temperature and flow of heat.
    let other = rig(fmu(MASS, "flange", MEMBERS), fmu(SPRING, "other", MEMBERS));
    assert_eq!(bonds(&other), []);
    let without = rig(fmu(MASS, "flange", MEMBERS), fmu(SPRING, "flange", "x:signal v:signal"));
    assert_eq!(bonds(&without), []);
    let [hot, cold] = [MASS, SPRING].map(|text| text.replace(":N", ":W").replace(":m/s", ":K"));
    assert_eq!(bonds(&rig(fmu(&hot, "flange", MEMBERS), fmu(&cold, "flange", MEMBERS))), []);
}

#[test]
fn without_units_the_only_pair_with_a_flow_is_a_bond() {
    let [mass, spring] = [MASS, SPRING].map(|text| text.replace(":N", "").replace(":m/s", ""));
    let both = "v:signal F:inflow";
    let flat = rig(fmu(&mass, "flange", both), fmu(&spring, "flange", both));
    assert_eq!(bonds(&flat).len(), 2);
    // Two there and one back; no flow.
    assert_eq!(bonds(&rig(fmu(&mass, "flange", MEMBERS), fmu(&spring, "flange", MEMBERS))), []);
    let signals = "v:signal F:signal";
    assert_eq!(bonds(&rig(fmu(&mass, "flange", signals), fmu(&spring, "flange", signals))), []);
}

#[test]
fn terminals_that_cannot_be_read_are_remarked_on() {
    let broken = Files::default()
        .with("modelDescription.xml", DESCRIPTION.as_bytes())
        .with("terminalsAndIcons/terminalsAndIcons.xml", b"<other/>")
        .zip();
    let flat = Files::new(&ssd(&elements(&component("b", "b", "")))).with("resources/b.fmu", &broken).open();
    let flat = flat.unwrap();
    let remark = flat.notes.iter().find(|note| note.message.contains("terminals are not read"));
    assert_eq!(remark.map(|note| note.severity), Some(Severity::Remark), "{:?}", flat.notes);
}

const DESCRIPTION: &str = r#"<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="2.0" modelName="A" guid="g">
<CoSimulation modelIdentifier="A"/><ModelVariables/><ModelStructure/></fmiModelDescription>"#;
