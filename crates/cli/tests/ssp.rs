//! System structures (SSP), used as a user does.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::fmt::Write as _;
use std::io::Write as _;

use common::{Sandbox, table};
use fmus::{Fmi, build, build_edited};
use zip::write::SimpleFileOptions;

/// Number of lags in the ring.
const RING: usize = 5;

/// A ring of lags, each with its own start and time constant, in a nested system from the fourth on.
fn ring_structure() -> String {
    let component = |index: usize| {
        format!(
            r#"<ssd:Component name="lag{index}" source="resources/Lag.fmu"><ssd:Connectors>
<ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector><ssd:Connector name="y" kind="output"><ssc:Real/></ssd:Connector></ssd:Connectors>
<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="p"><ssv:Parameters>
<ssv:Parameter name="x0"><ssv:Real value="{}"/></ssv:Parameter><ssv:Parameter name="T"><ssv:Real value="{}"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings></ssd:Component>"#,
            start(index),
            constant(index)
        )
    };
    let connection = |from: &str, to: &str| {
        let end = |text: &str, side: &str| match text.split_once('.') {
            Some((element, name)) => format!(r#"{side}Element="{element}" {side}Connector="{name}""#),
            None => format!(r#"{side}Connector="{text}""#),
        };
        format!("<ssd:Connection {} {}/>", end(from, "start"), end(to, "end"))
    };
    let inner: String = (3..RING).map(component).collect();
    let outer: String = (0..3).map(component).collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
 xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="ring">
<ssd:System name="root"><ssd:Elements>{outer}
<ssd:System name="sub"><ssd:Connectors><ssd:Connector name="in" kind="input"><ssc:Real/></ssd:Connector><ssd:Connector name="out" kind="output"><ssc:Real/></ssd:Connector></ssd:Connectors>
<ssd:Elements>{inner}</ssd:Elements><ssd:Connections>{}{}{}</ssd:Connections></ssd:System></ssd:Elements>
<ssd:Connections>{}{}{}{}</ssd:Connections></ssd:System>
<ssd:DefaultExperiment startTime="0" stopTime="2"/></ssd:SystemStructureDescription>"#,
        connection("in", "lag3.u"),
        connection("lag3.y", "lag4.u"),
        connection("lag4.y", "out"),
        connection("lag0.y", "lag1.u"),
        connection("lag2.u", "lag1.y"),
        connection("lag2.y", "sub.in"),
        connection("sub.out", "lag0.u"),
    )
}

fn start(index: usize) -> f64 {
    1.0 - 0.3 * index as f64
}

fn constant(index: usize) -> f64 {
    0.1 + 0.07 * index as f64
}

fn lag_name(index: usize) -> String {
    if index < 3 { format!("lag{index}") } else { format!("sub/lag{index}") }
}

/// The same ring as a project file.
fn ring_project() -> String {
    let mut text = "[system]\nstop = \"2 s\"\n".to_owned();
    for index in 0..RING {
        let set = format!("{{ x0 = {:?}, T = {:?} }}", start(index), constant(index));
        let _ = writeln!(text, "[fmu.\"{}\"]\nfile = \"Lag.fmu\"\nset = {set}", lag_name(index));
    }
    // In the order in which the reader of structures finds the inputs.
    for index in [1, 2, 3, 4, 0] {
        let (from, to) = (lag_name((index + RING - 1) % RING), lag_name(index));
        let _ = writeln!(text, "[[connect]]\nfrom = \"{from}.y\"\nto = \"{to}.u\"");
    }
    text
}

fn package(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A folder with `ring.ssp` and the project `ring`.
fn ring() -> Sandbox {
    let sandbox = Sandbox::new();
    let fmu = std::fs::read(build(Fmi::V2, "Lag").path).unwrap();
    sandbox.write("ring/system.toml", ring_project());
    sandbox.write("ring/Lag.fmu", &fmu);
    let files = [("SystemStructure.ssd", ring_structure().into_bytes()), ("resources/Lag.fmu", fmu)];
    sandbox.write("ring.ssp", package(&files));
    sandbox
}

/// The recording of a run as CSV.
fn csv(sandbox: &Sandbox, folder: &str) -> String {
    sandbox.run(&format!("export {folder} --to {folder}.csv")).exits(0);
    std::fs::read_to_string(sandbox.path(format!("{folder}.csv"))).unwrap()
}

/// Columns by name, as bits.
fn columns(csv: &str) -> Vec<(String, Vec<u64>)> {
    let (names, rows) = table(csv);
    let column = |at: usize| rows.iter().map(|row| row[at].to_bits()).collect();
    let mut columns: Vec<_> =
        names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), column(at))).collect();
    columns.sort();
    columns
}

