//! Systems for tests: FMUs that are descriptions without binaries, and a folder to put files into.
#![allow(dead_code, reason = "each test program uses another part")]

mod real;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub(crate) use real::real_files;

use costep_core::{Code, Result};
use costep_import::{Format, open};
use costep_ssp::{Flat, Reach, Severity};

/// A folder with FMUs `a.fmu` and `b.fmu`.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("systems/a.fmu", &fmu("A"));
        folder.write("systems/b.fmu", &fmu("B"));
        folder.write("outside.fmu", &fmu("C"));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Reads a system that lies in `systems/` and may refer to what is there.
    pub(crate) fn read(&self, name: &str, text: &str) -> Result<Flat> {
        self.write(&format!("systems/{name}"), text.as_bytes());
        let path = self.path(&format!("systems/{name}"));
        let format = Format::of(&path).unwrap_or_else(|| panic!("{name} is of no format"));
        open(&path, format, Path::new("/nowhere"), Reach::beside(&path))
    }
}

/// The notes of some severity: code and message.
pub(crate) fn notes(flat: &Flat, severity: Severity) -> Vec<(Code, &str)> {
    let of = flat.notes.iter().filter(|note| note.severity == severity);
    of.map(|note| (note.code, note.message.as_str())).collect()
}

/// Panics unless there is nothing to complain about.
pub(crate) fn assert_sound(flat: &Flat) {
    assert!(flat.errors().next().is_none(), "{:#?}", flat.notes);
}

/// Links as texts: `a.y -> b.u * 2 + 1`.
pub(crate) fn links(flat: &Flat) -> Vec<String> {
    let name = |(component, port): &(usize, String)| format!("{}.{port}", flat.components[*component].name);
    let one = |link: &costep_ssp::Link| {
        let settings: Vec<_> = link.settings.iter().map(|(key, value)| format!(" {key}={value}")).collect();
        let map = format!(" * {} + {}", link.factor, link.offset);
        let map = if map == " * 1 + 0" { String::new() } else { map };
        format!("{} -> {}{map}{}", name(&link.from), name(&link.to), settings.concat())
    };
    flat.links.iter().map(one).collect()
}

/// An FMU of FMI 2.0 with inputs, outputs and parameters of all types.
pub(crate) fn fmu(model: &str) -> Vec<u8> {
    let mut variables = String::new();
    let mut add = |name: &str, causality: &str, kind: &str| {
        let number = variables.matches("<ScalarVariable").count() + 1;
        let variability = match (causality, kind.starts_with("Real")) {
            ("parameter", _) => "fixed",
            (_, true) => "continuous",
            _ => "discrete",
        };
        variables += &format!(
            r#"<ScalarVariable name="{name}" valueReference="{number}" causality="{causality}" variability="{variability}"><{kind}/></ScalarVariable>"#
        );
    };
    for place in 1..=3 {
        add(&format!("u[{place}]"), "input", "Real start=\"0\" unit=\"N\"");
        add(&format!("y[{place}]"), "output", "Real unit=\"N\"");
    }
    add("v", "output", "Real unit=\"kN\"");
    add("count in", "input", "Integer start=\"0\"");
    add("count", "output", "Integer");
    add("on in", "input", "Boolean start=\"false\"");
    add("on", "output", "Boolean");
    add("mode in", "input", "Enumeration declaredType=\"Mode\" start=\"1\"");
    add("mode", "output", "Enumeration declaredType=\"Mode\"");
    add("p", "parameter", "Real start=\"1\"");
    add("i", "parameter", "Integer start=\"1\"");
    add("s", "parameter", "String start=\"\"");
    add("l", "local", "Real");
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="{model}" guid="{{1}}">
<CoSimulation modelIdentifier="M" canHandleVariableCommunicationStepSize="true"/>
<UnitDefinitions>
<Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit><Unit name="kN"><BaseUnit kg="1" m="1" s="-2" factor="1000"/></Unit>
</UnitDefinitions>
<TypeDefinitions><SimpleType name="Mode"><Enumeration><Item name="off" value="1"/><Item name="on" value="2"/></Enumeration></SimpleType></TypeDefinitions>
<ModelVariables>{variables}</ModelVariables>
<ModelStructure/></fmiModelDescription>"#
    );
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("modelDescription.xml", zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(text.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}
