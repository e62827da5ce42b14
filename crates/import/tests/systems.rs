//! Projects of MasterSim, multi-models, and how formats are told apart.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use common::{Folder, assert_sound, links, notes, real_files};
use costep_core::{Code, Place};
use costep_import::{Format, open, system_in};
use costep_ssp::{Flat, Reach, Severity, Value};
use documented::assert_counted;

const FILE: &str = "crates/import/tests/systems.rs";

const MASTER_SIM: &str = "# Created: today
tStart   0 a
tEnd     0.5 min
hStart   100 ms
hMax     10 s
hOutputMin 1 s
adjustStepSize no
MasterMode GAUSS_JACOBI
ErrorControlMode NONE
maxIterations 1

simulator 0 0 A #ff447cb4 \"a.fmu\"
simulator 1 1 B #c38200 \"b.fmu\"
simulator 2 0 drive #c38200 \"drive cycle.tsv\"

graph A.y[1] B.u[1]
graph \"B.count\" \"A.count in\" 3 2
graph drive.force A.u[1] 1 0.5
graph drive.on \"A.on in\"
parameter A.p   2.5
parameter A.s \" some text\"
parameter B.i 7
";

fn with_values() -> Folder {
    let folder = Folder::new();
    folder.write("systems/drive cycle.tsv", b"Time [h]\tforce [N]\ton\n0\t1\t0\n1\t2\t1\n");
    folder
}