#[test]
fn a_ring_as_a_structure_equals_the_ring_as_a_project_bit_by_bit() {
    let sandbox = ring();
    for method in ["zoh", "foh"] {
        for system in ["ring", "ring.ssp"] {
            sandbox.run(&format!("run {system} --step 10ms --method {method} --out out-{system}")).exits(0);
        }
        let (project, structure) =
            (columns(&csv(&sandbox, "out-ring")), columns(&csv(&sandbox, "out-ring.ssp")));
        assert!(project.len() > RING && project[0].1.len() > 100);
        assert_eq!(project, structure, "{method}");
    }
    // The folder of the run needs the package no more.
    std::fs::remove_file(sandbox.path("ring.ssp")).unwrap();
    sandbox.run("run out-ring.ssp/run.toml --out again").exits(0);
    assert_eq!(columns(&csv(&sandbox, "again")), columns(&csv(&sandbox, "out-ring.ssp")));
}

#[test]
fn structures_can_be_compared_inspected_and_imported() {
    let sandbox = ring();
    sandbox.run("run ring.ssp --out guessed").exits(0).says("W0143");
    let json = sandbox
        .run("compare ring.ssp --methods zoh,foh --steps 10ms --reference none --json")
        .exits(0)
        .json();
    assert_eq!(json["runs"].as_array().unwrap().len(), 2);
    let json = sandbox.run("inspect ring.ssp --json").exits(0).json();
    assert_eq!(json["components"].as_array().unwrap().len(), RING);
    assert_eq!(json["connections"].as_array().unwrap().len(), RING);
    assert!(sandbox.run("inspect ring.ssp").exits(0).stdout.contains("sub/lag4"));
    sandbox.run("import ring.ssp --out made").exits(0);
    sandbox.run("import ring.ssp --out made").exits(1).says("exists already");
    sandbox.run("run made --step 10ms --method zoh --out out-made").exits(0);
    sandbox.run("run ring --step 10ms --method zoh --out out-ring").exits(0);
    assert_eq!(columns(&csv(&sandbox, "out-made")), columns(&csv(&sandbox, "out-ring")));
}

/// All that a project of FMUs can say and SSP can hold, in the language of costep or its own.
const RIG: &str = r#"[system]
name = "rig"
stop = "50 ms"
[step]
size = "1 ms"
[method]
id = "nepce"
alpha = 0.5
[schedule]
kind = "parallel"
[group.fast]
id = "zoh"
inputs = ["warm.u"]
[fmu.s1]
file = "S1.fmu"
interface = "cs"
set = { c = 2e6, x0 = 0.2 }
[fmu.s2]
file = "S2.fmu"
trust = true
validate = false
[fmu.warm]
file = "Kelvin.fmu"
[fmu.cold]
file = "Celsius.fmu"
set = { x0 = 20.5 }
[[connect]]
from = "s2.F"
to = "s1.F"
bond = "spring"
[[connect]]
from = "s1.x"
to = "s2.u1"
gain = 1.0
[[connect]]
from = "s1.v"
to = "s2.u2"
sum = true
bond = "spring"
[[connect]]
from = "cold.y"
to = "warm.u"
unit = "convert"
[[external]]
to = "s2.u2"
sum = true
sine = { amplitude = 0.01, frequency = 20 }
[[external]]
to = "cold.u"
step = { value = 5.0, start = 0.01 }
[record]
every = "2 ms"
[guard]
bounds = { "s1.x" = [-10, 10] }
"#;

fn with_unit(unit: &str) -> std::path::PathBuf {
    let definitions = "<UnitDefinitions><Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/></Unit>\
        <Unit name=\"K\"><BaseUnit K=\"1\"/></Unit></UnitDefinitions><ModelVariables>";
    let edit = |text: String| {
        let text = text.replacen("<ModelVariables>", definitions, 1);
        let mut parts = text.split("<ScalarVariable");
        let mut edited = parts.next().unwrap().to_owned();
        for part in parts {
            let is_signal = part.contains("name=\"u\"") || part.contains("name=\"y\"");
            let part = if is_signal {
                part.replacen("<Real", &format!("<Real unit=\"{unit}\""), 1)
            } else {
                part.into()
            };
            edited += "<ScalarVariable";
            edited += &part;
        }
        edited
    };
    let fmu = build_edited(Fmi::V2, "Lag", edit);
    let kept = std::env::temp_dir().join(format!("costep-test-{unit}-{}.fmu", std::process::id()));
    std::fs::copy(&fmu.path, &kept).unwrap();
    kept
}

