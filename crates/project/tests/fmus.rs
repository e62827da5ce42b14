//! FMUs in project files: every mistake is found, at its line and with a remedy.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

#[path = "common/mod.rs"]
mod common;
#[path = "../../fmi/tests/fmus/mod.rs"]
mod fmus;

use std::path::Path;

use common::cases::{FMU_CASES as MISTAKES, FMU_RIG as RIG};
use common::{codes, line};
use costep_core::{Code, Error, External, Place};
use costep_fmu_file::Values;
use costep_project::{ConnectEntry, Draft, DraftValue, FmuEntry, FmuInterface, Override, Project, load_text};
use fmus::{Fmi, Variant, build, build_as, build_edited, build_exchange, build_wide};
use tempfile::TempDir;

/// A folder with these FMUs.
fn folder(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let with_unit = |unit: &str| build_edited(Fmi::V2, "Lag", |text| speed(text, unit));
        let fmu = match *name {
            "S1" => build(Fmi::V2, "S1"),
            "S2" => build(Fmi::V3, "S2"),
            "Fault" => build(Fmi::V3, "Fault"),
            "Lag" => build(Fmi::V2, "Lag"),
            "Wide" => build_wide(),
            "Exchange" => build_exchange(Fmi::V2, "S1", false, ""),
            "Rpm" => with_unit("rpm"),
            "Rad" => with_unit("rad/s"),
            "Celsius" => with_unit("degC"),
            "Kelvin" => with_unit("K"),
            "Broken" => {
                let variant = Variant { no_library: true, ..Variant::default() };
                build_as(Fmi::V2, "Lag", "Broken", variant)
            }
            other => with_unit(other),
        };
        std::fs::copy(&fmu.path, folder.path().join(format!("{name}.fmu"))).unwrap();
    }
    std::fs::write(folder.path().join("text.fmu"), "no archive").unwrap();
    std::fs::create_dir(folder.path().join("folder.fmu")).unwrap();
    folder
}

/// Input and output of a lag have a unit.
fn speed(text: String, unit: &str) -> String {
    let definitions = "<UnitDefinitions>\
        <Unit name=\"rpm\"><BaseUnit s=\"-1\" rad=\"1\" factor=\"0.10471975511965977\"/></Unit>\
        <Unit name=\"rad/s\"><BaseUnit s=\"-1\" rad=\"1\"/></Unit>\
        <Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/></Unit>\
        <Unit name=\"K\"><BaseUnit K=\"1\"/></Unit>\
        <Unit name=\"Euro\"/></UnitDefinitions><DefaultExperiment stopTime=\"3\" stepSize=\"0.5\"/>";
    let text = text.replacen("<ModelVariables>", &format!("{definitions}<ModelVariables>"), 1);
    text.replacen("<Real start=\"0\"/>", &format!("<Real start=\"0\" unit=\"{unit}\"/>"), 1).replacen(
        "causality=\"output\" variability=\"continuous\"><Real/>",
        &format!("causality=\"output\" variability=\"continuous\"><Real unit=\"{unit}\"/>"),
        1,
    )
}

fn read(folder: &TempDir, text: &str) -> Result<Project, Vec<Error>> {
    load_text(text, &folder.path().join("system.toml"), &[])
}

