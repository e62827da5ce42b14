//! SSPs for tests: texts of documents, and FMUs that are descriptions without binaries.
#![allow(dead_code, reason = "each test program uses another part")]

pub(crate) mod cases;

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use costep_core::{Code, Result};
use costep_ssp::{Flat, Note, Severity, Value};
use zip::write::SimpleFileOptions;

/// A root document around the content of the root system.
pub(crate) fn ssd(system: &str) -> String {
    ssd_with(system, "")
}

/// The same with more after the root system.
pub(crate) fn ssd_with(system: &str, after: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
  xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"
  xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary" version="1.0" name="rig">
<ssd:System name="root">
{system}
</ssd:System>
{after}
</ssd:SystemStructureDescription>
"#
    )
}

/// `<Elements>` around components.
pub(crate) fn elements(text: &str) -> String {
    format!("<ssd:Elements>{text}</ssd:Elements>")
}

/// A component with connectors: `u:input` `y:output:rpm`.
pub(crate) fn component(name: &str, file: &str, ports: &str) -> String {
    let connectors = connectors(ports);
    format!(r#"<ssd:Component name="{name}" source="resources/{file}.fmu">{connectors}</ssd:Component>"#)
}

/// Connectors, written `name:kind` or `name:kind:unit`.
pub(crate) fn connectors(ports: &str) -> String {
    if ports.is_empty() {
        return String::new();
    }
    let one = |port: &str| {
        let mut parts = port.split(':');
        let (name, kind) = (parts.next().unwrap(), parts.next().unwrap());
        let unit = parts.next().map_or(String::new(), |unit| format!(" unit=\"{unit}\""));
        format!(r#"<ssd:Connector name="{name}" kind="{kind}"><ssc:Real{unit}/></ssd:Connector>"#)
    };
    let all: String = ports.split_whitespace().map(one).collect();
    format!("<ssd:Connectors>{all}</ssd:Connectors>")
}

/// Connections, written `a.y>b.u`; an element is left out for the system itself: `>b.u`.
pub(crate) fn connections(text: &str) -> String {
    let all: String = text.split_whitespace().map(|pair| connection(pair, "", "")).collect();
    format!("<ssd:Connections>{all}</ssd:Connections>")
}

/// One connection with attributes and content.
pub(crate) fn connection(pair: &str, attributes: &str, content: &str) -> String {
    let (start, end) = pair.split_once('>').unwrap();
    let side = |text: &str, side: &str| match text.split_once('.') {
        Some((element, connector)) => {
            format!(r#"{side}Element="{element}" {side}Connector="{connector}""#)
        }
        None => format!(r#"{side}Connector="{text}""#),
    };
    format!(
        "<ssd:Connection {} {} {attributes}>{content}</ssd:Connection>",
        side(start, "start"),
        side(end, "end")
    )
}

/// A binding with values inline: `p=1.5`, with a unit `p=1.5:rpm`.
pub(crate) fn binding(attributes: &str, values: &str, units: &str, mapping: &str) -> String {
    format!(
        r#"<ssd:ParameterBinding {attributes}><ssd:ParameterValues>{}</ssd:ParameterValues>{mapping}</ssd:ParameterBinding>"#,
        parameter_set(values, units)
    )
}

/// `<ParameterBindings>` around bindings.
pub(crate) fn bindings(text: &str) -> String {
    format!("<ssd:ParameterBindings>{text}</ssd:ParameterBindings>")
}

/// An SSV.
pub(crate) fn parameter_set(values: &str, units: &str) -> String {
    let one = |value: &str| {
        let (name, value) = value.split_once('=').unwrap();
        let (value, unit) = match value.split_once(':') {
            Some((value, unit)) => (value, format!(" unit=\"{unit}\"")),
            None => (value, String::new()),
        };
        let kind = match value {
            "true" | "false" => "Boolean",
            _ if value.parse::<i64>().is_ok() => "Integer",
            _ if value.parse::<f64>().is_ok() => "Real",
            _ => "Enumeration",
        };
        format!(r#"<ssv:Parameter name="{name}"><ssv:{kind} value="{value}"{unit}/></ssv:Parameter>"#)
    };
    let all: String = values.split_whitespace().map(one).collect();
    format!(
        r#"<ssv:ParameterSet version="1.0" name="set" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"><ssv:Parameters>{all}</ssv:Parameters>{units}</ssv:ParameterSet>"#
    )
}

/// Definitions of rpm, rad/s, K and degC in the namespace of a document.
pub(crate) fn units(prefix: &str) -> String {
    let unit =
        |name: &str, base: &str| format!(r#"<ssc:Unit name="{name}"><ssc:BaseUnit {base}/></ssc:Unit>"#);
    format!(
        "<{prefix}:Units>{}{}{}{}</{prefix}:Units>",
        unit("rpm", r#"rad="1" s="-1" factor="0.10471975511965977""#),
        unit("rad/s", r#"rad="1" s="-1""#),
        unit("K", r#"K="1""#),
        unit("degC", r#"K="1" offset="273.15""#),
    )
}

/// Files of a package.
#[derive(Clone, Default)]
pub(crate) struct Files(pub(crate) Vec<(String, Vec<u8>)>);

impl Files {
    /// A package with this root document and the FMU `resources/a.fmu` of [`fmu`].
    pub(crate) fn new(document: &str) -> Self {
        Self::default().with("SystemStructure.ssd", document.as_bytes()).with("resources/a.fmu", &fmu())
    }

    pub(crate) fn with(mut self, name: &str, bytes: &[u8]) -> Self {
        self.0.push((name.into(), bytes.to_vec()));
        self
    }

    pub(crate) fn zip(&self) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in &self.0 {
            writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// Reads it as an .ssp.
    pub(crate) fn open(&self) -> Result<Flat> {
        open_bytes(&self.zip())
    }
}

/// Reads the bytes of an .ssp.
pub(crate) fn open_bytes(bytes: &[u8]) -> Result<Flat> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.ssp");
    std::fs::write(&path, bytes).unwrap();
    costep_ssp::open(&path, &folder.path().join("unpacked"))
}

/// An FMU without binary: inputs `u` and `w` (rad/s), outputs `y` and `z` (rad/s), parameters `p`, `q` (rad/s),
/// `n` (integer), `b` (Boolean), `mode` (enumeration off, on), `text`, and `flag`, a Boolean input, `alarm`, a Boolean output.
pub(crate) fn fmu() -> Vec<u8> {
    let mut variables = String::new();
    let rows = [
        ("u", "input", "continuous", r#"<Real start="0"/>"#),
        ("w", "input", "continuous", r#"<Real start="0" unit="rad/s"/>"#),
        ("y", "output", "continuous", "<Real/>"),
        ("z", "output", "continuous", r#"<Real unit="rad/s"/>"#),
        ("p", "parameter", "fixed", r#"<Real start="1"/>"#),
        ("q", "parameter", "fixed", r#"<Real start="1" unit="rad/s"/>"#),
        ("n", "parameter", "fixed", r#"<Integer start="1"/>"#),
        ("b", "parameter", "fixed", r#"<Boolean start="true"/>"#),
        ("mode", "parameter", "fixed", r#"<Enumeration declaredType="Mode" start="1"/>"#),
        ("text", "parameter", "fixed", r#"<String start="a"/>"#),
        ("flag", "input", "discrete", r#"<Boolean start="false"/>"#),
        ("alarm", "output", "discrete", "<Boolean/>"),
        ("inner.p", "parameter", "fixed", r#"<Real start="1"/>"#),
    ];
    for (reference, (name, causality, variability, content)) in rows.iter().enumerate() {
        let _ = write!(
            variables,
            r#"<ScalarVariable name="{name}" valueReference="{reference}" causality="{causality}" variability="{variability}">{content}</ScalarVariable>"#
        );
    }
    let description = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="A" guid="g">
<CoSimulation modelIdentifier="A" canHandleVariableCommunicationStepSize="true"/>
<UnitDefinitions><Unit name="rad/s"><BaseUnit rad="1" s="-1"/></Unit></UnitDefinitions>
<TypeDefinitions><SimpleType name="Mode"><Enumeration><Item name="off" value="1"/><Item name="on" value="2"/></Enumeration></SimpleType></TypeDefinitions>
<ModelVariables>{variables}</ModelVariables>
<ModelStructure><Outputs><Unknown index="3"/><Unknown index="4"/><Unknown index="12"/></Outputs></ModelStructure>
</fmiModelDescription>"#
    );
    Files::default().with("modelDescription.xml", description.as_bytes()).zip()
}

/// The links as text: `a.y>b.u`, with `*2+3` where values change.
pub(crate) fn links(flat: &Flat) -> Vec<String> {
    let one = |link: &costep_ssp::Link| {
        let end =
            |(component, port): &(usize, String)| format!("{}.{port}", flat.components[*component].name);
        let map = match (link.factor, link.offset) {
            (1.0, 0.0) => String::new(),
            (factor, offset) => format!("*{factor}+{offset}"),
        };
        format!("{}>{}{map}", end(&link.from), end(&link.to))
    };
    let mut links: Vec<String> = flat.links.iter().map(one).collect();
    links.sort();
    links
}

/// The value of a variable of a component.
pub(crate) fn value(flat: &Flat, component: &str, variable: &str) -> Option<Value> {
    let component = flat.components.iter().find(|known| known.name == component).expect(component);
    component.set.iter().find(|set| set.name == variable).map(|set| set.value.clone())
}

/// Asserts that there is nothing to complain about.
pub(crate) fn good(flat: &Flat) {
    let serious: Vec<_> = flat.notes.iter().filter(|note| note.severity > Severity::Remark).collect();
    assert!(serious.is_empty(), "{serious:#?}");
}

/// The only error.
pub(crate) fn only_error(flat: &Flat) -> &Note {
    let errors: Vec<_> = flat.errors().collect();
    let [error] = errors[..] else { panic!("{:#?}", flat.notes) };
    error
}

/// Asserts that there is one error with this code and these words, and a line.
pub(crate) fn expect_error(flat: &Flat, code: Code, words: &str) {
    let error = only_error(flat);
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(words), "{error}");
    assert!(error.line.is_some(), "{error}");
}