#[test]
fn a_project_survives_the_way_through_a_structure() {
    let sandbox = Sandbox::new();
    sandbox.write("rig/system.toml", RIG);
    for model in ["S1", "S2"] {
        std::fs::copy(build(Fmi::V2, model).path, sandbox.path(format!("rig/{model}.fmu"))).unwrap();
    }
    for (unit, name) in [("K", "Kelvin"), ("degC", "Celsius")] {
        std::fs::rename(with_unit(unit), sandbox.path(format!("rig/{name}.fmu"))).unwrap();
    }
    sandbox.run("run rig --out first").exits(0);
    sandbox.run("export --ssp rig --out rig.ssp").exits(0);
    let run = sandbox.run("run rig.ssp --out second").exits(0);
    assert!(!run.stderr.contains("warning"), "{}", run.story());
    sandbox.run("import rig.ssp --out made").exits(0);
    // A gain is written where units differ, with what is done about it, and nowhere else.
    let made = std::fs::read_to_string(sandbox.path("made/system.toml")).unwrap();
    let gains: Vec<&str> = made.lines().filter(|line| line.starts_with("gain")).collect();
    assert_eq!(gains, ["gain = 1.0 # from degC to K: converted"], "{made}");
    assert!(made.contains("trust = true") && made.contains("validate = false"), "{made}");
    sandbox.write("made/changed.toml", made.replace(gains[0], "").replace("offset = 273.15", ""));
    sandbox.run("check made/changed.toml").exits(1).says("units differ");
    sandbox.run("run made --out third").exits(0);
    sandbox.run("export --ssp rig.ssp --out again.ssp").exits(0);
    sandbox.run("run again.ssp --out fourth").exits(0);
    let first = columns(&csv(&sandbox, "first"));
    assert!(
        first.iter().any(|(name, _)| name == "warm.y"),
        "{:?}",
        first.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
    for other in ["second", "third", "fourth"] {
        assert_eq!(first, columns(&csv(&sandbox, other)), "{other}");
    }
}

#[test]
fn what_cannot_be_run_or_written_is_said() {
    let sandbox = ring();
    let broken = ring_structure().replacen("resources/Lag.fmu", "http://example.org/Lag.fmu", 1).replacen(
        r#"startElement="lag2" startConnector="u""#,
        r#"startElement="lag9" startConnector="u""#,
        1,
    );
    sandbox.write(
        "broken.ssp",
        package(&[
            ("SystemStructure.ssd", broken.into_bytes()),
            ("resources/Lag.fmu", std::fs::read(sandbox.path("ring/Lag.fmu")).unwrap()),
        ]),
    );
    let run =
        sandbox.run("run broken.ssp --step 10ms").exits(1).says("error[E0142]").says("no element `lag9`");
    assert!(run.stderr.contains("broken.ssp/SystemStructure.ssd:"), "{}", run.story());
    sandbox.run("inspect broken.ssp").exits(1);
    sandbox.run("import broken.ssp --out partly").exits(1);
    assert!(std::fs::read_to_string(sandbox.path("partly/system.toml")).unwrap().contains("# error[E0142]"));
    sandbox.run("export --ssp dual-mass --out x.ssp").exits(1).says("is no FMU");
    assert!(!sandbox.path("x.ssp").exists());
    sandbox.run("run nothing.ssp").exits(1);
    sandbox.write("text.ssp", "no archive");
    sandbox.run("run text.ssp").exits(1).says("E0101");
}

fn values(columns: &[(String, Vec<u64>)], name: &str) -> Vec<f64> {
    let found = columns.iter().find(|column| column.0 == name).unwrap_or_else(|| panic!("{name}"));
    found.1.iter().map(|bits| f64::from_bits(*bits)).collect()
}

/// Items of an enumeration, by their names and into numbers.
const MAPPED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
 version="1.0" name="mapped"><ssd:System name="root"><ssd:Elements>
<ssd:Component name="a" source="resources/Types.fmu"><ssd:Connectors><ssd:Connector name="y_choice" kind="output"/><ssd:Connector name="y_i32" kind="output"><ssc:Integer/></ssd:Connector></ssd:Connectors></ssd:Component>
<ssd:Component name="b" source="resources/Types.fmu"><ssd:Connectors><ssd:Connector name="u_choice" kind="input"/><ssd:Connector name="u_i32" kind="input"/></ssd:Connectors></ssd:Component>
<ssd:Component name="c" source="resources/Types.fmu"><ssd:Connectors><ssd:Connector name="u_choice" kind="input"/></ssd:Connectors></ssd:Component>
</ssd:Elements><ssd:Connections>
<ssd:Connection startElement="a" startConnector="y_choice" endElement="b" endConnector="u_choice"><ssc:EnumerationMappingTransformation>
<ssc:MapEntry source="none" target="some"/><ssc:MapEntry source="some" target="none"/></ssc:EnumerationMappingTransformation></ssd:Connection>
<ssd:Connection startElement="a" startConnector="y_choice" endElement="b" endConnector="u_i32"><ssc:IntegerMappingTransformation>
<ssc:MapEntry source="0" target="70"/><ssc:MapEntry source="1" target="-7"/></ssc:IntegerMappingTransformation></ssd:Connection>
<ssd:Connection startElement="a" startConnector="y_i32" endElement="c" endConnector="u_choice"><ssc:IntegerMappingTransformation>
<ssc:MapEntry source="5" target="1"/></ssc:IntegerMappingTransformation></ssd:Connection>
</ssd:Connections></ssd:System><ssd:DefaultExperiment startTime="0" stopTime="1"/>
<ssd:Annotations><ssc:Annotation type="org.costep.settings"><costep:Settings xmlns:costep="urn:costep:settings:1">
<costep:Setting key="step" value="{ size = 0.1 }"/><costep:Setting key="method" value="{ id = &quot;zoh&quot; }"/><costep:Setting key="schedule" value="{ kind = &quot;parallel&quot; }"/>
<costep:Setting key="external" value="[{ to = &quot;a.u_choice&quot;, step = { value = 1, start = 0.45 } }, { to = &quot;a.u_i32&quot;, step = { value = 5, start = 0.45 } }]"/>
</costep:Settings></ssc:Annotation></ssd:Annotations></ssd:SystemStructureDescription>"#;

#[test]
fn integers_and_items_are_mapped_on_their_way() {
    for fmi in fmus::BOTH {
        let sandbox = Sandbox::new();
        let types = std::fs::read(fmus::build_types(fmi).path).unwrap();
        // FMI 3 has Int32 where FMI 2 has Integer.
        let text = if fmi == Fmi::V2 { MAPPED.to_owned() } else { MAPPED.replace("<ssc:Integer/>", "") };
        let pack = |text: &str| {
            package(&[
                ("SystemStructure.ssd", text.as_bytes().to_vec()),
                ("resources/Types.fmu", types.clone()),
            ])
        };
        sandbox.write("mapped.ssp", pack(&text));
        sandbox.run("run mapped.ssp --out first").exits(0);
        sandbox.run("import mapped.ssp --out made").exits(0);
        sandbox.run("run made --out second").exits(0);
        sandbox.run("export --ssp made --out again.ssp").exits(0);
        sandbox.run("run again.ssp --out third").exits(0);
        let first = columns(&csv(&sandbox, "first"));
        let column = |name: &str| values(&first, name);
        // At the start `b` holds its start values; from then on it is one step behind, and `a` sees the step at 0.5 s.
        let expected = |before: f64, after: f64| -> Vec<f64> {
            (0..=10)
                .map(|k| {
                    if k == 0 {
                        0.0
                    } else if k < 7 {
                        before
                    } else {
                        after
                    }
                })
                .collect()
        };
        assert_eq!(column("b.y_choice"), expected(1.0, 0.0), "{fmi:?}");
        assert_eq!(column("b.y_i32"), expected(70.0, -7.0), "{fmi:?}");
        assert_eq!(column("c.y_choice"), expected(0.0, 1.0), "{fmi:?}");
        for other in ["second", "third"] {
            assert_eq!(first, columns(&csv(&sandbox, other)), "{other}");
        }
        // What the target does not have is said.
        sandbox
            .write("wrong.ssp", pack(&text.replace(r#"source="5" target="1""#, r#"source="5" target="9""#)));
        sandbox.run("run wrong.ssp").exits(1).says("E0142").says("not an item");
        sandbox.write("wrong.ssp", pack(&text.replace(r#"source="none""#, r#"source="nothing""#)));
        sandbox.run("run wrong.ssp").exits(1).says("E0142").says("`nothing`");
    }
}

#[test]
fn maps_of_a_project_take_numbers_and_names() {
    let sandbox = Sandbox::new();
    let project = |map: &str| {
        format!(
            "[system]\nstop = 1\n[step]\nsize = 0.1\n[method]\nid = \"zoh\"\n[fmu.a]\nfile = \"Types.fmu\"\n\
             [fmu.b]\nfile = \"Types.fmu\"\n[[connect]]\nfrom = \"a.y_choice\"\nto = \"b.u_i32\"\n{map}\n"
        )
    };
    sandbox.write("rig/system.toml", project("map = { none = 3, some = -4 }"));
    std::fs::copy(fmus::build_types(Fmi::V3).path, sandbox.path("rig/Types.fmu")).unwrap();
    sandbox.run("run rig --out first").exits(0);
    let first = columns(&csv(&sandbox, "first"));
    assert_eq!(values(&first, "b.y_i32").last(), Some(&3.0));
    // The project that a run leaves is the same.
    sandbox.run("run first/run.toml --out second").exits(0);
    assert_eq!(first, columns(&csv(&sandbox, "second")));
    for (map, code, words) in [
        ("", "E0217", "cannot feed"),
        ("map = { nine = 3 }", "E0205", "`nine`"),
        ("map = { none = 2.5 }", "E0205", "integer"),
        ("map = { none = 1 }\ngain = 2.0", "E0214", "`gain`"),
        ("map = { 0 = 3, none = 5 }", "E0213", "0 is mapped twice"),
        ("map = { 1 = 3, 01 = 5 }", "E0213", "1 is mapped twice"),
    ] {
        sandbox.write("rig/system.toml", project(map));
        sandbox.run("check rig").exits(1).says(code).says(words);
    }
    sandbox.write(
        "rig/system.toml",
        project("map = { none = 3 }").replace("choice", "real").replace("i32", "real"),
    );
    sandbox.run("check rig").exits(1).says("E0217").says("`gain`");
}

#[test]
fn units_of_parameter_values_are_converted_or_explained() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --part s1 --out us --quiet").exits(0);
    let (ssd, ssv, ssc) = (
        "http://ssp-standard.org/SSP1/SystemStructureDescription",
        "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
        "http://ssp-standard.org/SSP1/SystemStructureCommon",
    );
    sandbox.write(
        "us/SystemStructure.ssd",
        format!(
            "<ssd:SystemStructureDescription name=\"us\" version=\"1.0\" xmlns:ssd=\"{ssd}\" xmlns:ssc=\"{ssc}\"><ssd:System name=\"us\"><ssd:Elements>\
             <ssd:Component name=\"s1\" source=\"s1.fmu\"><ssd:Connectors><ssd:Connector name=\"x\" kind=\"output\"><ssc:Real/></ssd:Connector></ssd:Connectors>\
             <ssd:ParameterBindings><ssd:ParameterBinding source=\"p.ssv\"/></ssd:ParameterBindings></ssd:Component>\
             </ssd:Elements></ssd:System></ssd:SystemStructureDescription>"
        ),
    );
    let check = |real: &str, units: &str| {
        let text = format!(
            "<ssv:ParameterSet version=\"1.0\" name=\"p\" xmlns:ssv=\"{ssv}\" xmlns:ssc=\"{ssc}\">\n<ssv:Parameters>\n<ssv:Parameter name=\"m1\">\n\
             <ssv:Real {real}/></ssv:Parameter></ssv:Parameters>{units}</ssv:ParameterSet>"
        );
        sandbox.write("us/p.ssv", text);
        sandbox.run("check us")
    };
    let tonnes =
        "<ssv:Units><ssc:Unit name=\"t\"><ssc:BaseUnit kg=\"1\" factor=\"1000\"/></ssc:Unit></ssv:Units>";
    check("value=\"0.5\" unit=\"t\"", tonnes).exits(0);
    assert!(sandbox.run("inspect us").exits(0).stdout.contains("m1 = 500"));
    // The name alone is enough where it is that of the FMU.
    check("value=\"5\" unit=\"kg\"", "").exits(0).says("the unit `kg` is not defined");
    let done = check("value=\"0.5\" unit=\"t\"", "").exits(1).says("us/p.ssv:3");
    done.says("the unit `t` has no definition in <Units>").says("cannot be converted to `kg`");
    let metres = "<ssv:Units><ssc:Unit name=\"m\"><ssc:BaseUnit m=\"1\"/></ssc:Unit></ssv:Units>";
    check("value=\"5\" unit=\"m\"", metres).exits(1).says("error[E0211]").says("a unit of the same quantity");
    let done = check("value=\"5 kg\"", "").exits(1).says("`5 kg` cannot be the value of `m1`, a <Real>");
    done.says("us/p.ssv:4").says("`value=\"5\" unit=\"kg\"`, and defined in <Units>");
    check("value=\"5,5\"", "").exits(1).says("write a decimal point, `value=\"5.5\"`");
}
