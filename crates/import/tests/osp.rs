//! System structures of the Open Simulation Platform.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use common::{Folder, assert_sound, links, notes, real_files};
use costep_core::Code;
use costep_import::{Format, open};
use costep_ssp::{Flat, Reach, Severity, Value};
use documented::assert_counted;

const FILE: &str = "crates/import/tests/osp.rs";

fn structure(content: &str) -> String {
    format!(
        r#"<?xml version="1.0"?>
<OspSystemStructure xmlns="http://opensimulationplatform.com/MSMI/OSPSystemStructure" version="0.1">
{content}
</OspSystemStructure>"#
    )
}

const SIMULATORS: &str =
    r#"<Simulators><Simulator name="a" source="a.fmu"/><Simulator name="b" source="b.fmu"/></Simulators>"#;

fn connected(functions: &str, connections: &str) -> String {
    structure(&format!(
        "{SIMULATORS}<Functions>{functions}</Functions><Connections>{connections}</Connections>"
    ))
}

fn variables(a: &str, b: &str) -> String {
    let end = |text: &str| {
        let (simulator, name) = text.split_once('.').unwrap();
        format!(r#"<Variable simulator="{simulator}" name="{name}"/>"#)
    };
    format!("<VariableConnection>{}{}</VariableConnection>", end(a), end(b))
}

fn signal(variable: &str, function: &str) -> String {
    let (simulator, name) = variable.split_once('.').unwrap();
    let (function, signal) = function.split_once('.').unwrap();
    format!(
        r#"<SignalConnection><Variable simulator="{simulator}" name="{name}"/><Signal function="{function}" name="{signal}"/></SignalConnection>"#
    )
}

const GROUPS: &str = r#"<OspModelDescription xmlns="x" version="1.0">
<UnitDefinitions><Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit>
<Unit name="newton"><BaseUnit kg="1" m="1" s="-2" factor="1"/></Unit><Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit></UnitDefinitions>
<VariableGroups>
<LinearMechanicalPort name="port">
<Force name="force"><Variable ref="u[1]" unit="N"/><Variable ref="u[2]" unit="N"/></Force>
<LinearVelocity name="velocity"><Variable ref="y[1]" unit="m/s"/><Variable ref="y[2]" unit="m/s"/></LinearVelocity>
</LinearMechanicalPort>
<Generic name="ins"><Variable ref="u[1]"/><Variable ref="u[2]"/></Generic>
</VariableGroups></OspModelDescription>"#;

/// A mistyped name is told with what could stand there: no output is proposed for the end that takes a value.
#[test]
fn only_variables_that_fit_are_proposed() {
    for (a, b, says) in [
        ("a.y[1]", "b.y[9]", "`b` has no input `y[9]`"),
        ("a.y[9]", "b.u[1]", "`a` has no output `y[9]` (did you mean `y[1]`?)"),
        ("a.u[9]", "b.u[1]", "`a` has no output `u[9]`"),
        ("a.y[1]", "b.u[9]", "`b` has no input `u[9]` (did you mean `u[1]`?)"),
    ] {
        let folder = with_groups();
        folder.write("systems/x.xml", connected("", &variables(a, b)).as_bytes());
        let path = folder.path("systems/x.xml");
        let flat = open(&path, Format::Osp, &path, Reach::beside(&path)).unwrap();
        let errors = notes(&flat, Severity::Error);
        assert!(errors[0].1.starts_with(says), "{errors:?}");
        let proposed = errors[0].1.split_once('(').map_or("", |parts| parts.1);
        assert!(!proposed.contains(if says.contains("input") { "y[" } else { "u[" }), "{errors:?}");
    }
}

fn with_groups() -> Folder {
    let folder = Folder::new();
    folder.write("systems/A_OspModelDescription.xml", GROUPS.as_bytes());
    let other = GROUPS
        .replace(r#"ref="u[1]" unit="N""#, r#"ref="y[1]" unit="newton""#)
        .replace(r#"ref="u[2]" unit="N""#, r#"ref="y[2]" unit="newton""#)
        .replace(r#"ref="y[1]" unit="m/s""#, r#"ref="u[1]" unit="m/s""#)
        .replace(r#"ref="y[2]" unit="m/s""#, r#"ref="u[2]" unit="knots""#);
    folder.write("systems/B_OspModelDescription.xml", other.as_bytes());
    folder
}

#[test]
fn names_of_groups_functions_and_connections_that_are_nearly_right_are_proposed() {
    let folder = with_groups();
    let variable = r#"<Variable simulator="a" name="y[1]"/>"#;
    for (connection, says) in [
        (
            r#"<VariableGroupConnection><VariableGroup simulator="a" name="prot"/><VariableGroup simulator="b" name="port"/></VariableGroupConnection>"#.to_owned(),
            "has no group `prot` in `A_OspModelDescription.xml` (did you mean `port`?)",
        ),
        (
            r#"<VariableGroupConnection><VariableGroup simulator="a" name="forces"/><VariableGroup simulator="b" name="force"/></VariableGroupConnection>"#.to_owned(),
            "(did you mean `force`?)",
        ),
        (
            format!(r#"<SignalConnection>{variable}<Signal function="suum" name="in[0]"/></SignalConnection>"#),
            "there is no function `suum` (did you mean `sum`?)",
        ),
        (
            format!(r#"<SignalConnection>{variable}<Signal function="sum" name="in[2]"/></SignalConnection>"#),
            "`sum` has no signal `in[2]`: it has `in[0]` to `in[1]` and `out`",
        ),
        (
            format!(r#"<SignalConection>{variable}<Signal function="sum" name="in[0]"/></SignalConection>"#),
            "did you mean <SignalConnection>?",
        ),
    ] {
        let text = connected(r#"<Sum name="sum" inputCount="2"/>"#, &connection);
        let flat = folder.read("OspSystemStructure.xml", &text).unwrap();
        let errors = notes(&flat, Severity::Error);
        assert!(errors.iter().any(|(_, text)| text.contains(says)), "{says}: {errors:?}");
    }
}

#[test]
fn elements_and_values_as_others_write_them_are_told() {
    let folder = Folder::new();
    let initial = r#"<InitialValue variable="p"><Double value="1"/></InitialValue>"#;
    let text = structure(&format!(
        r#"<StopTime>1</StopTime><BaseStepSize>1 ms</BaseStepSize><Simulators><Simulator name="a" source="a.fmu"><InitialValues>{initial}</InitialValues></Simulator>
<Simulator name="b" sorce="b.fmu"/></Simulators><Connections>{}</Connections>"#,
        variables("a.y[1]", "b.u[1]")
    ));
    let flat = folder.read("OspSystemStructure.xml", &text).unwrap();
    let errors: Vec<_> = notes(&flat, Severity::Error).into_iter().map(|(_, text)| text).collect();
    for says in [
        "did you mean <EndTime>?",
        "converted from `ms` to `s`",
        "<Double> is no type of a value: write <Real>",
        "has no attribute `source`: is it `sorce`, misspelt?",
    ] {
        assert!(errors.iter().any(|text| text.contains(says)), "{says}: {errors:?}");
    }
    // Of the part that is lost nothing more is said.
    assert!(!errors.iter().any(|text| text.contains("nothing is called")), "{errors:?}");
}

#[test]
fn a_decimal_comma_is_told() {
    let folder = Folder::new();
    let text = connected("", "").replace("<Simulators>", "<EndTime>1,5</EndTime><Simulators>");
    folder.write("systems/x.xml", text.as_bytes());
    let path = folder.path("systems/x.xml");
    let flat = open(&path, Format::Osp, &path, Reach::beside(&path)).unwrap();
    let errors = notes(&flat, Severity::Error);
    assert!(errors.iter().any(|(_, text)| text.ends_with("write a decimal point: `1.5`")), "{errors:?}");
}

#[test]
fn times_values_and_connections_are_read() {
    let folder = Folder::new();
    let content = format!(
        r#"<StartTime>0.5</StartTime><EndTime> 2e0 </EndTime><BaseStepSize>1e-2</BaseStepSize><Algorithm>fixedStep</Algorithm>
<Simulators><Simulator name="a" source="a.fmu"><InitialValues>
<InitialValue variable="p"><Real value="2.5"/></InitialValue><InitialValue variable="i"><Integer value="7"/></InitialValue>
<InitialValue variable="s"><String value="x y"/></InitialValue><InitialValue variable="on in"><Boolean value="1"/></InitialValue>
</InitialValues></Simulator><Simulator name="the b" source="proxyfmu://localhost?file=b.fmu"/></Simulators>
<Connections>{}{}{}</Connections>"#,
        variables("a.u[1]", "the b.y[1]"),
        variables("a.count", "the b.mode in"),
        variables("the b.v", "a.u[2]"),
    );
    let flat = folder.read("OspSystemStructure.xml", &structure(&content)).unwrap();
    assert_sound(&flat);
    assert_eq!((flat.start, flat.stop, flat.format), (Some(0.5), Some(2.0), "OSP"));
    assert_eq!(flat.settings, [("step".to_owned(), "{ size = 0.01 }".to_owned())]);
    assert_eq!(flat.name, "systems");
    assert_eq!(links(&flat), ["the_b.y[1] -> a.u[1]", "a.count -> the_b.mode in", "the_b.v -> a.u[2]"]);
    assert_eq!(flat.links[1].map, [(1, 1), (2, 2)]);
    let set: Vec<_> =
        flat.components[0].set.iter().map(|set| (set.name.as_str(), set.value.clone())).collect();
    let wanted = [
        ("p", Value::Real(vec![2.5])),
        ("i", Value::Integer(vec![7])),
        ("s", Value::Text(vec!["x y".into()])),
        ("on in", Value::Boolean(vec![true])),
    ];
    assert_eq!(set, wanted);
    assert_eq!(flat.components[1].settings, [("isolation".to_owned(), "\"process\"".to_owned())]);
    let warnings = notes(&flat, Severity::Warning);
    assert!(matches!(warnings[..], [(Code::SspUnsupported, text)] if text.contains("kN")), "{warnings:?}");
}

#[test]
fn functions_are_dissolved() {
    let folder = Folder::new();
    let functions =
        r#"<LinearTransformation name="f" factor="2" offset="-1"/><Sum name="s" inputCount="2"/>"#;
    let connections = [
        signal("a.y[1]", "f.in"),
        signal("b.u[1]", "f.out"),
        signal("a.y[2]", "s.in[0]"),
        signal("b.y[2]", "s.in[1]"),
        signal("b.u[2]", "s.out"),
        signal("a.u[2]", "s.out"),
    ];
    let flat = folder.read("x.xml", &connected(functions, &connections.concat())).unwrap();
    assert_sound(&flat);
    let wanted = [
        "a.y[1] -> b.u[1] * 2 + -1",
        "a.y[2] -> b.u[2] sum=true",
        "b.y[2] -> b.u[2] sum=true",
        "a.y[2] -> a.u[2] sum=true",
        "b.y[2] -> a.u[2] sum=true",
    ];
    assert_eq!(links(&flat), wanted);
}

#[test]
fn groups_and_bonds_are_connected_pair_by_pair() {
    let folder = with_groups();
    let group = |part: &str, name: &str| format!(r#"<VariableGroup simulator="{part}" name="{name}"/>"#);
    let text = format!(
        "<VariableGroupConnection>{}{}</VariableGroupConnection>",
        group("a", "port"),
        group("b", "port")
    );
    let flat = folder.read("x.xml", &connected("", &text)).unwrap();
    assert_sound(&flat);
    let wanted = [
        "b.y[1] -> a.u[1] bond=\"a.port[1]\"",
        "b.y[2] -> a.u[2] bond=\"a.port[2]\"",
        "a.y[1] -> b.u[1] bond=\"a.port[1]\"",
        "a.y[2] -> b.u[2] bond=\"a.port[2]\"",
    ];
    assert_eq!(links(&flat), wanted);
    // Units of other names that are the same are; those that are not are told.
    let warnings = notes(&flat, Severity::Warning);
    assert!(matches!(warnings[..], [(_, text)] if text.contains("knots")), "{warnings:?}");
    let vector = r#"<VectorSum name="s" inputCount="2" dimension="2"/>"#;
    let end = |part: &str, name: &str, signal: &str| {
        format!(
            "<SignalGroupConnection>{}<SignalGroup function=\"s\" name=\"{signal}\"/></SignalGroupConnection>",
            group(part, name)
        )
    };
    let text = [end("a", "velocity", "in[0]"), end("b", "force", "in[1]"), end("a", "ins", "out")].concat();
    let flat = folder.read("x.xml", &connected(vector, &text)).unwrap();
    assert_sound(&flat);
    let wanted = [
        "a.y[1] -> a.u[1] sum=true",
        "b.y[1] -> a.u[1] sum=true",
        "a.y[2] -> a.u[2] sum=true",
        "b.y[2] -> a.u[2] sum=true",
    ];
    assert_eq!(links(&flat), wanted);
}

#[test]
fn algorithms_and_steps_of_their_own_are_told() {
    let folder = Folder::new();
    let content = r#"<Algorithm>ecco</Algorithm><Simulators><Simulator name="a" source="a.fmu" stepSize="2e-4"/></Simulators>
<EccoConfiguration><StepSize>0.001</StepSize></EccoConfiguration>"#;
    let flat = folder.read("x.xml", &structure(content)).unwrap();
    assert_sound(&flat);
    assert_eq!(flat.settings, [("step".to_owned(), "{ size = 0.001 }".to_owned())]);
    let warnings = notes(&flat, Severity::Warning);
    assert!(warnings[0].1.contains("ecco") && warnings[1].1.contains("2e-4"), "{warnings:?}");
}

#[test]
fn what_is_wrong_has_a_code_and_a_line() {
    let folder = with_groups();
    folder.write("systems/cut.fmu", b"PK\x03\x04 and no more");
    folder.write("systems/D_OspModelDescription.xml", b"<OspModelDescription><Vari");
    folder.write("systems/d.fmu", &common::fmu("D"));
    folder.write("systems/e.fmu", &common::fmu("../../E"));
    let source = |source: &str| {
        structure(&format!(r#"<Simulators><Simulator name="a" source="{source}"/></Simulators>"#))
    };
    let initial = |variable: &str, value: &str| {
        let value = format!(r#"<InitialValue variable="{variable}">{value}</InitialValue>"#);
        structure(&format!(
            r#"<Simulators><Simulator name="a" source="a.fmu"><InitialValues>{value}</InitialValues></Simulator></Simulators>"#
        ))
    };
    let groups = |a: &str, b: &str| {
        let ends = [a, b].map(|end| {
            let (part, name) = end.split_once('.').unwrap();
            format!(r#"<VariableGroup simulator="{part}" name="{name}"/>"#)
        });
        let text = SIMULATORS.replace(
            "</Sim",
            r#"<Simulator name="d" source="d.fmu"/><Simulator name="e" source="e.fmu"/></Sim"#,
        );
        structure(&format!(
            "{text}<Connections><VariableGroupConnection>{}</VariableGroupConnection></Connections>",
            ends.concat()
        ))
    };
    let sum = |count: &str| connected(&format!(r#"<Sum name="s" inputCount="{count}"/>"#), "");
    let scale = r#"<LinearTransformation name="f"/>"#;
    let cases = [
        ("another root", "<OspSystemStructures/>".to_owned(), Code::SspSchema),
        ("cut", structure("<Simulators>")[..80].to_owned() + "<OspSystemStructure", Code::BadXml),
        ("bomb", format!("<!DOCTYPE x [<!ENTITY a 'b'>]>{}", structure("")), Code::XmlRefused),
        ("no FMU", structure("<Simulators/>"), Code::SspSchema),
        (
            "a start that is no number",
            structure(&format!("<StartTime>soon</StartTime>{SIMULATORS}")),
            Code::SspSchema,
        ),
        (
            "an infinite step",
            structure(&format!("<BaseStepSize>INF</BaseStepSize>{SIMULATORS}")),
            Code::SspSchema,
        ),
        (
            "a huge step",
            structure(&format!("<BaseStepSize>1e999</BaseStepSize>{SIMULATORS}")),
            Code::SspSchema,
        ),
        ("a missing FMU", source("x.fmu"), Code::SspReference),
        ("an FMU outside", source("../outside.fmu"), Code::SspReference),
        ("an absolute FMU", source("/etc/passwd"), Code::SspReference),
        ("a URI", source("http://example.org/a.fmu"), Code::SspReference),
        ("a proxy elsewhere", source("proxyfmu://elsewhere?file=a.fmu"), Code::SspUnsupported),
        ("a proxy of nothing", source("proxyfmu://localhost"), Code::SspUnsupported),
        ("a cut FMU", source("cut.fmu"), Code::ArchiveDamaged),
        ("a folder", source("."), Code::SspReference),
        ("no name", structure(r#"<Simulators><Simulator source="a.fmu"/></Simulators>"#), Code::SspSchema),
        ("twice", structure(&SIMULATORS.replace("\"b\"", "\"a\"")), Code::SspSchema),
        ("an unknown variable", initial("nothing", r#"<Real value="1"/>"#), Code::SspReference),
        ("a value that is no number", initial("p", r#"<Real value="much"/>"#), Code::SspSchema),
        ("a huge number", initial("p", r#"<Real value="1e999"/>"#), Code::SspSchema),
        ("a huge integer", initial("i", r#"<Integer value="99999999999999999999"/>"#), Code::SspSchema),
        ("another type", initial("p", r#"<Complex value="1"/>"#), Code::SspSchema),
        ("no value", initial("p", ""), Code::SspSchema),
        ("value without value", initial("p", "<Real/>"), Code::SspSchema),
        ("an unknown part", connected("", &variables("a.y[1]", "c.u[1]")), Code::SspReference),
        ("an unknown port", connected("", &variables("a.y[1]", "b.u[9]")), Code::SspReference),
        ("two outputs", connected("", &variables("a.y[1]", "b.y[1]")), Code::SspUnsupported),
        ("two inputs", connected("", &variables("a.u[1]", "b.u[1]")), Code::SspUnsupported),
        ("a local", connected("", &variables("a.l", "b.u[1]")), Code::SspUnsupported),
        ("a parameter", connected("", &variables("a.y[1]", "b.p")), Code::SspUnsupported),
        ("real to Boolean", connected("", &variables("a.y[1]", "b.on in")), Code::SspUnsupported),
        ("two sources", connected("", &variables("a.y[1]", "b.u[1]").repeat(2)), Code::DoubleSource),
        ("one end", connected("", "<VariableConnection/>"), Code::SspSchema),
        ("another connection", connected("", "<Wire><a/><b/></Wire>"), Code::SspUnsupported),
        ("another function", connected("<Product name='p'/>", ""), Code::SspUnsupported),
        ("a sum of nothing", sum("0"), Code::SspSchema),
        ("a sum of too much", sum("1000000000"), Code::SspSchema),
        ("a sum of less than nothing", sum("-3"), Code::SspSchema),
        ("a function that is not connected", connected(scale, ""), Code::SspSchema),
        ("half a function", connected(scale, &signal("a.y[1]", "f.in")), Code::SspSchema),
        ("two sources of a function", connected(scale, &signal("a.y[1]", "f.in").repeat(2)), Code::SspSchema),
        ("an unknown function", connected(scale, &signal("a.y[1]", "g.in")), Code::SspReference),
        ("an unknown signal", connected(scale, &signal("a.y[1]", "f.in[7]")), Code::SspReference),
        ("an unknown group", groups("a.port", "b.harbour"), Code::SspReference),
        ("groups of other sizes", groups("a.port", "b.force"), Code::SspSchema),
        ("groups that are cut", groups("a.port", "d.port"), Code::SspSchema),
        ("groups elsewhere", groups("a.port", "e.port"), Code::SspReference),
    ];
    for (name, text, code) in &cases {
        let line_of = |flat: &Flat| {
            let found = flat.errors().find(|note| note.code == *code);
            found.map(|note| note.line.is_some() || *name == "no FMU")
        };
        match folder.read("OspSystemStructure.xml", text) {
            Err(error) => assert_eq!(error.code(), *code, "{name}: {error}"),
            Ok(flat) => assert_eq!(line_of(&flat), Some(true), "{name}: {:#?}", flat.notes),
        }
    }
    let what = "OSP system structures made by hand, each with its own code";
    assert_counted(what, cases.len(), FILE, "what_is_wrong_has_a_code_and_a_line");
}

#[test]
fn texts_changed_at_random_never_do_harm() {
    let folder = with_groups();
    let text = connected(
        r#"<LinearTransformation name="f" factor="2"/>"#,
        &[variables("a.u[1]", "b.y[1]"), signal("a.y[1]", "f.in"), signal("b.u[1]", "f.out")].concat(),
    );
    let mut seed = 1_u64;
    let mut below = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    let rounds = 200;
    for _ in 0..rounds {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=below(3) {
            let (at, length) = (below(bytes.len()), below(30));
            let end = (at + length).min(bytes.len());
            match below(3) {
                0 => drop(bytes.drain(at..end)),
                1 => bytes[at] = b"<>\"/=&x0"[below(8)],
                _ => {
                    let copy = bytes[at..end].to_vec();
                    let to = below(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
        }
        folder.write("systems/x.xml", &bytes);
        let path = folder.path("systems/x.xml");
        // Whatever comes out: an error or a system with notes.
        let _ = open(&path, Format::Osp, &path, Reach::beside(&path)).map(|flat| flat.notes.len());
    }
    let what = "OSP system structures changed by chance";
    assert_counted(what, rounds, FILE, "texts_changed_at_random_never_do_harm");
}

#[test]
fn the_quarter_truck_and_the_crane_of_libcosim_are_read() {
    let Some(folder) = real_files("libcosim/tests/data") else { return };
    let read = |name: &str| {
        let path = folder.join(name);
        open(&path, Format::of(&path).unwrap(), &path, Reach::beside(&folder.join("x"))).unwrap()
    };
    let truck = read("fmi2/quarter_truck/OspSystemStructure.xml");
    assert_sound(&truck);
    let wanted = [
        "wheel.in_vel -> chassis.velocity bond=\"wheelchassis\"",
        "chassis.force -> wheel.out_spring_damper_f bond=\"wheelchassis\"",
    ];
    let mut turned: Vec<String> = links(&truck);
    turned.sort();
    // Which way values go is what the FMUs say.
    let known = [
        "chassis.velocity -> wheel.in_vel bond=\"wheelchassis\"",
        "wheel.out_spring_damper_f -> chassis.force bond=\"wheelchassis\"",
    ];
    assert!(turned == wanted || turned == known, "{turned:?}");
    assert_eq!(truck.settings, [("step".to_owned(), "{ size = 0.0001 }".to_owned())]);
    let bond = read("msmi/OspSystemStructure_Bond.xml");
    assert_eq!(bond.links.len(), 9);
    let isolated = |part: &costep_ssp::Component| part.settings.iter().any(|(key, _)| key == "isolation");
    assert!(read("msmi/OspSystemStructure_Dahlquist_proxyfmu.xml").components.iter().all(isolated));
}