#[test]
fn projects_of_mastersim_are_read() {
    let folder = with_values();
    let flat = folder.read("x.msim", MASTER_SIM).unwrap();
    assert_sound(&flat);
    assert_eq!(
        (flat.name.as_str(), flat.format, flat.start, flat.stop),
        ("x", "MasterSim", Some(0.0), Some(30.0))
    );
    let settings = [("step", "{ size = 0.1 }"), ("record", "{ every = 1.0 }")];
    assert_eq!(flat.settings, settings.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(links(&flat), ["A.y[1] -> B.u[1]", "B.count -> A.count in * 2 + 3"]);
    let signals: Vec<_> = flat
        .signals
        .iter()
        .map(|signal| (&*signal.to.1, &*signal.column, signal.hold, signal.factor, signal.offset))
        .collect();
    assert_eq!(signals, [("u[1]", "force", false, 0.5, 1.0), ("on in", "on", true, 1.0, 0.0)]);
    let set = |part: usize| flat.components[part].set.iter().map(|set| set.value.clone()).collect::<Vec<_>>();
    assert_eq!(set(0), [Value::Real(vec![2.5]), Value::Text(vec![" some text".into()])]);
    assert_eq!(set(1), [Value::Integer(vec![7])]);
    assert!(notes(&flat, Severity::Warning).is_empty());
}

#[test]
fn what_masters_do_and_costep_does_not_is_told() {
    let folder = with_values();
    let text = MASTER_SIM
        .replace("adjustStepSize no", "adjustStepSize yes")
        .replace("GAUSS_JACOBI", "NEWTON")
        .replace("ErrorControlMode NONE", "ErrorControlMode STEP_DOUBLING")
        .replace("maxIterations 1", "maxIterations 5\nhurry yes");
    let flat = folder.read("x.msim", &text).unwrap();
    assert_sound(&flat);
    let warnings = notes(&flat, Severity::Warning);
    for word in ["NEWTON", "hurry"] {
        assert!(warnings.iter().any(|(_, text)| text.contains(word)), "{word}: {warnings:?}");
    }
}

#[test]
fn the_error_control_of_mastersim_is_that_of_the_steps_here() {
    let folder = with_values();
    let with = |mode: &str, more: &str| {
        let text =
            MASTER_SIM.replace("adjustStepSize no", "adjustStepSize yes").replace("hMax     10 s\n", "");
        let text = text.replace("ErrorControlMode NONE", &format!("ErrorControlMode {mode}\n{more}"));
        let flat = folder.read("x.msim", &text).unwrap();
        assert_sound(&flat);
        flat
    };
    let step = |flat: &Flat| flat.settings.iter().find(|(key, _)| key == "step").unwrap().1.clone();
    let limits = "relTol 1e-4\nhMin 1 ms\nhMax 0.5 min";
    for mode in ["STEP_DOUBLING", "ADAPT_STEP"] {
        let flat = with(mode, limits);
        let wanted = "{ control = \"richardson\", tolerance = 0.01, min = 0.001, max = 30.0, size = 0.1 }";
        assert_eq!(step(&flat), wanted);
        assert!(notes(&flat, Severity::Warning).is_empty());
        let remarks = notes(&flat, Severity::Remark);
        assert!(remarks.iter().any(|(_, text)| text.contains("richardson")), "{remarks:?}");
    }
    // Without an error control the error of the inputs, which costs nothing.
    let flat = with("NONE", "relTol 1e-6\nhMin 0 s\nhMax 10 s");
    assert_eq!(step(&flat), "{ control = \"defect\", tolerance = 0.001, max = 10.0, size = 0.1 }");
    // Between equal limits nothing varies, and no half of a step is taken.
    let flat = with("ADAPT_STEP", "hMin 0.1 s\nhMax 100 ms");
    assert_eq!(step(&flat), "{ size = 0.1 }");
    assert!(
        notes(&flat, Severity::Remark).iter().any(|(_, text)| text.contains("all steps have this length"))
    );
    let flat = with("CHECK", "");
    assert!(step(&flat).contains("defect"), "{}", step(&flat));
    assert!(notes(&flat, Severity::Remark).iter().any(|(_, text)| text.contains("CHECK")));
    // In equal steps there is nothing to adapt.
    let text = MASTER_SIM.replace("ErrorControlMode NONE", "ErrorControlMode STEP_DOUBLING");
    let flat = folder.read("x.msim", &text).unwrap();
    assert_eq!(step(&flat), "{ size = 0.1 }");
    assert!(notes(&flat, Severity::Warning).iter().any(|(_, text)| text.contains("adjustStepSize")));
    let flat = folder.read("x.msim", &text.replace("adjustStepSize no", "adjustStepSize yes\nrelTol much"));
    assert!(flat.unwrap().errors().any(|note| note.message.contains("relTol")));
}

#[test]
fn times_are_given_with_their_lines() {
    let folder = with_values();
    let flat = folder.read("x.msim", &MASTER_SIM.replace("0.5 min", "-1 s")).unwrap();
    let place_of = |wanted: &str| {
        let (_, place) = flat.places.iter().find(|(key, _)| *key == wanted)?;
        let Place::File { line, .. } = place else { return None };
        *line
    };
    let keys = ["system.start", "system.stop", "step.size", "step.max", "record.every", "step.min"];
    assert_eq!(keys.map(place_of), [Some(2), Some(3), Some(4), Some(5), Some(6), None]);
    for (line, says) in [
        ("hStart 0.2s", "write a blank before the unit: `0.2 s`"),
        ("hStart soon", "write a number, a blank and a unit"),
        ("hMin -1 s\nadjustStepSize yes", "`hMin` is `-1 s`, which is not above zero"),
        ("hMin = 1 s\nadjustStepSize yes", "there is no `=` in this format: write `1 s`"),
        ("hMin 1 s # short\nadjustStepSize yes", "a remark has a line of its own: write `1 s`"),
        ("adjustStepSize maybe", "neither `yes` nor `no`"),
        ("tEnd 1 s", "`tEnd` is given in line 3 too"),
        ("graph B.u[2] A.y[2]", "`B.u[2]` is an input and `A.y[2]` an output: exchange the two ends"),
        ("parameter A.A.p 1", "did you mean `p`?"),
        ("hMax 0 s\nadjustStepSize yes", "`hMax` is `0 s`, which is not above zero"),
    ] {
        let flat = folder.read("x.msim", &format!("{MASTER_SIM}\n{line}\n")).unwrap();
        assert!(flat.errors().any(|note| note.message.contains(says)), "{line}: {:#?}", flat.notes);
    }
}

#[test]
fn mistakes_in_multi_models_are_told_with_their_lines() {
    let folder = Folder::new();
    let sound = "{\n\"fmus\": { \"{a}\": \"a.fmu\", \"{b}\": \"b.fmu\" },\n\"connections\": {\n\"{a}.a.y[1]\": [\"{b}.b.u[1]\"] },\n\"parameters\": { \"{a}.a.p\": 2 },\n\"endTime\": 1\n}\n";
    assert_sound(&folder.read("mm.json", sound).unwrap());
    for (from, to, line, says) in [
        ("\"parameters\"", "\"parametres\"", 5, "did you mean `parameters`?"),
        ("endTime", "endtime", 6, "did you mean `endTime`?"),
        ("\"endTime\": 1", "\"endTime\": \"1 min\"", 6, "converted from `min` to `s`"),
        ("a.p\": 2", "a.p\": \"2,5\"", 5, "write a decimal point: `2.5`"),
        ("{a}.a.p", "{a}.a.pp", 5, "did you mean `p`?"),
        ("\"{b}.b.u[1]\"", "\"{b}.b.u[7]\"", 4, "has no input `u[7]`"),
        ("\"a.fmu\"", "\"aa.fmu\"", 2, "did you mean `a.fmu`?"),
    ] {
        let text = sound.replace(from, to);
        assert_ne!(text, sound, "{from}");
        let flat = folder.read("mm.json", &text).unwrap();
        let told = flat.errors().any(|note| note.message.contains(says) && note.line == Some(line));
        assert!(told, "{says}: {:#?}", flat.notes);
    }
}

#[test]
fn keys_of_multi_models_beside_those_that_are_meant_are_remarks() {
    let folder = Folder::new();
    let text = r#"{ "fmus": { "{a}": "a.fmu", "{b}": "b.fmu" }, "connections": { "{a}.a.y[1]": ["{b}.b.u[1]"] },
"parameters": { "{a}.a.p": 2 }, "environment_parameters": ["x"], "algorithm": { "type": "fixed-step", "size": 0.1 },
"algorithmInfo": 1, "startTime": 0, "startTimestamp": 1, "endTime": 1 }"#;
    let flat = folder.read("mm.json", text).unwrap();
    assert_sound(&flat);
    let remarks = notes(&flat, Severity::Remark);
    for key in ["environment_parameters", "algorithmInfo", "startTimestamp"] {
        let says = format!("`{key}` is not used");
        assert!(remarks.iter().any(|(_, text)| text.contains(&says)), "{says}: {remarks:?}");
    }
}

