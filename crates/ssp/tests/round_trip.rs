//! A flat system written as an .ssp and read again is the same.

mod common;

use std::path::Path;

use common::{
    Files, binding, bindings, component, connection, elements, good, links, ssd_with, units, value,
};
use costep_core::{Code, Place};
use costep_ssp::{Component, Flat, Link, SetValue, Value};

/// A system with everything that a flat system can have.
fn original(folder: &Path) -> Flat {
    let part = |name: &str, ports: &str, values: &str| {
        component(name, "a", ports)
            .replace("</ssd:Component>", &(bindings(&binding("", values, "", "")) + "</ssd:Component>"))
    };
    let parts = part("a", "y:output:degC z:output u:input", "p=0.1 n=3 b=false mode=on")
        + &part("b", "y:output u:input:K w:input", "q=1.5");
    let linear = connection("b.y>a.u", "", r#"<ssc:LinearTransformation factor="0.1"/>"#);
    let all = connection("a.y>b.u", "", "") + &connection("a.z>b.w", "", "") + &linear;
    let text = ssd_with(
        &(elements(&parts) + &format!("<ssd:Connections>{all}</ssd:Connections>")),
        &(units("ssd") + r#"<ssd:DefaultExperiment startTime="0.25" stopTime="1.5"/>"#),
    );
    let path = folder.join("first.ssp");
    std::fs::write(&path, Files::new(&text).zip()).unwrap();
    let mut flat = costep_ssp::open(&path, &folder.join("first")).unwrap();
    good(&flat);
    flat.settings = vec![
        ("step".into(), r#"{ size = "5 ms" }"#.into()),
        ("method".into(), r#"{ id = "nepce", alpha = 0.5 }"#.into()),
        ("system.solver".into(), r#""euler:10us""#.into()),
    ];
    flat.components[0].settings = vec![("isolation".into(), r#""none""#.into())];
    flat.links[0].settings = vec![("bond".into(), r#""a \"strange\" & <name>""#.into())];
    flat
}

#[test]
fn a_written_system_reads_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let first = original(folder.path());
    let path = folder.path().join("second.ssp");
    costep_ssp::write(&first, &path).unwrap();
    let second = costep_ssp::open(&path, &folder.path().join("second")).unwrap();
    good(&second);
    assert!(second.notes.is_empty(), "{:?}", second.notes);
    assert_eq!((&first.name, first.start, first.stop), (&second.name, second.start, second.stop));
    assert_eq!(first.settings, second.settings);
    let nowhere = |links: &[Link]| -> Vec<Link> {
        links.iter().map(|link| Link { place: Place::Nowhere, ..link.clone() }).collect()
    };
    assert_eq!(nowhere(&first.links), nowhere(&second.links));
    let set = |component: &Component| -> Vec<(String, Value)> {
        component.set.iter().map(|set| (set.name.clone(), set.value.clone())).collect()
    };
    assert_eq!(links(&second).len(), 3);
    for (a, b) in first.components.iter().zip(&second.components) {
        assert_eq!(
            (&a.name, a.implementation, set(a), &a.settings),
            (&b.name, b.implementation, set(b), &b.settings)
        );
        assert_eq!(std::fs::read(&a.file).unwrap(), std::fs::read(&b.file).unwrap());
    }
    assert_eq!(value(&second, "a", "mode"), Some(Value::Text(vec!["on".into()])));
    // The unpacked file is shared, and so is the packed one.
    let archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut names: Vec<_> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, ["SystemStructure.ssd", "resources/a.fmu", "resources/a.ssv", "resources/b.ssv"]);
}

#[test]
fn what_ssp_cannot_express_is_refused_all_at_once_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut flat = original(folder.path());
    let sum = Link { from: (0, "z".into()), ..flat.links[0].clone() };
    let element = Link { to: (1, "v[1]".into()), ..flat.links[0].clone() };
    flat.links.extend([sum, element]);
    flat.components[0].set.push(SetValue {
        name: "b".into(),
        value: Value::Real(vec![1.0]),
        place: Place::Nowhere,
    });
    let path = folder.path().join("second.ssp");
    std::fs::write(&path, "kept").unwrap();
    let errors = costep_ssp::write(&flat, &path).unwrap_err();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors.iter().all(|error| error.code() == Code::SspUnsupported), "{errors:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn settings_of_an_annotation_cannot_bring_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut flat = original(folder.path());
    flat.settings = vec![
        ("fmu".into(), "{}".into()),
        ("step".into(), "1\n[fmu.x]\nfile = \"y\"".into()),
        ("method".into(), r#"{ id = "zoh" }"#.into()),
        ("method".into(), r#"{ id = "foh" }"#.into()),
    ];
    flat.components[0].settings = vec![("file".into(), r#""/etc/passwd""#.into())];
    let path = folder.path().join("second.ssp");
    costep_ssp::write(&flat, &path).unwrap();
    let flat = costep_ssp::open(&path, &folder.path().join("second")).unwrap();
    assert_eq!(flat.settings, [("method".to_owned(), r#"{ id = "zoh" }"#.to_owned())]);
    assert!(flat.components[0].settings.is_empty());
    assert_eq!(flat.notes.len(), 4, "{:?}", flat.notes);
}

#[test]
fn the_project_file_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let flat = original(folder.path());
    let text = flat.to_toml(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["system"]["stop"].as_float(), Some(1.5));
    assert_eq!(table["fmu"]["a"]["file"].as_str(), Some("a.fmu"));
    assert_eq!(table["fmu"]["a"]["set"]["p"].as_float(), Some(0.1));
    assert_eq!(table["fmu"]["a"]["set"]["mode"].as_str(), Some("on"));
    assert_eq!(table["method"]["alpha"].as_float(), Some(0.5));
    let connections = table["connect"].as_array().unwrap();
    assert_eq!(connections.len(), 3);
    let celsius = connections.iter().find(|entry| entry["from"].as_str() == Some("a.y")).unwrap();
    assert_eq!((celsius["gain"].as_float(), celsius["offset"].as_float()), (Some(1.0), Some(273.15)));
}
