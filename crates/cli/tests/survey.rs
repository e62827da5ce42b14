//! `costep survey`: what it says of a folder, whatever is in it, and that FMUs of other tools run as in FMPy.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
#[allow(dead_code, reason = "made for several tests")]
mod python;
#[path = "../../import/tests/common/real.rs"]
mod real;

use std::path::{Path, PathBuf};

use common::{Sandbox, finished};
use real::real_files;
use serde_json::Value;

fn interpreter() -> PathBuf {
    let requirements =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmu-export/tests/python/requirements.txt");
    python::environment("python", &requirements)
}

fn rows(document: &Value) -> &[Value] {
    document["files"].as_array().unwrap()
}

#[test]
fn files_that_are_broken_end_their_row_only() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out files/deep").exits(0);
    sandbox.write("files/no.fmu", "not an archive");
    sandbox.write("files/no.ssd", "<not><a><system>");
    sandbox.write("files/other.json", "{ \"some\": \"text\" }");
    let document = sandbox.run("survey files --steps 5 --json").exits(0).json();
    let said: Vec<_> = rows(&document)
        .iter()
        .map(|row| (row["file"].as_str().unwrap(), row["runs"].as_bool().unwrap()))
        .collect();
    let expected = [
        ("deep/s1.fmu", true),
        ("deep/s1.fmu", true),
        ("deep/s2.fmu", true),
        ("deep/s2.fmu", true),
        ("no.fmu", false),
        ("no.ssd", false),
    ];
    assert_eq!(said, expected);
    assert!(rows(&document)[4]["remark"].as_str().unwrap().starts_with("E0101"));
    sandbox.write("names/-x\u{1b}[31m\n.fmu", "not an archive");
    let table = sandbox.run("survey names").exits(0).stdout;
    assert!(table.lines().count() == 2 && !table.contains('\u{1b}'), "{table:?}");
    sandbox.write("none/readme.txt", "nothing");
    sandbox.run("survey none").exits(1).says("no FMU and no system");
    sandbox.run("survey files --fmpy /nowhere/python").exits(1).says("has no FMPy");
}

#[test]
fn the_page_has_a_line_for_every_case() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out files").exits(0);
    let done = sandbox.run("survey files --steps 5 --to page.md").exits(0).says("4 cases: 4 run");
    // Nobody sees a bar here: lines say how far it is.
    done.says("1 of 4: s1.fmu (FMI 3.0 CS) runs").says("4 of 4: s2.fmu (FMI 3.0 ME) runs");
    let page = std::fs::read_to_string(sandbox.path("page.md")).unwrap();
    assert_eq!(page.lines().filter(|line| line.starts_with("| s")).count(), 4);
    assert!(
        page.contains("`costep survey files --steps 5 --time-limit 60s`")
            && page.contains("| s1.fmu | FMI 3.0 ME | yes | yes | - | - |  |")
    );
}

#[test]
fn an_fmu_that_needs_the_libraries_of_its_tool_is_not_ok() {
    let Some(real) = real_files("mastersim/data/tests/linux64/BouncingBall/fmus/BouncingBall.fmu") else {
        return;
    };
    let done = Sandbox::new().run(&format!("check {}", real.display())).exits(1);
    done.says("error[E0111]").says("`libSimulationRuntimeC.so`");
}

#[test]
fn systems_have_a_verdict() {
    let Some(real) = real_files("mastersim/data/tests/linux64/Math_003_control_loop") else { return };
    let folder = real.display();
    let document = Sandbox::new().run(&format!("survey {folder} --steps 5 --json")).exits(0).json();
    let of = |kind: &str| rows(&document).iter().filter(move |row| row["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("MasterSim").len(), of("FMI 2.0 CS").len()), (5, 3), "{document}");
    assert!(of("MasterSim").iter().all(|row| row["verdict"].is_string()), "{document}");
    assert!(of("MasterSim").iter().any(|row| row["warnings"] == serde_json::json!(["W0142"])), "{document}");
    assert!(of("FMI 2.0 CS").iter().all(|row| row["verdict"].is_null()), "{document}");
}

/// FMUs of Ecos, libcosim and MasterSim in FMI 1.0, 2.0 and 3.0. Those of the ship take minutes; others look at them.
#[test]
fn fmus_of_other_tools_run_as_in_fmpy() {
    let Some(real) = real_files("").filter(|_| !python::skipped()) else { return };
    let (sandbox, python) = (Sandbox::new(), interpreter());
    for (folder, least) in [
        ("ecos/data/fmus", 13),
        ("libcosim/tests/data/fmi2", 9),
        ("mastersim/data/tests/linux64/DifferentVariableTypes/fmus", 4),
    ] {
        let folder = real.join(folder);
        let line = format!("survey {} --steps 30 --json --fmpy {}", folder.display(), python.display());
        let done = finished(sandbox.command(line.split(' ')), line);
        let document = done.json();
        for row in rows(&document).iter().filter(|row| row["kind"].as_str().unwrap().starts_with("FMI")) {
            println!("{} {} {} {}", row["file"], row["kind"], row["deviation"], row["remark"]);
            assert!(row["runs"] == true && row["differs"] == false && row["fmpy_error"].is_null(), "{row}");
        }
        assert!(rows(&document).len() >= least, "{document}");
    }
}

/// An input without a source is never set: that a change of it has no effect says nothing of derivatives.
#[test]
fn open_inputs_do_not_make_derivatives_look_wrong() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out files").exits(0);
    sandbox.run("new rig files/s1.fmu").exits(0);
    let probed = sandbox.run("check rig --probe").exits(0);
    assert!(probed.stdout.contains("derivatives agree"), "{}", probed.story());
    let run = sandbox.run("run rig --no-record").exits(0);
    assert!(!run.stderr.contains("W0303"), "{}", run.story());
}