#[test]
fn decimal_commas_are_told() {
    let folder = with_values();
    for (line, more) in [
        ("hStart   0,1 s", "`0.1 s`"),
        ("relTol 0,001\nadjustStepSize yes", "`0.001`"),
        ("parameter A.p 2,5", "`2.5`"),
    ] {
        let flat = folder.read("x.msim", &format!("{MASTER_SIM}\n{line}\n")).unwrap();
        let told =
            |note: &costep_ssp::Note| note.message.ends_with(&format!("write a decimal point: {more}"));
        assert!(flat.errors().any(told), "{line}: {:#?}", flat.notes);
    }
}

/// Each text has to end in its code.
fn assert_codes(folder: &Folder, file: &str, cases: &[(&str, String, Code)]) {
    for (name, text, code) in cases {
        match folder.read(file, text) {
            Err(error) => assert_eq!(error.code(), *code, "{name}: {error}"),
            Ok(flat) => assert!(flat.errors().any(|note| note.code == *code), "{name}: {:#?}", flat.notes),
        }
    }
}

#[test]
fn malformed_projects_of_mastersim_end_in_their_codes() {
    let folder = with_values();
    folder.write("systems/bad.csv", b"t,u\n0,1\n");
    folder.write("systems/empty.csv", b"");
    let edit = |from: &str, to: &str| {
        assert!(MASTER_SIM.contains(from), "{from}");
        MASTER_SIM.replace(from, to)
    };
    let cases = [
        ("nothing", String::new(), Code::SspSchema),
        ("no words", edit("#ff447cb4 \"a.fmu\"", ""), Code::SspSchema),
        ("an open quote", edit("\"a.fmu\"", "\"a.fmu"), Code::SspSchema),
        ("a missing FMU", edit("\"a.fmu\"", "\"x.fmu\""), Code::SspReference),
        ("an FMU outside", edit("\"a.fmu\"", "\"../outside.fmu\""), Code::SspReference),
        ("an absolute FMU", edit("\"a.fmu\"", "\"/etc/passwd\""), Code::SspReference),
        ("missing values", edit("\"drive cycle.tsv\"", "\"x.tsv\""), Code::SspReference),
        ("values outside", edit("\"drive cycle.tsv\"", "\"../../x.csv\""), Code::SspReference),
        ("no values", edit("\"drive cycle.tsv\"", "\"empty.csv\""), Code::SspSchema),
        ("another column", edit("\"drive cycle.tsv\"", "\"bad.csv\""), Code::SspReference),
        ("two of a name", edit(" B #", " A #"), Code::SspSchema),
        ("two of a name, one of values", edit(" drive #", " A #"), Code::SspSchema),
        ("no time", edit("0.5 min", "soon"), Code::SspSchema),
        ("another unit", edit("0.5 min", "0.5 moons"), Code::SspSchema),
        ("a huge time", edit("0.5 min", "1e999 s"), Code::SspSchema),
        ("a time that becomes huge", edit("0.5 min", "1e305 a"), Code::SspSchema),
        ("one end", edit("graph A.y[1] B.u[1]", "graph A.y[1]"), Code::SspSchema),
        ("no end", edit("graph A.y[1] B.u[1]", "graph"), Code::SspSchema),
        ("no port", edit("B.u[1]", "B"), Code::SspSchema),
        ("an unknown part", edit("B.u[1]", "C.u[1]"), Code::SspReference),
        ("an unknown port", edit("B.u[1]", "B.u[7]"), Code::SspReference),
        ("a factor that is none", edit("3 2", "3 x"), Code::SspSchema),
        ("an infinite factor", edit("3 2", "3 inf"), Code::SspSchema),
        ("values as a target", edit("B.u[1]", "drive.u"), Code::SspSchema),
        ("two sources", edit("A.u[1] 1 0.5", "B.u[1]"), Code::DoubleSource),
        ("a parameter without value", edit("parameter B.i 7", "parameter B.i"), Code::SspSchema),
        ("a parameter without part", edit("parameter B.i 7", "parameter i 7"), Code::SspSchema),
        ("another type", edit("parameter B.i 7", "parameter B.i 7.5"), Code::SspSchema),
        ("a huge number", edit("parameter A.p   2.5", "parameter A.p 1e999"), Code::SspSchema),
        ("an unknown parameter", edit("parameter B.i 7", "parameter B.j 7"), Code::SspReference),
    ];
    assert_codes(&folder, "x.msim", &cases);
    let what = "MasterSim projects made by hand, each with its own code";
    assert_counted(what, cases.len(), FILE, "malformed_projects_of_mastersim_end_in_their_codes");
    folder.write("systems/x.msim", b"tStart \xff\xfe");
    let path = folder.path("systems/x.msim");
    let error = open(&path, Format::MasterSim, &path, Reach::beside(&path)).unwrap_err();
    assert_eq!(error.code(), Code::SspSchema);
}