#[track_caller]
fn good(folder: &TempDir, text: &str) -> Project {
    read(folder, text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

#[test]
fn fmus_are_parts_like_others() {
    let folder = folder(&["S1", "S2"]);
    let project = good(&folder, RIG);
    let names: Vec<_> = project.model.parts.iter().map(|part| part.description().name.clone()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(project.parameters, [("a.c".to_owned(), 2e6), ("a.x0".to_owned(), 0.2)]);
    assert_eq!(project.model.connections.len(), 3);
    assert!(!project.model.has_equations() && project.warnings.is_empty());
    // F of S2 has direct feedthrough of both inputs.
    assert_eq!(project.model.parts[1].description().feedthrough, [vec![0, 1], vec![], vec![]]);
}

#[test]
fn fmus_for_model_exchange_are_integrated() {
    let folder = folder(&["Exchange", "S2"]);
    let text = RIG.replace("S1.fmu", "Exchange.fmu");
    let project = good(&folder, &text);
    // Nobody said that it is to be integrated.
    let warning = project.warnings[0].to_string();
    assert_eq!(project.warnings[0].code(), Code::IntegratedHere);
    assert!(warning.contains("`a`") && warning.contains("dopri5:1e-8"), "{warning}");
    let said = text.replace("Exchange.fmu\"", "Exchange.fmu\"\ninterface = \"me\"\nsolver = \"rk4:50us\"");
    let project = good(&folder, &said);
    assert!(project.warnings.is_empty());
    assert_eq!(good(&folder, &project.to_toml()).given.fmus, project.given.fmus);
    let mut subsystem = project.model.parts[0].subsystem(&project.model.solver).unwrap();
    let experiment = costep_core::Experiment { start: 0.0, stop: 1e-3, step: 1e-3 };
    let mut y = [0.0; 2];
    subsystem.initialise(&experiment).unwrap();
    subsystem.initial_outputs(&[0.0], &mut y).unwrap();
    assert_eq!(y, [0.2, 0.0]);
    let inputs = costep_core::InputPolynomials::new(1, 0);
    subsystem.step(experiment.interval(0), inputs.segment(0..1, 0), &mut y).unwrap();
    // Undamped but for a little: x = 0.2 cos(w t), w^2 = c/m = 2e5.
    assert!((y[0] - 0.2 * (2e5f64.sqrt() * 1e-3).cos()).abs() < 1e-4, "{}", y[0]);
}

#[test]
fn ports_of_fmus_take_the_sizes_of_the_project() {
    let folder = folder(&["Exchange", "S2"]);
    let rig = RIG.replace("S1.fmu\"", "Exchange.fmu\"\ninterface = \"me\"");
    let sizes =
        "[port.\"a.F\"]\nnominal = 300\n[port.a.x]\nnominal = 0.5\nmax = 2\n[port.\"b.F\"]\nmin = -7\n";
    let project = good(&folder, &format!("{rig}{sizes}"));
    assert_eq!(good(&folder, &project.to_toml()).given.ports, project.given.ports);
    for part in &project.model.parts {
        // What is described is what is made.
        let subsystem = part.subsystem(&project.model.solver).unwrap();
        assert_eq!(subsystem.description(), part.description());
    }
    let [a, b] = [0, 1].map(|part| project.model.parts[part].description());
    assert_eq!(a.inputs[0].nominal, Some(300.0));
    assert_eq!((a.outputs[0].nominal, a.outputs[0].limits), (Some(0.5), Some([f64::NEG_INFINITY, 2.0])));
    assert_eq!((a.outputs[1].nominal, a.outputs[1].limits), (None, None));
    assert_eq!(b.outputs[0].limits, Some([-7.0, f64::INFINITY]));
}

/// They are brought to rest by a run before the start, when that is made.
#[test]
fn a_start_at_rest_of_fmus_for_co_simulation_is_kept_for_the_run() {
    let folder = folder(&["S1", "S2"]);
    let project = good(&folder, &RIG.replacen("[system]", "[system]\ninitial = \"steady\"", 1));
    assert!(project.given.is_steady && !project.model.can_be_one());
    assert!(project.to_toml().contains("initial = \"steady\""));
}

#[test]
fn python_code_stays_here_where_there_are_no_processes_for_it() {
    let folder = folder(&["Exchange", "S2"]);
    fmus::add_python(&folder.path().join("Exchange.fmu"));
    // This program offers none.
    let project = good(&folder, &RIG.replace("S1.fmu\"", "Exchange.fmu\"\ninterface = \"me\""));
    assert_eq!(project.warnings, []);
    assert!(project.model.parts[0].has_equations() && project.model.parts[0].equations().is_ok());
}

#[test]
fn the_effective_project_is_read_back_to_the_same() {
    let folder = folder(&["S1", "S2", "Fault", "Wide", "Celsius", "Kelvin"]);
    let more = "[fmu.c]\nfile = \"Fault.fmu\"\nset = { fault = 3, flag = true, text = \"a \\\"b\\\"\" }\n\
                [fmu.d]\nfile = \"Wide.fmu\"\nset = { n = 1, \"u\" = [1.5, 2] }\n\
                [fmu.e]\nfile = \"Celsius.fmu\"\n[fmu.f]\nfile = \"Kelvin.fmu\"\n\
                [[connect]]\nfrom = \"e.y\"\nto = \"f.u\"\nunit = \"convert\"\n\
                [[connect]]\nfrom = \"f.y\"\nto = \"e.u\"\ngain = 2\noffset = -3\n";
    let rig =
        RIG.replace("interface = \"cs\"", "trust = true\ncontinuous = [\"u1\"]\ndiscrete = [\"u2\", \"F\"]");
    let project = good(&folder, &format!("{rig}{more}"));
    assert_eq!(project.given.fmus[1].variations.discrete, ["u2", "F"]);
    assert!(project.given.fmus[1].trust && !project.given.fmus[0].trust);
    let again = good(&folder, &project.to_toml());
    assert_eq!(again.to_toml(), project.to_toml());
    assert_eq!(again.given.fmus, project.given.fmus);
    assert_eq!(again.model.connections, project.model.connections);
    assert_eq!(again.model.externals, project.model.externals);
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = project.to_toml_in(elsewhere.path());
    let again = load_text(&moved, &elsewhere.path().join("run.toml"), &[]).unwrap();
    assert_eq!(again.to_toml_in(elsewhere.path()), moved);
    assert_eq!(project.to_toml_in(folder.path()), project.to_toml());
}

#[test]
fn units_are_converted_where_asked_for() {
    let folder = folder(&["Celsius", "Kelvin", "Rpm", "Rad"]);
    let text = "[fmu.a]\nfile = \"Celsius.fmu\"\n[fmu.b]\nfile = \"Kelvin.fmu\"\n[fmu.c]\nfile = \"Rpm.fmu\"\n\
                [fmu.d]\nfile = \"Rad.fmu\"\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\nunit = \"convert\"\n\
                [[connect]]\nfrom = \"c.y\"\nto = \"d.u\"\nunit = \"convert\"\ngain = 2\noffset = 1\n\
                [[external]]\nto = \"a.u\"\nvalue = 1\n";
    let project = good(&folder, text);
    // The times are those that the FMUs propose.
    assert_eq!((project.model.experiment.stop, project.model.experiment.step), (3.0, 0.5));
    let gains: Vec<f64> = project.model.connections.iter().map(|c| c.gain).collect();
    assert_eq!(gains, [1.0, 2.0 * 0.10471975511965977]);
    assert_eq!(project.offsets, [273.15, 1.0]);
    // c.u has no source and stays at its start value.
    let constants: Vec<_> = project.model.externals.iter().map(|(j, s)| (*j, s.clone())).collect();
    let constant = |j: usize, value: f64| (j, External::Constant(value));
    assert_eq!(constants, [constant(0, 1.0), constant(1, 273.15), constant(3, 1.0), constant(2, 0.0)]);
    assert_eq!(codes(&project.warnings), [Code::AssumedStep, Code::OpenInputs]);
    assert!(project.warnings[1].to_string().contains("c.u = 0"), "{}", project.warnings[1]);
}

#[test]
fn every_mistake_is_found_at_its_line() {
    let folder = folder(&["S1", "S2", "Exchange"]);
    for (from, to, code, at, words) in MISTAKES {
        assert_eq!(RIG.matches(from).count(), 1, "{from}");
        let text = RIG.replacen(from, to, 1);
        let found = read(&folder, &text).err().unwrap_or_else(|| panic!("accepted:\n{text}"));
        let hit = found.iter().find(|error| error.code() == *code && error.to_string().contains(words));
        let hit = hit.unwrap_or_else(|| panic!("{code:?} `{words}` is missing in {found:#?}\n{text}"));
        assert_eq!(line(hit), *at, "{hit}");
        if *code != Code::Missing || *at != 1 {
            assert_eq!(found.len(), 1, "consequences are reported too: {found:#?}\n{text}");
        }
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let folder = folder(&["S1", "S2"]);
    let text = RIG
        .replacen("c = 2e6", "cc = 2e6, m = true", 1)
        .replacen("interface = \"cs\"", "isolation = \"prozess\"\nstep_timeout = 0", 1)
        .replacen("stop = \"10 ms\"", "stop = \"10 mss\"", 1)
        .replacen("from = \"b.F\"", "form = \"b.F\"", 1);
    let found = read(&folder, &text).err().unwrap();
    let lines: Vec<_> = found.iter().map(line).collect();
    assert_eq!(lines, [2, 7, 7, 10, 11, 13], "{found:#?}");
}

/// Pairs of FMUs whose connection has something wrong.
#[test]
fn units_that_differ_are_a_mistake() {
    let folder = folder(&["Rpm", "Rad", "Celsius", "Kelvin", "Euro", "Lag"]);
    let pair = |from: &str, to: &str, more: &str| {
        let text = format!(
            "[fmu.a]\nfile = \"{from}.fmu\"\n[fmu.b]\nfile = \"{to}.fmu\"\n[[connect]]\nfrom = \"a.y\"\nto = \"b.u\"\n{more}"
        );
        read(&folder, &text)
    };
    for (from, to, words, at) in [
        ("Rpm", "Rad", "insert the factor 0.10471975511965977", 7),
        ("Celsius", "Kelvin", "insert the factor 1 and the offset 273.15", 7),
        ("Kelvin", "Rad", "these are different quantities: no factor converts", 7),
        ("Euro", "Rad", "units differ: `a.y` is Euro, `b.u` is rad/s", 7),
    ] {
        let found = pair(from, to, "").err().unwrap();
        assert_eq!(codes(&found), [Code::UnitMismatch], "{found:#?}");
        assert!(found[0].to_string().contains(words) && line(&found[0]) == at, "{}", found[0]);
        assert!(pair(from, to, "gain = 1.0\n").is_ok());
    }
    assert_eq!(codes(&pair("Kelvin", "Rad", "unit = \"convert\"\n").err().unwrap()), [Code::UnitMismatch]);
    assert_eq!(codes(&pair("Rpm", "Rad", "unit = \"rpm\"\n").err().unwrap()), [Code::BadValue]);
    assert!(pair("Rpm", "Rad", "unit = \"convert\"\n").is_ok());
    assert!(pair("Rad", "Rad", "").is_ok());
    // One end has no unit: nothing is converted.
    let warnings = pair("Rpm", "Lag", "unit = \"convert\"\n").unwrap().warnings;
    let warning = warnings.iter().find(|warning| warning.code() == Code::OptionWithoutEffect).unwrap();
    assert!(warning.to_string().contains("`b.u` has no unit") && line(warning) == 8, "{warning}");
}

#[test]
fn arrays_are_connected_element_by_element() {
    let folder = folder(&["Wide"]);
    let text = "[system]\nstop = 1\n[step]\nsize = 0.1\n[fmu.w]\nfile = \"Wide.fmu\"\nset = { u = [1, 2, 3, 4] }\n\
                [[connect]]\nfrom = \"w.y[2,1]\"\nto = \"w.u[1,2]\"\n";
    let project = good(&folder, text);
    let held: Vec<f64> = project
        .model
        .externals
        .iter()
        .map(|(_, signal)| match signal {
            External::Constant(value) => *value,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(held, [1.0, 3.0, 4.0]);
    let found = read(&folder, &text.replacen("w.y[2,1]", "w.y", 1)).err().unwrap();
    assert_eq!(codes(&found), [Code::PortType], "{found:#?}");
}

#[test]
fn parameters_can_be_overridden() {
    let folder = folder(&["S1", "S2"]);
    let path = folder.path().join("system.toml");
    let with = |name: &str, value: &str| {
        load_text(RIG, &path, &[Override::new(name, value, format!("--set {name}={value}"))])
    };
    for name in ["a.c", "fmu.a.c", "fmu.a.set.c"] {
        let project = with(name, "3e6").unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert!(project.parameters.contains(&("a.c".into(), 3e6)), "{name}");
    }
    assert_eq!(with("fmu.b.file", "S1.fmu").err().map(|errors| codes(&errors)[0]), Some(Code::UnknownPort));
    let found = with("b.ckk", "1").err().unwrap();
    assert!(found[0].to_string().contains("given by `--set b.ckk=1`"), "{}", found[0]);
}

#[test]
fn a_file_is_opened_once_for_all_its_instances() {
    let folder = folder(&["Rpm"]);
    let text = "[system]\nstop = 1\n[step]\nsize = 0.1\n[fmu.a]\nfile = \"Rpm.fmu\"\n[fmu.b]\nfile = \"./Rpm.fmu\"\n";
    let project = good(&folder, text);
    let made: Vec<_> =
        project.model.parts.iter().map(|part| part.subsystem(&project.model.solver).unwrap()).collect();
    assert_eq!(made.len(), 2);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let loaded: std::collections::HashSet<&str> = maps
        .lines()
        .filter_map(|line| line.rsplit(' ').next())
        .filter(|path| path.ends_with("Lag.so"))
        .collect();
    assert!(cfg!(not(target_os = "linux")) || loaded.len() == 1, "{loaded:?}");
    assert!(Path::new("/proc").exists() || loaded.is_empty());
}

#[test]
fn a_broken_binary_is_refused_before_it_is_loaded() {
    let folder = folder(&["Broken"]);
    let text = "[system]\nstop = 1\n[step]\nsize = 0.1\n[fmu.a]\nfile = \"Broken.fmu\"\n";
    match read(&folder, text) {
        // Headers are looked into on Linux only.
        Ok(project) if !cfg!(target_os = "linux") => {
            assert!(project.model.parts[0].subsystem(&project.model.solver).is_err());
        }
        Ok(_) => panic!("a file that is not a library was accepted"),
        Err(errors) => assert_eq!(errors[0].code(), Code::FmuNotLoaded),
    }
}

#[test]
fn a_draft_goes_through_the_same_checks() {
    let folder = folder(&["S1", "S2"]);
    let place = |line: usize| Place::File { path: "rig.ssd".into(), line: Some(line), text: None };
    let draft = |wrong: bool| {
        let mut draft = Draft::new("rig", folder.path().join("rig.ssp"));
        let here = [10, 20, 30].map(|line| draft.provenance(place(line)));
        draft.set(&["system", "stop"], DraftValue::Number(0.01), here[0]);
        draft.set(&["step", "size"], DraftValue::Text("1 ms".into()), here[0]);
        draft.set(&["record", "signals"], DraftValue::Texts(vec!["a.*".into()]), here[0]);
        let parameter = if wrong { "cc" } else { "c" };
        let set = vec![(parameter.into(), Values::Float64(vec![2e6]), here[1])];
        for (name, file, set) in [("a", "S1.fmu", set), ("b", "S2.fmu", Vec::new())] {
            let (name, interface, provenance) = (name.into(), Some(FmuInterface::CoSimulation), here[1]);
            draft.add_fmu(FmuEntry { name, file: file.into(), interface, set, provenance });
        }
        for (from, to) in [("b.F", "a.F"), ("a.x", "b.u1"), ("a.v", if wrong { "b.u3" } else { "b.u2" })] {
            let (from, to, convert, provenance) = (from.into(), to.into(), true, here[2]);
            draft.connect(ConnectEntry {
                from,
                to,
                gain: Some(2.0),
                offset: 0.5,
                map: Vec::new(),
                convert,
                sum: false,
                provenance,
            });
        }
        draft.load(&costep_project::Registry::standard(), &[])
    };
    let project = draft(false).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(project.parameters, [("a.c".to_owned(), 2e6)]);
    assert_eq!((project.model.connections[0].gain, project.offsets[0]), (2.0, 0.5));
    let again = load_text(&project.to_toml(), &folder.path().join("run.toml"), &[]).unwrap();
    assert_eq!(again.to_toml(), project.to_toml());
    let found = draft(true).err().unwrap();
    assert_eq!(codes(&found), [Code::UnknownParameter, Code::UnknownPort], "{found:#?}");
    assert_eq!(found.iter().map(line).collect::<Vec<_>>(), [20, 30]);
}