const MULTI_MODEL: &str = r#"{
"fmus": { "{x1}": "a.fmu", "{x2}": "./b.fmu" },
"connections": { "{x1}.ctrl.y[1]": ["{x2}.tank.u[1]"], "{x2}.tank.count": ["{x1}.ctrl.count in", "{x1}.other.count in"] },
"parameters": { "{x1}.ctrl.p": 2, "{x1}.ctrl.i": 3.0, "{x1}.ctrl.s": "text", "{x2}.tank.on in": true },
"algorithm": { "type": "fixed-step", "size": 0.1 },
"logVariables": { "{x1}.ctrl": ["y"] }
}"#;

#[test]
fn multi_models_are_read_with_what_is_said_about_the_run() {
    let folder = Folder::new();
    folder.write(
        "systems/coe.json",
        br#"{ "startTime": 0, "endTime": "12.5", "algorithm": { "size": 9 }, "visible": true }"#,
    );
    let flat = folder.read("mm.json", MULTI_MODEL).unwrap();
    assert_sound(&flat);
    assert_eq!((flat.name.as_str(), flat.start, flat.stop), ("systems", Some(0.0), Some(12.5)));
    assert_eq!(flat.settings, [("step".to_owned(), "{ size = 0.1 }".to_owned())]);
    let wanted = ["ctrl.y[1] -> tank.u[1]", "tank.count -> ctrl.count in", "tank.count -> other.count in"];
    assert_eq!(links(&flat), wanted);
    let set: Vec<_> = flat.components[0].set.iter().map(|set| set.value.clone()).collect();
    assert_eq!(set, [Value::Real(vec![2.0]), Value::Integer(vec![3]), Value::Text(vec!["text".into()])]);
    let remarks = notes(&flat, Severity::Remark);
    for word in ["coe.json", "logVariables", "visible"] {
        assert!(remarks.iter().any(|(_, text)| text.contains(word)), "{word}: {remarks:?}");
    }
    // A configuration of a run leads to its multi-model, and FMUs have a folder of their own.
    folder.write("project/FMUs/a.fmu", &common::fmu("A"));
    folder.write("project/FMUs/b.fmu", &common::fmu("B"));
    folder.write("project/Multi-models/tank/mm.json", MULTI_MODEL.as_bytes());
    let run = br#"{ "endTime": 3, "multimodel_path": "Multi-models/tank/mm.json", "algorithm": { "type": "var-step", "size": [0.1, 1], "initsize": 0.2 } }"#;
    folder.write("project/Multi-models/tank/run/coe.json", run);
    let path = folder.path("project/Multi-models/tank/run/coe.json");
    let flat = open(&path, Format::of(&path).unwrap(), &path, Reach::beside(&folder.path("x"))).unwrap();
    assert_sound(&flat);
    assert_eq!((flat.stop, flat.components.len()), (Some(3.0), 3));
    assert_eq!(flat.settings, [("step".to_owned(), "{ size = 0.2 }".to_owned())]);
    assert!(notes(&flat, Severity::Warning).iter().any(|(_, text)| text.contains("var-step")));
}

#[test]
fn malformed_multi_models_end_in_their_codes() {
    let folder = Folder::new();
    let edit = |from: &str, to: &str| {
        assert!(MULTI_MODEL.contains(from), "{from}");
        MULTI_MODEL.replace(from, to)
    };
    let cases = [
        ("cut", MULTI_MODEL[..100].to_owned(), Code::SspSchema),
        ("too deep", "{\"a\":".repeat(1000), Code::SspSchema),
        ("nothing", "{}".to_owned(), Code::SspSchema),
        ("no FMUs", edit("\"fmus\"", "\"fums\""), Code::SspSchema),
        ("FMUs as a list", edit("{ \"{x1}\": \"a.fmu\", \"{x2}\": \"./b.fmu\" }", "[1, 2]"), Code::SspSchema),
        ("an FMU that is a number", edit("\"a.fmu\"", "7"), Code::SspSchema),
        ("an empty FMU", edit("\"a.fmu\"", "\"\""), Code::SspReference),
        ("a missing FMU", edit("\"a.fmu\"", "\"x.fmu\""), Code::SspReference),
        ("an FMU outside", edit("\"a.fmu\"", "\"../outside.fmu\""), Code::SspReference),
        ("an FMU further up", edit("\"a.fmu\"", "\"outside.fmu\""), Code::SspReference),
        ("an absolute FMU", edit("\"a.fmu\"", "\"file:///etc/passwd\""), Code::SspReference),
        ("an unknown key", edit("{x2}.tank.u[1]", "{x3}.tank.u[1]"), Code::SspReference),
        ("an unknown variable", edit("tank.u[1]", "tank.u[9]"), Code::SspReference),
        ("a name that is none", edit("{x2}.tank.u[1]", "tank"), Code::SspSchema),
        ("targets that are no list", edit("[\"{x2}.tank.u[1]\"]", "7"), Code::SspSchema),
        ("a target that is no name", edit("[\"{x2}.tank.u[1]\"]", "[7]"), Code::SspSchema),
        ("two sources", edit("{x1}.other.count in", "{x1}.ctrl.count in"), Code::DoubleSource),
        ("a value of another type", edit("3.0", "3.5"), Code::SspSchema),
        ("a value that is a list", edit("\"text\"", "[1]"), Code::SspSchema),
        ("a huge value", edit("\"{x1}.ctrl.p\": 2", "\"{x1}.ctrl.p\": \"1e999\""), Code::SspSchema),
        ("a step that is no number", edit("0.1 }", "\"much\" }"), Code::SspSchema),
        ("swaps", edit("\"parameters\"", "\"modelSwaps\": {\"a\": 1}, \"parameters\""), Code::SspUnsupported),
        (
            "a multi-model that is missing",
            "{\"multimodel_path\": \"../../../x.json\"}".to_owned(),
            Code::SspReference,
        ),
    ];
    assert_codes(&folder, "mm.json", &cases);
    let what = "multi-models made by hand, each with its own code";
    assert_counted(what, cases.len(), FILE, "malformed_multi_models_end_in_their_codes");
}

#[test]
fn formats_are_told_by_ending_and_content() {
    let folder = Folder::new();
    let of = |name: &str, text: &str| {
        folder.write(name, text.as_bytes());
        Format::of(&folder.path(name))
    };
    assert_eq!(of("f/x.ssp", ""), Some(Format::Ssp));
    assert_eq!(of("f/x.MSIM", ""), Some(Format::MasterSim));
    assert_eq!(of("f/x.xml", "\u{feff}\n<?xml version='1.0'?><OspSystemStructure/>"), Some(Format::Osp));
    assert_eq!(of("f/x.xml", "<html>"), None);
    assert_eq!(of("f/x", " {}"), Some(Format::MultiModel));
    assert_eq!(of("f/x.toml", "{"), None);
    assert_eq!(of("f/x.txt", "[system]"), None);
    assert_eq!(Format::of(&folder.path("f")), None);
    assert_eq!(system_in(&folder.path("f")).unwrap(), Some(folder.path("f/x.ssp")));
    folder.write("f/y.msim", b"");
    assert!(system_in(&folder.path("f")).unwrap_err().to_string().contains("several"));
    folder.write("f/OspSystemStructure.xml", b"");
    assert_eq!(system_in(&folder.path("f")).unwrap(), Some(folder.path("f/OspSystemStructure.xml")));
    assert_eq!(system_in(&folder.path("systems")).unwrap(), None);
}

#[test]
fn the_tests_of_mastersim_are_read() {
    let Some(folder) = real_files("mastersim/data") else { return };
    let read = |name: &str| -> Flat {
        let path = folder.join(name);
        let flat = open(&path, Format::of(&path).unwrap(), &path, Reach::beside(&folder.join("x"))).unwrap();
        assert_sound(&flat);
        flat
    };
    let loop_ = read("tests/linux64/Math_003_control_loop/Math003_GaussJacobi_1iters_fixedStep.msim");
    assert_eq!((loop_.components.len(), loop_.links.len()), (3, 4));
    let types = read("tests/linux64/DifferentVariableTypes/DifferentVariableTypesFromCSV.msim");
    assert_eq!(types.signals.iter().map(|signal| signal.hold).collect::<Vec<_>>(), [false, true, true]);
    for name in [
        "examples/linux64/Lotka_Volterra_System/LV_Richardson_noiter.msim",
        "tests/linux64/ProjectFile/LV_Richardson_5iter.msim",
        "tests/linux64/OutputTests/DifferentTimeUnit.msim",
        "tests/linux64/FileReaderSlave/LV_Richardson_PredatorFromFile_noiter_excelcsv.msim",
        "tests/linux64/FileReaderSlave/FileReaderUnusedVarsWriteAll.msim",
        "tests/linux64/DifferentVariableTypes/DifferentVariableTypesFeedThrough.msim",
    ] {
        read(name);
    }
}
